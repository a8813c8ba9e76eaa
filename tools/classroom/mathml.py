"""Formulas as MathML, which every browser draws by itself: no script, no network."""

import html
import re

from latex2mathml.converter import convert

# Code first: a dollar sign in code starts no formula.
PIECES = re.compile(r"(```.*?```|`[^`\n]*`)|\$\$(.+?)\$\$|(?<![\\$])\$([^$]+?)\$", re.S)
# What the library does not know, said in words that it knows.
KNOWN = {r"\arg": r"\mathrm{arg}\,", r"\begin{aligned}": r"\begin{align*}", r"\end{aligned}": r"\end{align*}"}
BRACE = "<mo>&#x23DF;</mo>", '<mo stretchy="true">&#x23DF;</mo>'
NAMED = re.compile(
    r"(<mi>(?:arcsin|log|ln|max|min|sin)</mi>)(?=<m[in]>)"
)  # a little room before its argument
SPECIAL = {ord(sign): f"&#{ord(sign)};" for sign in "*_\\`[]|$~"}  # which Markdown would read as its own


def with_mathml(markdown):
    """The same text with ``$...$`` and ``$$...$$`` turned into MathML.

    Raises:
      ValueError: a formula that cannot be read; the message shows it.
    """
    return PIECES.sub(_piece, markdown)


def _piece(match):
    code, block, inline = match.groups()
    if code:
        return code
    if block:
        return f"\n\n<div>{formula(block, 'block')}</div>\n\n"
    return formula(inline, "inline")


def formula(latex, display):
    """One formula as MathML in one line of HTML."""
    words = html.unescape(latex.strip())
    for unknown, known in KNOWN.items():
        words = words.replace(unknown, known)
    try:
        drawn = convert(words, display=display).replace(*BRACE)
    except Exception as error:  # the library raises errors of many kinds
        raise ValueError(f"the formula {latex!r} cannot be turned into MathML: {error}") from error
    if unknown := re.search(r">(\\\w+|&)<", drawn):  # it passes on what it does not know
        raise ValueError(f"the formula {latex!r} cannot be turned into MathML: {unknown[1]} is not known")
    drawn = NAMED.sub(r'\1<mspace width="0.17em" />', drawn)
    return drawn.translate(SPECIAL).replace("\n", " ")
