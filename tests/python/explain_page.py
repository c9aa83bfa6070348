"""An explanation's page in a headless Chromium. Arguments: the page, and a folder for screenshots."""

from chromium import everywhere


def check(page):
    assert page.evaluate("document.querySelectorAll('#board piece').length") == 32
    assert page.locator("tbody tr").count() == 48 and page.locator("tr.chosen").count() == 1
    assert page.inner_text("tr.chosen th") in page.inner_text("h1")
    assert page.inner_text("#reason").startswith(page.inner_text("tr.chosen th"))
    assert page.locator(".tree li").count() > 10
    start = page.get_attribute("#board", "class")
    page.keyboard.press("f")
    assert page.get_attribute("#board", "class") != start


everywhere("explanation", check)
