"""What the tests of evaluation share."""

import numpy as np
import pytest
from support.pair_records import pair_record

from whatchanged.evaluation.metrics.truth import Truths
from whatchanged.synth.clevr.sampling import sample_triple
from whatchanged.worlds import find_world
from whatchanged.worlds.clevr.language import write_captions


def sample(seed, scenes):
    """Both pairs of some scenes: records with their references, the truths, and one true caption of each."""
    rng = np.random.default_rng(0)
    records, truths, right = [], {}, []
    for i in range(scenes):
        for end, truth in zip(("", "_n"), sample_triple(seed, i).pairs(), strict=True):
            name, kind = f"{i:06d}.png{end}", truth[2].type
            truths[name] = truth
            sentence, *references = write_captions(*truth, rng)
            right.append(sentence)
            records.append(
                pair_record(
                    name,
                    references,
                    "clevr_change",
                    name[:6],
                    changed=kind != "none",
                    change_type=kind,
                )
            )
    return records, Truths(find_world("clevr"), truths), right


@pytest.fixture(scope="session")
def sampled_scenes():
    """The function ``sample``."""
    return sample
