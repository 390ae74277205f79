"""SCORER's cross-modal backward reasoning (CBR): from the picture before and the caption to the one after.

Only training uses it. Its loss is the term ``reason`` in ``SCORER._caption`` (``scorer``). Official code:
tuyunbin/SCORER (models/CBR.py). Axis letters as in ``scorer``: B pairs, N cells, D width, L text positions.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from whatchanged.recipes.methods.scorer import ScorerConfig
from whatchanged.training.methods.scorer_encoder import MultiHeadAttention, QueryKey, TokenMatching
from whatchanged.training.methods.scorer_presets import ScorerPreset


def sentence_vector(states: Tensor, real: Tensor, positions: int | None = None) -> Tensor:
    """t = (1/n) Σ_p real_p H_p: states (B, L, D), real (B, L) bool -> (B, D).

    n is the number of real positions (None), or ``positions``, padding included (the released CBR.py, where
    it is the width of the data's labels).
    """
    count = real.sum(1, keepdim=True) if positions is None else positions
    return (states * real[..., None]).sum(1) / count


class Reasoning(nn.Module):
    """CBR: the picture before and the sentence give a "hallucinated" picture like the picture after.

        z = MHSA(conv_a([X1; t]));   X^ = conv_b(z);   S = TM(W_q X^, W_k X2) · scale

    1 x 1 convolutions over cells; t (B, D) is repeated at every cell. No residual, norm or dropout; the
    attention has no biases. Source: the paper's equations 9 to 11; ``models/CBR.py``.
    """

    def __init__(self, config: ScorerConfig, preset: ScorerPreset) -> None:
        super().__init__()
        width = config.width
        self.mix = nn.Linear(2 * width, width)
        self.attention = MultiHeadAttention(width, config.heads, 0.0, projected=True, bias=False)
        self._draw_attention()
        self.shape = nn.Linear(width, width)
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)
        self.matching = TokenMatching(config, preset)

    def _draw_attention(self) -> None:
        """Initialise like torch's own multi-head attention, which the code uses. Queries, keys and values are
        one matrix (3D, D), drawn as such: U(−a, a), a = sqrt(6 / (3D + D)).
        """
        layers = (self.attention.query, self.attention.key, self.attention.value)
        joint = nn.init.xavier_uniform_(torch.cat([layer.weight.detach() for layer in layers]))
        with torch.no_grad():
            for layer, weight in zip(layers, joint.chunk(3), strict=True):
                layer.weight.copy_(weight)

    def forward(self, before: Tensor, after: Tensor, sentence: Tensor) -> QueryKey:
        """Cells X1, X2 (B, N, D), t (B, D) -> queries of the hallucinated picture, keys of the picture after.

        These linear steps are rearranged: t is projected once per pair, and the three matrices after the
        heads are one.
        """
        of_cells, of_words = self.mix.weight.chunk(2, dim=1)
        z = F.linear(before, of_cells, self.mix.bias) + F.linear(sentence, of_words)[:, None]  # (B, N, D)
        attention = self.attention
        read, _ = attention.of_heads(attention.project_queries(z), *attention.project_keys_values(z))
        assert attention.out is not None
        behind = self.query.weight @ self.shape.weight @ attention.out.weight
        queries = F.linear(read, behind, F.linear(self.shape.bias, self.query.weight, self.query.bias))
        return queries, self.key(after)
