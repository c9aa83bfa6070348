"""Tests the page of a report in a headless Chromium: the keyboard steps through the moves, graph
and path follow, and no script in a game's tags or comments runs. Arguments: the page, and a
folder for screenshots."""

from chromium import everywhere


def state(page):
    """The parts of the page that depend on the current move."""
    attribute = lambda place, name: page.get_attribute(place, name)
    return {
        "board": attribute("#board", "aria-label"),
        "graph": float(attribute("#cursor", "x1")),
        "path": (float(attribute("#here", "cx")), float(attribute("#here", "cy"))),
        "move": page.evaluate("document.querySelector('#moves [aria-current]')?.textContent"),
        "about": page.inner_text("#about h2"),
        "pieces": page.evaluate("document.querySelectorAll('#board piece').length"),
    }


def press(page, key):
    page.keyboard.press(key)
    page.wait_for_timeout(250)
    return state(page)


def check_keyboard(page):
    start = state(page)
    assert start["about"] == "The start" and start["pieces"] == 32, start
    box = "(box => [box.x + scrollX, box.y + scrollY, box.width, box.height])(document.querySelector('#board').getBoundingClientRect())"
    place = page.evaluate(box)
    first = press(page, "ArrowRight")
    assert first["board"] != start["board"] and first["graph"] > start["graph"], first
    assert first["path"] != start["path"] and first["move"] and first["about"].startswith("1. "), first
    second = press(page, "ArrowRight")
    assert second["graph"] > first["graph"] and second["about"].startswith("1… "), second
    assert press(page, "ArrowLeft") == first
    end = press(page, "End")
    moves = page.locator("#moves button").count()
    assert page.get_attribute("#moves [aria-current]", "data-ply") == str(moves), end
    assert press(page, "ArrowRight") == end
    assert press(page, "Home") == start
    assert press(page, "ArrowLeft") == start
    page.keyboard.press("f")
    assert "orientation-black" in page.get_attribute("#board", "class")
    page.keyboard.press("f")
    assert "orientation-white" in page.get_attribute("#board", "class")
    page.click("#moves button >> nth=2")
    assert state(page)["about"].startswith("2. ")
    page.keyboard.press("Home")
    wrong = press(page, "n")
    assert "blunder" in wrong["about"] or "mistake" in wrong["about"], wrong
    # The arrow is the better move, in green, not the opponent's reply.
    assert page.locator("#board svg.cg-shapes line[stroke='#15781B']").count() == 1
    press(page, "End")
    assert press(page, "p")["about"].endswith(("blunder", "mistake"))
    # The address leads back to the position.
    linked, there = page.url, state(page)
    press(page, "Home")
    page.evaluate("address => location.assign(address)", linked)
    page.wait_for_timeout(250)
    assert state(page) == there, linked
    page.click("#graph", position={"x": 70, "y": 30})
    assert state(page)["about"] != "2. ", "a click into the graph goes there"
    page.click("#last")
    assert state(page)["about"] == end["about"]
    assert page.evaluate(box) == place, "the board stays where it is"


def check(page):
    check_keyboard(page)
    if page.is_visible("#games"):
        other = page.inner_text("h1")
        page.select_option("#games", "1")
        assert page.inner_text("h1") != other and state(page)["about"] == "The start"
        page.keyboard.press("Tab")
        press(page, "End")
        page.select_option("#games", "0")
    for _ in range(9):
        press(page, "ArrowRight")
    assert page.evaluate("window.pwned") is None and page.evaluate("document.querySelector('#title *')") is None


everywhere("page", check)
