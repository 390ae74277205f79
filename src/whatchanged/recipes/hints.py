"""Guesses the intended word for an unknown word. The guess is the nearest known word, or this package's term
for another program's word.
"""

import difflib
from collections.abc import Collection, Mapping

OTHER_WORDS: Mapping[str, str] = {
    "learning_rate": "lr",
    "rate": "lr",
    "batch_size": "batch",
    "max_steps": "steps",
    "iterations": "steps",
    "scheduler": "schedule",
    "warmup_steps": "warmup",
    "eval_every": "evaluate_every",
    "log_interval": "log_every",
    "save_interval": "save_every",
    "clip": "max_grad_norm",
    "grad_clip": "max_grad_norm",
    "gradient_clip": "max_grad_norm",
    "early_stopping": "patience",
    "dtype": "precision",
    "survey": "scene_context",
    "vary": "augment",
    "d_model": "width",
    "hidden_size": "width",
    "num_heads": "heads",
    "patch_size": "patch",
    "seeing": "detection",
    "pcl-birds": "pcl-cross-task",
}
"""A mapping from words of other programs and of earlier versions to this package's setting, task or method of
equal meaning.
"""

MOVED: Mapping[str, str] = {
    "method.guided_attention": 'It is vision.guided_attention now, with vision.kind = "objects".',
    "vision.scene_truth": 'It is gone: vision.kind = "objects" learns from the truth of scenes.',
}
"""A mapping from moved settings of earlier versions to the present keys of these settings."""


def nearest(word: str, known: Collection[str]) -> str:
    """Return the nearest known word, as the end of a message. If no known word is near, return all known
    words.
    """
    other = OTHER_WORDS.get(word)
    close = [other] if other in known else difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)
    return f" Did you mean {close[0]}?" if close else f" Known: {', '.join(known)}."
