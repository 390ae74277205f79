"""SCORER once more, from its equations alone: one pair, one head, one token at a time, nothing cached.

Weights are a plain state dict; the code under test is not imported. Both readings of the method ("paper",
"authors", and "repaired", the latter's two mistakes mended) are written out where they differ. No dropout.
"""

import math

import torch

PAD, BOS, EOS = 0, 1, 2


def linear(W, name, x):
    return x @ W[f"{name}.weight"].T + W.get(f"{name}.bias", 0)


def ln(W, name, x):
    mean = x.mean(-1, keepdim=True)
    variance = ((x - mean) ** 2).mean(-1, keepdim=True)
    return W[f"{name}.weight"] * (x - mean) / (variance + 1e-6) ** 0.5 + W[f"{name}.bias"]


def softmax(scores):
    weights = (scores - scores.max(-1, keepdim=True)[0]).exp()
    return weights / weights.sum(-1, keepdim=True)


def attention(W, name, x, y, h, projected, causal=False):
    """Rows x (T, D) read rows y (S, D); per head, then side by side. Also the mean probabilities (T, S)."""
    q, k, v = linear(W, f"{name}.query", x), linear(W, f"{name}.key", y), linear(W, f"{name}.value", y)
    d, parts, looked = x.shape[1] // h, [], 0
    for head in range(h):
        part = slice(head * d, (head + 1) * d)
        rows = []
        for t in range(len(x)):
            seen = t + 1 if causal else len(y)
            p = softmax(torch.stack([q[t, part] @ k[s, part] / math.sqrt(d) for s in range(seen)]))
            rows.append(torch.cat([p, p.new_zeros(len(y) - seen)]))
        p = torch.stack(rows)
        parts.append(p @ v[:, part])
        looked = looked + p / h
    out = torch.cat(parts, 1)
    return (linear(W, f"{name}.out", out) if projected else out), looked


def tokens(W, f, rows, columns, preset):
    """Features of one picture (N, F), cell by cell -> X (N, D)."""
    out = []
    for i in range(rows):
        for j in range(columns):
            cell = f[columns * i + j]
            if preset != "paper":
                cell = torch.cat([cell, cell.new_tensor([2 * j / columns - 1, 2 * i / rows - 1])])
            place = torch.cat([W["column_places.weight"][j], W["row_places.weight"][i]])
            out.append(linear(W, "project", cell) + place)
    return torch.stack(out)


def difference(W, x1, x2, layers, h, preset):
    """X1, X2 (N, D) of one pair -> D, and the queries and keys of both directions for matching."""
    if not layers:
        return linear(W, "fuse", x2 - x1).clamp(min=0), None
    a, b, asked = x1, x2, []
    for n in range(layers):
        at = f"layers.{n}.attention"
        asked.append([(linear(W, f"{at}.query", x), linear(W, f"{at}.key", y)) for x, y in ((a, b), (b, a))])
        read = [attention(W, at, x, y, h, preset == "paper")[0] for x, y in ((a, b), (b, a))]
        a, b = ln(W, f"layers.{n}.norm", a + read[0]), ln(W, f"layers.{n}.norm", b + read[1])
    D = linear(W, "fuse", torch.cat([a, b], 1)).clamp(min=0)
    return D, asked[0 if preset == "paper" else -1]


def matching(queries, keys, h, preset, scale):
    """Lists over the batch of (N, D) -> (B, B)."""
    rows = []
    for q in queries:
        row = []
        for k in keys:
            total, heads = 0, h if preset == "paper" else 1
            d = q.shape[1] // heads
            for head in range(heads):
                s = q[:, head * d : (head + 1) * d] @ k[:, head * d : (head + 1) * d].T
                forth = sum(max(line) for line in s) / len(s)
                back = sum(max(line) for line in s.T) / len(s.T)
                total = total + (forth + back) / 2
            row.append(total * scale)
        rows.append(torch.stack(row))
    return torch.stack(rows)


def nce(S):
    return -sum(torch.log(softmax(S[i])[i]) for i in range(len(S))) / len(S)


def decoder(W, ids, D, layers, h, preset):
    """States (T, D) behind each of the words ``ids``, and the last layer's attention to the cells."""
    h_rows, width = [], W["decoder.words.weight"].shape[1]
    for t, i in enumerate(ids):
        wave = []
        for c in range(0, width, 2):
            wave += [math.sin(t / 10000 ** (c / width)), math.cos(t / 10000 ** (c / width))]
        h_rows.append(W["decoder.words.weight"][i] + torch.tensor(wave, dtype=D.dtype))
    x = ln(W, "decoder.norm", linear(W, "decoder.widen", torch.stack(h_rows)))
    looked = None
    for n in range(layers):
        at, projected = f"decoder.layers.{n}", preset == "paper"
        x = ln(W, f"{at}.own_norm", x + attention(W, f"{at}.own", x, x, h, projected, causal=True)[0])
        read, looked = attention(W, f"{at}.cross", x, D, h, projected)
        x = ln(W, f"{at}.cross_norm", x + read)
        z = linear(W, f"{at}.ffn_in", x)
        g = z * 0.5 * (1 + torch.erf(z / math.sqrt(2)))
        x = ln(W, f"{at}.ffn_norm", (x if preset == "paper" else g) + linear(W, f"{at}.ffn_out", g))
    return x, looked


def hallucination(W, x1, states, ids, h, preset):
    """The picture promised by X1 and the sentence's states (L, D)."""
    words = [t for t, i in enumerate(ids) if i != PAD]
    t = sum(states[p] for p in words) / (len(ids) if preset == "authors" else len(words))
    z = torch.stack([linear(W, "reasoning.mix", torch.cat([cell, t])) for cell in x1])
    return linear(W, "reasoning.shape", attention(W, "reasoning.attention", z, z, h, projected=True)[0])


def scale(W, name, preset, tau):
    return 1 / tau if preset == "paper" else torch.exp(W[f"{name}.matching.log_scale"])


def losses(W, batch, grid, layers, decoder_layers, h, preset, tau=1.0):
    """caption, view and reason of a batch, without their weights; view is None for subtraction."""
    kinds = [list(range(len(batch.ids)))]
    if preset != "paper":
        kinds = [[b for b in kinds[0] if batch.changed[b] == c] for c in (1, 0)]
    terms = []
    for kind in kinds:
        said, asked, second, promised = [], [], [], []
        for b in kind:
            x1, x2 = (tokens(W, f[b], *grid, preset) for f in (batch.before, batch.after))
            D, found = difference(W, x1, x2, layers, h, preset)
            ids = batch.ids[b].tolist()
            states, _ = decoder(W, ids, D, decoder_layers, h, preset)
            for t in range(len(ids) - 1):
                if ids[t + 1] != PAD:
                    said.append(-torch.log(softmax(linear(W, "decoder.output", states[t]))[ids[t + 1]]))
            promised.append(linear(W, "reasoning.query", hallucination(W, x1, states, ids, h, preset)))
            second.append(linear(W, "reasoning.key", x2))
            asked.append(found)
        view = None
        if layers:
            matched = f"layers.{0 if preset == 'paper' else layers - 1}"
            sides = [
                matching(
                    [f[s][0] for f in asked],
                    [f[s][1] for f in asked],
                    h,
                    preset,
                    scale(W, matched, preset, tau),
                )
                for s in (0, 1)
            ]
            view = (nce(sides[0]) + nce(sides[1])) / 2
        S = matching(promised, second, h, preset, scale(W, "reasoning", preset, tau))
        terms.append((sum(said) / len(said), view, (nce(S) + nce(S.T)) / 2))
    return [None if parts[0] is None else sum(parts) / len(parts) for parts in zip(*terms, strict=True)]


def greedy(W, f1, f2, grid, layers, decoder_layers, h, preset, length, banned):
    """Ids of one pair, BOS first, everything computed anew for each word; and the maps behind each word."""
    D, _ = difference(W, *(tokens(W, f, *grid, preset) for f in (f1, f2)), layers, h, preset)
    ids, maps = [BOS], []
    for _ in range(length - 1):
        states, looked = decoder(W, ids, D, decoder_layers, h, preset)
        logits = linear(W, "decoder.output", states[-1])
        logits[banned] = -math.inf
        ids.append(int(logits.argmax()))
        maps.append(looked[-1])
    return ids, torch.stack(maps)
