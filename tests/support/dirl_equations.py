"""DIRL + CCR once more, from its equations alone: one pair, one head, one token at a time, nothing cached.

Weights are a plain state dict; the code under test is not imported. The three readings of the method
("paper", "authors_dc", "authors_change") are written out where they differ. No dropout.
"""

import math

import torch

PAD, BOS = 0, 1


def linear(W, name, x):
    return x @ W[f"{name}.weight"].T + W[f"{name}.bias"]


def ln(W, name, x):
    mean = x.mean(-1, keepdim=True)
    variance = ((x - mean) ** 2).mean(-1, keepdim=True)
    return W[f"{name}.weight"] * (x - mean) / (variance + 1e-5) ** 0.5 + W[f"{name}.bias"]


def softmax(scores):
    weights = (scores - scores.max(-1, keepdim=True)[0]).exp()
    return weights / weights.sum(-1, keepdim=True)


def attention(W, name, x, y, h, readable=None):
    """Rows x (T, D) read rows y (S, D): readable(t) are the rows that row t may read; all without it.

    Also the mean probabilities (T, S).
    """
    q, k, v = (linear(W, f"{name}.{part}", z) for part, z in (("query", x), ("key", y), ("value", y)))
    d, parts, looked = x.shape[1] // h, [], 0
    for head in range(h):
        part, rows = slice(head * d, (head + 1) * d), []
        for t in range(len(x)):
            seen = list(range(len(y))) if readable is None else readable(t)
            p = softmax(torch.stack([q[t, part] @ k[s, part] / math.sqrt(d) for s in seen]))
            row = p.new_zeros(len(y))
            row[seen] = p
            rows.append(row)
        p = torch.stack(rows)
        parts.append(p @ v[:, part])
        looked = looked + p / h
    return linear(W, f"{name}.out", torch.cat(parts, 1)), looked


def tokens(W, f, rows, columns, preset):
    """Features of one picture (N, F), cell by cell -> t (N, D)."""
    out = []
    for i in range(rows):
        for j in range(columns):
            cell = f[columns * i + j]
            if preset == "authors_change":
                cell = torch.cat([cell, cell.new_tensor([2 * j / columns - 1, 2 * i / rows - 1])])
            place = torch.cat([W["column_places.weight"][j], W["row_places.weight"][i]])
            out.append(linear(W, "project", cell) + place)
    return torch.stack(out)


def memory(W, t1, t2, layers, h, preset):
    """M (N, D) of one pair."""
    u1, u2 = t1, t2
    for n in range(layers):
        read = [attention(W, f"layers.{n}.attention", x, y, h)[0] for x, y in ((u1, u2), (u2, u1))]
        u1, u2 = (ln(W, f"layers.{n}.norm", x + r) for x, r in zip((u1, u2), read, strict=True))
    fused = linear(W, "fuse", torch.cat([t1 - u1, t2 - u2], 1))
    if preset == "authors_dc":
        fused = ln(W, "fuse_norm", fused)
    return fused.clamp(min=0)


def decoder(W, ids, M, layers, h, preset):
    """States (T, D) of the words ``ids``, the last layer's t and v, and its attention to the cells."""
    rows, width = [], W["decoder.words.weight"].shape[1]
    for t, i in enumerate(ids):
        wave = []
        for c in range(0, width, 2):
            wave += [math.sin(t / 10000 ** (c / width)), math.cos(t / 10000 ** (c / width))]
        rows.append(W["decoder.words.weight"][i] + torch.tensor(wave, dtype=M.dtype))
    x = linear(W, "decoder.widen", torch.stack(rows))
    if preset != "authors_change":
        x = ln(W, "decoder.norm", x)
    for n in range(layers):
        at = f"decoder.layers.{n}"
        read, _ = attention(W, f"{at}.own", x, x, h, lambda t: [s for s in range(t + 1) if ids[s] != PAD])
        t = ln(W, f"{at}.own_norm", x + read)
        read, looked = attention(W, f"{at}.cross", t, M, h)
        v = ln(W, f"{at}.cross_norm", t + read)
        inner = linear(W, f"{at}.ffn_in", v).clamp(min=0)
        x = ln(W, f"{at}.ffn_norm", v + linear(W, f"{at}.ffn_out", inner))
    return x, t, v, looked


def correlation_loss(Y1, Y2, preset, epsilon=0.0, weight=0.003):
    """Rows (R, D), one channel with one channel at a time."""
    R, D = Y1.shape
    loss = 0
    for i in range(D):
        for j in range(D):
            a, b = Y1[:, i] - Y1[:, i].sum() / R, Y2[:, j] - Y2[:, j].sum() / R
            below = R if preset == "paper" else R - 1
            c = (a * b).sum() / R / ((a @ a / below + epsilon) * (b @ b / below + epsilon)) ** 0.5
            loss = loss + ((c - 1) ** 2 if i == j else weight * c**2)
    return loss


def nce(S):
    return -sum(torch.log(softmax(S[i])[i]) for i in range(len(S))) / len(S)


def ccr_loss(T, V, preset, tau=0.5):
    B = len(T)
    S = torch.stack([torch.stack([T[i] @ V[j] / tau for j in range(B)]) for i in range(B)])
    if preset == "paper":
        return (nce(S) + nce(S.T)) / 2
    return nce(torch.stack([torch.stack([(S[i, j] + S[j, i]) / 2 for j in range(B)]) for i in range(B)]))


def losses(W, batch, grid, layers, decoder_layers, h, preset, pooling, epsilon):
    """caption, L_dirl and L_ccr of a batch, without their weights."""
    kinds = [range(len(batch.ids))]
    if batch.changed is not None:
        kinds = [[b for b in kinds[0] if batch.changed[b] == c] for c in (1, 0)]
    terms = []
    for kind in kinds:
        said, Y1, Y2, T, V = [], [], [], [], []
        for b in kind:
            t1, t2 = (tokens(W, f[b], *grid, preset) for f in (batch.before, batch.after))
            ids = batch.ids[b].tolist()
            M = memory(W, t1, t2, layers, h, preset)
            states, t, v, _ = decoder(W, ids, M, decoder_layers, h, preset)
            for p in range(len(ids) - 1):
                if ids[p + 1] != PAD:
                    said.append(-torch.log(softmax(linear(W, "decoder.output", states[p]))[ids[p + 1]]))
            counted = [p for p in range(len(ids)) if pooling == "all" or ids[p] != PAD]
            T.append(sum(t[p] for p in counted) / len(counted))
            V.append(sum(v[p] for p in counted) / len(counted))
            for rows, own in ((Y1, t1), (Y2, t2)):
                rows.append(linear(W, "projector.3", linear(W, "projector.0", own).clamp(min=0)))
        dirl = correlation_loss(torch.cat(Y1), torch.cat(Y2), preset, epsilon)
        terms.append((sum(said) / len(said), dirl, ccr_loss(T, V, preset)))
    return [sum(parts) / len(parts) for parts in zip(*terms, strict=True)]


def greedy(W, f1, f2, grid, layers, decoder_layers, h, preset, length, banned):
    """Ids of one pair, BOS first, everything computed anew for each word; and the maps behind each word."""
    M = memory(W, *(tokens(W, f, *grid, preset) for f in (f1, f2)), layers, h, preset)
    ids, maps = [BOS], []
    for _ in range(length - 1):
        states, _, _, looked = decoder(W, ids, M, decoder_layers, h, preset)
        logits = linear(W, "decoder.output", states[-1])
        logits[banned] = -math.inf
        ids.append(int(logits.argmax()))
        maps.append(looked[-1])
    return ids, torch.stack(maps)
