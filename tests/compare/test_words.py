from whatchanged.compare.words import variants


def test_names_that_differ_in_browser_or_size_are_told_together():
    names = ["a-chromium.png", "b.png", "a-firefox-1280x800.png", "a-320.png"]
    assert variants(names) == ["a-chromium.png (also firefox 1280x800, 320)", "b.png"]


def test_a_number_is_a_size_by_the_rule_by_which_names_are_put_together():
    """12345 is no size, so that its picture is another one, and is no size either where it is named."""
    assert variants(["a-12345.png", "a-12345-dark.png", "a.png"]) == ["a-12345.png (also dark)", "a.png"]
