"""A small plan for the learning curves, and settings that make their recipes tiny."""

from support.tiny_run import TINY, make_run
from whatchanged.launch import Launch
from whatchanged.training.features.store import store_tokens

_CLIP4IDC = (
    *TINY,
    "method.dropout=0.2",
    "stage.caption.batch=8",
    "stage.caption.precision=fp32",
    "method.text_width=16",
    "method.joint_width=16",
    "method.decoder_width=16",
    "method.decoder_heads=2",
)
_PCL = (*TINY, "method.dropout=0.2", "stage.caption.batch=8", "stage.caption.precision=fp32")
SETTINGS = {
    "clip4idc": (
        *_CLIP4IDC,
        "method.text_heads=2",
        "stage.retrieval.batch=8",
        "stage.retrieval.precision=fp32",
    ),
    "clip4idc-ft1": (*_CLIP4IDC, "method.text_heads=2"),
    "clip4idc-ft2": _CLIP4IDC,
    "scorer": (
        *(setting for setting in TINY if not setting.startswith("method.ffn")),
        "method.dropout=0.2",
        "method.word_width=16",
        "stage.train.batch=8",
        "stage.train.precision=fp32",
    ),
    "duda": (
        *(setting for setting in TINY if not setting.startswith("method.")),
        *(f"method.{part}_width=16" for part in ("attention", "view", "hidden", "word")),
        "method.norm_groups=4",
        "method.dropout=0.2",
        "stage.train.batch=8",
        "stage.train.precision=fp32",
    ),
    "dirl": (
        *TINY,
        "method.dropout=0.2",
        "method.word_width=16",
        "method.projector_width=16",
        "stage.train.batch=8",
        "stage.train.precision=fp32",
    ),
    "pcl": (*_PCL, "stage.pretrain.batch=8", "stage.pretrain.precision=fp32", "method.negatives=3"),
    "pcl-table4-1-none": _PCL,
}
"""Row, or method -> settings that make its recipe tiny."""


def tiny_settings(row):
    """Settings that make a row's recipe tiny."""
    own = SETTINGS.get(row, SETTINGS[row.partition("-")[0]])
    without_fda = row in ("pcl-table4-2-mlm", "pcl-table4-3-mlm-mvcl")
    return tuple(setting for setting in own if not (without_fda and "negatives" in setting))


def make_places(tiny_pool, folder):
    """A random vision, the pool's tokens as it makes them, and twelve drawn scenes."""
    from whatchanged.synth.clevr.twin import write_twin

    see = make_run(folder / "see", "clevr-see", TINY)
    store_tokens(see, tiny_pool, folder / "tokens", 2, Launch("cpu", quiet=True))
    write_twin(folder / "val", 12, 5, (96, 64))
    return {"vision": str(see), "pool": tiny_pool, "tokens": folder / "tokens", "val": folder / "val"}


def make_plan(learning_run, places, out):
    """A plan whose runs are of 96 pairs with a point each 32, tested where they are validated."""
    numbers = {"pairs": 96, "every": 32, "resamples": 20}
    return learning_run.Plan(
        out=out, **places, **numbers, tests={"near": places["val"]}, data={"drawn": "small"}
    )
