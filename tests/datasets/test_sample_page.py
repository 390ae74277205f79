import re
from html.parser import HTMLParser
from pathlib import Path

from tiny_sets import clevr_change, cub, spot_the_diff, write

from whatchanged.datasets import open_dataset
from whatchanged.datasets.sample_page import sample_page, spread
from whatchanged.datasets.statistics import summarise


def page_of(root, samples=12, **options):
    opened = open_dataset(root, **options)
    return sample_page(opened, summarise(opened.records), samples)


class Tags(HTMLParser):
    """Every tag and every address of a page; fails where tags do not close."""

    def __init__(self):
        super().__init__()
        self.open, self.names, self.addresses = [], [], []

    def handle_starttag(self, tag, attrs):
        self.names.append(tag)
        self.addresses += [value for key, value in attrs if key in ("src", "href")]
        if tag not in ("meta", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def parsed(page):
    tags = Tags()
    tags.feed(page)
    assert tags.open == []
    return tags


def test_the_page_holds_everything_in_itself(tmp_path):
    clevr_change(tmp_path)
    page = page_of(tmp_path)
    tags = parsed(page)
    assert tags.names.count("article") == 4 and tags.names.count("img") == 8
    assert all(address.startswith("data:image/jpeg;base64,") for address in tags.addresses)
    assert "script" not in tags.names and "default-src 'none'" in page
    assert page.count('class="badge none"') == 2 and ">add<" in page and ">drop<" in page


def test_boxes_are_placed_in_parts_of_the_original_picture(tmp_path):
    """The box 1, 2, 3, 4 in a picture of 16 x 12."""
    clevr_change(tmp_path)
    boxes = re.findall(r'class="box" style="([^"]+)"', page_of(tmp_path))
    assert "left:6.25%;top:16.67%;width:18.75%;height:33.33%" in boxes and len(boxes) == 2


def test_what_comes_from_the_data_set_is_escaped(tmp_path):
    spot_the_diff(tmp_path)
    evil = '<script>alert(1)</script>"&'
    write(tmp_path / "annotations/test.json", [{"img_id": "1", "sentences": [evil]}])
    page = page_of(tmp_path)
    assert "script" not in parsed(page).names
    assert "&lt;script&gt;alert(1)&lt;/script&gt;&quot;&amp;" in page


def test_a_picture_that_cannot_be_read_is_said(tmp_path):
    cub(tmp_path)
    broken = next(Path(tmp_path).rglob("Laysan*.jpg"))
    broken.write_bytes(b"no picture")
    page = page_of(tmp_path)
    assert "this is not a picture" in page and parsed(page).names.count("img") == 2
    assert "<p>no captions</p>" in page and "class 002.Laysan_Albatross" in page


def test_samples_are_spread_evenly():
    assert spread(list(range(10)), 3) == [1, 5, 8]
    assert spread(list(range(3)), 5) == [0, 1, 2]


def test_the_command_writes_it_once(tmp_path, whatchanged):
    clevr_change(tmp_path / "set")
    out = tmp_path / "page.html"
    code, text, err = whatchanged("dataset", tmp_path / "set", "--html", out, "--samples", 1)
    assert code == 0 and f"{out}: sample pairs written" in err and "4 pairs" in text
    assert parsed(out.read_text()).names.count("article") == 2
    code, text, err = whatchanged("dataset", tmp_path / "set", "--html", out)
    assert (code, text) == (2, "") and "exists already" in err
    assert whatchanged("dataset", tmp_path / "set", "--html", out, "--force")[0] == 0
