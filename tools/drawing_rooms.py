"""The drawing of README: which room of pglab imports which, drawn from the code.

What a room imports through another one is left out. Rows go from rooms that stand on nothing down to those that
stand on most; a line that passes a row gets a place in it, and places are swapped until few lines cross.
"""

from pen import BODY, HEADING, MARGIN, NAME, PALE, WIDTH, Drawing, tint
from rooms import ROOMS, imports_of

from pglab.figures.palette import BLUE, INK, QUIET

TOP, HEIGHT, BETWEEN = 84, 34, 58  # of the first row; of a room; from one row to the next
GAP, LANE = 12, 10  # between neighbours of a row; the width of a line that passes a row
SWEEPS = 40


def graph():
    """{room: the rooms it imports and reaches by no longer way}."""
    direct = {room: imports_of(room) for room in ROOMS}
    every = {}
    for room in ROOMS:  # bottom to top, so what it imports is known
        every[room] = direct[room].union(*(every[other] for other in direct[room]))
    return {room: sorted(direct[room] - set().union(*(every[o] for o in direct[room]))) for room in ROOMS}


def levels(edges):
    """{room: its row}, each as low as the rooms that import it allow; rooms without any line are left out."""
    users = {room: [other for other in ROOMS if room in edges[other]] for room in ROOMS}
    deep = {}
    for room in ROOMS:
        deep[room] = 1 + max((deep[other] for other in edges[room]), default=-1)
    low = {}
    for room in reversed(ROOMS):
        low[room] = min((low[user] for user in users[room]), default=deep[room] + 1) - 1
    return {room: low[room] for room in ROOMS if edges[room] or users[room]}


def laid_out(edges, rows_of):
    """Rows of places, and {line: its places}. A place is a room, or (upper room, lower room, row) of a line."""
    rows = [[] for _ in range(1 + max(rows_of.values()))]
    for room, row in rows_of.items():
        rows[row].append(room)
    lines = {}
    for lower in rows_of:
        for upper in edges[lower]:
            between = [(upper, lower, row) for row in range(rows_of[upper] + 1, rows_of[lower])]
            for place in between:
                rows[place[2]].append(place)
            lines[upper, lower] = [upper, *between, lower]
    return rows, lines


def neighbours(lines):
    """{place: the places it is tied to in the rows above and below}."""
    above, below = {}, {}
    for places in lines.values():
        for one, other in zip(places, places[1:], strict=False):
            below.setdefault(one, []).append(other)
            above.setdefault(other, []).append(one)
    return above, below


def width(place):
    return LANE if isinstance(place, tuple) else 20 + 9 * len(place)


def settled(wanted, row):
    """{place: x of its middle} near the wanted ones, in the order of the row, none on top of another.

    Pushed to the right, pushed to the left, and the mean of the two, which keeps every distance.
    """
    row = sorted(row, key=lambda place: wanted[place])
    mirrored = {place: WIDTH - wanted[place] for place in row}
    right, left = pushed(wanted, row), pushed(mirrored, row[::-1])
    return {place: (right[place] + WIDTH - left[place]) / 2 for place in row}


def pushed(wanted, row):
    """Each place as far to the right as it wants and its neighbours on both sides allow."""
    x, edge = {}, MARGIN - GAP
    for place in row:
        x[place] = max(wanted[place], edge + GAP + width(place) / 2)
        edge = x[place] + width(place) / 2
    edge = WIDTH - MARGIN + GAP
    for place in reversed(row):
        x[place] = min(x[place], edge - GAP - width(place) / 2)
        edge = x[place] - width(place) / 2
    return x


def positions(rows, lines):
    """{place: x of its middle}: each row in turn moves to the middle of what it is tied to, down and up again."""
    above, below = neighbours(lines)
    x = {}
    for row in rows:
        x |= settled({place: WIDTH * (i + 1) / (len(row) + 1) for i, place in enumerate(row)}, row)
    best = (crossings(x, rows, lines), x)
    for sweep in range(SWEEPS):
        for row in rows if sweep % 2 else rows[::-1]:
            tied = {p: [x[q] for q in above.get(p, []) + below.get(p, [])] for p in row}
            x = x | settled({p: sum(xs) / len(xs) for p, xs in tied.items()}, row)
        best = min(best, (crossings(x, rows, lines), x), key=lambda pair: pair[0])
    return best[1]


def crossings(x, rows, lines):
    """(pairs of lines that cross between two rows, how far all lines go sideways)."""
    row_of = {place: n for n, row in enumerate(rows) for place in row}
    steps = [s for places in lines.values() for s in zip(places, places[1:], strict=False)]
    crossed = sum(
        row_of[a] == row_of[c] and (x[a] - x[c]) * (x[b] - x[d]) < 0
        for i, (a, b) in enumerate(steps)
        for c, d in steps[:i]
    )
    return crossed, round(sum(abs(x[a] - x[b]) for a, b in steps), 6)


def rooms():
    edges = graph()
    rows, lines = laid_out(edges, levels(edges))
    x, row_of = positions(rows, lines), {place: n for n, row in enumerate(rows) for place in row}
    y = {place: TOP + (HEIGHT + BETWEEN) * row for place, row in row_of.items()}
    height = max(y.values()) + HEIGHT + MARGIN
    drawing = Drawing(WIDTH, height, "Which room of pglab imports which", in_words(edges))
    drawing.text(MARGIN, 32, "The rooms of pglab", HEADING, INK, bold=True)
    alone = " and ".join(room for room in ROOMS if room not in y)
    drawing.text(
        MARGIN, 58, f"A line leads down to a room that imports the upper one. On their own: {alone}.", BODY
    )
    for places in lines.values():
        points = []
        for place in places:
            points += [(x[place], y[place]), (x[place], y[place] + HEIGHT)]
        drawing.line(points[1:-1], QUIET, 1.5)
    for room in (room for room in ROOMS if room in y):
        drawing.box(x[room] - width(room) / 2, y[room], width(room), HEIGHT, tint(BLUE, PALE), BLUE)
        drawing.text(x[room], y[room] + 22, room, NAME, INK, anchor="middle")
    return drawing


def in_words(edges):
    lines = ["Each room, and the rooms it imports, those left out that it reaches through another one."]
    for room in ROOMS:
        lines.append(f"{room}: {', '.join(edges[room]) or 'none'}.")
    return "\n".join(lines)
