"""PCL once more, from its equations alone: one sample, one head at a time, nothing batched or cached.

Weights are a dict of tensors under the paper's symbols, made by ``symbols`` from a state dict; the code under
test is not imported. Both readings of the method ("paper", "authors") are written out where they differ.
"""

import math

import torch
from torch.nn.functional import normalize

PAD, BOS, EOS, UNK, CLS, MASK = range(6)


def symbols(state):
    """State dict -> the paper's symbols."""
    W = {
        "E": state["embed.words.weight"],
        "S": state.get("embed.specials.weight"),
        "type": state["embed.types.weight"],
        "W_v": state["embed.project.weight"],
        "b_v": state["embed.project.bias"],
        "LN_e": (state["embed.norm.weight"], state["embed.norm.bias"]),
        "out": (state["output.weight"], state["output.bias"]),
        "reg": (state["regressor.net.0.weight"], state["regressor.net.0.bias"]),
        "LN_r": (state["regressor.net.2.weight"], state["regressor.net.2.bias"]),
        "b_r": state["regressor.bias"],
        "dis": (state["distractor.weight"], state["distractor.bias"]),
    }
    for symbol, name in (("sing", "single"), ("pair", "pair"), ("cross", "cross")):
        W[symbol] = {"LN_in": pair(state, f"{name}.entry_norm"), "blocks": []}
        while f"{name}.blocks.{len(W[symbol]['blocks'])}.ffn.0.weight" in state:
            at = f"{name}.blocks.{len(W[symbol]['blocks'])}"
            W[symbol]["blocks"].append(
                {
                    "LN_a": pair(state, f"{at}.attention_norm"),
                    "LN_f": pair(state, f"{at}.ffn_norm"),
                    "q": pair(state, f"{at}.attention.query"),
                    "k": pair(state, f"{at}.attention.key"),
                    "v": pair(state, f"{at}.attention.value"),
                    "o": pair(state, f"{at}.attention.out"),
                    "W1": pair(state, f"{at}.ffn.0"),
                    "W2": pair(state, f"{at}.ffn.3"),
                }
            )
    return W


def pair(state, name):
    return state[f"{name}.weight"], state[f"{name}.bias"]


def pe(p, d, preset):
    row = []
    for i in range(0, d, 2):
        if preset == "authors":
            row += [math.sin(p / 10000 ** (2 * i / d)), math.cos(p / 10000 ** (2 * (i + 1) / d))]
        else:
            row += [math.sin(p / 10000 ** (i / d)), math.cos(p / 10000 ** (i / d))]
    return torch.tensor(row, dtype=torch.float64)


def ln(x, gb, eps, preset):
    g, b = gb
    n = x.shape[-1]
    mean = sum(x[..., i] for i in range(n)) / n
    deviations = x - mean[..., None]
    if preset == "authors":
        std = ((deviations**2).sum(-1) / (n - 1)) ** 0.5 + eps
    else:
        std = ((deviations**2).sum(-1) / n + 1e-5) ** 0.5
    return g * deviations / std[..., None] + b


def linear(x, wb):
    return x @ wb[0].T + wb[1]


def mha(x, block, h, may_read):
    d = x.shape[1]
    q, k, v = (linear(x, block[name]) for name in "qkv")
    heads = []
    for head in range(h):
        part = slice(head * d // h, (head + 1) * d // h)
        scores = q[:, part] @ k[:, part].T / math.sqrt(d // h)
        if may_read is not None:
            scores = torch.where(may_read, scores, torch.tensor(-1e9, dtype=scores.dtype))
        weights = scores.exp() if scores.abs().max() < 50 else (scores - scores.max(1, keepdim=True)[0]).exp()
        heads.append(weights / weights.sum(1, keepdim=True) @ v[:, part])
    return linear(torch.cat(heads, 1), block["o"])


def stack(x, S, h, preset, may_read=None):
    x = ln(x, S["LN_in"], 1e-6, preset)
    for block in S["blocks"]:
        x = x + mha(ln(x, block["LN_a"], 1e-6, preset), block, h, may_read)
        x = x + linear(linear(ln(x, block["LN_f"], 1e-6, preset), block["W1"]).clamp(min=0), block["W2"])
    return x


def special(W, which, preset):
    """which: 1 [IMG1], 2 [IMG2], 3 [CLS]."""
    d = W["E"].shape[1]
    if preset == "authors":
        e = W["E"][CLS] + W["type"][{1: 1, 2: 3, 3: 5}[which]]
    else:
        e = W["S"][which - 1] + W["type"][which - 1] + pe(0, d, preset)
    return ln(e, W["LN_e"], 1e-12, preset)


def image_tokens(W, f, image, preset):
    d, rows = W["E"].shape[1], [special(W, image, preset)]
    for p in range(len(f)):
        projected = W["W_v"] @ f[p] + W["b_v"]
        if preset == "authors":
            e = 1 / (1 + torch.exp(-projected)) + W["type"][2 * image] + pe(p, d, preset)
        else:
            e = projected + W["type"][image - 1] + pe(p + 1, d, preset)
        rows.append(ln(e, W["LN_e"], 1e-12, preset))
    return torch.stack(rows)


def text_tokens(W, ids, preset):
    d, rows = W["E"].shape[1], []
    for t, i in enumerate(ids):
        if preset == "authors":
            e = math.sqrt(d) * W["E"][i] + W["type"][6] + pe(t, d, preset)
        else:
            e = W["E"][i] + W["type"][2] + pe(t + 1, d, preset)
        rows.append(ln(e, W["LN_e"], 1e-12, preset))
    return torch.stack(rows)


def single(W, f, image, h, preset):
    return stack(image_tokens(W, f, image, preset), W["sing"], h, preset)


def difference(W, f1, f2, h, preset):
    return stack(torch.cat([single(W, f1, 1, h, preset), single(W, f2, 2, h, preset)]), W["pair"], h, preset)


def pretraining(W, f1, f2, ids, clean, h, preset):
    """All rows of F_cross: images, [CLS], text; everybody reads everybody, in ``paper`` pads excepted."""
    x = torch.cat(
        [difference(W, f1, f2, h, preset), special(W, 3, preset)[None], text_tokens(W, ids, preset)]
    )
    may_read = torch.ones(len(x), len(x), dtype=torch.bool)
    if preset == "paper":
        for t, i in enumerate(clean):
            may_read[:, len(x) - len(clean) + t] = i != PAD
    return stack(x, W["cross"], h, preset, may_read)


def finetuning(W, f1, f2, ids, h, preset):
    images = difference(W, f1, f2, h, preset)
    x = (
        [images]
        + ([special(W, 3, preset)[None]] if preset == "paper" else [])
        + [text_tokens(W, ids, preset)]
    )
    x = torch.cat(x)
    may_read = torch.zeros(len(x), len(x), dtype=torch.bool)
    for row in range(len(x)):
        for column in range(len(x)):
            if row < len(images):
                may_read[row, column] = column < len(images)
            else:
                may_read[row, column] = column < len(images) or column <= row
    return stack(x, W["cross"], h, preset, may_read)


def ce(logits, label):
    return torch.logsumexp(logits, 0) - logits[label]


def cos(a, b):
    return normalize(a, dim=0) @ normalize(b, dim=0)


def word_losses(W, rows, labels):
    """Cross entropies at the labelled text positions; the text rows stand last."""
    first = len(rows) - len(labels)
    return [
        ce(linear(rows[first + t], W["out"]), label) for t, label in enumerate(labels.tolist()) if label >= 0
    ]


def mlm(W, f1, f2, inputs, labels, clean, h, preset):
    losses = []
    for b in range(len(f1)):
        losses += word_losses(W, pretraining(W, f1[b], f2[b], inputs[b], clean[b], h, preset), labels[b])
    return sum(losses) / len(losses)


def mvcl(W, f1, f2, ids, hidden1, hidden2, h, preset, t1=1.0):
    regressed, original, masked = [], [], []
    for b in range(len(f1)):
        g1, g2 = f1[b].clone(), f2[b].clone()
        g1[hidden1[b]], g2[hidden2[b]] = 0, 0
        rows, n = pretraining(W, g1, g2, ids[b], ids[b], h, preset), len(g1)
        for image, (clean, hidden) in enumerate(((f1[b], hidden1[b]), (f2[b], hidden2[b]))):
            for p in range(n):
                z = linear(rows[image * (n + 1) + 1 + p], W["reg"])
                z = z * 0.5 * (1 + torch.erf(z / math.sqrt(2)))
                regressed.append(W["W_v"].T @ ln(z, W["LN_r"], 1e-12, preset) + W["b_r"])
                original.append(clean[p])
                masked.append(bool(hidden[p]))
    M = [i for i, m in enumerate(masked) if m]
    U = [i for i, m in enumerate(masked) if not m]
    total = 0
    for i in M:
        positive = torch.exp(cos(regressed[i], original[i]) / t1)
        if preset == "authors":
            below = sum(torch.exp(cos(regressed[i], original[j]) / t1) for j in M)
            below += sum(torch.exp(cos(regressed[i], regressed[u]) / t1) for u in U)
        else:
            below = positive + sum(torch.exp(cos(regressed[i], original[u]) / t1) for u in U)
        total -= torch.log(positive / below)
    return total / len(M)


def fda(W, f1, f2, texts, h, preset, t2=1.0):
    """texts: (B, K+1, L), the true one first."""
    total = 0
    for b in range(len(f1)):
        s = []
        for ids in texts[b]:
            rows, n = pretraining(W, f1[b], f2[b], ids, ids, h, preset), len(f1[b])
            s.append(cos((rows[0] + rows[n + 1]) / 2, rows[2 * n + 2]))
        total -= torch.log(torch.exp(s[0] / t2) / sum(torch.exp(x / t2) for x in s))
    return total / len(f1)


def captioning(W, f1, f2, inputs, labels, changed, h, preset):
    words, judged = 0, 0
    for b in range(len(f1)):
        rows, n = finetuning(W, f1[b], f2[b], inputs[b], h, preset), len(f1[b])
        words += sum(word_losses(W, rows, labels[b]))
        judged += ce(linear(torch.cat([rows[0], rows[n + 1]]), W["dis"]), int(changed[b]))
    return words, judged


def greedy(W, f1, f2, L, h, preset):
    g = [BOS]
    for _ in range(1, L):
        rows = finetuning(W, f1, f2, torch.tensor([*g, MASK]), h, preset)
        g.append(int(linear(rows[-1], W["out"]).argmax()))
    return g
