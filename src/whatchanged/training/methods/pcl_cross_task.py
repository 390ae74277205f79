"""PCL's cross-task data: single captioned pictures and labelled pictures help to compare birds.

General image captioning (GIC) gives ``mlm``, ``mvcl`` and ``fda`` a picture and a sentence about it; the
second picture is empty. Fine-grained classification (FGVC) is a task of its own, ``fgvc``: which class, and
whether two pictures are of the same one; only the two picture encoders run. Source: PCL (see ``pcl``), its
section on cross-task data, and the authors' bird/modules_pretrain_{cub,bird}.py, which alone say how.

An empty second picture is its [IMG2] and nothing else. It does not enter F_sing: the embedded row joins
F_pair as it is, so F_pair reads N + 2 rows and F_cross N + 3 and the text. A batch of pairs and singles
together would need the other N rows masked as keys in F_pair and F_cross; the rows that remain have the same
values either way (the tests show it), and stages do not mix the two, so only the short form runs.

Axis letters as in ``pcl``; n = 2B pictures, C classes.

Departures. The paper draws an "empty image" without saying what it is, and names the three losses of FGVC
without formulas: both presets follow the code. How the authors paired pictures for FGVC was not published:
``training/data/cross_task.py`` says how it is done here.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from whatchanged.errors import DatasetError
from whatchanged.recipes.methods.pcl_cross_task import PCLCrossTaskConfig
from whatchanged.training.batches import Batch, Example
from whatchanged.training.distributed import gather_batch, share_of_mean
from whatchanged.training.gradient_caching import in_parts
from whatchanged.training.methods import copy_matching_tensors
from whatchanged.training.methods.pcl import PCL
from whatchanged.training.methods.pcl_objectives import cosines
from whatchanged.training.vision.base import TokenPair, Vision
from whatchanged.vocabulary import Vocabulary


def class_contrast(rows: Tensor, classes: Tensor, margin: float) -> Tensor:
    """Pictures of one class alike, of two classes less alike than ``margin``.

        L = (1/n²) Σ_{i,j} [y_i = y_j: 1 − cos(s_i, s_j);  else: max(0, cos(s_i, s_j) − margin)]

    rows s: (n, D); classes y: (n,). i = j is among them and adds 0. Source: the authors' code (margin 0.4).
    """
    alike = cosines(rows, rows)
    same = classes[:, None] == classes
    return torch.where(same, 1 - alike, (alike - margin).clamp(min=0)).mean()


class FineGrained(nn.Module):
    """FGVC's two heads and three losses.

        L_cls   = (1/n) Σ_i CE(W_c s_i + b_c, y_i)
        L_match = (1/B) Σ_b CE(W_m [p_b ; q_b] + b_m, y_b = y'_b)
        L_con   = ``class_contrast``

    s: F_sing's rows [IMG1], [IMG2]; p, q: F_pair's. Equal weights. Source: the authors' code.
    """

    def __init__(self, width: int, classes: int, margin: float) -> None:
        super().__init__()
        self.classifier = nn.Linear(width, classes)
        self.aligner = nn.Linear(2 * width, 2)
        self.margin = margin

    def forward(self, alone: Tensor, together: Tensor, labels: Tensor) -> dict[str, Tensor]:
        """alone (B, 2, D), together (B, 2, D), labels (B, 2) -> the three terms.

        Raises DatasetError for a label that the classifier does not have.
        """
        classes = self.classifier.out_features
        if labels.numel() and int(labels.max()) >= classes:
            raise DatasetError(
                f"a picture's class is number {int(labels.max())}, counted from 0, but method.classes ="
                f" {classes}. Set method.classes to the number of classes of data.labelled."
            )
        rows, own = alone.transpose(0, 1).flatten(0, 1), labels.T.flatten()
        same = (labels[:, 0] == labels[:, 1]).long()
        contrast = class_contrast(gather_batch(rows), gather_batch(own), self.margin)
        return {
            "classes": share_of_mean(F.cross_entropy(self.classifier(rows), own), len(own)),
            "same_class": share_of_mean(F.cross_entropy(self.aligner(together.flatten(1)), same), len(same)),
            "contrast": share_of_mean(contrast, len(own)),
        }


class PCLCrossTask(PCL):
    """PCL that reads its cross-task data too; without them it is PCL, number for number."""

    config: PCLCrossTaskConfig

    def __init__(self, config: PCLCrossTaskConfig, vision: Vision, vocabulary: Vocabulary) -> None:
        super().__init__(config, vision, vocabulary)
        self.fine = FineGrained(config.width, config.classes, config.margin) if config.classes else None

    @property
    def tasks(self) -> dict[str, Callable[[Batch], dict[str, Tensor]]]:
        """PCL's, and ``fgvc`` where there are classes."""
        return super().tasks | ({} if self.fine is None else {"fgvc": partial(self._fgvc, self.fine)})

    def collate(self, examples: Sequence[Example]) -> Batch:
        """As PCL's, with the labels; raises DatasetError for pairs and single pictures in one batch."""
        singles = {example.record.kind == "single_caption" for example in examples}
        if len(singles) > 1:
            raise DatasetError("A batch holds pairs and single pictures. Give each a stage of its own.")
        known = [e.record.labels for e in examples if e.record.labels and len(e.record.labels) == 2]
        labels = torch.tensor(known) if len(known) == len(examples) else None
        return replace(super().collate(examples), single=singles.pop(), labels=labels)

    def text_length(self, example: Example) -> int:
        """L, which is another for single pictures."""
        single = example.record.kind == "single_caption"
        return self.config.single_length if single else self.max_length

    def tokens(self, batch: Batch) -> TokenPair:
        """The pictures' tokens; the picture after a single one has none."""
        if not batch.single:
            return super().tokens(batch)
        # Twice the same picture: a vision reads pairs, and a backbone's running statistics count both.
        before, after = self.vision.tokens(batch.before, batch.before)
        return TokenPair(before, replace(after, features=after.features[:, :0], cells=after.cells[:, :0]))

    def _fgvc(self, fine: FineGrained, batch: Batch) -> dict[str, Tensor]:
        """``FineGrained`` on [IMG1], [IMG2] after F_sing and after F_pair; no words are read."""
        if batch.labels is None:
            raise DatasetError("task fgvc needs two labelled pictures an example. Set data.labelled.")
        alone, together = in_parts(self._read_specials, batch.accumulate, self.tokens(batch))
        terms: dict[str, Tensor] = fine(alone, together, batch.labels)
        return terms

    def _read_specials(self, pair: TokenPair) -> tuple[Tensor, Tensor]:
        """[IMG1] and [IMG2] after F_sing and after F_pair, (B, 2, D) each."""
        first, second = (self.alone(own) for own in self.embedded(pair))
        both = self.together(first, second)
        alone = torch.stack([first.rows[:, 0], second.rows[:, 0]], dim=1)
        together = torch.stack([both.rows[:, 0], both.rows[:, both.second]], dim=1)
        return alone, together

    def parameters_without_gradient(self, tasks: Collection[str]) -> frozenset[str]:
        """PCL's; ``fgvc`` alone trains its heads and what reads pictures, not what reads words."""
        own = {name for name, _ in self.named_parameters() if name.startswith("fine.")}
        rest = super().parameters_without_gradient([task for task in tasks if task != "fgvc"])
        if "fgvc" not in tasks:
            return rest | own
        words = {"embed.words.weight"} if self.preset.own_specials else set()
        seen = ("embed.", "single.", "pair.", "vision.")
        unused = {name for name in rest if not name.startswith(seen)}
        unused |= rest & words
        return frozenset(
            unused | {f"vision.{name}" for name in self.vision.parameters_without_gradient(tasks)}
        )

    def load_pretrained(self, state: Mapping[str, Tensor]) -> tuple[str, ...]:
        """As PCL's; the classifier and the aligner start anew too."""
        return copy_matching_tensors(self, state, anew=("pooler.", "distractor.", "fine."))
