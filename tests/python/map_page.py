"""A map's page in a headless Chromium: a click and the arrow keys choose positions, neighbours lead on, nothing is fetched,
axe-core finds no violation. Arguments: the page, and a folder for screenshots."""

import pathlib
import sys

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

from chromium import SIZES, launch, watched


def check(browser, name, size, scheme, url, folder):
    page, complaints = watched(browser, size, scheme)
    page.goto(url)
    fen = lambda: page.inner_text("#about dd >> nth=2")
    start = fen()
    page.keyboard.press("ArrowRight")
    right = fen()
    assert right != start
    page.keyboard.press("ArrowLeft")
    assert fen() == start
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    neighbour = fen()
    assert neighbour != start
    page.click("#map", position={"x": 0.9 * page.locator("#map").bounding_box()["width"], "y": 60})
    assert fen() != neighbour
    assert page.evaluate("document.querySelectorAll('#board piece').length") > 2
    page.keyboard.press("f")
    assert "orientation-black" in page.get_attribute("#board", "class")
    wide = page.evaluate("document.documentElement.scrollWidth")
    assert wide <= size[0], f"{name}: the page is {wide} wide"
    violations = Axe().run(page)
    assert violations.violations_count == 0, f"{name} {scheme}: {violations.generate_report()}"
    page.screenshot(path=str(folder / f"map-{name}-{scheme}.png"), full_page=True)
    assert not complaints(url), complaints(url)
    page.context.close()


def main():
    path, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    assert path.stat().st_size < 2_000_000
    with sync_playwright() as playwright:
        browser = launch(playwright)
        for name, size in SIZES.items():
            for scheme in ("light", "dark"):
                check(browser, name, size, scheme, path.resolve().as_uri(), folder)
        browser.close()
    print("the map is as it should be")


main()
