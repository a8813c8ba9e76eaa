"""The explorer: controls in, exact numbers and a picture out.

One object with three faces in one mimebundle: live SVG where a kernel runs, a PNG where none
does, and rounded text for nbval and screen readers. All three are made from one ``Picture``.
"""

import json
from pathlib import Path

import anywidget
import ipywidgets
import traitlets

from pglab import _checks
from pglab.figures import Picture, describe
from pglab.figures.layout import scene as lay_out
from pglab.figures.show import bundle, show_words
from pglab.figures.svg import FONT, elements
from pglab.sliders.controls import DECIMALS, Slider

NARROWEST = 0.75  # share of its width below which a picture is scrolled, not shrunk: words stay readable
AHEAD = 4  # stops sent ahead in the direction the reader is going


def _key(values):
    """The stop of every slider in one word; drawing.js writes the same."""
    return " ".join(f"{round(value, DECIMALS) + 0.0:.{DECIMALS}f}" for value in values.values())


class Drawing(anywidget.AnyWidget):
    """The front end. ``frame`` is what to draw now; frames for later come as messages."""

    _esm = Path(__file__).with_name("drawing.js")
    _css = f"""
        .pglab-scroll {{ overflow-x: auto; }}
        .pglab-drawing {{ display: block; height: auto; font-family: {FONT}; }}
    """
    controls = traitlets.List(traitlets.Unicode()).tag(sync=True)  # ids of the slider models
    frame = traitlets.Unicode("{}").tag(sync=True)


class Explorer(ipywidgets.VBox):
    """Sliders above a picture that is computed anew, exactly, at every stop.

    Args:
      controls: list of ``Slider``.
      picture: function of the sliders' values, by name, that returns a ``Picture``. It must
        depend on nothing else: pictures are kept and shown again when their stop comes back.

    Raises:
      ValueError: no controls, two of one name, or a function that returns something else.

    Source: none; the measurements behind the design are repeated by ``make bench``.
    """

    def __init__(self, controls, picture):
        for control in controls:
            if not isinstance(control, Slider):
                raise ValueError(f"controls holds a {type(control).__name__}; it must hold only Sliders.")
        self._sliders = {control.name: control for control in controls}
        if not self._sliders:
            raise ValueError("controls is empty; an Explorer needs at least one Slider.")
        if len(self._sliders) != len(controls):
            raise ValueError("controls holds two Sliders of one name; each name must be used once.")
        self._picture_of = picture
        self._widgets = {name: slider.widget() for name, slider in self._sliders.items()}
        self._sent, self._paused = set(), False
        self._last = self.values
        self.picture = self._checked_picture(self._last)
        self._drawing = Drawing(
            controls=[widget.model_id for widget in self._widgets.values()],
            frame=json.dumps(self._frame(self._last, self.picture)),
        )
        self._drawing.on_msg(self._on_message)
        for widget in self._widgets.values():
            widget.observe(self._on_move, "value")
        super().__init__([self._panel_of_controls(), self._drawing])

    @property
    def values(self):
        """The value of every slider, by name."""
        return {name: widget.value for name, widget in self._widgets.items()}

    @property
    def text(self):
        """The picture of this moment in words."""
        return describe(self.picture)

    def move(self, **values):
        """Set several sliders at once, as a reader would; the picture is computed once.

        Raises:
          ValueError: a name that no slider has, a value beyond the slider's ends; nothing has moved then.
        """
        unknown = sorted(set(values) - set(self._widgets))
        if unknown:
            raise ValueError(f"no slider is called {unknown}; the names are {sorted(self._widgets)}.")
        for name, value in values.items():
            values[name] = _checks.number(name, value, self._sliders[name].low, self._sliders[name].high)
        self._paused = True
        try:
            for name, value in values.items():
                self._widgets[name].value = value
        finally:
            self._paused = False
        self._on_move()

    def reset(self, _button=None):
        """Every slider back to its start."""
        self.move(**{name: slider.value for name, slider in self._sliders.items()})

    def show(self):
        """Display the explorer, and below it, folded away, the first picture in words."""
        from IPython.display import display

        display(self)
        show_words(self.text, "The numbers in the first picture")

    def _panel_of_controls(self):
        """Groups side by side, wrapping where the notebook is narrow, so no slider is squeezed."""
        groups = {}
        for name, slider in self._sliders.items():
            groups.setdefault(slider.group, []).append(self._widgets[name])
        boxes = []
        for title, widgets in groups.items():
            heading = [ipywidgets.HTML(f"<b>{title}</b>")] if title else []
            boxes.append(
                ipywidgets.VBox(heading + widgets, layout={"flex": "1 1 250px", "max_width": "400px"})
            )
        button = ipywidgets.Button(description="Reset", tooltip="Every slider back to its start")
        button.on_click(self.reset)
        boxes[-1].children += (button,)
        return ipywidgets.HBox(boxes, layout={"flex_flow": "row wrap"})

    def _checked_picture(self, values):
        picture = self._picture_of(**values)
        if not isinstance(picture, Picture):
            kind = type(picture).__name__
            raise ValueError(f"picture returned a {kind}; it must return a pglab.figures.Picture.")
        return picture

    def _frame(self, values, picture):
        key = _key(values)
        self._sent.add(key)
        scene = lay_out(picture)
        size = {"width": scene.width, "height": scene.height, "narrowest": round(NARROWEST * scene.width)}
        return {"key": key, "words": describe(picture), "elements": elements(scene)} | size

    def _on_move(self, _change=None):
        if self._paused:
            return
        before, self._last = self._last, self.values
        self.picture = self._checked_picture(self._last)
        self._drawing.frame = json.dumps(self._frame(self._last, self.picture))
        self._send_ahead(self._likely_next(before, self._last))

    def _likely_next(self, before, now):
        """After a step of one stop (a key press): the next few that way. The one back is known already."""
        moved = [name for name in now if now[name] != before[name]]
        if len(moved) != 1:
            return []
        name = moved[0]
        stops = (now[name] - before[name]) / self._sliders[name].step
        if abs(abs(stops) - 1) > 1e-6:  # a drag: anywhere may be next
            return []
        way = 1 if stops > 0 else -1
        return [(name, way * k) for k in range(1, AHEAD + 1)]

    def _on_message(self, _widget, message, _buffers):
        """A browser shows the drawing: send it the nearest stops of every slider."""
        if message.get("ready"):
            self._sent.clear()
            self._send_ahead([(name, way) for name in self._sliders for way in (-1, 1)])

    def _send_ahead(self, moves):
        frames = []
        for name, stops in moves:
            value = self._sliders[name].neighbour(self._last[name], stops)
            if value is None:  # beyond an end
                continue
            values = self._last | {name: value}
            if _key(values) not in self._sent:
                frames.append(self._frame(values, self._checked_picture(values)))
        if frames:
            self._drawing.send({"frames": json.dumps(frames)})

    def _repr_mimebundle_(self, **kwargs):
        live = super()._repr_mimebundle_(**kwargs) or {}
        live, live_metadata = live if isinstance(live, tuple) else (live, {})
        data, metadata = bundle(self.picture)
        return {**live, **data}, {**live_metadata, **metadata}
