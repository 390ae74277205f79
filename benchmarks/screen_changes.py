"""Changes and noise made in a document that a browser shows: what was done, to what, by how much."""

import colorsys
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.screen_documents import ICONS, WORDS

Rng = np.random.Generator
Element = dict[str, Any]

DESCRIBE = """
(() => {
  if (!window.elements) window.elements = [...document.body.querySelectorAll('*')].filter(e =>
    !e.closest('svg') || ['svg', 'rect', 'polyline', 'line'].includes(e.tagName.toLowerCase()));
  return JSON.stringify(window.elements.map((e, i) => {
    const b = e.getBoundingClientRect(), s = getComputedStyle(e);
    return {i, tag: e.tagName.toLowerCase(), cls: '' + (e.getAttribute('class') || ''),
      box: [b.left, b.top, b.right, b.bottom],
      text: [...e.childNodes].filter(n => n.nodeType == 3).map(n => n.textContent).join('').trim(),
      leaf: e.children.length == 0, color: s.color, fill: s.backgroundColor, svgfill: s.fill,
      border: parseFloat(s.borderTopWidth), borderColor: s.borderTopColor,
      radius: parseFloat(s.borderTopLeftRadius),
      size: parseFloat(s.fontSize), seen: s.visibility != 'hidden' && s.display != 'none',
      moved: e.getAttribute('data-moved')};
  }));
})()
"""
"""Every element with its box, text and style; the list of elements stays the same for one document."""

WORD_BOXES = """
(() => {
  const found = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode, range = document.createRange();
    for (const word of node.textContent.matchAll(/\\S+/g)) {
      range.setStart(node, word.index);
      range.setEnd(node, word.index + word[0].length);
      const b = range.getBoundingClientRect();
      found.push([b.left, b.top, b.right, b.bottom]);
    }
  }
  return JSON.stringify(found);
})()
"""
"""The box of every word."""


@dataclass(frozen=True)
class Deed:
    """One change made: its kind (of the eight, or noise), the finer word, its size, its script."""

    kind: str
    aspect: str
    size: float
    script: str


def parse_color(text: str) -> tuple[int, int, int, float]:
    """Red, green, blue and opacity of a computed colour."""
    if not text.startswith("rgb"):
        return 0, 0, 0, 0.0
    parts = [float(p) for p in text[text.index("(") + 1 : -1].replace("/", ",").split(",")]
    return int(parts[0]), int(parts[1]), int(parts[2]), parts[3] if len(parts) > 3 else 1.0


def other_color(rng: Rng, text: str) -> tuple[str, float]:
    """Another colour: a step lighter or darker, another hue, or anything; and the largest channel's step."""
    red, green, blue, alpha = parse_color(text)
    hue, light, satur = colorsys.rgb_to_hls(red / 255, green / 255, blue / 255)
    way = rng.integers(3)
    if way == 0:
        step = float(np.exp(rng.uniform(np.log(0.02), np.log(0.5)))) * (1 if rng.random() < 0.5 else -1)
        light = min(1.0, max(0.0, light + step if 0 <= light + step <= 1 else light - step))
    elif way == 1:
        hue, satur = (hue + rng.uniform(0.08, 0.92)) % 1, max(satur, 0.4)
        light = min(max(light, 0.25), 0.8)
    else:
        hue, light, satur = rng.random(), rng.uniform(0.2, 0.9), rng.random()
    new = [round(255 * value) for value in colorsys.hls_to_rgb(hue, light, satur)]
    step = max(abs(a - b) for a, b in zip(new, (red, green, blue), strict=True)) * (alpha or 1)
    return f"rgba({new[0]},{new[1]},{new[2]},{alpha or 1})", step


def style(element: Element, **properties: str) -> str:
    """A script that sets style properties of an element."""
    sets = "".join(
        f"e.style.setProperty({json.dumps(name.replace('_', '-'))},{json.dumps(value)},'important');"
        for name, value in properties.items()
    )
    return f"(() => {{const e = window.elements[{element['i']}];{sets}}})()"


def _magnitude(rng: Rng, least: float, most: float) -> float:
    return float(np.exp(rng.uniform(np.log(least), np.log(most))))


def rewrite(rng: Rng, e: Element) -> Deed | None:
    """Other words or another number in an element that holds nothing but text."""
    if not e["text"] or not e["leaf"] or e["tag"] in ("svg", "option"):
        return None
    words = e["text"].split()
    place = int(rng.integers(len(words)))
    word = words[place]
    if any(c.isdigit() for c in word):
        at = int(rng.choice([i for i, c in enumerate(word) if c.isdigit()]))
        words[place] = word[:at] + str((int(word[at]) + int(rng.integers(1, 10))) % 10) + word[at + 1 :]
    elif rng.random() < 0.3 and len(word) > 2:
        words[place] = word[:-1]
    else:
        words[place] = str(rng.choice(WORDS))
    if words == e["text"].split():
        return None
    text = json.dumps(" ".join(words))
    return Deed("rewritten", "text", 1, f"window.elements[{e['i']}].textContent = {text}")


def recolor_ink(rng: Rng, e: Element) -> Deed | None:
    """Another colour of text or icon."""
    if not e["text"] and "icon" not in e["cls"]:
        return None
    color, step = other_color(rng, e["color"])
    return Deed("recolored", "ink", step, style(e, color=color))


def recolor_fill(rng: Rng, e: Element) -> Deed | None:
    """Another fill."""
    if e["tag"] == "rect" or e["tag"] == "polyline":
        color, step = other_color(rng, e["svgfill"])
        return Deed(
            "recolored",
            "fill",
            step,
            style(e, **({"fill": color} if e["tag"] == "rect" else {"stroke": color})),
        )
    if parse_color(e["fill"])[3] < 0.1:
        return None
    color, step = other_color(rng, e["fill"])
    return Deed("recolored", "fill", step * parse_color(e["fill"])[3], style(e, background_color=color))


def recolor_border(rng: Rng, e: Element) -> Deed | None:
    """Another colour of a border."""
    if e["border"] < 0.9 or parse_color(e["borderColor"])[3] < 0.2:
        return None
    color, step = other_color(rng, e["borderColor"])
    return Deed("recolored", "border", step, style(e, border_color=color))


def border_width(rng: Rng, e: Element) -> Deed | None:
    """A thicker border, or none, with the size kept."""
    if e["border"] < 0.9:
        return None
    width = float(rng.choice([0.0, 2.0, 3.0, 4.0]))
    return Deed("restyled", "border width", abs(width - e["border"]), style(e, border_width=f"{width}px"))


def outline(rng: Rng, e: Element) -> Deed | None:
    """A focus ring."""
    if e["tag"] not in ("button", "input", "textarea", "select", "span", "div") or not (
        e["text"] or e["border"]
    ):
        return None
    color = str(rng.choice(["#1a73e8", "#888888", "#d93025"]))
    return Deed("restyled", "outline", 2, style(e, outline=f"{int(rng.integers(1, 4))}px solid {color}"))


def radius(rng: Rng, e: Element) -> Deed | None:
    """Rounder or sharper corners."""
    filled = e["border"] > 0.9 or parse_color(e["fill"])[3] > 0.3
    if not filled or e["tag"] == "tr":
        return None
    new = float(rng.choice([0, 2, 4, 6, 8, 12, 20]))
    if abs(new - e["radius"]) < 2:
        return None
    return Deed("restyled", "radius", abs(new - e["radius"]), style(e, border_radius=f"{new}px"))


def shadow(rng: Rng, e: Element) -> Deed | None:
    """A shadow."""
    if not (e["border"] > 0.9 or parse_color(e["fill"])[3] > 0.3):
        return None
    depth = int(rng.integers(2, 12))
    return Deed(
        "restyled", "shadow", depth, style(e, box_shadow=f"0 {depth // 2}px {depth}px rgba(0,0,0,.4)")
    )


def weight(rng: Rng, e: Element) -> Deed | None:
    """Bold, italic, underlined, another face."""
    if not e["text"]:
        return None
    choices = (
        {"font_weight": "700"}, {"font_weight": "400"}, {"font_style": "italic"},
        {"text_decoration": "underline"}, {"font_family": "DejaVu Serif"}, {"text_transform": "uppercase"},
    )  # fmt: skip
    return Deed("restyled", "font", 1, style(e, **choices[int(rng.integers(len(choices)))]))


def font_size(rng: Rng, e: Element) -> Deed | None:
    """Larger or smaller text."""
    if not e["text"]:
        return None
    step = _magnitude(rng, 1, 8) * (1 if rng.random() < 0.6 else -1)
    return Deed("resized", "text size", abs(step), style(e, font_size=f"{max(6.0, e['size'] + step):.1f}px"))


def padding(rng: Rng, e: Element) -> Deed | None:
    """More room inside."""
    step = int(_magnitude(rng, 2, 20))
    side = str(rng.choice(["padding", "padding-left", "padding-top", "padding-bottom"]))
    kind = "resized" if e["border"] > 0.9 or parse_color(e["fill"])[3] > 0.3 else "moved"
    script = (
        f"(() => {{const e = window.elements[{e['i']}], s = getComputedStyle(e);"
        f"e.style.setProperty('{side}', (parseFloat(s.paddingTop) + {step}) + 'px', 'important')}})()"
    )
    return Deed(kind, "padding", step, script)


def margin(rng: Rng, e: Element) -> Deed | None:
    """More room outside."""
    step = int(_magnitude(rng, 2, 40))
    side = str(rng.choice(["top", "left", "bottom"]))
    script = (
        f"(() => {{const e = window.elements[{e['i']}], s = getComputedStyle(e);"
        f"e.style.setProperty('margin-{side}', (parseFloat(s.marginTop) + {step}) + 'px', 'important')}})()"
    )
    return Deed("moved", "margin", step, script)


def size(rng: Rng, e: Element) -> Deed | None:
    """Wider, narrower, higher."""
    if e["tag"] in ("span", "label", "tr", "td", "th") or e["tag"] == "polyline":
        return None
    width, height = e["box"][2] - e["box"][0], e["box"][3] - e["box"][1]
    step = int(_magnitude(rng, 2, 60)) * (1 if rng.random() < 0.5 else -1)
    side, old = ("width", width) if rng.random() < 0.6 else ("height", height)
    if old + step < 4:
        return None
    return Deed("resized", side, abs(step), style(e, **{side: f"{old + step}px", f"min_{side}": "0"}))


def position(rng: Rng, e: Element) -> Deed | None:
    """Elsewhere, the rest in place."""
    step = _magnitude(rng, 0.6, 40)
    angle = float(rng.choice([0, 0, 90, 90, 180, 270, 45]))
    dx, dy = round(step * np.cos(np.radians(angle)), 1), round(step * np.sin(np.radians(angle)), 1)
    return Deed("moved", "position", step, style(e, position="relative", left=f"{dx}px", top=f"{dy}px"))


def alignment(rng: Rng, e: Element) -> Deed | None:
    """Text at the other end."""
    if not e["text"] or e["box"][2] - e["box"][0] < 60:
        return None
    return Deed(
        "moved", "alignment", 10, style(e, text_align=str(rng.choice(["right", "center"])), display="block")
    )


def remove(rng: Rng, e: Element) -> Deed | None:
    """Gone; the others close the gap, or keep their places."""
    if rng.random() < 0.5:
        return Deed("removed", "in place", 1, style(e, visibility="hidden"))
    return Deed("removed", "with its room", 1, style(e, display="none"))


def add(rng: Rng, e: Element) -> Deed | None:
    """A copy beside, an icon, a word, a dot."""
    drawn = f'<path d="{rng.choice(ICONS)}"/>'
    svg = (
        '<svg data-new width="16" height="16" viewBox="0 0 24 24" fill="none" stroke="currentColor" '
        f'stroke-width="2">{drawn}</svg>'
    )
    dot = (
        '<span data-new style="display:inline-block;width:8px;height:8px;border-radius:4px;'
        'background:#d93025"></span>'
    )
    word = f"<span data-new>{rng.choice(WORDS)}</span>"
    if e["tag"] in ("svg", "rect", "line", "polyline", "input", "select", "textarea", "tr", "table"):
        return None
    new = json.dumps(str(rng.choice([svg, dot, word])))
    where = str(rng.choice(["beforebegin", "afterbegin", "beforeend", "afterend"]))
    script = (
        f"(() => {{window.elements[{e['i']}].insertAdjacentHTML('{where}', {new});"
        "window.elements.push(document.querySelector('[data-new]'))})()"
    )
    return Deed("added", "small thing", 1, script)


def add_block(rng: Rng, e: Element) -> Deed | None:
    """A banner or a line of text, which pushes what follows."""
    if e["cls"] != "part":
        return None
    text = " ".join(str(word) for word in rng.choice(WORDS, 4))
    hue = int(rng.integers(360))
    new = json.dumps(
        f'<div style="padding:{int(rng.integers(3, 12))}px;background:hsl({hue},60%,70%);color:#222">'
        f"{text}</div>"
    )
    script = (
        f"(() => {{const e = window.elements[{e['i']}]; e.insertAdjacentHTML('beforebegin', {new});"
        "window.elements.push(e.previousElementSibling)})()"
    )
    return Deed("added", "block", 1, script)


def replace_icon(rng: Rng, e: Element) -> Deed | None:
    """Another icon."""
    if "icon" not in e["cls"]:
        return None
    script = f"window.elements[{e['i']}].querySelector('path').setAttribute('d', '{rng.choice(ICONS)}')"
    return Deed("replaced", "icon", 1, script)


def replace_picture(rng: Rng, e: Element) -> Deed | None:
    """Another picture."""
    if e["cls"] != "art":
        return None
    hue = int(rng.integers(360))
    picture = f"repeating-linear-gradient({hue}deg,hsl({hue},50%,40%) 0 9px,hsl({hue + 90},50%,70%) 9px 20px)"
    return Deed("replaced", "picture", 1, style(e, background=picture))


def tick(rng: Rng, e: Element) -> Deed | None:
    """Checked, or no longer."""
    if e["tag"] != "input" or ("uk-checkbox" not in e["cls"] and "uk-radio" not in e["cls"]):
        return None
    return Deed("replaced", "checked", 1, f"window.elements[{e['i']}].checked ^= 1")


def opacity(rng: Rng, e: Element) -> Deed | None:
    """Paler, as what is disabled."""
    value = float(rng.choice([0.9, 0.75, 0.6, 0.4]))
    return Deed("recolored", "opacity", (1 - value) * 100, style(e, opacity=str(value)))


CHANGES: tuple[tuple[float, Callable[[Rng, Element], Deed | None]], ...] = (
    (1.4, rewrite), (1, recolor_ink), (1.4, recolor_fill), (1, recolor_border), (0.6, border_width),
    (0.6, outline), (0.9, radius), (0.4, shadow), (1, weight), (0.9, font_size), (0.9, padding),
    (0.8, margin), (1, size), (1.6, position), (0.4, alignment), (1.6, remove), (1.6, add),
    (0.8, add_block), (1, replace_icon),
    (0.5, replace_picture), (0.5, tick), (0.4, opacity),
)  # fmt: skip
"""How often each change is tried; one that does not fit the element is tried on another."""


def make_change(rng: Rng, elements: list[Element], width: int, height: int) -> tuple[Deed, Element] | None:
    """A change that fits an element in the window."""
    weights = np.array([weight for weight, _ in CHANGES])
    inside = [
        e for e in elements
        if e["seen"] and e["box"][2] - e["box"][0] >= 4 and e["box"][3] - e["box"][1] >= 4
        and e["box"][0] >= 0 and e["box"][1] >= 0 and e["box"][2] <= width and e["box"][3] <= height
    ]  # fmt: skip
    if not inside:
        return None
    for _ in range(20):
        change = CHANGES[int(rng.choice(len(CHANGES), p=weights / weights.sum()))][1]
        for place in rng.permutation(len(inside))[:12]:
            deed = change(rng, inside[place])
            if deed is not None:
                return deed, inside[place]
    return None


def make_noise(rng: Rng, elements: list[Element]) -> str:
    """A script that alters the rendering of one to all elements, and no text box by half a pixel."""
    texts = [e for e in elements if (e["text"] or e["border"] or "icon" in e["cls"]) and e["seen"]]
    if not texts:
        return ""
    count = len(texts) if rng.random() < 0.25 else int(rng.integers(1, min(len(texts), 4) + 1))
    way = int(rng.integers(7))
    scripts = []
    for place in rng.permutation(len(texts))[:count]:
        element = texts[place]
        x, y = rng.uniform(-0.5, 0.5, 2) * float(rng.choice([0.4, 1.0]))
        changes = (
            {"transform": f"translate({x:.2f}px,{y:.2f}px)"},
            {"text_rendering": "geometricPrecision"},
            {"letter_spacing": f"{rng.uniform(-0.02, 0.02):.3f}px"},
            {"transform": f"translateX({x:.2f}px)"},
            {"transform": "rotate(0.02deg)"},
            {"will_change": "transform", "transform": f"translateY({y:.2f}px)"},
            {"position": "relative", "left": f"{x / 2:.2f}px"},
        )
        scripts.append(style(element, **changes[way]))
    return ";".join(scripts)
