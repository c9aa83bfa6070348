"""Tests the page of a report in a headless Chromium, by keys and by touch: lines, another try,
links, exports and the map. No script in a game's tags or comments may run. Arguments: the page, and
a folder for screenshots."""

import io
import json

import chess.pgn
from playwright.sync_api import expect

from chromium import everywhere, saved

SIZES = {"wide": (1920, 1080), "laptop": (1366, 768), "phone": (390, 844)}


def data(page):
    return json.loads(page.inner_text("#data"))


def about(page):
    return page.inner_text("#about h2").strip()


def state(page):
    """The parts of the page that depend on the position on the board."""
    return {
        "board": page.get_attribute("#board", "aria-label"),
        "graph": float(page.get_attribute("#graph line[stroke='#d9480f']", "x1")),
        "move": page.evaluate("document.querySelector('#moves [aria-current]')?.textContent"),
        "about": about(page),
        "pieces": page.evaluate("document.querySelectorAll('#board piece:not(.ghost)').length"),
        "evaluation": page.get_attribute("#evaluation", "aria-label"),
    }


def press(page, key):
    page.keyboard.press(key)
    page.wait_for_timeout(50)
    return state(page)


def type_move(page, text):
    page.fill("#move-input", text)
    page.press("#move-input", "Enter")
    page.press("#move-input", "Escape")


def linked(page, fragment):
    page.wait_for_function("fragment => location.hash === fragment", arg=fragment)


def check_moves(page, press_next, press_back):
    """Steps through the first game; on a phone by touch."""
    start = state(page)
    assert start["about"] == "Start" and start["pieces"] == 32 and start["move"] is None, start
    assert "wins" in start["evaluation"] and "draws" in start["evaluation"], start
    first = press_next()
    assert first["board"] != start["board"] and first["graph"] > start["graph"], first
    assert first["move"] and first["about"].startswith("1. f3"), first
    second = press_next()
    assert second["graph"] > first["graph"] and second["about"].startswith("1… e5"), second
    assert press_back() == first
    assert press_back() == start


def check_mistakes(page):
    press(page, "Home")
    inaccuracy = press(page, "n")["about"]
    assert inaccuracy.startswith("1. f3") and inaccuracy.endswith("inaccuracy"), inaccuracy
    wrong = press(page, "n")
    assert wrong["about"].startswith("2. g4") and wrong["about"].endswith("blunder"), wrong
    # The arrow is the better move, in green, not the opponent's reply.
    expect(page.locator("#board svg.cg-shapes line[stroke='#15781B']")).to_have_count(1)
    expect(page.locator("#board svg.cg-shapes line")).to_have_count(1)
    linked(page, "#game=1&ply=3")
    assert press(page, "n") == wrong
    assert "no further mistake" in page.inner_text("#panel-report")
    press(page, "End")
    assert press(page, "p") == wrong
    # Black has no mistake.
    page.select_option("#whose", "black")
    page.locator("#whose").blur()
    press(page, "Home")
    assert press(page, "n")["about"] == "Start" and "no further mistake" in page.inner_text("#panel-report")
    page.select_option("#whose", "")
    page.locator("#whose").blur()
    assert press(page, "n")["about"] == inaccuracy
    assert press(page, "n") == wrong
    # One truth: the bar, the graph and the loss show the expected score.
    before, after = (data(page)["games"][0]["judged"][at] for at in (2, 3))
    assert after["wdl"] == [1000, 0, 0] and abs(after["loss"] - before["wdl"][0] / 1000 - before["wdl"][1] / 2000) < 1e-4
    assert page.evaluate("getComputedStyle(document.querySelector('#evaluation')).getPropertyValue('--white')") == "0.0000"
    # The line with the better move has numbers, and each move of it can be played.
    line = page.locator(".better").first
    assert line.inner_text().startswith("Better: 2. "), line.inner_text()
    buttons = line.locator("button")
    san = buttons.nth(1).inner_text()
    buttons.nth(1).click()
    assert page.inner_text("#moves .variation [aria-current]").endswith(san), san
    # The address leads into the variation.
    # The page's policy forbids scripts that are written as text, but not functions.
    page.wait_for_function("() => location.hash.startsWith('#game=1&ply=2&line=')")
    # Another try: a good move, one that was not compared, and the same mistake again.
    compared = data(page)["games"][0]["judged"][2]["compared"]
    assert len(compared) == 5 and compared[0]["expected_score"] >= compared[4]["expected_score"], compared
    for move, answer in ((compared[0]["uci"], "is good"), ("e1f2", "best 5 moves"), ("g2g4", "gives away")):
        assert move not in [known["uci"] for known in compared[1:]], compared
        for key in ("Home", "n", "n"):
            press(page, key)
        page.click("#retry")
        assert "Find a better move" in page.inner_text("#panel-report")
        expect(page.locator("#board svg.cg-shapes line")).to_have_count(0)
        assert page.locator("#about .better").count() == 0, "the answer is hidden"
        type_move(page, move)
        expect(page.locator("#panel-report")).to_contain_text(answer)
        if page.is_visible("#show-better"):
            page.click("#show-better")
            assert about(page) == wrong["about"]


def check_exports(page):
    game = chess.pgn.read_game(io.StringIO(saved(page, "text=Save PGN >> visible=true")))
    assert not game.errors and [move.uci() for move in game.mainline_moves()] == ["f2f3", "e7e5", "g2g4", "d8h4"]
    assert game.headers["ECO"] == "A00" and game.headers["Opening"] == "Barnes Opening: Fool's Mate", game.headers
    assert game.headers["Event"] == "</script><script>window.pwned = 1</script>"
    first = game.variations[0]
    assert "<b onclick=alert(1)>bad</b>" in first.comment and "[%eval " in first.comment, first.comment
    kept = first.variations[1]
    assert kept.san() == "d5" and kept.comment == "a side line" and kept.variations[0].nags == {1}, kept
    blunder = game.variations[0].variations[0].variations[0]
    assert blunder.nags == {4} and "Better: 2. " in blunder.comment, blunder
    read = json.loads(saved(page, "text=Save JSON >> visible=true"))
    assert len(read["positions"]) == 5 and read["positions"][3]["judgement"] == "blunder", read
    assert read["opening"]["eco"] == "A00" and sum(read["positions"][0]["white_wdl"]) == 1000, read


def check_links(page):
    address = page.url.split("#")[0]
    press(page, "Home")
    entries = page.evaluate("history.length")
    page.evaluate("location.hash = '#game=1&ply=2'")
    page.wait_for_timeout(50)
    assert about(page).startswith("1… e5"), about(page)
    before = page.evaluate("history.length")
    assert before == entries + 1
    for _ in range(3):
        press(page, "ArrowLeft")
    linked(page, "#game=1&ply=0")
    assert page.evaluate("history.length") == before, "moves leave no trace in the history"
    for fragment, title, head in (
        ("#game=2&ply=1", "Clock – Evaluation, 1-0", "60. Rh8#"),
        ("#game=1&ply=99", None, "2… Qh4#"),
        ("#game=9&ply=1", None, "1. f3"),
        ("#ply=<script>", None, "Start"),
    ):
        page.goto("about:blank")
        page.goto(address + fragment)
        assert about(page).startswith(head), (fragment, about(page))
        assert title in (None, page.inner_text("#title")), fragment
    page.goto("about:blank")
    page.goto(address + "#game=2&ply=1")
    assert "Clock 0:00:07, evaluation in the file #1" in page.inner_text("#about")
    assert "a comment" in page.inner_text("#moves") and "[%" not in page.inner_text("#moves")
    page.select_option("#games", "2")
    assert about(page) == "Start"
    page.locator("#games").blur()
    assert press(page, "ArrowRight")["about"].startswith("1. O-O")
    linked(page, "#game=3&ply=1")
    page.select_option("#games", "0")


def check_space(page):
    page.click("#tab-space")
    assert page.locator("#map g circle, #map g rect").count() > 1000
    assert page.locator("#map .step").count() == 5 and page.locator("#near figure").count() == 4
    assert "beam" in page.text_content("#panel-space")
    before = page.get_attribute("#here", "cx")
    page.locator("#map .step").nth(4).dispatch_event("click")
    assert page.get_attribute("#here", "cx") != before and state_of_list(page).endswith("Qh4#")
    page.click("#tab-report")


def state_of_list(page):
    return page.inner_text("#moves [aria-current]")


def check(page):
    box = page.locator("#board").bounding_box()
    phone = page.viewport_size["width"] < 500
    if phone:
        tap = lambda place: (page.tap(place), page.wait_for_timeout(50), state(page))[-1]
        check_moves(page, lambda: tap("#next"), lambda: tap("#previous"))
        assert tap("#next-mistake")["about"].startswith("1. f3")
        assert tap("#next-mistake")["about"].startswith("2. g4")
        assert tap("#moves .move >> nth=0")["about"].startswith("1. f3")
        page.locator("#graph").scroll_into_view_if_needed()
        graph = page.locator("#graph").bounding_box()
        page.touchscreen.tap(graph["x"] + graph["width"] - 3, graph["y"] + 20)
        assert "Qh4#" in about(page)
        press(page, "Home")
    else:
        check_moves(page, lambda: press(page, "ArrowRight"), lambda: press(page, "ArrowLeft"))
        first = press(page, "j")
        assert first["about"].startswith("1. f3") and press(page, "k") != first and press(page, "j") == first
        press(page, "Home")
        graph = page.locator("#graph").bounding_box()
        assert graph["y"] + graph["height"] <= page.viewport_size["height"], "the graph is on screen"
    end = press(page, "End")
    assert end["about"].startswith("2… Qh4#") and page.inner_text("#opening") == "A00 Barnes Opening: Fool's Mate", end
    rows = page.locator("#counts tbody tr")
    assert "Average cp loss" in page.inner_text("#counts thead")
    assert rows.count() == 2 and rows.nth(0).inner_text().split()[-1] == "1", "White has a blunder"
    assert rows.nth(1).inner_text().split()[-1] == "0" and "%" in rows.nth(1).inner_text()
    page.keyboard.press("f")
    assert "orientation-black" in page.get_attribute("#board", "class")
    page.keyboard.press("f")
    check_exports(page)
    check_mistakes(page)
    check_space(page)
    check_links(page)
    assert page.locator("#board").bounding_box() == box, "the board stays where it is"
    # No part of a game becomes markup, and no control needs an engine.
    assert page.evaluate("window.pwned") is None
    assert page.locator("#title *, #moves b, #moves script, #games option *").count() == 0
    assert "<b onclick=alert(1)>bad</b>" in page.inner_text("#moves")
    assert page.locator("#report-start, #tab-play, #tab-analyse").count() == 0
    assert "Analysed by Azimuth" in page.inner_text("#panel-report")
    press(page, "n")


everywhere("page", check, SIZES)
