"""Take README's picture: the explorer of notebook 01, live in JupyterLab, three sliders moved.

python tools/readme_picture.py
"""

import lab
from render import ROOT

PICTURE = ROOT / "notebooks" / "drawings" / "explorer.png"
NOTEBOOK = "01_the_exact_bandit.ipynb"
# A rarer "5", a more common "22", a longer step: the effect of the lesson, large enough to see.
MOVES = [(1, "ArrowLeft", 7), (2, "ArrowRight", 9), (8, "ArrowRight", 30)]


def main():
    with lab.serving(ROOT / "notebooks") as server, lab.chromium() as browser:
        with server.open(browser, NOTEBOOK, width=1400, height=1100) as page:
            page.evaluate(lab.UNCOVER)
            page.evaluate(lab.RUN_ALL)
            page.locator("svg.pglab-drawing rect").first.wait_for(timeout=20_000)
            handles = page.locator(".jp-OutputArea .noUi-handle")
            handles.first.scroll_into_view_if_needed()
            for slider, key, presses in MOVES:
                for _ in range(presses):
                    handles.nth(slider).press(key)
                    page.wait_for_timeout(40)
            page.wait_for_timeout(500)
            page.locator(".jp-OutputArea-child", has=page.locator("svg.pglab-drawing")).first.screenshot(
                path=PICTURE
            )
    print(f"{PICTURE.relative_to(ROOT)} written")


if __name__ == "__main__":
    main()
