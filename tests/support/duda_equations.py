"""DUDA once more, from its equations alone: one pair, one cell, one gate at a time, each word anew.

Weights are a plain state dict; the code under test is not imported. Both readings of the method ("paper",
"authors") are written out where they differ. No dropout.
"""

import math

import torch

PAD, BOS, EOS = 0, 1, 2


def linear(W, name, x):
    return torch.stack([row @ x for row in W[f"{name}.weight"]]) + W[f"{name}.bias"]


def sigmoid(x):
    return 1 / (1 + (-x).exp())


def with_coordinates(f, rows, columns, preset):
    """Features of one picture (N, F), cell by cell."""
    if preset == "paper":
        return list(f)
    places = [(2 * j / columns - 1, 2 * i / rows - 1) for i in range(rows) for j in range(columns)]
    return [torch.cat([cell, cell.new_tensor(place)]) for cell, place in zip(f, places, strict=True)]


def group_norm(W, name, cells, groups):
    """Over the channels of a group in all cells of one picture."""
    size = len(cells[0]) // groups
    out = [torch.empty_like(cell) for cell in cells]
    for g in range(groups):
        part = range(g * size, (g + 1) * size)
        values = [cell[c] for cell in cells for c in part]
        mean = sum(values) / len(values)
        variance = sum((v - mean) ** 2 for v in values) / len(values)
        for n, cell in enumerate(cells):
            for c in part:
                scaled = (cell[c] - mean) / (variance + 1e-5) ** 0.5
                out[n][c] = W[f"{name}.weight"][c] * scaled + W[f"{name}.bias"][c]
    return out


def attention_map(W, X, D, groups, preset):
    """a(X), a list of N numbers."""
    z = [linear(W, "attend.mix", torch.cat([x, d])) for x, d in zip(X, D, strict=True)]
    if preset == "authors":
        z = group_norm(W, "attend.norm", z, groups)
    return [sigmoid(linear(W, "attend.score", cell.clamp(min=0)))[0] for cell in z]


def dual_attention(W, X1, X2, groups, preset):
    """l_bef, l_diff, l_aft and both maps of one pair."""
    D = [b - a for a, b in zip(X1, X2, strict=True)]
    a1, a2 = (attention_map(W, X, D, groups, preset) for X in (X1, X2))
    bef = sum(a * x for a, x in zip(a1, X1, strict=True))
    aft = sum(a * x for a, x in zip(a2, X2, strict=True))
    return bef, aft - bef, aft, a1, a2


def lstm(W, name, x, h, c):
    gates = linear({"g.weight": W[f"{name}.weight_ih"], "g.bias": W[f"{name}.bias_ih"]}, "g", x)
    gates = gates + linear({"g.weight": W[f"{name}.weight_hh"], "g.bias": W[f"{name}.bias_hh"]}, "g", h)
    D = len(h)
    i, f, g, o = (gates[k * D : (k + 1) * D] for k in range(4))
    c = sigmoid(f) * c + sigmoid(i) * g.tanh()
    return sigmoid(o) * c.tanh(), c


def softmax(scores):
    weights = (scores - scores.max()).exp()
    return weights / weights.sum()


def speaker(W, ids, bef, diff, aft, preset):
    """Logits and α behind each of the words ``ids``, from the first word on."""
    v = linear(W, "speaker.view", torch.cat([bef, diff, aft])).clamp(min=0)
    D = W["speaker.weigh.weight"].shape[1]
    h_d, c_d, h_c, c_c = (v.new_zeros(D) for _ in range(4))
    logits, alphas = [], []
    for word in ids:
        h_d, c_d = lstm(W, "speaker.attention", torch.cat([v, h_c]), h_d, c_d)
        alpha = softmax(linear(W, "speaker.weigh", h_d))
        dyn = alpha[0] * bef + alpha[1] * diff + alpha[2] * aft
        x = W["speaker.words.weight"][word]
        x = x.clamp(min=0) if preset == "authors" else x
        h_c, c_c = lstm(W, "speaker.language", torch.cat([x, dyn]), h_c, c_c)
        logits.append(linear(W, "speaker.output", h_c))
        alphas.append(alpha)
    return torch.stack(logits), torch.stack(alphas)


def losses(W, batch, grid, groups, preset, regularise="changed"):
    """caption, S and H of a batch, without their weights."""
    kinds = [range(len(batch.ids))]
    if batch.changed is not None:
        kinds = [[b for b in kinds[0] if batch.changed[b] == c] for c in (1, 0)]
    captions, covered, entropies = [], [], []
    for number, kind in enumerate(kinds):
        said = []
        for b in kind:
            X1, X2 = (with_coordinates(f[b], *grid, preset) for f in (batch.before, batch.after))
            bef, diff, aft, a1, a2 = dual_attention(W, X1, X2, groups, preset)
            ids = batch.ids[b].tolist()
            logits, alphas = speaker(W, ids[:-1], bef, diff, aft, preset)
            entropy = 0
            for t in range(len(ids) - 1):
                if ids[t + 1] != PAD:
                    said.append(-torch.log(softmax(logits[t])[ids[t + 1]]))
                    entropy = entropy - sum(a * torch.log(a) for a in alphas[t])
            if number == 0 or regularise == "all":
                covered.append((sum(a1) + sum(a2)) / 2)
                entropies.append(entropy)
        captions.append(sum(said) / len(said))
    return (
        sum(captions) / len(captions),
        sum(covered) / len(covered),
        sum(entropies) / len(entropies),
    )


def greedy(W, f1, f2, grid, groups, preset, length, banned):
    """Ids of one pair, BOS first, everything computed anew for each word; and the maps behind each word."""
    X1, X2 = (with_coordinates(f, *grid, preset) for f in (f1, f2))
    bef, diff, aft, a1, a2 = dual_attention(W, X1, X2, groups, preset)
    ids, maps = [BOS], []
    for t in range(length - 1):
        logits, alphas = speaker(W, ids, bef, diff, aft, preset)
        last = logits[-1].clone()
        last[banned] = -math.inf
        if t == 0:
            last[EOS] = -math.inf
        ids.append(int(last.argmax()))
        b, d, a = alphas[-1]
        shares = [(b + d / 2) * torch.stack(a1) / sum(a1), (a + d / 2) * torch.stack(a2) / sum(a2)]
        maps.append(torch.stack(shares).view(2, *grid))
    return ids, torch.stack(maps)
