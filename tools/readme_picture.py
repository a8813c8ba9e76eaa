"""Take README's picture: the explorer of notebook 01, live in JupyterLab, one slider moved.

python tools/readme_picture.py
"""

import lab
from render import ROOT

PICTURE = ROOT / "notebooks" / "drawings" / "explorer.png"
NOTEBOOK = "01_the_exact_bandit.ipynb"


def main():
    with lab.serving(ROOT / "notebooks") as server, lab.chromium() as browser:
        with server.open(browser, NOTEBOOK, width=1400, height=1100) as page:
            page.evaluate(lab.RUN_ALL)
            page.locator("svg.pglab-drawing rect").first.wait_for(timeout=20_000)
            handle = page.locator(".jp-OutputArea .noUi-handle").nth(1)
            handle.scroll_into_view_if_needed()
            for _ in range(10):  # the rare wrong answer of the lesson: its logit from -0.2 to -1.2
                handle.press("ArrowLeft")
                page.wait_for_timeout(60)
            page.wait_for_timeout(500)
            page.locator(".jp-OutputArea-child", has=page.locator("svg.pglab-drawing")).first.screenshot(
                path=PICTURE
            )
    print(f"{PICTURE.relative_to(ROOT)} written")


if __name__ == "__main__":
    main()
