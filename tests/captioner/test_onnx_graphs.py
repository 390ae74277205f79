from dataclasses import replace

import pytest
from tiny_bundle import CARD, PICTURES, WARY

from whatchanged.captioner.bundle import write_bundle
from whatchanged.captioner.card import GridAttention
from whatchanged.captioner.runtime import load
from whatchanged.errors import BundleError
from whatchanged.vocabulary import SPECIALS, Vocabulary


def test_a_threshold_and_the_graph_that_it_is_for_belong_together(bundle_folder, wary_folder):
    write_bundle(bundle_folder, WARY)
    with pytest.raises(BundleError, match="wanted memory_change, no_change, strangeness"):
        load(bundle_folder)
    write_bundle(wary_folder, CARD)
    with pytest.raises(BundleError, match="outputs are memory_change, no_change, strangeness; wanted"):
        load(wary_folder)


def test_a_judge_that_the_card_does_not_name(bundle_folder):
    by_sentences = replace(CARD, no_change=replace(CARD.no_change, by="sentences"))
    write_bundle(bundle_folder, by_sentences)
    with pytest.raises(BundleError, match="outputs are memory_change, no_change; wanted memory_change"):
        load(bundle_folder)


def test_a_graph_that_is_none(bundle_folder):
    (bundle_folder / "encoder.onnx").write_bytes(b"not a graph")
    write_bundle(bundle_folder, CARD)
    with pytest.raises(BundleError, match=r"encoder\.onnx: ONNX Runtime cannot load it"):
        load(bundle_folder)


def test_graphs_that_do_not_keep_the_contract(bundle_folder):
    (bundle_folder / "decoder.onnx").write_bytes((bundle_folder / "encoder.onnx").read_bytes())
    write_bundle(bundle_folder, CARD)
    with pytest.raises(BundleError, match=r"decoder\.onnx: its inputs are after, before; wanted previous"):
        load(bundle_folder)


@pytest.mark.parametrize(
    "change, message",
    [
        (
            {"input": replace(PICTURES, size=(16, 24))},
            r"encoder\.onnx: before is declared as \['B', 3, 16, 24\]",
        ),
        (
            {"attention": GridAttention(3, 2)},
            r"decoder\.onnx: attention is declared as \['B', 2, 2, 3\]; by the card it is",
        ),
        ({"vocabulary": Vocabulary((*SPECIALS, "there"))}, r"log_probabilities is declared as \['B', 13\]"),
    ],
)
def test_a_card_of_other_sizes_than_the_graphs(bundle_folder, change, message):
    write_bundle(bundle_folder, replace(CARD, **change))
    with pytest.raises(BundleError, match=message):
        load(bundle_folder)
