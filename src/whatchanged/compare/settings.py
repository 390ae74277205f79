"""The settings of one comparison."""

import hashlib
import json
from dataclasses import dataclass
from typing import Any

from whatchanged.answers.models import candidate_models, identity_of_models, who_answers
from whatchanged.compare.ignore import Ignored
from whatchanged.compare.policies import PolicyFor, policy_of
from whatchanged.measured.measure import check_sensitivity
from whatchanged.measured.policy import DEFAULT, Policy
from whatchanged.measured.signature import LENGTH
from whatchanged.text.recogniser import can_read, reading_identity


@dataclass(frozen=True)
class CompareSettings:
    """The settings that affect an answer in addition to the pictures.

    model        the model that always answers, or "measured" for no model; None for any model that recognises
                 the pictures, or the measurement if no model does
    sensitivity  2 detects differences half as strong as 1 does
    strict       whether every pixel that differs is a change
    ignored      the boxes in which differences do not count
    read_text    whether elements are named by the words in and beside them; None: if text can be read here
    policy       the policy that determines the size from which a change counts
    policies     policies for pairs with certain names, instead of ``policy``
    """

    model: str | None = None
    sensitivity: float = 1.0
    strict: bool = False
    ignored: tuple[Ignored, ...] = ()
    read_text: bool | None = None
    policy: Policy = DEFAULT
    policies: tuple[PolicyFor, ...] = ()

    def __post_init__(self) -> None:
        check_sensitivity(self.sensitivity)

    def policy_of(self, pair_id: str) -> Policy:
        """Return the policy of a pair."""
        return policy_of(self.policies, self.policy, pair_id)

    def identity(self) -> dict[str, Any]:
        """Return the settings that stored answers must share to be reused.

        Ignored boxes are part of each key instead.

        Raises BundleError for a model that cannot be used.
        """
        from whatchanged import __version__

        model, _ = who_answers(self.model)

        return {
            "whatchanged": __version__,
            "signature": LENGTH,
            **identity_of_models(candidate_models(model), named=model is not None),
            "sensitivity": self.sensitivity,
            "strict": self.strict,
            "read_text": reading_identity(can_read(self.read_text)),
            "policy": self.policy.limits(),
            "policies": self._digest_of_policies(),
        }

    def _digest_of_policies(self) -> str:
        """Return one text for the policies by name, which may be many; "" if there are none."""
        if not self.policies:
            return ""
        rules = [[one.pattern, one.policy.limits()] for one in self.policies]
        return hashlib.sha256(json.dumps(rules, sort_keys=True).encode()).hexdigest()
