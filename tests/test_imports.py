"""A room imports only from rooms above it, torch comes late, and nothing runs in circles."""

import subprocess
import sys
from graphlib import TopologicalSorter

import pytest
from rooms import HELPERS, MODULES, PACKAGE, ROOMS, imports, room_of

WITHOUT_TORCH = [
    *ROOMS[: ROOMS.index("kl") + 1],
    "recordings",
    "figures",
    "sliders",
    "progress",
    "predictions",
    "exercises",
]
BUILT = sorted(
    path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or path.joinpath("__init__.py").exists()
)


def test_every_file_belongs_to_a_room_of_the_list():
    assert set(BUILT) - {"__init__"} <= {*HELPERS, *ROOMS}


@pytest.mark.parametrize("module", MODULES)
def test_a_room_imports_only_from_rooms_above_it_in_the_list(module):
    order = ["", *HELPERS, *ROOMS]
    for name in imports(MODULES[module]):
        if name == "pglab" or name.startswith("pglab."):
            assert name in MODULES, f"{module} imports {name}, which is no module"
            above = order.index(room_of(name)) < order.index(room_of(module))
            assert above or room_of(name) == room_of(module), (
                f"{module} imports {name} from a room below its own"
            )


def test_no_circular_imports():
    graph = {m: {i for i in imports(path, nested=False) if i in MODULES} for m, path in MODULES.items()}
    list(TopologicalSorter(graph).static_order())  # raises CycleError


@pytest.mark.parametrize("module", [m for m in MODULES if room_of(m) in WITHOUT_TORCH])
def test_no_import_of_torch_is_written(module):
    assert "torch" not in {name.partition(".")[0] for name in imports(MODULES[module], nested=False)}


def loaded_by(*modules):
    """The packages that a fresh Python has loaded after importing these modules."""
    code = f"import sys, {', '.join(modules)}\nprint(*{{name.partition('.')[0] for name in sys.modules}})"
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True
    )
    return set(run.stdout.split())


def test_the_picture_rooms_open_without_torch():
    modules = [f"pglab.{name}" for name in WITHOUT_TORCH if name in BUILT]
    assert {"pglab.bandit", "pglab.figures", "pglab.sliders"} <= set(modules)
    assert "torch" not in loaded_by(*modules)


def test_numbers_need_only_numpy():
    modules = [f"pglab.{name}" for name in WITHOUT_TORCH[:-5] if name in BUILT]
    assert not loaded_by(*modules) & {"torch", "matplotlib", "ipywidgets", "anywidget", "IPython"}


def test_groups_and_advantages_need_only_numpy():
    # They work on tensors too, but whoever passes one has imported torch already.
    assert not loaded_by("pglab.groups", "pglab.advantages") & {"torch", "matplotlib", "ipywidgets"}


def test_pictures_as_data_need_no_matplotlib():
    assert not loaded_by("pglab.figures") & {"torch", "matplotlib", "ipywidgets", "anywidget", "IPython"}


def test_each_module_can_be_imported_first():
    code = """
import importlib, sys
for module in sys.argv[1:]:
    for name in [name for name in sys.modules if name.partition(".")[0] == "pglab"]:
        del sys.modules[name]
    importlib.import_module(module)
"""
    modules = [m for m in MODULES if room_of(m) in ("", *HELPERS, *WITHOUT_TORCH)]
    run = subprocess.run([sys.executable, "-c", code, *modules], capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize("explorer", ["cluster_lab", "memory_lab"])
def test_an_explorer_of_costs_is_drawn_without_torch(explorer):
    code = f"import sys; from pglab import sliders; sliders.{explorer}(); print('torch' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "False\n"
