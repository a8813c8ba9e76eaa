"""A table of words for a notebook: laid out for the eye, aligned as plain text for everyone else."""

import html

LEFT = "text-align: left; vertical-align: top; white-space: normal"


def sheet(columns, rows):
    """Show a table of words.

    The browser gets a table whose cells wrap; nbval, a terminal and a screen reader get the same words as
    plain text, one row a line, its columns aligned. The first column names the rows. Numbers are for
    ``table``: here they would be words whose digits nobody has chosen.

    Args:
      columns: n words, one above each column.
      rows: a list of rows, each n words (a tuple, such as a Row of ``algorithms.table``), or whole numbers.

    Raises:
      ValueError: no columns or no rows; a row with more or fewer cells than columns; a cell that is neither
        words nor a whole number.
    """
    from IPython.display import display

    columns, rows = _checked(columns, rows)
    display({"text/html": _html(columns, rows), "text/plain": _text(columns, rows)}, raw=True)


def _checked(columns, rows):
    """Both as lists of words on one line each."""
    if isinstance(columns, str) or isinstance(rows, (str, dict)):
        raise ValueError("columns must be a list of words, and rows a list of rows.")
    columns, rows = _row("columns", columns), [_row(f"rows[{i}]", row) for i, row in enumerate(rows)]
    if not columns or not rows:
        raise ValueError(f"{'rows' if columns else 'columns'} is empty; there must be at least one.")
    for i, row in enumerate(rows):
        if len(row) != len(columns):
            raise ValueError(f"rows[{i}] has {len(row)} cells; it must have {len(columns)}, one a column.")
    return columns, rows


def _row(name, cells):
    if isinstance(cells, str) or not hasattr(cells, "__iter__"):
        raise ValueError(f"{name} is {cells!r}; it must be a list of words.")
    return [_words(f"{name}[{j}]", cell) for j, cell in enumerate(cells)]


def _words(name, cell):
    if isinstance(cell, bool) or not isinstance(cell, (str, int)):
        raise ValueError(f"{name} is {cell!r}; it must be words or a whole number.")
    return " ".join(str(cell).split())


def _html(columns, rows):
    head = "".join(_cell("th", column, ' scope="col"') for column in columns)
    body = ""
    for first, *others in rows:
        cells = _cell("th", first, ' scope="row"') + "".join(_cell("td", cell) for cell in others)
        body += f"<tr>{cells}</tr>"
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(tag, words, scope=""):
    return f'<{tag}{scope} style="{LEFT}">{html.escape(words)}</{tag}>'


def _text(columns, rows):
    widths = [max(len(row[j]) for row in (columns, *rows)) for j in range(len(columns))]
    rule = ["-" * width for width in widths]
    lines = [columns, rule, *rows]
    return "\n".join(
        "  ".join(f"{cell:<{width}}" for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )
