import json

import pytest

from whatchanged.errors import PredictionsError
from whatchanged.evaluation.report.from_files import References, Systems, report_from_files
from whatchanged.evaluation.report.scored import ReportSettings

SETTINGS = ReportSettings(resamples=0)


@pytest.fixture
def write(tmp_path):
    """Writes JSON lines: name, then id to value, under a key."""

    def lines(name, key, values):
        path = tmp_path / name
        path.write_text("\n".join(json.dumps({"id": i, key: value}) for i, value in values.items()))
        return path

    return lines


@pytest.fixture
def references(write):
    return References(write("references.jsonl", "captions", {"1": ["a cube moved"], "2": ["a ball is gone"]}))


def test_predictions_are_matched_by_id(write, references):
    right = write("out.jsonl", "caption", {"2": "a ball is gone", "1": "a cube moved"})
    report = report_from_files(Systems(right), references, SETTINGS)
    assert report["overall"]["ROUGE-L"] == pytest.approx(100)
    assert report["signature"]["made_by"] is None and report["signature"]["others"] == []


def test_other_systems_are_named_and_the_same_file_is_warned_of(write, references):
    right = write("out.jsonl", "caption", {"2": "a ball is gone", "1": "a cube moved"})
    other = write("other.jsonl", "caption", {"2": "a ball", "1": "a cube"})
    report = report_from_files(Systems(right, compare=other), references, SETTINGS)
    assert [each["file"] for each in report["signature"]["others"]] == ["other.jsonl"]
    cell = report["comparison"]["overall"]["ROUGE-L"]
    assert cell["a"] == pytest.approx(100) and cell["difference"] > 10
    assert cell["low"] is cell["p"] is cell["p_holm"] is None  # no resamples
    assert "The same predictions were given more than once." not in report["warnings"]
    report = report_from_files(Systems(right, seeds=[other, right]), references, SETTINGS)
    assert report["seeds"]["count"] == 3 and "comparison" not in report
    assert "The same predictions were given more than once." in report["warnings"]


def test_a_misfit_names_its_file(write, references):
    right = write("out.jsonl", "caption", {"2": "a ball is gone", "1": "a cube moved"})
    other = write("other.jsonl", "caption", {"1": "a cube"})
    with pytest.raises(PredictionsError, match=r"other.jsonl: 1 pair \(first: 2\): no prediction"):
        report_from_files(Systems(right, compare=other), references, SETTINGS)


@pytest.mark.parametrize(("noted", "given", "wanted"), [(0.3, None, 0.3), (0.3, 0.6, 0.6), (None, None, 0.5)])
def test_the_threshold_is_the_given_one_or_the_models_own(write, noted, given, wanted):
    pairs = {"1.png": "the cube moved", "1.png_n": "there is no change"}
    references = write("references.jsonl", "captions", {name: [text] for name, text in pairs.items()})
    out = references.with_name("out.jsonl")
    lines = [{"id": name, "caption": text, "no_change": 0.4} for name, text in pairs.items()]
    out.write_text("\n".join(map(json.dumps, lines)))
    if noted is not None:
        note = {"model": {"name": "tiny", "version": "1"}, "beams": 1, "threshold": noted}
        out.with_name("out.jsonl.meta.json").write_text(json.dumps(note))
    report = report_from_files(Systems(out), References(references), SETTINGS, given)
    assert report["no_change"]["threshold"] == wanted


def coco(path, sentences):
    entries = [{"id": n, "image_id": i, "caption": c} for n, (i, c) in enumerate(sentences)]
    path.write_text(json.dumps({"type": "captions", "images": [], "annotations": entries}))
    return path


def test_references_of_all_splits_are_scored_where_there_are_predictions(tmp_path, write):
    said = {"3.png": "a cube moved", "4.png": "a ball is gone"}
    out = write("out.jsonl", "caption", said)
    every = [(f"{n}.png", text) for n in range(3) for text in ("a cone", "one more cone")]
    references = References(coco(tmp_path / "all.json", [*every, *said.items()]))
    with pytest.raises(PredictionsError, match=r"3 pairs .*no prediction.*--only-predicted.*--failed-as-emp"):
        report_from_files(Systems(out), references, SETTINGS)
    report = report_from_files(Systems(out, only_predicted=True), references, SETTINGS)
    alone = References(coco(tmp_path / "test.json", list(said.items())))
    wanted = report_from_files(Systems(out), alone, SETTINGS)
    assert report["overall"] == wanted["overall"]
    for key in ("pairs", "references_sha256", "set_aside"):
        assert report["signature"][key] == wanted["signature"][key]
    assert (report["signature"]["only_predicted"], wanted["signature"]["only_predicted"]) == (3, None)
    assert any("3 of 5 pairs of the references have no prediction" in each for each in report["warnings"])
    assert "pairs without prediction left out: 3" in report.table()
    empty = report_from_files(Systems(out, failed_as_empty=True), references, SETTINGS)
    assert (empty["signature"]["failed_as_empty"], empty["signature"]["set_aside"]) == (3, 0)
    assert empty["overall"]["ROUGE-L"] == pytest.approx(40)
    strange = write("strange.jsonl", "caption", {"77.png": "a"})
    with pytest.raises(PredictionsError, match="no prediction is of any of the 5 pairs"):
        report_from_files(Systems(strange, only_predicted=True), references, SETTINGS)


SPOT = [("1", ["the car is gone", "a man walks"]), ("2", ["", ""]), ("3", ["no cars"]), ("3", [" a van"])]


@pytest.fixture
def spot(tmp_path):
    folder = tmp_path / "spot"
    folder.mkdir()
    (folder / "train.json").write_text("[]")
    entries = [{"img_id": number, "sentences": own} for number, own in SPOT]
    (folder / "test.json").write_text(json.dumps(entries))
    return folder


def test_protocols_of_one_data_set_have_signatures_of_their_own(spot, write):
    out = write("out.jsonl", "caption", {"1": "the car is gone", "3": "no cars"})
    results = {}
    for name in (None, "spot_the_diff_multi"):
        signature = report_from_files(Systems(out), References(spot, "test", name), SETTINGS)["signature"]
        assert signature["dataset"] == "spot_the_diff"
        results[signature["protocol"]] = signature["references_sha256"]
    assert list(results) == ["spot_the_diff", "spot_the_diff_multi"] and len(set(results.values())) == 2
    assert all(len(digits) == 12 for digits in results.values())


def test_predictions_of_another_protocol_are_told_which(spot, write):
    out = write("out.jsonl", "caption", {"1": "the car is gone", "2": "no change", "3": "no cars"})
    message = r"They fit --dataset spot_the_diff_blanks or spot_the_diff_multi_blanks \(3 pairs\)"
    with pytest.raises(PredictionsError, match=message):
        report_from_files(Systems(out), References(spot, "test"), SETTINGS)
    for name in ("spot_the_diff_blanks", "spot_the_diff_multi_blanks"):
        report = report_from_files(Systems(out), References(spot, "test", name), SETTINGS)
        assert report["signature"]["pairs"]["overall"] == 3 and report["signature"]["protocol"] == name
    strange = write("strange.jsonl", "caption", {"77": "a"})
    with pytest.raises(PredictionsError, match=r"no such id in the references.*Same data set\?$"):
        report_from_files(Systems(strange), References(spot, "test"), SETTINGS)


def test_a_run_with_one_of_its_two_files_is_scored_by_that(tmp_path):
    run = tmp_path / "run"
    run.mkdir()
    (run / "sc_results.json").write_text('[{"image_id": "000001.png", "caption": "the cube moved"}]')
    pairs = [("000001.png", "the cube moved"), ("000001.png_n", "no change")]
    references = References(coco(tmp_path / "all.json", pairs))
    report = report_from_files(Systems(run), references, SETTINGS)
    assert report["signature"]["pairs"] == {"overall": 1, "semantic": 1}
    assert report["warnings"][0].startswith(
        "run: there is no nsc_results.json; its 1 pairs (without a change)"
    )


def test_an_id_of_two_splits_is_of_the_chosen_one(tmp_path, write):
    folder = tmp_path / "edits"
    folder.mkdir()
    for name, uids in (("valid", ["Reddit_1"]), ("test", ["Reddit_7", "Reddit_8", "Reddit_9"])):
        pictures = {"Reddit_8": "b", "Reddit_9": "b"}
        entries = [
            {"img0": f"{pictures.get(uid, 'a')}.jpg", "img1": "x.jpg", "sents": ["make it red"], "uid": uid}
            for uid in uids
        ]
        (folder / f"{name}.json").write_text(json.dumps(entries))
    said = {"a.jpg_x.jpg": "make it red", "Reddit_8": "make it blue", "Reddit_9": "brighter"}
    out = write("out.jsonl", "caption", said)
    report = report_from_files(Systems(out), References(folder, "test"), SETTINGS)
    assert report["signature"]["pairs"]["overall"] == 3
    with pytest.raises(PredictionsError, match=r"a.jpg_x.jpg may mean Reddit_1 or Reddit_7"):
        report_from_files(Systems(out), References(folder), SETTINGS)


@pytest.mark.parametrize(
    ("names", "models", "differ"),
    [
        (["pcl_seed1.jsonl", "pcl_seed2.jsonl", "pcl-3.jsonl"], None, False),
        (["duda.jsonl", "scorer.jsonl", "pcl.jsonl"], None, True),
        (["1/out.jsonl", "2/out.jsonl", "3/out.jsonl"], None, False),
        (["duda/out.jsonl", "scorer/out.jsonl", "pcl/out.jsonl"], None, True),
        (["a.jsonl", "b.jsonl", "c.jsonl"], ["pcl-seed-1", "pcl-seed-2", "pcl-seed-3"], False),
        (["out1.jsonl", "out2.jsonl", "out3.jsonl"], ["pcl", "pcl", "scorer"], True),
    ],
)
def test_different_methods_given_as_seeds_are_noted(tmp_path, write, references, names, models, differ):
    files = []
    for i, name in enumerate(names):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        files.append(write(name, "caption", {"1": "a cube moved", "2": f"a ball is {i}"}))
        if models:
            note = {"model": {"name": models[i], "version": "1"}, "beams": 1}
            files[-1].with_name(files[-1].name + ".meta.json").write_text(json.dumps(note))
    report = report_from_files(Systems(files[0], seeds=files[1:]), references, SETTINGS)
    assert any("look like different methods" in each for each in report["warnings"]) == differ


def test_the_interval_over_seeds_ends_where_shares_end(write, references):
    files = [
        write(f"{i}.jsonl", "caption", {"1": "a cube moved", "2": said})
        for i, said in enumerate(("a ball is gone", "a ball is gone", "nothing", "no"))
    ]
    report = report_from_files(Systems(files[0], seeds=files[1:]), references, SETTINGS)
    cells = report["seeds"]["overall"]
    assert cells["ROUGE-L"]["high"] == 100 and cells["BLEU-4"]["low"] >= 0
    assert cells["CIDEr-D"]["high"] > 100
