"""Runs that take minutes or many seeds, kept in ``data/recordings/`` with all that made them.

``tools/recordings.py`` (``make recordings``) makes them again. A file says what was done, with which
settings, seeds, device, threads, torch and on which day, and holds for every variant and seed the
columns that were measured, each number rounded to four significant digits.
"""

import hashlib
import json
import math
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import numpy as np

from pglab import _checks, _files

FOLDER = Path(__file__).resolve().parents[1] / "data" / "recordings"
DIGITS = 4


@dataclass(frozen=True)
class Recording:
    """One experiment: some variants, each with the same seeds.

    Args:
      name: of the file, without its ending.
      words: what was done, in plain words.
      command: that makes it again.
      device, threads, torch, date: of the machine, and of the day.
      seconds: of training, all runs together, without the evaluations.
      seeds: a list of whole numbers.
      starts: {checkpoint: SHA-256 of its weights}, the models that the runs started from.
      base: settings that all variants share, a dictionary as of ``PostTraining.as_dict``.
      variants: {variant: {"words": what it is, "samples": completions drawn for training before each
        point, "changes": settings that differ from ``base``}}; for an algorithm "changes" names only the
        fields that differ. What more there is (such as "knob" and "value") is there to sort by.
      columns: {column: what it says, with its unit}.
      runs: a list of dictionaries, one for each variant and seed: "variant", "seed", "seconds", and every
        other column as a list, null where nothing could be measured; where completions were kept, "kept":
        a list of dictionaries with "samples" (drawn before), "prompt", "completion", "right" and "paid".
    """

    name: str
    words: str
    command: str
    device: str
    threads: int
    torch: str
    date: str
    seconds: float
    seeds: list
    starts: dict
    base: dict
    variants: dict
    columns: dict
    runs: list

    def settings(self, variant):
        """The settings of a variant, but for its seed.

        Args:
          variant: a key of ``variants``.

        Returns:
          a dictionary d: ``training.PostTraining(**d)`` are the settings.

        Raises:
          ValueError: an unknown variant.
        """
        changes = self.variants[_checks.one_of("variant", variant, list(self.variants))]["changes"]
        algorithm = self.base["algorithm"] | changes.get("algorithm", {})
        return self.base | changes | {"algorithm": algorithm}

    def column(self, variant, name):
        """One column of a variant, a row for each seed.

        Args:
          variant: a key of ``variants``.
          name: a key of ``columns``, or "seconds".

        Returns:
          (S, T) NumPy array: S seeds in the order of ``seeds``, T points, NaN where nothing could be
          measured; (S,) for "seconds".

        Raises:
          ValueError: an unknown variant or column.
        """
        _checks.one_of("variant", variant, list(self.variants))
        _checks.one_of("name", name, [*self.columns, "seconds"])
        if name == "samples":
            return np.array([self.variants[variant]["samples"]] * len(self.seeds), dtype=float)
        return np.array([self._run(variant, seed)[name] for seed in self.seeds], dtype=float)

    def kept(self, variant, seed):
        """Completions of one run that were kept, a list of dictionaries; see ``runs``.

        Raises:
          ValueError: an unknown variant or seed.
        """
        _checks.one_of("variant", variant, list(self.variants))
        return self._run(variant, _checks.one_of("seed", seed, self.seeds)).get("kept", [])

    def _run(self, variant, seed):
        return next(run for run in self.runs if (run["variant"], run["seed"]) == (variant, seed))


def names(folder=FOLDER):
    """The recordings that there are, sorted by name."""
    return sorted(path.stem for path in Path(folder).glob("*.json"))


def read(name, folder=FOLDER):
    """A recording.

    Args:
      name: such as "algorithms"; ``names()`` lists them.
      folder: where the files lie.

    Returns:
      Recording.

    Raises:
      ValueError: an unknown name; a file that is damaged or was changed.
    """
    if name not in names(folder):
        there = ", ".join(names(folder)) or "none"
        raise ValueError(
            f"name is {name!r}; it must be one of the recordings in data/recordings: {there}. "
            "`git checkout data` brings back what is lost."
        )
    try:
        found = json.loads(Path(folder, f"{name}.json").read_text(encoding="utf-8"))
        if not isinstance(found, dict):
            raise ValueError("it holds no recording")
        stamp = found.pop("sha256")
        if found.keys() != {field.name for field in fields(Recording)} or stamp != digest(found):
            raise ValueError("its hash does not fit")
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(
            f"{name}.json is damaged or was changed ({_files.why(error)}). Get it back with `git checkout data`, "
            f"or make it again: make recordings ARGS={name}, or python make.py recordings {name}."
        ) from error
    return Recording(**found)


def write(recording, folder=FOLDER):
    """Writes a recording: one line for each variant and run, so that two versions can be compared by eye.

    Args:
      recording: Recording.
      folder: where its file goes.

    Returns:
      The path of the file.

    Raises:
      OSError: it could not be written; what stood there before is unchanged.
    """
    found = asdict(_checks.kind("recording", recording, Recording, "a Recording, such as read('knobs')"))
    found["sha256"] = digest(found)
    runs = ",\n".join(f"  {compact(run)}" for run in found.pop("runs"))
    variants = ",\n".join(f"  {compact(k)}: {compact(v)}" for k, v in found.pop("variants").items())
    head = json.dumps(found, indent=1, ensure_ascii=False).removesuffix("\n}")
    text = f'{head},\n "variants": {{\n{variants}\n }},\n "runs": [\n{runs}\n ]\n}}\n'
    path = Path(folder, f"{recording.name}.json")
    _files.write_whole({path: text.encode()})
    return path


def compact(value):
    """JSON without spaces. It has no NaN: ``rounded`` makes them null."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def digest(found):
    """The SHA-256 of a recording's content, in whatever way it is laid out."""
    text = json.dumps(found, sort_keys=True, ensure_ascii=False, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def rounded(value, digits=DIGITS):
    """A number with so many significant digits, whole where it is whole; None for NaN and infinity.

    Args:
      value: a number, or nested lists of numbers.
      digits: significant ones, at least 1.

    Returns:
      The same shape, for JSON.
    """
    if isinstance(value, (list, tuple, np.ndarray)):
        return [rounded(each, digits) for each in value]
    if not math.isfinite(value):
        return None
    if float(value).is_integer():
        return int(value)
    return float(f"{value:.{digits}g}")


def samples_to(samples, values, level):
    """After how many samples a curve first reaches a level, on straight lines between its points.

    Args:
      samples: (T,) increasing.
      values: (T,) the curve; NaN counts as below the level.
      level: the value to reach.

    Returns:
      A number; infinity if it never does.

    Raises:
      ValueError: columns of different lengths, samples that do not increase.
    """
    samples = _checks.vector("samples", samples)
    values = _checks.real("values", values, f"a vector of numbers, shape ({len(samples)},)").astype(float)
    if values.shape != samples.shape:
        raise ValueError(f"values has shape {values.shape}; it must have that of samples, {samples.shape}.")
    if (np.diff(samples) <= 0).any():
        raise ValueError("samples does not increase; it must, from point to point.")
    level = _checks.number("level", level)
    above = np.flatnonzero(values >= level)
    if not len(above):
        return math.inf
    first = above[0]
    if first == 0 or not values[first - 1] < level:
        return float(samples[first])
    part = (level - values[first - 1]) / (values[first] - values[first - 1])
    return float(samples[first - 1] + part * (samples[first] - samples[first - 1]))
