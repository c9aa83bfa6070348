"""What the tests of pages share: the browser, and an ear for what a page should not do."""

import shutil

SIZES = {"wide": (1280, 900), "phone": (390, 844)}


def launch(playwright):
    """Debian's Chromium, or another that is installed, without calls of its own."""
    names = ("chromium", "chromium-browser", "google-chrome")
    path = next(filter(None, map(shutil.which, names)), None)
    quiet = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
    quiet += ["--disable-component-update", "--disable-sync"]
    return playwright.chromium.launch(executable_path=path, args=quiet)


def watched(browser, size, scheme):
    """A page, and a function that tells what it fetched beside its own address, and what it said or asked."""
    context = browser.new_context(
        viewport={"width": size[0], "height": size[1]}, color_scheme=scheme, reduced_motion="reduce"
    )
    page = context.new_page()
    asked, said = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("dialog", lambda dialog: (said.append(dialog.message), dialog.dismiss()))
    return page, lambda own: said + [url for url in asked if url != own and not url.startswith("data:")]
