"""CLIP4IDC written once more, as plainly as its equations: one pair, one row, one head at a time, in float64.

``W`` is a state dictionary. Nothing here comes from the package but the names of its tensors.
"""

import math

import torch


def layer_norm(W, name, x, eps):
    rows = []
    for row in x:
        centred = row - row.sum() / len(row)
        variance = (centred * centred).sum() / len(row)
        rows.append(centred / math.sqrt(variance + eps) * W[f"{name}.weight"] + W[f"{name}.bias"])
    return torch.stack(rows)


def linear(W, name, x):
    bias = W.get(f"{name}.bias", 0.0)
    return torch.stack([W[f"{name}.weight"] @ row for row in x]) + bias


def attend(W, name, x, other, heads, causal=False):
    """softmax(q k / sqrt(k)) v, head by head; a row of ``causal`` reads those up to itself."""
    query, key, value = (
        linear(W, f"{name}.{part}", rows) for part, rows in (("query", x), ("key", other), ("value", other))
    )
    size = query.shape[1] // heads
    out = torch.zeros_like(query)
    for head in range(heads):
        own = slice(head * size, (head + 1) * size)
        for t in range(len(x)):
            last = t + 1 if causal else len(other)
            scores = [float(query[t, own] @ key[s, own]) / math.sqrt(size) for s in range(last)]
            top = max(scores)
            weights = [math.exp(score - top) for score in scores]
            for s in range(last):
                out[t, own] += weights[s] / sum(weights) * value[s, own]
    return linear(W, f"{name}.out", out)


def quick_gelu(x):
    return x / (1 + torch.exp(-1.702 * x))


def exact_gelu(x):
    return 0.5 * x * (1 + torch.erf(x / math.sqrt(2)))


def pre_norm_block(W, name, x, heads, causal=False):
    normed = layer_norm(W, f"{name}.attention_norm", x, 1e-5)
    x = x + attend(W, f"{name}.attention", normed, normed, heads, causal)
    normed = layer_norm(W, f"{name}.ffn_norm", x, 1e-5)
    return x + linear(W, f"{name}.shrink", quick_gelu(linear(W, f"{name}.grow", normed)))


def patches_of(picture, p):
    """A picture (3, H, W) -> its squares row by row, each (3, p, p)."""
    _, height, width = picture.shape
    return [
        picture[:, top : top + p, left : left + p]
        for top in range(0, height, p)
        for left in range(0, width, p)
    ]


def pair_tokens(W, before, after, p, heads, intra, inter, preset):
    """H (R, J) of one pair of normalised pictures."""
    halves = []
    for k, picture in enumerate((before, after)):
        rows = [W["pair.class_token"]]
        for square in patches_of(picture, p):
            kernel = W["pair.patches.weight"].reshape(-1, 3, p, p)
            rows.append(torch.stack([(kernel[c] * square).sum() for c in range(len(kernel))]))
        x = layer_norm(W, "pair.entry_norm", torch.stack(rows) + W["pair.positions"], 1e-5)
        for i in range(intra):
            x = pre_norm_block(W, f"pair.intra.{i}", x, heads)
        if inter:
            x = x + W["pair.sides"][k] + W["pair.side_positions"][k]
        halves.append(x)
    y = torch.cat(halves)
    if inter and preset == "authors":
        y = layer_norm(W, "pair.mid_norm", y, 1e-5)
    for i in range(inter):
        y = pre_norm_block(W, f"pair.inter.{i}", y, heads)
    return linear(W, "pair.project", layer_norm(W, "pair.exit_norm", y, 1e-5))


def tower(W, words, heads, layers):
    """CLIP's language encoder on embedded words (T, D), before its projection."""
    for i in range(layers):
        words = pre_norm_block(W, f"text.blocks.{i}", words, heads, causal=True)
    return layer_norm(W, "text.exit_norm", words, 1e-5)


def text_vector(W, ids, end, heads, layers):
    """g of one caption, padding and all."""
    words = torch.stack([W["words.weight"][i] for i in ids]) + W["text_positions"][: len(ids)]
    rows = linear(W, "text.project", tower(W, words, heads, layers))
    return rows[list(ids).index(end)]


def contrastive(captions, pairs, scale, preset):
    """Both directions' cross entropies, averaged or added."""
    unit = [[row / math.sqrt(float(row @ row)) for row in rows] for rows in (captions, pairs)]
    S = [[scale * float(g @ v) for v in unit[1]] for g in unit[0]]
    count, total = len(S), 0.0
    for matrix in (S, [list(column) for column in zip(*S, strict=True)]):
        total += (
            -sum(matrix[i][i] - math.log(sum(math.exp(s) for s in matrix[i])) for i in range(count)) / count
        )
    return total / 2 if preset == "authors" else total


def post_norm(W, name, x, update):
    return layer_norm(W, f"{name}.norm", x + update, 1e-12)


def feed(W, name, x):
    return post_norm(W, name, x, linear(W, f"{name}.net.2", exact_gelu(linear(W, f"{name}.net.0", x))))


def memories(W, H, heads, layers):
    """m_1 .. m_L of the captioner's encoder."""
    m = linear(W, "captioner.widen", H) if "captioner.widen.weight" in W else H
    results = []
    for i in range(layers):
        at = f"captioner.encoder.{i}"
        m = post_norm(W, f"{at}.self_attention", m, attend(W, f"{at}.self_attention.attention", m, m, heads))
        m = feed(W, f"{at}.feed_forward", m)
        results.append(m)
    return results


def word_logits(W, H, ids, heads, layers, preset, variant, text_heads, text_layers):
    """Logits (T, rows) of the words that follow each of ``ids``."""
    own = "captioner.words.weight" in W
    table = W["captioner.words.weight"] if own else W["words.weight"]
    places = W["captioner.positions"] if own else W["text_positions"]
    e = torch.stack([table[i] for i in ids]) + places[: len(ids)]
    if variant == "ft1":
        e = tower(W, e, text_heads, text_layers)
    d = layer_norm(W, "captioner.entry_norm", e, 1e-12)
    found = memories(W, H, heads, layers)
    for i in range(layers):
        m = found[i] if preset == "authors" else found[-1]
        at = f"captioner.decoder.{i}"
        read = attend(W, f"{at}.self_attention.attention", d, d, heads, causal=True)
        d = post_norm(W, f"{at}.self_attention", d, read)
        d = post_norm(
            W, f"{at}.cross_attention", d, attend(W, f"{at}.cross_attention.attention", d, m, heads)
        )
        d = feed(W, f"{at}.feed_forward", d)
    z = layer_norm(W, "captioner.transform_norm", exact_gelu(linear(W, "captioner.transform", d)), 1e-12)
    return z @ table.T + W["captioner.bias"]


def caption_loss(logits, ids, pad):
    """Mean over the real words behind the first, of many captions together: [(logits, ids)] -> one number."""
    losses = []
    for rows, row in zip(logits, ids, strict=True):
        for t, word in enumerate(row[1:]):
            if word != pad:
                losses.append(float(torch.logsumexp(rows[t], 0) - rows[t, word]))
    return sum(losses) / len(losses)
