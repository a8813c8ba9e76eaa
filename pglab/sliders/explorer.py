"""The explorer: controls in, exact numbers and a picture out.

One object with three faces in one mimebundle: live SVG where a kernel runs, a PNG where none
does, and rounded text for nbval and screen readers. All three are made from one ``Picture``.
"""

import html
import json
from dataclasses import replace
from pathlib import Path

import traitlets

from pglab import _checks, _packages
from pglab.figures import Picture, describe
from pglab.figures.layout import scene as lay_out
from pglab.figures.show import bundle, show_words
from pglab.figures.svg import FONT, elements
from pglab.sliders.controls import DECIMALS, FEWEST_LETTERS, MOST_LETTERS, Choice, Slider

ipywidgets, anywidget = _packages.bring("ipywidgets"), _packages.bring("anywidget")

NARROWEST = 0.75  # share of its width below which a picture is scrolled, not shrunk: words stay readable
LETTER, TRACK = (
    8,
    130,
)  # pixels: of a letter beside a slider, and of the line that its handle runs on, at least
AHEAD = 4  # stops sent ahead in the direction the reader is going


def _key(stops):
    """The stop of every control in one word; drawing.js writes the same."""
    return " ".join(f"{round(stop, DECIMALS) + 0.0:.{DECIMALS}f}" for stop in stops)


def _room_for_words():
    """Style: beside a slider over words, room for the longest, so that the line keeps its length."""
    rule = ".pglab-controls .pglab-words-{0} .widget-readout {{ min-width: {1}px; }}"
    return "\n".join(rule.format(n, LETTER * n) for n in range(FEWEST_LETTERS, MOST_LETTERS + 1))


class Drawing(anywidget.AnyWidget):
    """The front end. ``frame`` is what to draw now; frames for later come as messages."""

    _esm = Path(__file__).with_name("drawing.js")
    _css = f"""
        .pglab-scroll {{ overflow-x: auto; }}
        .pglab-controls .widget-readout {{ width: max-content; max-width: none; min-width: {LETTER * FEWEST_LETTERS}px; }}
        {_room_for_words()}
        .pglab-drawing {{ display: block; height: auto; font-family: {FONT}; }}
    """
    controls = traitlets.List(traitlets.Unicode()).tag(sync=True)  # ids of the models of sliders and choices
    frame = traitlets.Unicode("{}").tag(sync=True)


class Explorer(ipywidgets.VBox):
    """Sliders and choices above a picture that is computed anew, exactly, at every stop.

    Args:
      controls: list of ``Slider`` and ``Choice``.
      picture: function of the controls' values, by name, that returns a ``Picture``. It must
        depend on nothing else: pictures are kept and shown again when their stop comes back.

    Raises:
      ValueError: no controls, two of one name, or a function that returns something else.

    Source: none; the measurements behind the design are repeated by ``make bench``.
    """

    def __init__(self, controls, picture):
        _checks.kind("controls", controls, (list, tuple), "a list of Sliders and Choices")
        for control in controls:
            if not isinstance(control, (Slider, Choice)):
                kind = type(control).__name__
                raise ValueError(f"controls holds a {kind}; it must hold only Sliders and Choices.")
        self._controls = {control.name: control for control in controls}
        if not self._controls:
            raise ValueError("controls is empty; an Explorer needs at least one Slider or Choice.")
        if len(self._controls) != len(controls):
            raise ValueError("controls holds two of one name; each name must be used once.")
        self._picture_of = picture
        self._widgets = {name: control.widget() for name, control in self._controls.items()}
        self._sent, self._paused = set(), False
        self._columns = None  # panels side by side in the reader's window; None as the picture says
        self._last = self.values
        self.picture = self._checked_picture(self._last)
        self._drawing = Drawing(
            controls=[widget.model_id for widget in self._widgets.values()],
            frame=json.dumps(self._frame(self._last, self.picture)),
        )
        self._drawing.on_msg(self._on_message)
        for widget in self._widgets.values():
            widget.observe(self._on_move, "value")
        self._note = ipywidgets.HTML()  # says what went wrong, where a picture cannot be made
        super().__init__([self._panel_of_controls(), self._drawing, self._note])

    @property
    def values(self):
        """The value of every control, by name."""
        return {name: self._controls[name].settled(widget.value) for name, widget in self._widgets.items()}

    @property
    def text(self):
        """The picture of this moment in words."""
        return describe(self.picture)

    def move(self, **values):
        """Set several controls at once, as a reader would; the picture is computed once.

        Raises:
          ValueError: a name that no control has, a value beyond a slider's ends or no option of a
            choice; nothing has moved then.
        """
        unknown = sorted(set(values) - set(self._widgets))
        if unknown:
            raise ValueError(f"no control is called {unknown}; the names are {sorted(self._widgets)}.")
        for name, value in values.items():
            values[name] = self._controls[name].checked(value)
        self._paused = True
        try:
            for name, value in values.items():
                self._widgets[name].value = value
        finally:
            self._paused = False
        self._redraw()

    def reset(self, _button=None):
        """Every control back to its start."""
        self.move(**{name: control.value for name, control in self._controls.items()})

    def show(self):
        """Display the explorer, and below it, folded away, the first picture in words."""
        from IPython.display import display

        display(self)
        show_words(self.text, "The numbers in the first picture")

    def _panel_of_controls(self):
        """Groups side by side, wrapping where the notebook is narrow, so no slider is squeezed."""
        groups = {}
        for name, control in self._controls.items():
            groups.setdefault(control.group, []).append((control, self._widgets[name]))
        boxes = []
        for title, pairs in groups.items():
            label = max(72, 9 * max(len(control.label) for control, _ in pairs))
            for _, widget in pairs:  # the sliders of a group begin below one another
                widget.style.description_width = f"{label}px"
            least = label + TRACK + LETTER * max(control.letters() for control, _ in pairs)
            heading = [ipywidgets.HTML(f"<b>{title}</b>")] if title else []
            layout = {"flex": f"1 1 {least}px", "max_width": f"{max(400, least)}px"}
            boxes.append(ipywidgets.VBox(heading + [widget for _, widget in pairs], layout=layout))
        button = ipywidgets.Button(description="Reset", tooltip="Every control back to its start")
        button.on_click(self.reset)
        boxes[-1].children += (button,)
        panel = ipywidgets.HBox(boxes, layout={"flex_flow": "row wrap"})
        panel.add_class("pglab-controls")
        return panel

    def _checked_picture(self, values):
        picture = self._picture_of(**values)
        if not isinstance(picture, Picture):
            kind = type(picture).__name__
            raise ValueError(f"picture returned a {kind}; it must return a pglab.figures.Picture.")
        return picture

    def _key(self, values):
        return _key(self._controls[name].stop(value) for name, value in values.items())

    def _frame(self, values, picture):
        key = self._key(values)
        self._sent.add(key)
        scene = lay_out(picture if self._columns is None else replace(picture, columns=self._columns))
        size = {"width": scene.width, "height": scene.height, "narrowest": round(NARROWEST * scene.width)}
        about = {"key": key, "columns": self._columns, "words": describe(picture)}
        return about | {"elements": elements(scene)} | size

    def _on_move(self, _change):
        """A reader moved a control. An error here would end in a log that nobody reads: show it."""
        if self._paused:
            return
        try:
            self._redraw()
        except Exception as error:
            words = html.escape(f"{type(error).__name__}: {error}")
            self._note.value = f"<b>No picture for this setting; the last one stands above.</b> {words}"

    def _redraw(self):
        before, now = self._last, self.values
        self.picture = self._checked_picture(now)
        self._last, self._note.value = now, ""
        self._drawing.frame = json.dumps(self._frame(self._last, self.picture))
        self._send_ahead(self._likely_next(before, self._last))

    def _likely_next(self, before, now):
        """After a step of one stop (a key press): the next few that way. The one back is known already."""
        moved = [name for name in now if now[name] != before[name]]
        if len(moved) != 1:
            return []
        name = moved[0]
        stops = self._controls[name].stops_between(before[name], now[name])
        if abs(abs(stops) - 1) > 1e-6:  # a drag: anywhere may be next
            return []
        way = 1 if stops > 0 else -1
        return [(name, way * k) for k in range(1, AHEAD + 1)]

    def _on_message(self, _widget, message, _buffers):
        """A browser shows the drawing, or its width has changed: fit it, send the nearest stops ahead."""
        refitted = bool(message.get("width")) and self._fit(message["width"])
        if message.get("ready") or refitted:
            self._sent.clear()
            self._send_ahead([(name, way) for name in self._controls for way in (-1, 1)])

    def _fit(self, width):
        """As many panels side by side as stay readable in so many pixels; whether that is a change."""
        columns = self.picture.columns
        while columns > 1 and NARROWEST * lay_out(replace(self.picture, columns=columns)).width > width:
            columns -= 1
        columns = None if columns == self.picture.columns else columns
        if columns == self._columns:
            return False
        self._columns = columns
        self._drawing.frame = json.dumps(self._frame(self._last, self.picture))
        return True

    def _send_ahead(self, moves):
        frames = []
        for name, stops in moves:
            value = self._controls[name].neighbour(self._last[name], stops)
            if value is None:  # beyond an end
                continue
            values = self._last | {name: value}
            if self._key(values) in self._sent:
                continue
            try:
                frames.append(self._frame(values, self._checked_picture(values)))
            except Exception:  # it will be said when the reader gets there
                continue
        if frames:
            self._drawing.send({"frames": json.dumps(frames)})

    def _repr_mimebundle_(self, **kwargs):
        live = super()._repr_mimebundle_(**kwargs) or {}
        live, live_metadata = live if isinstance(live, tuple) else (live, {})
        data, metadata = bundle(self.picture)
        return {**live, **data}, {**live_metadata, **metadata}
