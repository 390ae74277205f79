"""Names of colours, against what a person calls the usual colours of designs."""

import pytest

from whatchanged.words import color_name, step_of_codes
from whatchanged.worlds.screens.slots import COLORS

# Each colour with every name that a person may give it, written by hand; "/" stands between them.
TABLE = """
#ffffff white
#000000 black
#f8fafc white
#f1f5f9 white/light grey
#e2e8f0 light grey
#cbd5e1 light grey
#94a3b8 grey
#64748b grey
#475569 dark grey
#334155 dark grey
#1e293b dark grey
#0f172a black/dark grey/dark blue
#f3f4f6 light grey/white
#d1d5db light grey
#9ca3af grey
#6b7280 grey
#4b5563 dark grey
#374151 dark grey
#1f2937 dark grey
#111827 black/dark grey
#78716c grey
#71717a grey
#fee2e2 light red/light pink
#fca5a5 light red/light pink
#ef4444 red
#dc2626 red
#b91c1c red/dark red
#7f1d1d dark red
#f97316 orange
#ea580c orange
#fed7aa light orange
#92400e brown
#78350f brown
#f59e0b orange/yellow
#fbbf24 yellow/orange
#fef3c7 light yellow
#eab308 yellow
#84cc16 green
#22c55e green
#16a34a green
#15803d dark green/green
#166534 dark green
#dcfce7 light green
#10b981 green
#14b8a6 turquoise
#0d9488 turquoise/dark turquoise
#06b6d4 turquoise/blue
#0ea5e9 blue
#dbeafe light blue
#93c5fd light blue
#3b82f6 blue
#2563eb blue
#1d4ed8 blue
#1e3a8a dark blue
#172554 dark blue
#6366f1 blue/purple
#4f46e5 blue/purple
#8b5cf6 purple
#7c3aed purple
#ede9fe light purple
#a855f7 purple
#9333ea purple
#d946ef pink/purple
#ec4899 pink
#db2777 pink
#fce7f3 light pink
#f43f5e red/pink
#0d6efd blue
#6610f2 purple
#6f42c1 purple
#d63384 pink
#dc3545 red
#fd7e14 orange
#ffc107 yellow
#198754 green/dark green
#20c997 green/turquoise
#0dcaf0 turquoise/blue
#6c757d grey
#343a40 dark grey
#212529 dark grey/black
#f8f9fa white
#dee2e6 light grey
#cff4fc light turquoise/light blue
#f44336 red
#e91e63 pink
#9c27b0 purple
#673ab7 purple
#3f51b5 blue
#2196f3 blue
#03a9f4 blue
#00bcd4 turquoise/blue
#009688 turquoise/dark turquoise
#4caf50 green
#8bc34a green
#cddc39 green/yellow
#ffeb3b yellow
#ff9800 orange
#ff5722 orange/red
#795548 brown
#3e2723 brown/dark brown
#9e9e9e grey
#607d8b grey
#37474f dark grey
#eceff1 light grey/white
#1a73e8 blue
#0b8043 green/dark green
#d93025 red
#008000 dark green/green
#006400 dark green
#800000 dark red
#800080 purple/dark purple
#ff00ff pink/purple
#4b0082 dark purple/purple
#663399 purple
#000080 dark blue
#00008b dark blue
#0000ff blue
#00ffff turquoise
#008080 dark turquoise/turquoise
#40e0d0 turquoise
#ffa500 orange
#a52a2a red/brown
#8b4513 brown
#a0522d brown
#cd853f brown
#d2b48c light brown
#ffd700 yellow
#ffff00 yellow
#808000 dark yellow
#ffc0cb light pink
#ff69b4 pink
#ff1493 pink
#dda0dd purple/light purple/pink/light pink
#4682b4 blue
#87ceeb light blue/blue
#708090 grey
#1f77b4 blue
#ff7f0e orange
#2ca02c green
#d62728 red
#9467bd purple
#8c564b brown
#e377c2 pink
#7f7f7f grey
#bcbd22 yellow/green
#17becf turquoise
#005eb8 blue
#d4351c red
#ffb81c yellow/orange
#1d70b8 blue
#00703c dark green/green
#0b0c0c black
#505a5f dark grey
"""


@pytest.mark.parametrize("line", TABLE.split("\n")[1:-1])
def test_a_colour_is_called_what_people_call_it(line):
    code, _, names = line.partition(" ")
    red, green, blue = (int(code[k : k + 2], 16) for k in (1, 3, 5))
    assert color_name((red, green, blue)) in names.split("/")


def test_every_name_can_be_read_again():
    levels = (0, 32, 64, 96, 128, 160, 192, 224, 255)
    names = {color_name((red, green, blue)) for red in levels for green in levels for blue in levels}
    assert names <= set(COLORS)


@pytest.mark.parametrize(
    ("before", "after", "text"),
    [
        ("#2563eb", "#4b5563", "turned from blue to dark grey"),
        ("#2563eb", "#7c3aed", "turned from blue to purple"),
        ("#6b7280", "#374151", "became darker"),
        ("#1d4ed8", "#93c5fd", "became lighter"),
        ("#ffffff", "#dbeafe", "turned from white to light blue"),
    ],
)
def test_what_a_colour_became(before, after, text):
    assert step_of_codes(before, after) == text
