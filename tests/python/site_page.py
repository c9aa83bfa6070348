"""Tests the folder of `scripts/build-site` in a headless Chromium: the scenarios of serve_page.py, and
those that only a page with the engine in it has. Arguments: the folder, the name of a scenario, and a
folder for screenshots."""

import functools
import http.server
import pathlib
import sys
import threading
import time

from playwright.sync_api import expect, sync_playwright

import serve_page
from chromium import launch
from serve_page import arrow_state, depth, load, moves, opened, type_move, wait_until

# Most seconds from the address to the engine's first move. An idle machine needs fewer than 5.
FIRST_MOVE = 20

# Records the values of the progress bars of downloads, and the largest number of bars at a time.
PROGRESS = """
    window.progress = []
    window.bars = 0
    new MutationObserver(() => {
        const shown = document.querySelectorAll("progress")
        window.bars = Math.max(window.bars, shown.length)
        progress.push(shown[0]?.value ?? progress.at(-1) ?? 0)
    }).observe(document, {childList: true, subtree: true, attributes: true})
"""


class Handler(http.server.SimpleHTTPRequestHandler):
    """Serves the folder below a path, and remembers what was asked for."""

    PATH = "/some/folder/"
    asked = []
    # Functions that change files, by name.
    edited = {}

    def do_GET(self):
        name = self.path.removeprefix(self.PATH)
        self.asked.append(name)
        self.path = f"/{name}"
        edit = self.edited.get(name)
        if not edit:
            super().do_GET()
            return
        path = pathlib.Path(self.translate_path(self.path))
        text = edit((path / "index.html" if path.is_dir() else path).read_bytes())
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(name or "index.html"))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


class Host:
    """A web host of static files."""

    def __init__(self, folder):
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=folder))
        self.address = f"http://127.0.0.1:{self.server.server_port}{Handler.PATH}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def end(self):
        self.server.shutdown()
        self.server.server_close()


def begin_game(page):
    """A game of one move at the rating that the page proposes."""
    expect(page.locator("#begin")).to_be_enabled(timeout=1000 * FIRST_MOVE)
    page.click("#begin")
    type_move(page, "e4")
    expect(moves(page)).to_have_count(2, timeout=1000 * FIRST_MOVE)


def first(browser, host, folder):
    """From the address to the engine's first move, on a phone, at the first and the second visit. The second
    one needs no host."""
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, locale="en-US")
    context.add_init_script(PROGRESS)
    page = context.new_page()
    for visit in ("first", "second"):
        began = time.monotonic()
        page.goto(host.address)
        if visit == "second":
            page.evaluate("sessionStorage.clear(); localStorage.clear()")
            page.reload()
        begin_game(page)
        print(f"{visit} visit: the engine's first move after {time.monotonic() - began:.1f} s")
        page.screenshot(path=f"{folder}/{visit}.png")
        fetched = [asked for asked in Handler.asked if asked.startswith("weights/")]
        assert len(fetched) == 2, fetched
        if visit == "first":
            progress = page.evaluate("progress")
            assert max(progress) > 15e6 and page.evaluate("bars") == 1, progress
            falls = [value for value, before in zip(progress[1:], progress) if value < before]
            assert falls == [0], "the second bar begins at 0, and no bar goes back"
            page.evaluate("navigator.serviceWorker.ready.then(() => null)")
            page.close()
            host.end()
            page = context.new_page()
    # Every tab works without the host.
    page.click("#tab-analyse")
    wait_until(page, lambda: depth(page) > 1, "an analysis")
    page.click("#tab-space")
    page.wait_for_selector("#here")
    page.click("#tab-why")
    expect(page.locator("#reason")).not_to_be_empty(timeout=60_000)
    context.close()


def stops(browser, host, folder):
    """A new position stops the search of the one before. A task that does not end is replaced with its worker."""
    context, page, said = opened(browser, host.address)
    workers = []
    page.on("worker", lambda worker: workers.append(worker.url))
    page.click("#tab-analyse")
    wait_until(page, lambda: depth(page) >= 1, "an analysis")
    for typed in ("e4", "e5", "Nf3", "Nc6", "Bb5", "a6"):
        before = arrow_state(page)
        began = time.monotonic()
        type_move(page, typed)
        wait_until(page, lambda: depth(page) >= 1 and arrow_state(page) != before, typed)
        print(f"{typed}: analysed after {time.monotonic() - began:.2f} s")
    for _ in range(6):
        page.keyboard.press("ArrowLeft")
    wait_until(page, lambda: depth(page) >= 1, "the first position")
    # A file is read while the search goes on.
    load(page, "1. d4 d5 *")
    expect(moves(page)).to_have_count(2)
    assert workers == [f"{host.address}worker.js"], "one worker has read the file, and none was replaced"
    wait_until(page, lambda: depth(page) >= 1, "an analysis of the file")
    # The worker does not see that it is stopped.
    page.evaluate("URL.revokeObjectURL = () => {}")
    page.keyboard.press("ArrowRight")
    wait_until(page, lambda: len(workers) == 2, "a new worker")
    wait_until(page, lambda: depth(page) >= 1, "the analysis of a new worker")
    assert not said, said
    context.close()


def update(browser, host, folder):
    """A new version takes the place of the old one once no page is open, and does not fetch the weights again."""
    context = browser.new_context(locale="en-US")
    page = context.new_page()
    page.goto(host.address)
    page.wait_for_selector("body[data-connection='open']")
    page.evaluate("navigator.serviceWorker.ready.then(() => null)")
    Handler.edited = {
        "sw.js": lambda text: text.replace(b"const VERSION = '", b"const VERSION = 'new-"),
        "": lambda text: text.replace(b"<h1>Azimuth", b"<h1>New"),
    }
    page.reload()
    expect(page.locator("h1")).to_have_text("Azimuth")
    page.evaluate("""async () => {
        const registration = await navigator.serviceWorker.ready
        await registration.update()
        while (!registration.waiting) await new Promise(resolve => setTimeout(resolve, 50))
    }""")
    page.close()
    page = context.new_page()
    wait_until(page, lambda: page.goto(host.address) and page.inner_text("h1") == "New", "the new version")
    page.wait_for_selector("body[data-connection='open']")
    names = page.evaluate("caches.keys()")
    assert len(names) == 2, names
    assert len([asked for asked in Handler.asked if asked.startswith("weights/")]) == 2, Handler.asked
    context.close()


def faults(browser, host, folder):
    """A file that is not the page's is refused, and a missing one is named."""
    for name, answer, said in [
        ("beam", {"body": b"x"}, "weights/beam.safetensors: not the file that belongs to this page"),
        ("beam", {"status": 404}, "cannot fetch weights/beam.safetensors: 404"),
        ("selective", {"status": 404}, "cannot fetch weights/selective.safetensors: 404"),
    ]:
        context = browser.new_context(locale="en-US", service_workers="block")
        page = context.new_page()
        page.route(f"**/weights/{name}*", lambda route: route.fulfill(**answer))
        page.goto(host.address)
        expect(page.locator("#connection")).to_contain_text(said)
        context.close()


def main():
    site, scenario, folder = sys.argv[1:4]
    host = Host(site)
    with sync_playwright() as playwright:
        browser = launch(playwright)
        if scenario in globals():
            globals()[scenario](browser, host, folder)
        elif scenario == "everywhere":
            serve_page.everywhere(browser, host.address, folder)
        else:
            serve_page.attempt(browser, host.address, scenario, folder)
        browser.close()
    print(f"{scenario}: as it should be")


main()
