"""Tables in Markdown, at once and line by line."""

SCRIPT = "markdown"


def test_a_table_is_its_head_and_its_lines(bench):
    wanted = "| size | ms |\n| --- | ---: |\n| small | 1 |\n| large | 2 |"
    assert bench.table(["size", "ms"], ["small", "1"], ["large", "2"]) == wanted
    lines = [bench.head_lines(["size", "ms"]), bench.line(["small", "1"]), bench.line(["large", "2"])]
    assert "\n".join(lines) == wanted
