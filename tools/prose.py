"""The prose of a file, without its code: documents, the notebooks' Markdown, comments and docstrings."""

import ast
import io
import re
import tokenize

import nbformat
from links import OUTER, without_code

MATHS = re.compile(r"\$\$.*?\$\$|\$[^$\n]*\$", re.S)
DOUBLE = re.compile(r"``[^`]*``")
SENTENCE = re.compile(r"[A-Za-z]{2,}[,;:]? [a-z]{2,}[,;:]? [a-z]{2,}")  # three words in a row
COMMENT = {".js": r"//[^\n]*|/\*.*?\*/", ".css": r"/\*.*?\*/"}


def prose(path):
    """The words that a reader of the file reads as English."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        return of_markdown(text)
    if path.suffix == ".py":
        return of_python(text)
    if path.suffix == ".ipynb":
        return of_notebook(nbformat.reads(text, 4))
    return "\n".join(re.findall(COMMENT.get(path.suffix) or r"(?m)(?:^|\s)#[^\n]*", text, re.S))


def of_markdown(text):
    """Without code, mathematics and the targets of links."""
    text = MATHS.sub(" ", without_code(text))
    return OUTER.sub(" ", re.sub(r"\]\([^)]*\)", "] ", text))


def of_notebook(notebook):
    parts = []
    for cell in notebook.cells:
        parts.append(of_markdown(cell.source) if cell.cell_type == "markdown" else of_python(cell.source))
    return "\n\n".join(parts)


def of_python(text):
    """Comments, docstrings and sentences in strings; what stands between backquotes in them is code."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    parts = [token.string for token in tokens if token.type == tokenize.COMMENT]
    parts += [string for string in strings(ast.parse(text)) if SENTENCE.search(string)]
    return OUTER.sub(" ", without_code(DOUBLE.sub(" ", "\n".join(parts))))


def strings(node):
    """The strings of a program; an f-string is one, with "..." for what is computed."""
    if isinstance(node, ast.JoinedStr):
        yield "".join(part.value if isinstance(part, ast.Constant) else "..." for part in node.values)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    else:
        for child in ast.iter_child_nodes(node):
            yield from strings(child)
