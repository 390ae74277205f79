def test_a_folder_without_a_run_is_refused(tmp_path, whatchanged):
    code, _, err = whatchanged("export", tmp_path, tmp_path / "bundle")
    assert code == 2 and "no run lies here" in err
    assert list(tmp_path.iterdir()) == []


def test_an_existing_output_is_refused_first(tmp_path, whatchanged):
    code, _, err = whatchanged("export", tmp_path / "run", tmp_path)
    assert code == 2 and "Pass --force" in err
