"""Our values beside those that the reference package itself computes, in one run with its Java (slow).

BLEU, ROUGE-L and CIDEr-D agree to 1e-9, METEOR to the digits it prints (ours, and the program that we call as
a check), on real annotations and on every odd case of ``docs/evaluation.md``; the tokeniser agrees on every
real sentence at hand.
"""

import contextlib
import io
import json
import os
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from whatchanged.errors import MetricUnavailable
from whatchanged.evaluation.metrics import java
from whatchanged.evaluation.metrics.bleu import bleu, statistics
from whatchanged.evaluation.metrics.cider import cider_d
from whatchanged.evaluation.metrics.meteor import meteor, program
from whatchanged.evaluation.metrics.meteor import statistics as meteor_statistics
from whatchanged.evaluation.metrics.ngrams import count
from whatchanged.evaluation.metrics.ptb import ptb
from whatchanged.evaluation.metrics.rouge import rouge_l

pytestmark = pytest.mark.slow

ANNOTATIONS = Path(__file__).resolve().parents[3] / "../shared/data/annotations"
WORDS = [
    "the",
    "a",
    "red",
    "blue",
    "cube",
    "ball",
    "moved",
    "is",
    "gone",
    "there",
    "no",
    "change",
    "left",
    "of",
    "café",
    "赤い",
    "isn't",
    "don't",
    "(new)",
    "3.5",
]
LINE_BREAKS = ["\r", "\x0b", "\x0c", "\x85", "\u2028", "\u2029"]


@pytest.fixture(scope="module", autouse=True)
def package(tmp_path_factory):
    """The reference package, importable, with the Java that ours finds as the ``java`` it calls."""
    pytest.importorskip("pycocoevalcap", reason="the extra eval is not installed")
    try:
        path = java.find_java("the reference package")
    except MetricUnavailable as missing:
        pytest.skip(str(missing))
    folder = tmp_path_factory.mktemp("bin")
    (folder / "java").symlink_to(path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
        yield


def reference_words(captions):
    """The reference tokeniser's words of captions without line breaks."""
    from pycocoevalcap.tokenizer.ptbtokenizer import PTBTokenizer

    with pytest.warns(ResourceWarning) if sys.flags.dev_mode else contextlib.nullcontext():
        words = PTBTokenizer().tokenize({i: [{"caption": c}] for i, c in enumerate(captions)})
    return [words[i][0] for i in range(len(captions))]


def reference_scores(candidates, references):
    """(7 values of the corpus, (7, P) of the pairs): BLEU-1..4, ROUGE-L, CIDEr-D."""
    from pycocoevalcap.bleu.bleu import Bleu
    from pycocoevalcap.cider.cider import Cider
    from pycocoevalcap.rouge.rouge import Rouge

    gts = {i: list(own) for i, own in enumerate(references)}
    res = {i: [candidate] for i, candidate in enumerate(candidates)}
    with contextlib.redirect_stdout(io.StringIO()):
        precision, precisions = Bleu(4).compute_score(gts, res)
    longest, own_longest = Rouge().compute_score(gts, res)
    consensus, own_consensus = Cider().compute_score(gts, res)
    return [*precision, longest, consensus], [*precisions, own_longest, own_consensus]


def our_scores(candidates, references):
    corpus = count(candidates, references)
    counts, rouge, cider = statistics(corpus), rouge_l(corpus), cider_d(corpus)
    return [*bleu(counts.sum(axis=0)), rouge.mean(), cider.mean()], [*bleu(counts).T, rouge, cider]


def spot_the_diff():
    """Real annotations as predictions of each other: the first sentence against the pair's other ones."""
    if not ANNOTATIONS.is_dir():
        pytest.skip("no ../shared/data/annotations")
    several = [
        entry["sentences"]
        for entry in json.loads((ANNOTATIONS / "spot_the_diff/test.json").read_text(encoding="utf-8"))
        if len(entry["sentences"]) > 1
    ]
    return [own[0] for own in several], [own[1:] for own in several]


def published_predictions():
    """What the data set's authors' model said of the test pairs, against all sentences."""
    folder = ANNOTATIONS / "spot_the_diff"
    if not folder.is_dir():
        pytest.skip("no ../shared/data/annotations")
    said = {p["image_id"]: p["caption"] for p in json.loads((folder / "ddla_predfile.json").read_text())}
    own = {i: [] for i in said}
    for entry in json.loads((folder / "ddla_gtfile.json").read_text())["annotations"]:
        own[entry["image_id"]].append(entry["caption"])
    return list(said.values()), list(own.values())


def random_captions():
    draw = random.Random(7)

    def sentence():
        return " ".join(draw.choices(WORDS, k=draw.randint(0, 12)))

    return [sentence() for _ in range(300)], [
        [sentence() for _ in range(draw.randint(1, 6))] for _ in range(300)
    ]


REFERENCES = [
    ["the big red cube changed to blue", "the red metal block turned blue"],
    ["there is no change", "the scene remains the same"],
    ["the small green sphere has disappeared", "the green ball is gone", "someone removed the green ball"],
]
CANDIDATES = ["the red cube turned blue", "there is no change", "the small green ball is missing"]


def one_changed(candidate=None, own=None):
    candidates = [CANDIDATES[0] if candidate is None else candidate, *CANDIDATES[1:]]
    return candidates, [REFERENCES[0] if own is None else own, *REFERENCES[1:]]


CORPORA = {
    "three pairs": (CANDIDATES, REFERENCES),
    "random captions": random_captions(),
    "an empty candidate": one_changed(""),
    "only empty candidates": ([""] * 3, REFERENCES),
    "one word": one_changed("cube"),
    "one word, right": one_changed("cube", ["cube"]),
    "two words": one_changed("red cube"),
    "a repeated reference": one_changed(None, REFERENCES[0][:1] * 3),
    "an empty reference beside others": one_changed(None, [*REFERENCES[0], ""]),
    "only an empty reference": one_changed(None, [""]),
    "nothing against nothing": one_changed("", [""]),
    "one word again and again": one_changed("the the the the"),
    "capitals and a full stop": one_changed("The RED cube turned blue."),
    "double blanks": one_changed("the red  cube turned blue"),
    "bars": one_changed("the red ||| cube turned blue"),
    "other scripts": (
        ["La voiture a été déplacée", "赤い 立方体 が 消え た", "Straße İstanbul ΣΑΣ", "naïve 😀 cube"],
        [
            ["la voiture a été déplacée à gauche"],
            ["赤い 立方体 が 動い た"],
            ["STRASSE istanbul σας"],
            ["naive cube"],
        ],
    ),
    "one pair": (CANDIDATES[:1], REFERENCES[:1]),
    "twice the same pair": (["no change"] * 2, [["no change"]] * 2),
}
REAL = {"Spot-the-Diff against itself": spot_the_diff, "Spot-the-Diff's own model": published_predictions}


@pytest.fixture(scope="module")
def corpora(package):
    """Name to (candidates, references) after the reference tokeniser, which must equal ours."""
    if not ANNOTATIONS.is_dir():
        pytest.skip("no ../shared/data/annotations")
    raw = {**CORPORA, **{name: read() for name, read in REAL.items()}}
    texts = list({t: None for c, r in raw.values() for t in [*c, *(s for own in r for s in own)]})
    words = dict(zip(texts, reference_words(texts), strict=True))
    assert {t: ptb(t) for t in texts} == words
    return {
        name: ([words[c] for c in cs], [[words[r] for r in own] for own in rs])
        for name, (cs, rs) in raw.items()
    }


@pytest.mark.parametrize("name", [*CORPORA, *REAL])
def test_bleu_rouge_cider(corpora, name):
    whole, pairs = our_scores(*corpora[name])
    wanted, wanted_pairs = reference_scores(*corpora[name])
    np.testing.assert_allclose(whole, wanted, rtol=1e-9, atol=1e-15)
    # The package's CIDEr leaves 1e-15 where ours is 0.
    np.testing.assert_allclose(pairs, wanted_pairs, rtol=1e-9, atol=1e-13)


@pytest.fixture(scope="module")
def reference_meteor(package):
    from pycocoevalcap.meteor.meteor import Meteor

    scorer = Meteor()
    yield scorer
    scorer.meteor_p.stdin.close()
    scorer.meteor_p.wait(20)
    for pipe in (scorer.meteor_p.stdout, scorer.meteor_p.stderr):
        pipe.close()
    Meteor.__del__ = lambda self: None


@pytest.fixture(scope="module")
def as_one_corpus(corpora):
    """The captions of all corpora, and the references of each."""
    return (
        [c for candidates, _ in corpora.values() for c in candidates],
        [own for _, references in corpora.values() for own in references],
    )


@pytest.fixture(scope="module")
def our_meteor(as_one_corpus):
    """The statistics of all corpora, as one corpus."""
    return meteor_statistics(*as_one_corpus)


@pytest.fixture(scope="module")
def programs_meteor(as_one_corpus):
    """The same from the program that we call."""
    with pytest.MonkeyPatch.context() as patch:
        # A decimal comma must not reach the program.
        patch.setenv("JAVA_TOOL_OPTIONS", "-Duser.language=de -Duser.country=DE")
        return program.statistics(*as_one_corpus)


def test_meteors_statistics_are_the_programs(as_one_corpus, our_meteor, programs_meteor):
    different = np.flatnonzero((our_meteor != programs_meteor).any(axis=1))
    assert not [(as_one_corpus[0][i], as_one_corpus[1][i]) for i in different]
    assert len(our_meteor) > 2000 and our_meteor[:, 4:20].any(axis=0).sum() >= 14


@pytest.mark.parametrize("name", [*CORPORA, *REAL])
def test_meteor(corpora, our_meteor, reference_meteor, name):
    names = list(corpora)
    start = sum(len(corpora[n][0]) for n in names[: names.index(name)])
    candidates, references = corpora[name]
    own = our_meteor[start : start + len(candidates)]
    wanted, wanted_pairs = reference_meteor.compute_score(
        dict(enumerate(references)), {i: [c] for i, c in enumerate(candidates)}
    )
    # Both print and parse all digits of a double; sums of products differ in the last one.
    np.testing.assert_allclose(meteor(own.sum(axis=0)), wanted, rtol=1e-13)
    np.testing.assert_allclose(meteor(own), wanted_pairs, rtol=1e-13, atol=0)


def test_the_tokeniser_on_every_real_sentence():
    texts: dict[str, None] = {}

    def collect(value):
        if isinstance(value, str):
            texts[" ".join(value.split("\n"))] = None
        elif isinstance(value, list | dict):
            for part in value.values() if isinstance(value, dict) else value:
                collect(part)

    if not ANNOTATIONS.is_dir():
        pytest.skip("no ../shared/data/annotations")
    for path in sorted(ANNOTATIONS.rglob("*.json*")):
        content = path.read_text(encoding="utf-8")
        for part in content.splitlines() if path.suffix == ".jsonl" else [content]:
            collect(json.loads(part))
    captions = [t for t in texts if not set(t) & set(LINE_BREAKS)]
    assert len(captions) > 60_000
    different = {
        t: (ptb(t), java_words)
        for t, java_words in zip(captions, reference_words(captions), strict=True)
        if ptb(t) != java_words
    }
    assert not different


@pytest.mark.parametrize("line_break", LINE_BREAKS)
def test_line_breaks_shift_the_reference_packages_captions_but_not_ours(line_break):
    from pycocoevalcap.tokenizer.ptbtokenizer import PTBTokenizer

    captions = {0: [{"caption": f"the cube{line_break}moved"}], 1: [{"caption": "no change"}]}
    theirs = PTBTokenizer().tokenize(captions)
    ours = [ptb(captions[i][0]["caption"]) for i in (0, 1)]
    assert ours == reference_words(["the cube moved", "no change"])
    # U+0085 is an ellipsis to it, which goes like all punctuation.
    assert ([theirs[0], theirs[1]] == [[ours[0]], [ours[1]]]) == (line_break == "\x85")


def test_the_tokeniser_on_random_printable_strings():
    draw = random.Random(3)
    printable = [chr(c) for c in range(32, 127)]
    texts = ["".join(draw.choices(printable, k=draw.randint(1, 30))) for _ in range(5000)]
    different = [t for t, words in zip(texts, reference_words(texts), strict=True) if ptb(t) != words]
    assert len(different) <= 5, different


def test_no_process_is_left(programs_meteor):
    listed = subprocess.run(["ps", "-eo", "ppid,args"], capture_output=True, text=True, check=True).stdout
    mine = [line for line in listed.splitlines() if line.split()[0] == str(os.getpid())]
    assert sum("meteor-1.5.jar" in line for line in mine) <= 1  # the reference package's own


def test_meteors_words_on_random_strings():
    """The program's own class beside ours, on marks, abbreviations and letters of several scripts."""
    from whatchanged.evaluation.metrics.meteor.tables import JAR, read_tables
    from whatchanged.evaluation.metrics.meteor.words import one_line, words

    draw = random.Random(5)
    pieces = [
        *map(chr, range(32, 127)),
        *"éÀßжЯ赤’‘“”–—…\u00a0\u2009İΣ",
        *[" "] * 40,
        *["the", "The", "s"] * 6,
    ]
    pieces += [
        "Mr.",
        "No.",
        "U.S.",
        "e.g.",
        "3.5",
        "2,000",
        "...",
        "..",
        "'s",
        "''",
        "DOTMULTI",
        "DOTDOTMULTI.",
    ]
    texts = [one_line("".join(draw.choices(pieces, k=draw.randint(1, 25)))) for _ in range(10_000)]
    jar = java.reference_package("METEOR") / "meteor" / JAR
    flags = ("-Dfile.encoding=UTF-8", "-Dstdout.encoding=UTF-8", "-cp", str(jar))
    printed = subprocess.run(
        ["java", *flags, "edu.cmu.meteor.util.Normalizer", "en", "true"],
        input="\n".join(texts) + "\n",
        capture_output=True,
        encoding="utf-8",
        check=True,
    ).stdout.split("\n")
    abbreviations = read_tables().abbreviations
    different = [
        (text, theirs)
        for text, theirs in zip(texts, printed[:-1], strict=True)
        if words(text, abbreviations) != theirs.lower().split()
    ]
    assert not different
