"""Names of tensors as earlier versions gave them (``training/compatibility.py``)."""

import torch

from whatchanged.training.checkpoint import State, read_checkpoint, save_checkpoint
from whatchanged.training.compatibility import current_names

OLD = {
    "vision.survey.stack.0.weight": "vision.scene_context.stack.0.weight",
    "vision.fate.1.bias": "vision.change_label.1.bias",
    "vision.fate_head.weight": "vision.change_label_head.weight",
    "model.vision.fate_head.weight": "model.vision.change_label_head.weight",
    "optimizer.vision.survey.geometry.bias.exp_avg": "optimizer.vision.scene_context.geometry.bias.exp_avg",
}
SAME = (
    "vision.backbone.stem.0.0.weight",
    "vision.heads.bias",
    "vision.scene_context.stack.0.weight",
    "embed.words.weight",
    "fate_head.weight",
    "supervision.survey.weight",
    "random.torch",
)


def test_old_names_become_the_present_ones():
    tensors = {name: torch.tensor(float(number)) for number, name in enumerate(OLD)}
    results = current_names(tensors)
    assert {name: results[new] for name, new in OLD.items()} == tensors and len(results) == len(OLD)


def test_other_names_stay():
    """Also those that only look alike: the words must be the vision's own part."""
    tensors = dict.fromkeys(SAME, torch.zeros(()))
    assert current_names(tensors).keys() == tensors.keys()
    assert current_names(current_names(dict.fromkeys(OLD, torch.zeros(())))).keys() == set(OLD.values())


def test_an_old_checkpoint_is_read_under_the_present_names(tmp_path):
    class Old(torch.nn.Module):
        """Parts called as they were."""

        def __init__(self):
            super().__init__()
            self.vision = torch.nn.ModuleDict(
                {"survey": torch.nn.Linear(2, 2), "fate": torch.nn.Linear(2, 1)}
            )

    old = Old()
    save_checkpoint(tmp_path / "last.safetensors", State(), old, None)
    tensors = read_checkpoint(tmp_path / "last.safetensors").tensors
    assert torch.equal(tensors["model.vision.scene_context.weight"], old.vision["survey"].weight)
    assert torch.equal(tensors["model.vision.change_label.bias"], old.vision["fate"].bias)
    assert not any("survey" in name or "fate" in name for name in tensors)
