"""The evaluation corpus of the benchmarks: 7,970 pairs, 6 references each, in the CLEVR world's language.

    python -m benchmarks.speed.corpus [--scenes 3985] [--seed 0] OUT

This writes ``references.json`` (COCO style) and ``predictions.jsonl`` into the folder OUT. As in the test
split of CLEVR-Change, each scene gives a pair with a change and one without. The seed determines everything.
"""

import argparse
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from whatchanged.synth.clevr.sampling import sample_triple
from whatchanged.worlds.clevr.language import NO_CHANGE, write_captions

SCENES = 3985
REFERENCES = 6
CONFUSED = 0.25
"""Share of predictions that are true of another pair: a captioner is not always right."""


@dataclass(frozen=True)
class CaptionCorpus:
    ids: tuple[str, ...]
    candidates: tuple[str, ...]
    references: tuple[tuple[str, ...], ...]


def make(scenes: int = SCENES, seed: int = 0) -> CaptionCorpus:
    """Two pairs a scene, 6 true sentences each; about 15 ms a scene."""
    rng = np.random.default_rng((seed, scenes))
    ids, sentences = [], []
    for index in range(scenes):
        for ending, (before, after, change) in zip(
            ("", "_n"), sample_triple(seed, index).pairs(), strict=True
        ):
            written: list[str] = []
            while len(written) <= REFERENCES:
                written += write_captions(before, after, change, rng)
            ids.append(f"{index:06d}.png{ending}")
            sentences.append(tuple(written[: REFERENCES + 1]))
    said = [
        own[-1] if rng.random() >= CONFUSED else sentences[rng.integers(len(ids))][-1] for own in sentences
    ]
    return CaptionCorpus(tuple(ids), tuple(said), tuple(own[:REFERENCES] for own in sentences))


def write(corpus: CaptionCorpus, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    annotations = [
        {"id": 10 * i + j, "image_id": pair, "caption": reference}
        for i, (pair, own) in enumerate(zip(corpus.ids, corpus.references, strict=True))
        for j, reference in enumerate(own)
    ]
    images = [{"id": pair, "filename": pair} for pair in corpus.ids]
    references = {"type": "captions", "images": images, "annotations": annotations}
    (folder / "references.json").write_text(json.dumps(references), encoding="utf-8")
    lines = (json.dumps({"id": i, "caption": c}) for i, c in zip(corpus.ids, corpus.candidates, strict=True))
    (folder / "predictions.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


def read(folder: Path) -> CaptionCorpus:
    lines = (folder / "predictions.jsonl").read_text(encoding="utf-8").splitlines()
    said = {entry["id"]: entry["caption"] for entry in map(json.loads, lines)}
    own: dict[str, list[str]] = {pair: [] for pair in said}
    for entry in json.loads((folder / "references.json").read_text(encoding="utf-8"))["annotations"]:
        own[entry["image_id"]].append(entry["caption"])
    return CaptionCorpus(tuple(said), tuple(said.values()), tuple(map(tuple, own.values())))


def describe(corpus: CaptionCorpus) -> str:
    references = [r for own in corpus.references for r in own]
    words = sum(len(r.split()) for r in references) / len(references)
    same = sum(r in NO_CHANGE for r in references)
    return (
        f"{len(corpus.ids):,} pairs, {len(references):,} references of {words:.1f} words, "
        f"{len({*references, *corpus.candidates}):,} different sentences, {same:,} references say 'no change'"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path)
    parser.add_argument("--scenes", type=int, default=SCENES)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    corpus = make(options.scenes, options.seed)
    write(corpus, options.out)
    print(describe(corpus))


if __name__ == "__main__":
    main()
