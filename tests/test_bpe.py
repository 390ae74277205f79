"""CLIP's pieces: against the published ids, and against the tokenizers library on any merges and text."""

import gzip
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whatchanged.bpe import (
    ALPHABET,
    MERGES,
    BPEVocabulary,
    from_json,
    from_merges,
    parts,
    read_merges,
    to_json,
)
from whatchanged.errors import DatasetError
from whatchanged.vocabulary import BOS, EOS, PAD, SPECIALS, Vocabulary, padded

PATTERN = r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"
SMALL = ("t h", "th e</w>", "i s</w>", "c h", "a n", "an g", "th e", "e</w> x", "Ã ¤", "' s</w>", "! !</w>")
PUBLISHED = {
    "there is no change": [997, 533, 871, 1799],
    "the scene is the same as before": [518, 3562, 533, 518, 2208, 601, 1348],
    "the small red metal cylinder has disappeared": [518, 2442, 736, 4044, 22092, 791, 23139],
    "a photo of a cat": [320, 1125, 539, 320, 2368],
    "!": [256],
}


def clips_ids(vocabulary, text):
    """CLIP's own ids of a text, without start and end."""
    return [i - 6 for i in vocabulary.word_ids(text)]


def library(merges):
    """CLIP's tokeniser made of the tokenizers library's parts."""
    tokenizers = pytest.importorskip(
        "tokenizers", reason="tokenizers is not installed; it is the other opinion"
    )
    entries = [
        *ALPHABET,
        *(sign + "</w>" for sign in ALPHABET),
        *(merge.replace(" ", "") for merge in merges),
    ]
    model = tokenizers.models.BPE(
        {entry: i for i, entry in enumerate(entries)},
        [tuple(merge.split(" ")) for merge in merges],
        continuing_subword_prefix="",
        end_of_word_suffix="</w>",
        fuse_unk=False,
    )
    made = tokenizers.Tokenizer(model)
    pre, regex = tokenizers.pre_tokenizers, tokenizers.Regex(PATTERN)
    made.pre_tokenizer = pre.Sequence(
        [
            pre.Split(regex, behavior="removed", invert=True),
            pre.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    return made


NEEDED = Path(__file__).parent / "clip_merges.txt"
"""Of CLIP's merges (OpenAI, MIT) those that could join two pieces of a word above, each behind its rank."""


def published(entry, ranks):
    """CLIP's id of one of ours, where only the merges of these ranks are known: 512 + rank, or a byte's."""
    piece = entry - len(SPECIALS)
    return piece if piece < 512 else 512 + ranks[piece - 512]


def test_published_ids():
    lines = [line.partition(" ") for line in NEEDED.read_text(encoding="utf-8").splitlines()]
    ranks, merges = [int(rank) for rank, _, _ in lines], [merge for _, _, merge in lines]
    vocabulary = from_merges(merges)
    for text, ids in PUBLISHED.items():
        (row,) = padded([vocabulary.sentence(text, 29)], 32)
        assert [published(i, ranks) for i in row[1 : row.index(EOS)]] == ids
        assert vocabulary.text(row) == text


def test_the_table_is_as_large_as_clips():
    """With CLIP's number of merges, whatever they join: 49,408 rows, start and end last."""
    signs = [sign for sign in ALPHABET if sign.isalpha()]
    names = (f"{a} {b}{c}{d}" for a in signs for b in signs for c in signs for d in signs[:1])
    vocabulary = from_merges(list(islice(names, MERGES)))
    assert (len(vocabulary), max(vocabulary.table_rows)) == (49_412, 49_407)
    assert (vocabulary.table_rows[BOS], vocabulary.table_rows[EOS]) == (49_406, 49_407)


@settings(max_examples=300)
@given(st.text(st.characters(exclude_categories=("Cs", "Cn"), exclude_characters="ſ&"), max_size=30))
def test_any_text_becomes_what_the_library_makes_of_it(text):
    """Of signs that both versions of Unicode know; cleaning is for the test after the next."""
    vocabulary, other = from_merges(SMALL), library(SMALL)
    clean = text.strip().lower()
    assert clips_ids(vocabulary, text) == other.encode(clean, add_special_tokens=False).ids


@given(st.lists(st.sampled_from(["a", "b", "ab", "ba", "abb"]), max_size=8), st.integers(0, 2**32))
def test_merges_apply_earliest_first_wherever_they_stand(words, seed):
    import random

    draw, known, merges = random.Random(seed), ["a", "b", "a</w>", "b</w>"], []
    for _ in range(6):
        first = draw.choice([piece for piece in known if not piece.endswith("</w>")])
        second = draw.choice(known)
        if first + second not in known:
            merges.append(f"{first} {second}")
            known.append(first + second)
    text = " ".join(words)
    assert clips_ids(from_merges(merges), text) == library(merges).encode(text, add_special_tokens=False).ids


def test_the_text_is_cleaned_first():
    tidy = from_merges(SMALL)
    assert tidy.word_ids("  The\n\tCHANGE &amp;amp; \u00a0more ") == tidy.word_ids("the change & more")


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("it's 42!? we'll", ["it", "'s", "4", "2", "!?", "we", "'ll"]),
        ("--'s ünder_score", ["--'", "s", "ünder", "_", "score"]),
        ("", []),
    ],
)
def test_what_is_merged_on_its_own(text, wanted):
    assert list(parts(text)) == wanted


def test_ids_are_cut_ended_and_padded_like_words():
    vocabulary = from_merges(SMALL)
    the = vocabulary.sentence("the")
    assert the == [BOS, vocabulary.entries.index("the</w>"), EOS]
    cut = vocabulary.sentence("a b c d e f g", 3)
    assert cut == [BOS, *vocabulary.word_ids("a b c"), EOS]
    assert padded([the, cut]) == [[*the, PAD, PAD], cut] and padded([the], 6) == [[*the, PAD, PAD, PAD]]


@given(st.lists(st.sampled_from(["the", "change", "is", "ä", "!", "7", "a's", "日本", "naïve"]), max_size=9))
def test_text_comes_back_with_each_part_on_its_own(words):
    vocabulary = from_merges(SMALL)
    text = " ".join(words)
    assert vocabulary.text(vocabulary.sentence(text, 197)) == " ".join(parts(text))


def test_what_follows_the_end_is_not_text():
    """Early stop or not: the ids of a caption, its end and anything behind give the caption."""
    vocabulary = from_merges(SMALL)
    ids = vocabulary.sentence("the change")
    assert vocabulary.text([*ids[: ids.index(EOS) + 1], 17, 18]) == "the change"


def test_clips_start_and_end_stand_last_in_its_table():
    vocabulary = from_merges(SMALL)
    rows = vocabulary.table_rows
    count = 512 + len(SMALL)
    assert len(rows) == len(vocabulary) == count + 6
    assert (rows[BOS], rows[EOS], rows[PAD]) == (count, count + 1, 0) and rows[6:] == list(range(count))


@pytest.mark.parametrize("zipped", [False, True])
def test_a_merges_file_is_read_without_head_and_tail(zipped, tmp_path):
    path = tmp_path / "merges"
    more = [*SMALL, *(f"{ALPHABET[i % 200]}{ALPHABET[i // 200]} x" for i in range(MERGES))]
    data = ("#version: 0.2\n" + "\n".join(more) + "\n").encode()
    path.write_bytes(gzip.compress(data) if zipped else data)
    assert read_merges(path).merges == tuple(more[:MERGES])
    path.write_text("#version: 0.2\n" + "\n".join(SMALL) + "\n")
    assert read_merges(path).merges == SMALL


@pytest.mark.parametrize(
    "content", [None, b"\x1f\x8b broken", b"head\nno merge at all here\n", b"\xff\xfe\xff\n\xff"]
)
def test_other_files_are_named_and_the_cure_is_said(content, tmp_path):
    path = tmp_path / "merges.txt"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(
        DatasetError, match=r"merges\.txt: no merges can be read here .*bpe_simple_vocab_16e6"
    ):
        read_merges(path)


@pytest.mark.parametrize("vocabulary", [from_merges(SMALL), Vocabulary.from_captions(["a b"])], ids=type)
def test_what_is_kept_as_json_comes_back(vocabulary):
    import json

    back = from_json(json.loads(json.dumps(to_json(vocabulary))))
    assert back == vocabulary and type(back) is type(vocabulary)
    assert isinstance(back, BPEVocabulary) == bool(getattr(vocabulary, "merges", ()))


@pytest.mark.parametrize(
    ("merges", "message"),
    [
        (["t h e"], "each merge is two pieces"),
        (["t \u4e2d"], "'t \u4e2d' holds a sign that stands for no byte"),
        (["t h", "t h"], "names each word once"),
        (["a b"] * (MERGES + 1), "48,895 merges; CLIP's are 48,894"),
    ],
)
def test_merges_that_are_none(merges, message):
    with pytest.raises(ValueError, match=message):
        from_json({"merges": merges})


def test_pieces_are_told_word_by_word():
    vocabulary = from_merges(SMALL)
    ids = vocabulary.sentence("the change ä")
    spoken = vocabulary.words(ids)
    assert [word for word, _ in spoken] == ["the", "change", "ä"]
    assert [index for _, places in spoken for index in places] == list(range(1, ids.index(EOS)))
    assert len(spoken[0][1]) == 1 < len(spoken[1][1])
    cut = vocabulary.words(ids[:4])
    assert cut[1][0] and "change".startswith(cut[1][0])  # a caption may end inside a word
    assert Vocabulary.from_captions(["a b"]).words([BOS, 7, 6, EOS]) == [("b", (1,)), ("a", (2,))]
