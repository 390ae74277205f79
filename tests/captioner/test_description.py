import pytest
from PIL import Image

from whatchanged.captioner.runtime import load
from whatchanged.errors import ShapeError


def test_a_description_shows_itself(bundle_folder, pictures):
    captioner = load(bundle_folder)
    found = captioner.describe(*pictures)
    with Image.open(pictures[0]) as image:
        assert found.heatmap().width > 2 * image.width
    assert found.heatmap(*reversed(pictures)).tobytes() != found.heatmap().tobytes()
    shown = found._repr_html_()
    assert "the square changed" in shown and "data:image/png;base64," in shown
    bare = captioner.describe_pixels(captioner.read(*pictures)[None])[0]
    assert "base64" not in bare._repr_html_()
    assert bare.heatmap(*pictures).tobytes() == found.heatmap().tobytes()
    with pytest.raises(ShapeError, match="give both"):
        bare.heatmap()
