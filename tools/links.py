"""Where the links of documents and notebooks lead: ``problems(path)`` says which lead nowhere.

A relative link points to a file that exists, an anchor to a heading that exists, and a picture has words that
say what is on it. An outer link is well formed; whether it is up is not looked at, since a test needs no network.
"""

import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

import nbformat

LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(\s*<?([^)>\s]*)>?[^)]*\)")
HTML = re.compile(r"<(img|a)\b([^>]*)>", re.I)
OUTER = re.compile(r"https?://[^\s<>\"'`)\]}]+")
FENCED = re.compile(r"^(```|~~~).*?^\1", re.M | re.S)
CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)", re.S)
# Where packages come from is the business of pip's own settings, PyTorch's CPU index excepted.
REGISTRY = re.compile(
    r"\b(pypi\.org|pythonhosted\.org|npmjs\.org|anaconda\.(?:org|com)|crates\.io|proxy\.golang\.org|"
    r"download\.pytorch\.org(?!/whl/cpu\b))"
)
LEAST_WORDS = 5  # of a picture


def markdown(path):
    """The Markdown of a document, or of all cells of a notebook."""
    if path.suffix != ".ipynb":
        return path.read_text(encoding="utf-8")
    return "\n\n".join(c.source for c in nbformat.read(path, 4).cells if c.cell_type == "markdown")


def without_code(text):
    return CODE.sub(" ", FENCED.sub(" ", text))


def links(text):
    """(target, words or None for a link) of every link and picture."""
    text = without_code(text)
    for picture, words, target in LINK.findall(text):
        yield target, words if picture else None
        yield from links(words) if not picture and "](" in words else ()
    for tag, attributes in HTML.findall(text):
        found = dict(re.findall(r"(\w+)\s*=\s*[\"']([^\"']*)[\"']", attributes))
        target = found.get("src" if tag.lower() == "img" else "href")
        if target is not None:
            yield target, found.get("alt", "") if tag.lower() == "img" else None


def headings(text):
    """The words of each heading, as they are read: without marks, and a link by its words."""
    for line in re.findall(r"^ {0,3}#{1,6}[ \t]+(.+?)[ \t]*#*$", FENCED.sub(" ", text), re.M):
        line = LINK.sub(lambda link: link[2], line)
        yield re.sub(r"`|(?<!\w)[*_]+(?=\S)|(?<=\S)[*_]+(?!\w)", "", line)


def anchors(path):
    """What may stand behind the # of a link to this file.

    JupyterLab takes the words of a heading and puts "-" for every space; GitHub takes small letters, leaves
    out what is neither letter, digit, "-" nor "_", and numbers the second of a name.
    """
    words = list(headings(markdown(path)))
    if path.suffix == ".ipynb":
        return {each.replace(" ", "-") for each in words}
    found, seen = set(), {}
    for each in words:
        slug = re.sub(r"[^\w\- ]", "", each.lower()).replace(" ", "-")
        times = seen[slug] = seen.get(slug, -1) + 1
        found.add(f"{slug}-{times}" if times else slug)
    return found


def problems(path):
    """Sentences, one for each link or picture of this document or notebook that is wrong; [] if none is."""
    return [sentence for target, words in links(markdown(path)) for sentence in _wrong(path, target, words)]


def _wrong(path, target, words):
    if words is not None and len(words.split()) < LEAST_WORDS:
        yield f"the picture {target} has {words!r} for words; they must say what is on it"
    if urlsplit(target).scheme:
        yield from wrong_outer(target)
        return
    name, _, anchor = target.partition("#")
    goal = Path(path.parent, unquote(name)) if name else path
    if not target or not goal.exists():
        yield f"{target!r} leads to no file"
    elif anchor and goal.is_file() and unquote(anchor) not in anchors(goal):
        yield f"{target} leads to no heading of {goal.name}"


def wrong_outer(target):
    """What is wrong with an outer link."""
    parts = urlsplit(target)
    local = parts.hostname in ("127.0.0.1", "localhost", "www.w3.org")  # the last is a name of XML, no page
    if parts.scheme != "https" and not local:
        yield f"{target} is not https"
    if not re.fullmatch(r"[a-z0-9-]+(\.[a-z0-9-]+)+", parts.netloc) and not local:
        yield f"{target} has no host"
    if re.search(r"[.,;:!?]$", target):
        yield f"{target} ends in a mark of the sentence"
    if REGISTRY.search(target):
        yield f"{target} names where packages come from"
