"""How closely the pairs of one comparison are looked at."""

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
    """What an answer depends on beside the pictures.

    model        the model that answers in any case, or "measured" for none; None: whichever knows the
                 pictures, else the measurement
    sensitivity  2 finds differences half as strong as 1 does
    strict       every pixel that differs is a change
    ignored      places in which differences do not count
    read_text    things are named by the words in and beside them; None: where they can be read
    policy       from which size on a change counts
    policies     the same for pairs of some names, in place of ``policy``
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
        """The policy of a pair."""
        return policy_of(self.policies, self.policy, pair_id)

    def identity(self) -> dict[str, Any]:
        """What stored answers must share to be used again; ignored boxes count pair by pair.

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
        """One text for the policies of some names, which may be many; empty where there are none."""
        if not self.policies:
            return ""
        rules = [[one.pattern, one.policy.limits()] for one in self.policies]
        return hashlib.sha256(json.dumps(rules, sort_keys=True).encode()).hexdigest()
