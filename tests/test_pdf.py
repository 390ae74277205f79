import numpy as np
import pytest
from PIL import Image
from support.pdf_files import write_pdf

from whatchanged import pdf
from whatchanged.errors import ImageError
from whatchanged.images import MAX_SIDE

pytest.importorskip("pypdfium2")
RED = [(36, 18, 36, 18, "1 0 0")]
BLUE = [(0, 0, 72, 72, "0 0 1")]


@pytest.mark.parametrize("dpi", [36, 72, 144])
def test_a_page_has_the_size_that_the_density_asks_for(dpi, tmp_path):
    file = write_pdf(tmp_path / "a.pdf", [RED, BLUE])
    first, second = pdf.draw_pages(file, tmp_path / "pages", dpi=dpi)
    pixels = np.asarray(Image.open(first.file))
    assert pixels.shape == (dpi, 2 * dpi, 3)
    assert tuple(pixels[int(dpi * 45 / 72), int(dpi * 54 / 72)]) == (255, 0, 0)  # y upwards on paper
    assert tuple(pixels[1, 1]) == (255, 255, 255)
    assert (first.number, second.number) == (1, 2)
    assert second.small.shape == (pdf.SMALL, pdf.SMALL)
    assert int(second.small[:, 0].max()) < 64 and int(second.small[:, -1].min()) == 255


def test_no_more_pages_are_drawn_than_asked_for(tmp_path):
    file = write_pdf(tmp_path / "a.pdf", [RED, BLUE, RED])
    assert [page.number for page in pdf.draw_pages(file, tmp_path / "pages", most=2)] == [1, 2]


def test_a_script_and_a_form_change_nothing(tmp_path):
    plain = write_pdf(tmp_path / "plain.pdf", [RED])
    script = "/OpenAction << /S /JavaScript /JS (while\\(true\\){}) >> /AcroForm << /XFA (x) /Fields [] >>"
    acting = write_pdf(tmp_path / "acting.pdf", [RED], catalog=script)
    one, other = (pdf.draw_pages(file, tmp_path / file.stem)[0].file for file in (plain, acting))
    assert one.read_bytes() == other.read_bytes()


def refused(file, **how):
    """The message about a file, of which nothing is left behind."""
    folder = file.parent / "pages"
    with pytest.raises(ImageError) as error:
        pdf.draw_pages(file, folder, **how)
    assert not folder.exists()
    assert str(file) in str(error.value)
    return str(error.value)


def test_what_cannot_be_drawn_is_told(tmp_path, monkeypatch):
    file = tmp_path / "a.pdf"
    file.write_bytes(b"")
    assert "empty" in refused(file)
    file.write_bytes(b"%PDF-1.7\nnothing")
    assert "broken" in refused(file)
    assert "cannot read the file" in refused(tmp_path / "none.pdf")
    assert "broken" in refused(write_pdf(file, []))
    secret = "/Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O (" + 32 * "a" + ") /U (" + 32 * "b" + ") >>"
    assert "encrypted" in refused(write_pdf(file, [RED], trailer=f"{secret} /ID [(a) (a)]"))
    monkeypatch.setattr(pdf, "MOST_PAGES", 2)
    assert "3 pages; at most 2" in refused(write_pdf(file, [RED] * 3))
    monkeypatch.setattr(pdf, "MOST_BYTES", 100)
    assert "more than 100 bytes" in refused(file)


def test_a_page_of_too_many_pixels_is_told_before_any_is_drawn(tmp_path):
    file = write_pdf(tmp_path / "a.pdf", [RED], size=(MAX_SIDE, 20_000))
    message = refused(file, dpi=144)
    assert "page 1" in message and "--pdf-dpi" in message


def test_files_are_drawn_in_their_order_and_one_that_is_broken_stops_no_other(tmp_path):
    good = write_pdf(tmp_path / "good.pdf", [RED])
    bad = tmp_path / "bad.pdf"
    bad.write_bytes(b"%PDF-1.7\n")
    first, second, third = pdf.draw_files(
        [(good, tmp_path / "1", 9), (bad, tmp_path / "2", 9), (good, tmp_path / "3", 9)], dpi=72
    )
    assert isinstance(second, ImageError)
    assert first[0].file.read_bytes() == third[0].file.read_bytes()


def test_a_file_that_takes_too_long_is_told_and_the_next_one_is_tried(tmp_path, monkeypatch):
    monkeypatch.setattr(pdf, "SECONDS", 0)
    good = write_pdf(tmp_path / "good.pdf", [RED])
    late = list(pdf.draw_files([(good, tmp_path / "1", 9), (good, tmp_path / "2", 9)]))
    assert len(late) == 2
    assert all(isinstance(one, ImageError) and "cannot be drawn within" in str(one) for one in late)
