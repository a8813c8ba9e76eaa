"""The palette: readable on white, and told apart by eyes that lack one kind of cone."""

import itertools

import numpy as np
import pytest
from PIL import ImageColor

from pglab.figures import palette

# What is left of linear RGB without one kind of cones: G. M. Machado, M. M. Oliveira and L. A. F. Fernandes,
# A physiologically-based model for simulation of color vision deficiency, 2009, severity 1.
EYES = {
    "usual": np.eye(3),
    "without long": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "without middle": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "without short": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}  # fmt: skip
TO_XYZ = np.array([[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]])  # fmt: skip
WHITE = np.array([0.95047, 1.0, 1.08883])
WORDS = ("INK", "QUIET", "BLUE", "VERMILLION", "GREEN", "PURPLE", "OCHRE", "INDIGO", "CRIMSON")


def linear(colour):
    channels = np.array(ImageColor.getrgb(colour)) / 255
    return np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)


def cielab(light):
    """CIE 1976 L*, a*, b* of linear RGB."""
    relative = TO_XYZ @ np.clip(light, 0, 1) / WHITE
    f = np.where(relative > 216 / 24389, np.cbrt(relative), (24389 / 27 * relative + 16) / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def difference(one, other, eye="usual"):
    return np.linalg.norm(cielab(EYES[eye] @ linear(one)) - cielab(EYES[eye] @ linear(other)))


def test_the_measure_is_right():
    assert cielab(linear("#ffffff")) == pytest.approx([100, 0, 0], abs=0.02)
    assert cielab(linear("#ff0000")) == pytest.approx([53.24, 80.09, 67.20], abs=0.05)
    for eye, matrix in EYES.items():  # grey stays grey
        assert np.array(matrix) @ [0.5, 0.5, 0.5] == pytest.approx([0.5] * 3, abs=1e-5), eye
    assert difference("#ff0000", "#00aa00") > 100  # red and green: alike for some
    assert difference("#c04a00", "#8a6a00", "without long") < 8 < difference("#c04a00", "#8a6a00")


@pytest.mark.parametrize("eye", EYES)
def test_any_two_colours_can_be_told_apart(eye):
    colours = {name: getattr(palette, name) for name in WORDS}
    near = {
        pair: round(difference(colours[pair[0]], colours[pair[1]], eye), 1)
        for pair in itertools.combinations(WORDS, 2)
    }
    assert {pair: gap for pair, gap in near.items() if gap < 15} == {}


def test_every_colour_of_the_collection_is_one_of_these():
    assert set(palette.COLOURS.values()) <= {getattr(palette, name) for name in WORDS}
