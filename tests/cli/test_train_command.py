import pytest


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["pcl-tin"], "no such recipe"),
        (["pcl-tiny", "--set", "method.wdth=3"], "unknown key method.wdth. Did you mean width?"),
        (["pcl-tiny"], "Say where the data set lies: --data FOLDER"),
        (["pcl-tiny", "--device", "tpu"], "wanted auto, cpu or cuda"),
        (["--resume"], "no run to resume here"),
        ([], "no run to resume here. Name a recipe"),
    ],
)
def test_a_mistake_is_one_message_exit_code_2_and_no_folder(arguments, message, tmp_path, whatchanged):
    code, out, err = whatchanged("train", *arguments, "--output", tmp_path / "run")
    assert (code, out) == (2, "")
    assert message in err and "Traceback" not in err
    assert not (tmp_path / "run").exists()


def test_an_existing_folder_is_not_trained_into(tmp_path, whatchanged):
    (tmp_path / "thesis.tex").write_text("x")
    code, _, err = whatchanged("train", "pcl-tiny", "--output", tmp_path)
    assert code == 2 and "exists already. Go on with it (--resume)" in err
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]
