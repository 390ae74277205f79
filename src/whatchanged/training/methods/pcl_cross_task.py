"""PCL's cross-task training: single captioned pictures and labelled pictures help to compare birds.

General image captioning (GIC) trains ``mlm``, ``mvcl`` and ``fda`` on a picture and a sentence about it; the
second picture is empty. Fine-grained classification (FGVC) is a task of its own, ``fgvc``. It predicts a
picture's class, and whether two pictures have the same class, with the two picture encoders alone. Source:
PCL (see ``pcl``), its section on cross-task data. Only the authors' bird/modules_pretrain_{cub,bird}.py give
details.

An empty second picture consists only of its [IMG2]. This embedded row skips F_sing and enters F_pair
unchanged, so F_pair reads N + 2 rows and F_cross N + 3 and the text. A batch of both pairs and single
pictures would have to mask the other N rows as keys in F_pair and F_cross. The remaining rows would have the
same values (the tests show it). No stage mixes the two, so only the short form is implemented.

Axis letters as in ``pcl``; n = 2B pictures, C classes.

Departures. The paper shows an "empty image" without a definition, and names the three losses of FGVC without
formulas, so both presets follow the code. The authors did not publish how they paired pictures for FGVC;
``training/data/cross_task.py`` describes the pairing here.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from whatchanged.errors import DatasetError
from whatchanged.recipes.methods.pcl_cross_task import PCLCrossTaskConfig
from whatchanged.training.batches import Batch, Example, in_parts
from whatchanged.training.distributed import gather_batch, share_of_mean
from whatchanged.training.methods import copy_matching_tensors
from whatchanged.training.methods.pcl import PCL
from whatchanged.training.methods.pcl_objectives import cosines
from whatchanged.training.vision.base import TokenPair, Vision
from whatchanged.vocabulary import Vocabulary


def class_contrast(rows: Tensor, classes: Tensor, margin: float) -> Tensor:
    """Makes pictures of one class similar, and pictures of two classes less similar than ``margin``.

        L = (1/n²) Σ_{i,j} [y_i = y_j: 1 − cos(s_i, s_j);  else: max(0, cos(s_i, s_j) − margin)]

    rows s: (n, D); classes y: (n,). The sum includes i = j, which adds 0. Source: the authors' code (margin
    0.4).
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
    """PCL that also reads its cross-task data. Without such data it is exactly PCL."""

    config: PCLCrossTaskConfig

    def __init__(self, config: PCLCrossTaskConfig, vision: Vision, vocabulary: Vocabulary) -> None:
        super().__init__(config, vision, vocabulary)
        self.fine = FineGrained(config.width, config.classes, config.margin) if config.classes else None

    @property
    def tasks(self) -> dict[str, Callable[[Batch], dict[str, Tensor]]]:
        """PCL's tasks, and ``fgvc`` if there are classes."""
        return super().tasks | ({} if self.fine is None else {"fgvc": partial(self._fgvc, self.fine)})

    def collate(self, examples: Sequence[Example]) -> Batch:
        """PCL's batch with the labels. Raises DatasetError for pairs and single pictures in one batch."""
        singles = {example.record.kind == "single_caption" for example in examples}
        if len(singles) > 1:
            raise DatasetError("A batch holds pairs and single pictures. Give each a stage of its own.")
        known = [e.record.labels for e in examples if e.record.labels and len(e.record.labels) == 2]
        labels = torch.tensor(known) if len(known) == len(examples) else None
        return replace(super().collate(examples), single=singles.pop(), labels=labels)

    def text_length(self, example: Example) -> int:
        """L, the number of ids of an example's captions; single pictures have another L."""
        single = example.record.kind == "single_caption"
        return self.config.single_length if single else self.max_length

    def tokens(self, batch: Batch) -> TokenPair:
        """Return the pictures' tokens. For a single picture, the picture after has none."""
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
        """Those of PCL. ``fgvc`` trains only its heads and the picture encoders, no part that reads words."""
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
        """Load as PCL does; the classifier and the aligner also keep their initial values."""
        return copy_matching_tensors(self, state, anew=("pooler.", "distractor.", "fine."))
