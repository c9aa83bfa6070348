"""Shared parts of the page tests: the browser, window sizes, colour schemes, and checks for
unwanted behaviour."""

import pathlib
import shutil
import sys

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

# Attempts what a compromised page would: redirecting its links and sending a form. Returns the
# directives of the content security policy that block them.
REFUSED = """() => new Promise(done => {
    const refused = []
    document.addEventListener("securitypolicyviolation", event => {
        refused.push(event.effectiveDirective)
        if (refused.length === 2) done(refused.sort())
    })
    setTimeout(() => done(refused.sort()), 2000)
    const base = document.createElement("base")
    base.href = "https://elsewhere.invalid/"
    document.head.append(base)
    const form = document.createElement("form")
    form.action = "https://elsewhere.invalid/"
    document.body.append(form)
    form.submit()
})"""

SIZES = {"wide": (1280, 900), "phone": (390, 844)}


def launch(playwright):
    """Starts Debian's Chromium, or another installed one, without background requests."""
    names = ("chromium", "chromium-browser", "google-chrome")
    path = next(filter(None, map(shutil.which, names)), None)
    quiet = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
    quiet += ["--disable-component-update", "--disable-sync"]
    return playwright.chromium.launch(executable_path=path, args=quiet)


def saved(page, button):
    """The text of the file that a button saves."""
    with page.expect_download() as download:
        page.click(button)
    return open(download.value.path(), encoding="utf-8").read()


def check_accessible(page, where):
    violations = Axe().run(page)
    assert violations.violations_count == 0, f"{where}: {violations.generate_report()}"


def everywhere(name, check, sizes=SIZES):
    """Opens the page named on the command line in windows of these sizes, in light and dark, and
    runs `check(page)`. Also checks the file's size, and that the page is no wider than
    the window, fetches nothing, logs nothing, has no axe-core violation, and blocks the attempts
    of `REFUSED`. Screenshots go to the folder named on the command line."""
    path, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    assert path.stat().st_size < 2_000_000
    url = path.resolve().as_uri()
    with sync_playwright() as playwright:
        browser = launch(playwright)
        for place, (width, height) in sizes.items():
            for scheme in ("light", "dark"):
                where = f"{name}-{place}-{scheme}"
                context = browser.new_context(
                    viewport={"width": width, "height": height}, color_scheme=scheme, reduced_motion="reduce",
                    has_touch=place == "phone", locale="en-US",
                )
                page = context.new_page()
                asked, said = [], []
                page.on("request", lambda request: asked.append(request.url))
                page.on("console", lambda message: said.append(message.text))
                page.on("pageerror", lambda error: said.append(str(error)))
                page.on("dialog", lambda dialog: (said.append(dialog.message), dialog.dismiss()))
                page.goto(url)
                check(page)
                wide = page.evaluate("document.documentElement.scrollWidth")
                assert wide <= width, f"{where}: the page is {wide} wide"
                check_accessible(page, where)
                page.screenshot(path=str(folder / f"{where}.png"), full_page=True)
                own = (url, "data:", "blob:")
                fetched = [address for address in asked if not address.startswith(own)]
                assert not fetched and not said, (where, fetched, said)
                refused = page.evaluate(REFUSED)
                assert refused == ["base-uri", "form-action"], (where, refused)
                context.close()
        browser.close()
    print(f"the {name} is as it should be")
