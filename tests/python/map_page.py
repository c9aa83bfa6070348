"""Tests the page of a map in a headless Chromium: a click and the arrow keys choose positions,
and the list of neighbours leads to others. Arguments: the page, and a folder for screenshots."""

from chromium import everywhere


def check(page):
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


everywhere("map", check)
