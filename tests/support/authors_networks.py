"""The three methods as their authors' files lay them out: random weights under the authors' names, and plain
code that computes from them, after the methods' descriptions. Nothing here knows our modules.
"""

import math

import torch
from torch.nn import functional as F

PCL_WORDS = {  # ids in an order of their own; BOS is 1 and MASK 5, as the code has it
    **{"<PAD>": 0, "<BOS>": 1, "<UNK>": 2, "<EOS>": 3, "<CLS>": 4, "<MASK>": 5},
    **{"the": 6, "cube": 7, "red": 8, "a": 9, "moved": 10, "blue": 11, "ball": 12, "is": 13, "gone": 14},
}
SCORER_WORDS = {
    **{"<NULL>": 0, "<UNK>": 1, "<START>": 2, "<END>": 3},
    **{"the": 4, "cube": 5, "red": 6, "a": 7, "moved": 8, "blue": 9, "ball": 10, "is": 11, "gone": 12},
}


def random_state(shapes, seed, scale=0.5):
    """Normal numbers of these shapes; scales of normalisations lie around 1."""
    generator = torch.Generator().manual_seed(seed)
    state = {}
    for name, shape in shapes.items():
        state[name] = scale * torch.randn(shape, generator=generator)
        if name.endswith(
            ("a_2", "norm.weight", "norm1.weight", "norm2.weight", "LayerNorm.weight", "fc.2.weight")
        ) or (".ln_" in name and name.endswith("weight")):
            state[name] = 1 + 0.2 * state[name]
    return state


def linear(state, name, x):
    return x @ state[f"{name}.weight"].T + state[f"{name}.bias"]


def heads_of(x, heads):
    return x.unflatten(-1, (heads, -1)).transpose(-2, -3)


def attend(q, k, v, heads, allowed=None):
    q, k, v = (heads_of(part, heads) for part in (q, k, v))
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if allowed is not None:
        scores = scores.masked_fill(~allowed, -1e9)
    return (scores.softmax(-1) @ v).transpose(-2, -3).flatten(-2)


# PCL


def pcl_shapes(pretraining, width=16, ffn=24, features=24, cross=2):
    words = len(PCL_WORDS)
    shapes = {
        "word_embedding.weight": (words, width),
        "img_project.0.weight": (width, features),
        "img_project.0.bias": (width,),
        "position_encoding.type_pe.weight": (7, width),
        "position_encoding.layernorm.a_2": (width,),
        "position_encoding.layernorm.b_2": (width,),
        "output_layer.weight": (words, width),
        "output_layer.bias": (words,),
        "pooler.0.weight": (2, (3 if pretraining else 2) * width),
        "pooler.0.bias": (2,),
    }
    for stack, layers in (("single_img_encoder", 1), ("double_img_encoder", 1), ("encoder", cross)):
        shapes |= {f"{stack}.norm.a_2": (width,), f"{stack}.norm.b_2": (width,)}
        for i in range(layers):
            layer = f"{stack}.layers.{i}"
            for part in ("q_linear", "k_linear", "v_linear", "out"):
                shapes |= {
                    f"{layer}.attn.{part}.weight": (width, width),
                    f"{layer}.attn.{part}.bias": (width,),
                }
            shapes |= {
                f"{layer}.feed_forward.w_1.weight": (ffn, width),
                f"{layer}.feed_forward.w_1.bias": (ffn,),
            }
            shapes |= {
                f"{layer}.feed_forward.w_2.weight": (width, ffn),
                f"{layer}.feed_forward.w_2.bias": (width,),
            }
            for k in (0, 1):
                shapes |= {f"{layer}.sublayer.{k}.norm.{kind}": (width,) for kind in ("a_2", "b_2")}
    if pretraining:
        shapes |= {
            "feat_regress.bias": (features,),
            "feat_regress.net.0.weight": (width, width),
            "feat_regress.net.0.bias": (width,),
            "feat_regress.net.2.a_2": (width,),
            "feat_regress.net.2.b_2": (width,),
        }
    return shapes


def pcl_state(pretraining=False, seed=8, **sizes):
    """Weights so large that the words follow the pictures."""
    state = random_state(pcl_shapes(pretraining, **sizes), seed, scale=1.2)
    state["output_layer.bias"] *= 0.1
    width = state["word_embedding.weight"].shape[1]
    column, place = torch.arange(width), torch.arange(200)[:, None]
    angle = place / 10000 ** (2 * column / width)
    state["position_encoding.pe"] = torch.where(column % 2 == 0, angle.sin(), angle.cos())[None]
    if pretraining:
        state["feat_regress.weight"] = state["img_project.0.weight"]
    return state


def pcl_norm(state, name, x, eps=1e-6):
    centred = x - x.mean(-1, keepdim=True)
    return state[f"{name}.a_2"] * centred / (x.std(-1, keepdim=True) + eps) + state[f"{name}.b_2"]


def pcl_stack(state, name, x, heads, allowed=None):
    h = pcl_norm(state, f"{name}.norm", x)
    for i in range(sum(key.endswith("w_1.bias") and key.startswith(f"{name}.layers.") for key in state)):
        layer = f"{name}.layers.{i}"
        n = pcl_norm(state, f"{layer}.sublayer.0.norm", h)
        q, k, v = (linear(state, f"{layer}.attn.{part}_linear", n) for part in "qkv")
        h = h + linear(state, f"{layer}.attn.out", attend(q, k, v, heads, allowed))
        n = linear(state, f"{layer}.feed_forward.w_1", pcl_norm(state, f"{layer}.sublayer.1.norm", h)).relu()
        h = h + linear(state, f"{layer}.feed_forward.w_2", n)
    return h


def pcl_logits(state, before, after, ids, heads):
    """Word logits (B, L, V) when captioning, and those of the judge (B, 2). before, after: (B, N, F)."""
    words, types = state["word_embedding.weight"], state["position_encoding.type_pe.weight"]
    places = state["position_encoding.pe"][0]

    def embed(x):
        return pcl_norm(state, "position_encoding.layernorm", x, 1e-12)

    def special(kind):
        return embed(words[PCL_WORDS["<CLS>"]] + types[kind]).expand(len(before), 1, -1)

    pictures = []
    for k, features in enumerate((before, after)):
        patches = linear(state, "img_project.0", features).sigmoid() + types[2 + 2 * k]
        rows = torch.cat([special(1 + 2 * k), embed(patches + places[: features.shape[1]])], dim=1)
        pictures.append(pcl_stack(state, "single_img_encoder", rows, heads))
    images = pcl_stack(state, "double_img_encoder", torch.cat(pictures, dim=1), heads)
    text = embed(math.sqrt(words.shape[1]) * words[ids] + types[6] + places[: ids.shape[1]])
    count, total = images.shape[1], images.shape[1] + ids.shape[1]
    row, column = torch.arange(total)[:, None], torch.arange(total)
    allowed = (column < count) | ((row >= count) & (column <= row))
    out = pcl_stack(state, "encoder", torch.cat([images, text], dim=1), heads, allowed)
    judged = torch.cat([out[:, 0], out[:, before.shape[1] + 1]], dim=-1)
    return linear(state, "output_layer", out[:, count:]), linear(state, "pooler.0", judged)


def pcl_sentences(state, before, after, heads, length):
    """Greedy sentences: MASK at the end of the words so far; each step reads all again."""
    names = {number: word for word, number in PCL_WORDS.items()}
    ids = torch.full((len(before), 1), PCL_WORDS["<BOS>"])
    for _ in range(length - 1):
        asked = torch.cat([ids, torch.full((len(before), 1), PCL_WORDS["<MASK>"])], dim=1)
        ids = torch.cat(
            [ids, pcl_logits(state, before, after, asked, heads)[0][:, -1].argmax(-1)[:, None]], dim=1
        )
    return [" ".join(_until(row[1:].tolist(), PCL_WORDS["<EOS>"], names)) for row in ids]


def _until(ids, end, names):
    ids = ids[: ids.index(end)] if end in ids else ids
    return [names[number] for number in ids]


# SCORER


def scorer_shapes(width=16, word=6, features=24, grid=(3, 3), layers=2, decoder=2):
    words = len(SCORER_WORDS)
    detector = {
        "img.0.weight": (width, features + 2, 1, 1),
        "img.0.bias": (width,),
        "w_embedding.weight": (grid[1], width // 2),
        "h_embedding.weight": (grid[0], width // 2),
        "embed_fc.0.weight": (width, 2 * width),
        "embed_fc.0.bias": (width,),
    }
    for i in range(layers):
        part = f"scorer.{i}.attention"
        for name in ("query", "key", "value"):
            detector |= {f"{part}.{name}.weight": (width, width), f"{part}.{name}.bias": (width,)}
        detector |= {f"{part}.layer_norm.weight": (width,), f"{part}.layer_norm.bias": (width,)}
        detector[f"{part}.logit_scale"] = ()
    speaker = {
        "core.embed.weight": (words, word),
        "core.fc.0.weight": (width, word),
        "core.fc.0.bias": (width,),
        "core.fc.2.weight": (width,),
        "core.fc.2.bias": (width,),
        "logit.weight": (words, width),
        "logit.bias": (words,),
    }
    for i in range(decoder):
        for kind in ("self_attention", "dec_enc_attention"):
            for name in ("query", "key", "value"):
                part = f"core.layer.{i}.{kind}.{name}"
                speaker |= {f"{part}.weight": (width, width), f"{part}.bias": (width,)}
        for part in ("norm1", "norm2", "output.LayerNorm"):
            speaker |= {f"core.layer.{i}.{part}.{kind}": (width,) for kind in ("weight", "bias")}
        for part in ("hidden_intermediate.dense", "output.dense"):
            name = f"core.layer.{i}.{part}"
            speaker |= {f"{name}.weight": (width, width), f"{name}.bias": (width,)}
    return detector, speaker


def scorer_states(seed=4, **sizes):
    detector, speaker = scorer_shapes(**sizes)
    return random_state(detector, seed), random_state(speaker, seed + 1)


def scorer_logits(detector, speaker, before, after, ids, grid, heads):
    """Word logits (B, T, V) behind each of the ids. before, after: (B, N, F), cells row by row."""
    rows, columns = grid
    across = (2 * torch.arange(columns) / columns - 1).expand(rows, columns)
    down = (2 * torch.arange(rows) / rows - 1)[:, None].expand(rows, columns)
    places = torch.cat(
        [
            detector["w_embedding.weight"].expand(rows, columns, -1),
            detector["h_embedding.weight"][:, None].expand(rows, columns, -1),
        ],
        dim=-1,
    ).flatten(0, 1)
    cells = []
    for features in (before, after):
        maps = features.transpose(1, 2).unflatten(2, grid)  # (B, F, rows, columns)
        maps = torch.cat([maps, torch.stack([across, down]).expand(len(maps), -1, -1, -1)], dim=1)
        maps = F.conv2d(maps, detector["img.0.weight"], detector["img.0.bias"])
        cells.append(maps.flatten(2).transpose(1, 2) + places)
    a, b = cells
    for i in range(sum(name.endswith("logit_scale") for name in detector)):
        part = f"scorer.{i}.attention"

        def layer(x, y, part=part):
            q = linear(detector, f"{part}.query", x)
            read = attend(q, *(linear(detector, f"{part}.{name}", y) for name in ("key", "value")), heads)
            return layer_norm(detector, f"{part}.layer_norm", x + read, 1e-6)

        a, b = layer(a, b), layer(b, a)
    difference = linear(detector, "embed_fc.0", torch.cat([a, b], dim=-1)).relu()

    words = speaker["core.embed.weight"]
    width, length = words.shape[1], ids.shape[1]
    angle = torch.arange(length)[:, None] / 10000 ** (2 * (torch.arange(width) // 2) / width)
    waves = torch.where(torch.arange(width) % 2 == 0, angle.sin(), angle.cos())
    h = layer_norm(speaker, "core.fc.2", linear(speaker, "core.fc.0", words[ids] + waves), 1e-6)
    allowed = torch.ones(length, length).tril().bool()
    for i in range(sum(name.endswith("norm1.bias") for name in speaker)):
        part = f"core.layer.{i}"
        own = [linear(speaker, f"{part}.self_attention.{name}", h) for name in ("query", "key", "value")]
        h = layer_norm(speaker, f"{part}.norm1", h + attend(*own, heads, allowed), 1e-6)
        q = linear(speaker, f"{part}.dec_enc_attention.query", h)
        far = [linear(speaker, f"{part}.dec_enc_attention.{name}", difference) for name in ("key", "value")]
        h = layer_norm(speaker, f"{part}.norm2", h + attend(q, *far, heads), 1e-6)
        g = F.gelu(linear(speaker, f"{part}.hidden_intermediate.dense", h))
        h = layer_norm(
            speaker, f"{part}.output.LayerNorm", g + linear(speaker, f"{part}.output.dense", g), 1e-6
        )
    return linear(speaker, "logit", h)


def scorer_sentences(detector, speaker, before, after, grid, heads, length):
    """Greedy sentences of words and the end alone."""
    names = {number: word for word, number in SCORER_WORDS.items()}
    ids = torch.full((len(before), 1), SCORER_WORDS["<START>"])
    for _ in range(length - 1):
        logits = scorer_logits(detector, speaker, before, after, ids, grid, heads)[:, -1]
        logits[:, [SCORER_WORDS[mark] for mark in ("<NULL>", "<UNK>", "<START>")]] = -1e9
        ids = torch.cat([ids, logits.argmax(-1)[:, None]], dim=1)
    return [" ".join(_until(row[1:].tolist(), SCORER_WORDS["<END>"], names)) for row in ids]


def layer_norm(state, name, x, eps):
    return F.layer_norm(x, x.shape[-1:], state[f"{name}.weight"], state[f"{name}.bias"], eps)


# CLIP4IDC


def clip4idc_shapes(sizes, rows, patches, patch):
    """sizes: by the names of the recipe's keys. rows: of the word table. patches: of a picture."""
    width, text, joint, own = (sizes[key] for key in ("width", "text_width", "joint_width", "decoder_width"))
    shapes = {
        "clip.visual.conv1.weight": (width, 3, patch, patch),
        "clip.visual.class_embedding": (width,),
        "clip.visual.positional_embedding": (1 + patches, width),
        "clip.visual.bef_embedding": (width,),
        "clip.visual.aft_embedding": (width,),
        "clip.visual.joint_positional_embedding": (2 + 2 * patches, width),
        "clip.visual.proj": (width, joint),
        "clip.token_embedding.weight": (rows, text),
        "clip.positional_embedding": (sizes["context"], text),
        "clip.text_projection": (text, joint),
        "clip.logit_scale": (),
    }
    for name in ("ln_pre", "ln_mid", "ln_post"):
        shapes |= {f"clip.visual.{name}.{kind}": (width,) for kind in ("weight", "bias")}
    shapes |= {f"clip.ln_final.{kind}": (text,) for kind in ("weight", "bias")}
    towers = (
        ("clip.visual", sizes["intra_layers"] + sizes["inter_layers"], width, sizes["ffn"]),
        ("clip", sizes["text_layers"], text, sizes["text_ffn"]),
    )
    for tower, layers, size, ffn in towers:
        for i in range(layers):
            block = f"{tower}.transformer.resblocks.{i}"
            shapes |= {
                f"{block}.attn.in_proj_weight": (3 * size, size),
                f"{block}.attn.in_proj_bias": (3 * size,),
                f"{block}.attn.out_proj.weight": (size, size),
                f"{block}.attn.out_proj.bias": (size,),
                f"{block}.mlp.c_fc.weight": (ffn, size),
                f"{block}.mlp.c_fc.bias": (ffn,),
                f"{block}.mlp.c_proj.weight": (size, ffn),
                f"{block}.mlp.c_proj.bias": (size,),
            }
            shapes |= {
                f"{block}.{n}.{kind}": (size,) for n in ("ln_1", "ln_2") for kind in ("weight", "bias")
            }
    for side, kinds in (("encoder", ("slf_attn",)), ("decoder", ("slf_attn", "enc_attn"))):
        for i in range(sizes["decoder_layers"]):
            layer, ffn = f"decoder.{side}.layer.{i}", sizes["decoder_ffn"]
            for kind in kinds:
                dense = [f"{layer}.{kind}.att.{name}" for name in ("query", "key", "value")]
                for name in (*dense, f"{layer}.{kind}.output.dense"):
                    shapes |= {f"{name}.weight": (own, own), f"{name}.bias": (own,)}
                shapes |= {f"{layer}.{kind}.output.LayerNorm.{k}": (own,) for k in ("weight", "bias")}
            shapes |= {
                f"{layer}.intermediate.dense.weight": (ffn, own),
                f"{layer}.intermediate.dense.bias": (ffn,),
            }
            shapes |= {f"{layer}.output.dense.weight": (own, ffn), f"{layer}.output.dense.bias": (own,)}
            shapes |= {f"{layer}.output.LayerNorm.{k}": (own,) for k in ("weight", "bias")}
    head = "decoder.classifier.cls.predictions"
    shapes |= {f"decoder.embeddings.LayerNorm.{k}": (own,) for k in ("weight", "bias")}
    shapes |= {f"{head}.transform.dense.weight": (own, own), f"{head}.transform.dense.bias": (own,)}
    shapes |= {f"{head}.transform.LayerNorm.{k}": (own,) for k in ("weight", "bias")}
    return shapes | {f"{head}.bias": (rows,)}


def clip_block(state, block, x, heads):
    """CLIP's pre-norm block, quick GELU."""
    n = layer_norm(state, f"{block}.ln_1", x, 1e-5)
    qkv = n @ state[f"{block}.attn.in_proj_weight"].T + state[f"{block}.attn.in_proj_bias"]
    x = x + linear(state, f"{block}.attn.out_proj", attend(*qkv.chunk(3, dim=-1), heads))
    h = linear(state, f"{block}.mlp.c_fc", layer_norm(state, f"{block}.ln_2", x, 1e-5))
    return x + linear(state, f"{block}.mlp.c_proj", h * (1.702 * h).sigmoid())


def clip4idc_tokens(state, before, after, sizes):
    """H, the pair tokens (B, R, J). before, after: (B, 3, H, W), normalised."""
    visual, rows = "clip.visual", []
    kernel = state[f"{visual}.conv1.weight"]
    for picture in (before, after):
        x = F.conv2d(picture, kernel, stride=kernel.shape[-1]).flatten(2).transpose(1, 2)
        first = state[f"{visual}.class_embedding"].expand(len(x), 1, -1)
        x = torch.cat([first, x], dim=1) + state[f"{visual}.positional_embedding"]
        x = layer_norm(state, f"{visual}.ln_pre", x, 1e-5)
        for i in range(sizes["intra_layers"]):
            x = clip_block(state, f"{visual}.transformer.resblocks.{i}", x, sizes["heads"])
        rows.append(x)
    marked = [x + state[f"{visual}.{name}_embedding"] for x, name in zip(rows, ("bef", "aft"), strict=True)]
    y = torch.cat(marked, dim=1) + state[f"{visual}.joint_positional_embedding"]
    y = layer_norm(state, f"{visual}.ln_mid", y, 1e-5)
    for i in range(sizes["inter_layers"]):
        y = clip_block(
            state, f"{visual}.transformer.resblocks.{sizes['intra_layers'] + i}", y, sizes["heads"]
        )
    return layer_norm(state, f"{visual}.ln_post", y, 1e-5) @ state[f"{visual}.proj"]


def clip4idc_logits(state, tokens, ids, sizes):
    """Word logits (B, T, rows) behind each of CLIP's ids, from H."""
    heads = sizes["decoder_heads"]

    def attention(part, x, y, allowed=None):
        own = [linear(state, f"{part}.att.{n}", rows) for n, rows in (("query", x), ("key", y), ("value", y))]
        read = linear(state, f"{part}.output.dense", attend(*own, heads, allowed))
        return layer_norm(state, f"{part}.output.LayerNorm", x + read, 1e-12)

    def feed_forward(layer, x):
        h = linear(state, f"{layer}.output.dense", F.gelu(linear(state, f"{layer}.intermediate.dense", x)))
        return layer_norm(state, f"{layer}.output.LayerNorm", x + h, 1e-12)

    m, memories = tokens, []
    for i in range(sizes["decoder_layers"]):
        layer = f"decoder.encoder.layer.{i}"
        m = feed_forward(layer, attention(f"{layer}.slf_attn", m, m))
        memories.append(m)
    table, length = state["clip.token_embedding.weight"], ids.shape[1]
    d = table[ids] + state["clip.positional_embedding"][:length]
    d = layer_norm(state, "decoder.embeddings.LayerNorm", d, 1e-12)
    allowed = torch.ones(length, length).tril().bool()
    for i, memory in enumerate(memories):
        layer = f"decoder.decoder.layer.{i}"
        d = attention(f"{layer}.slf_attn", d, d, allowed)
        d = feed_forward(layer, attention(f"{layer}.enc_attn", d, memory))
    head = "decoder.classifier.cls.predictions"
    z = F.gelu(linear(state, f"{head}.transform.dense", d))
    return layer_norm(state, f"{head}.transform.LayerNorm", z, 1e-12) @ table.T + state[f"{head}.bias"]
