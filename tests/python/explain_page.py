"""Tests the page of an explanation in a headless Chromium. Arguments: the page, a folder for
screenshots, and the number of verified moves on the page."""

import sys

from chromium import everywhere


def check(page):
    assert page.evaluate("document.querySelectorAll('#board piece').length") == 32
    assert page.locator("tbody tr").count() == 48 and page.locator("tr.chosen").count() == 1
    assert page.inner_text("tr.chosen th") in page.inner_text("h1")
    assert page.inner_text("#reason").startswith(page.inner_text("tr.chosen th"))
    assert page.locator(".tree li").count() > 10
    verified = int(sys.argv[3])
    assert page.locator("td.verified").count() == 2 * verified
    assert (page.locator(".quiet li").count() >= 3) == (verified > 0)
    start = page.get_attribute("#board", "class")
    page.keyboard.press("f")
    assert page.get_attribute("#board", "class") != start


everywhere("explanation", check)
