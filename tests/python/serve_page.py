"""Tests the page of `azimuth serve` in a headless Chromium. Arguments: the page's address (for
`restart` the program), the name of a scenario, and a folder for screenshots."""

import bz2
import gzip
import io
import json
import shutil
import subprocess
import sys
import time

import chess
import chess.engine
import chess.pgn
from playwright.sync_api import expect, sync_playwright

from chromium import check_accessible, launch, saved

SIZES = {
    "wide": (1920, 1080), "laptop": (1366, 768), "tablet": (820, 1180), "phone": (390, 844), "sideways": (844, 390),
}

# A game with a variation inside a variation, comments, and script wherever text may stand.
PGN = """[Event "</script><script>window.pwned = 1</script>"]
[White "<img src=x onerror=window.pwned=2>"]
[Black "\\"><svg onload=window.pwned=3>"]
[Result "0-1"]

1. e4 {<b onclick=alert(1)>bad</b> <script>window.pwned = 4</script>} e5
(1... c5 2. Nf3 d6 (2... Nc6 3. Bb5) 3. d4) 2. Nf3 Nc6 3. Bc4 Nd4 4. Nxe5 $2 Qg5 5. Nxf7 Qxg2
6. Rf1 Qxe4+ 7. Be2 Nf3# 0-1
"""

# Records the layout shifts that no user input caused. `takeShifts()` returns those since its last
# call, including those of the frames that are being drawn. A sum of 0.1 is the usual bound.
SHIFTS = """
    const shifts = []
    const names = entry => entry.sources.map(source => source.node?.id || source.node?.className || source.node?.nodeName)
    const record = entries => {
        for (const entry of entries) if (!entry.hadRecentInput) shifts.push([entry.value, names(entry)])
    }
    const observer = new PerformanceObserver(list => record(list.getEntries()))
    observer.observe({type: "layout-shift", buffered: true})
    const frame = () => new Promise(resolve => requestAnimationFrame(resolve))
    window.takeShifts = async () => {
        await frame()
        await frame()
        record(observer.takeRecords())
        return shifts.splice(0)
    }
"""

# Two blunders at any depth: 5. Nxf7 and 5... Qh6.
TWO_BLUNDERS = PGN.replace("Qxg2\n6. Rf1 Qxe4+ 7. Be2 Nf3# 0-1", "Qh6\n6. Nxh6 Nxh6 7. d3 c6 0-1")

FOOLS_MATE = "1. f3 e5 2. g4 Qh4# 0-1"


def moves(page):
    return page.locator("#moves .move")


def current(page):
    return page.locator("#moves [aria-current]").inner_text()


def depth(page):
    text = page.inner_text("#figures")
    return int(text.removeprefix("depth ").split("/")[0]) if text else 0


def type_move(page, text):
    page.fill("#move-input", text)
    page.press("#move-input", "Enter")


def load(page, text):
    page.click("#tab-analyse")
    if page.get_attribute("#load", "open") is None:
        page.click("#load summary")
    page.fill("#load textarea", text)
    page.click("#load-button")
    loaded(page)


# Pastes a text into an element.
PASTE = """(target, text) => {
    const clipboardData = new DataTransfer()
    clipboardData.setData("text/plain", text)
    target.dispatchEvent(new ClipboardEvent("paste", {clipboardData, bubbles: true}))
}"""


def paste(page, target, text):
    page.locator(target).evaluate(PASTE, text)


def loaded(page):
    expect(page.locator("#load")).not_to_have_attribute("aria-busy", "true")


def open_file(page, name, content):
    page.click("#tab-analyse")
    if page.get_attribute("#load", "open") is None:
        page.click("#load summary")
    page.set_input_files("#load input[type=file]", {"name": name, "mimeType": "", "buffer": content})
    loaded(page)


def wait_until(page, holds, what, seconds=20):
    end = time.time() + seconds
    while not holds():
        assert time.time() < end, what
        page.wait_for_timeout(50)


def linked(page, fragment):
    """Waits until the address has this end."""
    wait_until(page, lambda: page.url.endswith("/" + fragment), fragment)


def click_square(page, name):
    """Clicks a square of a board with White at the bottom."""
    box = page.locator("#board cg-board").bounding_box()
    size = box["width"] / 8
    x, y = "abcdefgh".index(name[0]), 8 - int(name[1])
    page.mouse.click(box["x"] + (x + 0.5) * size, box["y"] + (y + 0.5) * size)


def play(page):
    """A game to mate at the lowest level, with a take back and a hint."""
    page.fill("#elo-number", "641")
    page.press("#elo-number", "Tab")
    assert page.get_attribute("#tab-play", "aria-selected") == "true", "the page opens on Play"
    page.click("#begin")
    click_square(page, "e2")
    click_square(page, "e4")
    expect(moves(page)).to_have_count(2)
    expect(page.locator("#opening")).not_to_be_empty()
    assert moves(page).first.inner_text().endswith("e4")
    type_move(page, "Nf3")
    expect(moves(page)).to_have_count(4)
    page.click("#play-takeback")
    expect(moves(page)).to_have_count(2)
    page.click("#play-hint")
    expect(page.locator("#game-status")).to_contain_text("Hint: ")
    page.click("#play-draw")
    expect(page.locator("#game-status")).to_contain_text("before move 10")
    # The browser has stored the game.
    page.reload()
    expect(moves(page)).to_have_count(2)
    expect(page.locator("#game-status")).to_contain_text("Your move")
    path = shutil.which("stockfish") or "/usr/games/stockfish"
    with chess.engine.SimpleEngine.popen_uci(path) as player:
        board = chess.Board()
        while True:
            for text in [moves(page).nth(at).inner_text() for at in range(len(board.move_stack), moves(page).count())]:
                board.push_san(text.split()[-1])
            if board.is_game_over():
                break
            assert board.turn == chess.WHITE
            best = player.play(board, chess.engine.Limit(time=0.05)).move
            type_move(page, best.uci())
            before = len(board.move_stack)
            done = lambda: moves(page).count() == before + 2 or "wins" in page.inner_text("#game-status")
            wait_until(page, done, board.fen())
    assert board.is_checkmate(), board.fen()
    assert "Checkmate: White wins." in page.inner_text("#game-status")
    assert page.inner_text("#evaluation-text") == "#" and white_share(page) == 1
    text = saved(page, "#play-save")
    assert '[White "You"]' in text and '[Black "Azimuth 641"]' in text and text.rstrip().endswith("1-0"), text
    assert "[ECO " in text and "[Opening " in text, text
    page.click("#play-again")
    page.click("#begin")
    expect(moves(page)).to_have_count(0)
    # Moves that are tried in Analyse are no part of the game.
    page.click("#tab-analyse")
    type_move(page, "a4")
    page.click("#tab-play")
    type_move(page, "e4")
    expect(moves(page)).to_have_count(3)
    assert moves(page).first.inner_text().endswith("e4")
    page.click("#tab-analyse")
    type_move(page, "d3")
    page.click("#tab-play")
    game = chess.pgn.read_game(io.StringIO(saved(page, "#play-save")))
    assert len(list(game.mainline())) == 2 and game.next().san() == "e4" and len(game.variations) == 1, game
    page.reload()
    expect(moves(page)).to_have_count(2)
    page.click("#tab-analyse")
    type_move(page, "d3")
    page.click("#tab-play")
    page.click("#play-resign")
    page.click("#no")
    expect(page.locator("#game-status")).to_contain_text("Your move")
    page.click("#play-resign")
    page.click("#yes")
    expect(page.locator("#game-status")).to_contain_text("White resigns.")
    expect(moves(page)).to_have_count(3)
    # The game without the move that was tried is analysed at once.
    page.click("#play-study")
    expect(page.locator("#counts tbody tr").first).to_contain_text("%", timeout=30_000)
    expect(moves(page)).to_have_count(2)
    expect(page.locator("#panel-report")).to_contain_text("no further mistake")
    assert page.input_value("#whose") == "white"


def white_share(page):
    """The expected score that the bar shows."""
    return float(page.evaluate("document.querySelector('#evaluation').style.getPropertyValue('--white')"))


# Counts the notes that the page plays.
NOTES = """
    window.notes = 0
    const start = OscillatorNode.prototype.start
    OscillatorNode.prototype.start = function (...when) {
        window.notes += 1
        return start.apply(this, when)
    }
"""


def clocks(page):
    """A game on a clock: times, captured pieces and the evaluation at the board, and a question before
    a game is discarded. Also the switches of the page's look and sound."""
    page.add_init_script(NOTES)
    page.reload()
    expect(page.locator("#begin")).to_be_enabled()
    page.select_option("#time", "other")
    page.fill("#minutes", "1.5")
    page.fill("#increment", "2")
    page.press("#increment", "Tab")
    page.check("#at-once")
    page.check("#full")
    page.click("#begin")
    top, bottom = page.locator("#player-top"), page.locator("#player-bottom")
    expect(top.locator(".name")).to_have_text("Azimuth")
    expect(bottom.locator(".name")).to_have_text("You")
    expect(bottom.locator(".clock")).to_have_text("1:30")
    type_move(page, "e4")
    expect(moves(page)).to_have_count(2, timeout=20_000)
    expect(page.locator("#evaluation-text")).not_to_be_empty()
    assert 0.3 < white_share(page) < 0.8, white_share(page)
    expect(bottom.locator(".clock")).to_have_class("clock runs")
    assert page.evaluate("window.notes") == 2
    times = [clock_seconds(bottom), clock_seconds(top)]
    page.wait_for_timeout(2500)
    type_move(page, "Ba6")
    expect(moves(page)).to_have_count(4, timeout=20_000)
    # A piece for nothing. The clock has the time of each move.
    expect(top.locator(".captured")).to_have_text("♝ +3")
    wait_until(page, lambda: white_share(page) < 0.2, "the evaluation")
    page.click("#play-takeback")
    expect(moves(page)).to_have_count(2)
    back = [clock_seconds(bottom), clock_seconds(top)]
    assert abs(back[0] - times[0]) < 2 and abs(back[1] - times[1]) < 2, (times, back)
    expect(top.locator(".captured")).to_be_empty()
    game = chess.pgn.read_game(io.StringIO(saved(page, "#play-save")))
    assert game.headers["TimeControl"] == "90+2" and 85 < game.next().clock() <= 92, game
    assert game.next().next().clock() is not None, game
    # Beginning another game is asked about, and so is nothing else.
    page.click("#play-again")
    page.click("#begin")
    expect(page.locator("#question")).to_contain_text("A game is going on")
    page.click("#no")
    expect(moves(page)).to_have_count(2)
    page.uncheck("#show-evaluation")
    page.click("#begin")
    page.click("#yes")
    expect(moves(page)).to_have_count(0)
    type_move(page, "d4")
    expect(moves(page)).to_have_count(2, timeout=20_000)
    page.wait_for_timeout(500)
    assert page.inner_text("#evaluation-text") == "" and white_share(page) == 0.5
    # Without sound no note is played.
    page.click("#sound")
    notes = page.evaluate("window.notes")
    type_move(page, "c4")
    expect(moves(page)).to_have_count(4, timeout=20_000)
    assert page.evaluate("window.notes") == notes > 2
    # The look stays after a reload.
    colours = "[document.body, document.querySelector('cg-board')].map(it => getComputedStyle(it).background)"
    before = page.evaluate(colours)
    page.click("#theme")
    page.click("#squares")
    after = page.evaluate(colours)
    assert before[0] != after[0] and before[1] != after[1], (before, after)
    page.reload()
    assert page.evaluate(colours) == after
    expect(page.locator("#sound")).to_have_attribute("aria-pressed", "false")
    expect(moves(page)).to_have_count(4)


def clock_seconds(player):
    minutes, seconds = player.locator(".clock").inner_text().split(":")
    return 60 * int(minutes) + float(seconds)


def analyse(page):
    """Depth rises, lines are played by clicking, and arrows follow the position."""
    page.click("#tab-analyse")
    page.wait_for_selector(".pv .score")
    first, arrows = depth(page), arrow_state(page)
    # Later depths take long enough that a click finds its button again.
    wait_until(page, lambda: depth(page) > max(first, 11), "depth rises")
    expect(page.locator(".pv .score")).to_have_count(3)
    assert "nodes" in page.inner_text("#figures")
    expect(page.locator("#second")).to_be_hidden()
    page.click(".pv .line button >> nth=1")
    assert moves(page).count() == 2
    wait_until(page, lambda: arrow_state(page) not in ("", arrows), "arrows change")
    page.keyboard.press("x")
    wait_until(page, lambda: "Threat" in page.inner_text("#panel-analyse"), "a threat")
    page.keyboard.press("x")
    page.wait_for_selector(".pv .score")
    page.keyboard.press(" ")
    expect(moves(page)).to_have_count(3)
    page.keyboard.press("l")
    page.wait_for_timeout(300)
    stopped = page.inner_text("#figures")
    page.wait_for_timeout(700)
    assert page.inner_text("#figures") == stopped
    page.keyboard.press("f")
    assert "orientation-black" in page.get_attribute("#board", "class")
    load(page, "6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1")
    page.click("#panel-analyse .row button >> nth=0")
    expect(page.locator(".pv .score").first).to_have_text("#1")
    load(page, "8/8/8/8/8/8/8/8 w - - 0 1")
    said = page.inner_text("#panel-analyse")
    assert "'8/8/8/8/8/8/8/8 w - - 0 1': not a legal board" in said and "ERR" not in said, said
    # The letter of a piece may be small.
    page.click("#anew")
    for typed in ("e4", "e5", "nf3", "nc6", "bb5", "a6", "bxc6", "bxc6"):
        type_move(page, typed)
    assert [name.split()[-1] for name in moves(page).all_inner_texts()] == "e4 e5 Nf3 Nc6 Bb5 a6 Bxc6 bxc6".split()
    expect(page.locator("#hash")).to_have_value("64")
    page.select_option("#hash", "128")
    page.reload()
    expect(page.locator("#hash")).to_have_value("128")
    page.wait_for_selector(".pv .score")


def second(page):
    """The second engine analyses beside Azimuth. Its box turns it off, also after a reload."""
    page.click("#tab-analyse")
    box, scores = page.locator("#second-on"), page.locator("#second .pv .score")
    expect(box).to_be_checked()
    expect(page.locator("#second label")).to_contain_text("Azimuth ")
    expect(scores).to_have_count(3)
    expect(page.locator("#lines .pv .score")).to_have_count(3)
    expect(page.locator("#second-figures")).to_contain_text("nodes")
    # Its lines follow the position, and their moves can be played.
    page.click("#second .pv .line button >> nth=1")
    expect(moves(page)).to_have_count(2)
    expect(scores).to_have_count(3)
    load(page, "6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1")
    expect(scores.first).to_have_text("#1")
    rows = page.locator("#second .pv")
    expect(rows.first).to_contain_text("Ra8#")
    check_accessible(page, "second")
    page.reload()
    box.uncheck()
    expect(rows).to_have_count(0)
    page.reload()
    expect(page.locator("#lines .pv .score").first).to_be_visible()
    expect(box).not_to_be_checked()
    expect(rows).to_have_count(0)
    box.check()
    expect(scores).to_have_count(3)


def arrow_state(page):
    """The arrows on the board as text."""
    return page.evaluate("[...document.querySelectorAll('#board svg.cg-shapes line')].map(line => line.outerHTML).join()")


def variations(page):
    """A PGN with variations and script in it."""
    paste(page, "body", PGN)
    expect(moves(page)).to_have_count(20)
    expect(page.locator("#tab-analyse")).to_have_attribute("aria-selected", "true")
    # A text for a field stays there.
    paste(page, "#move-input", FOOLS_MATE)
    loaded(page)
    assert page.locator("#moves .variation").count() == 2
    assert page.inner_text("#opening") == ""
    for _ in range(2):
        page.keyboard.press("ArrowRight")
    assert current(page).endswith("e5")
    page.keyboard.press("End")
    assert "Nf3#" in current(page)
    assert page.inner_text("#opening") == "C50 Italian Game: Blackburne-Kostić Gambit"
    page.keyboard.press("Home")
    page.keyboard.press("Shift+ArrowRight")
    assert current(page).endswith("e4")
    # Pairs stand in columns, and Black's move in its own where Black begins.
    left = [page.locator(f"#moves > .pair .move:text-is('{san}')").bounding_box()["x"] for san in ("e5", "Nc6", "Nd4")]
    assert left[0] == left[1] == left[2] > moves(page).first.bounding_box()["x"], left
    assert page.locator("#moves > .pair >> nth=1").inner_text().split() == ["1.", "…", "e5"]
    page.click("#moves .variation .variation .move >> nth=1")
    assert "Bb5" in current(page)
    page.keyboard.press("Shift+ArrowLeft")
    assert "Nf3" in current(page)
    assert "<b onclick=alert(1)>bad</b>" in page.inner_text("#moves")
    assert page.evaluate("window.pwned") is None
    assert page.locator("#title *, #moves b, #moves script, #games *").count() == 0
    load(page, "1. e4 e5 2. Ke3 Nf6")
    expect(moves(page)).to_have_count(2)
    # The message stays while the engine analyses.
    page.wait_for_selector(".pv .score")
    assert "half-move 3: move 'Ke3' is not legal" in page.inner_text("#panel-analyse")
    load(page, "1. e4 e5 (1... c5 2. Ke3) 2. Nf3")
    expect(moves(page)).to_have_count(4)
    assert "A variation was read up to a fault: half-move 3" in page.inner_text("#panel-analyse")
    # A text without a game leaves the board as it is.
    load(page, "nonsense")
    assert "half-move 1: 'nonsense' is no move" in page.inner_text("#panel-analyse")
    expect(moves(page)).to_have_count(4)


def files(page):
    """Files in every encoding and compression, several games, and lists of positions."""
    two = '[White "Zoë"]\n[Black "Ÿ"]\n1. e4 e5\n\n2. Sf3 Sc6++\n[White "Ö"]\n1. d4 d5 2. c4\n'
    latin = two.replace("Ÿ", "Ý")
    for name, content in (
        ("games.PGN", b"\xef\xbb\xbf" + two.encode()),
        ("games.pgn", two.encode("utf-16")),
        ("größe.pgn.bz2", bz2.compress(two.encode())),
        ("games.pgn.gz", gzip.compress(latin.encode("iso-8859-1"))),
    ):
        load(page, "1. a3")
        expect(moves(page)).to_have_count(1)
        open_file(page, name, content)
        expect(moves(page)).to_have_count(4)
        assert page.inner_text("#title").startswith("Zoë – "), page.inner_text("#title")
        choices = page.locator("#load select option")
        assert choices.all_inner_texts()[1] == "2. Ö – Black", choices.all_inner_texts()
        page.select_option("#load select", "1")
        expect(moves(page)).to_have_count(3)
    open_file(page, "games.pgn.zst", b"no zstd")
    assert "This cannot be read" in page.inner_text("#panel-analyse")
    expect(moves(page)).to_have_count(3)
    open_file(page, "large.pgn", b" " * 5_000_001)
    assert "5 MB" in page.inner_text("#panel-analyse")
    lines = ["# a list", "6k1/5ppp/8/8/8/8/8/R3K3 w - - bm Ra8#; id \"mate\";", "", "8/8/8 w - -", "8/8/8/4k3/8/8/4P3/4K3 w - - 0 1"]
    for name in ("list.epd", "list.fen"):
        open_file(page, name, "\r\n".join(lines).encode())
        names = page.locator("#load select option").all_inner_texts()
        assert names[0] == '1. bm Ra8#; id "mate";' and names[2] == "3. " + lines[4], names
        assert names[1].startswith("2. ") and "line 4: FEN '8/8/8 w - -'" in names[1], names
        expect(page.locator("#moves")).to_contain_text("bm Ra8#")
        page.select_option("#load select", "2")
        type_move(page, "e4")
        expect(moves(page)).to_have_count(1)
    # A position that the page cannot show.
    load(page, "8/8/8/4k3/8/8/4P3/4K3 w - - 0 1\n8/8/8/4k3/8/8/4P3/4K3 w - - 0 10000")
    page.select_option("#load select", "1")
    expect(page.locator("#panel-analyse")).to_contain_text("cannot show the position")
    open_file(page, "many.pgn", b"1. e4 *\n" * 5_001)
    assert "Only the first 5000 games" in page.inner_text("#panel-analyse")
    assert page.locator("#load select option").count() == 5_000
    # A text that is read late: another board replaces it, and a game against the engine goes on.
    held = []
    page.route("**/games/*", lambda route: held.append(route))

    def begin_to_load():
        page.fill("#load textarea", "1. c4")
        page.click("#load-button")
        wait_until(page, lambda: held, "a request")

    begin_to_load()
    page.click("#anew")
    loaded(page)
    held.pop().continue_()
    page.wait_for_timeout(300)
    expect(moves(page)).to_have_count(0)
    page.click("#load summary")
    begin_to_load()
    page.click("#tab-play")
    page.click("#begin")
    type_move(page, "a3")
    expect(moves(page)).to_have_count(2)
    held.pop().continue_()
    expect(moves(page)).to_have_count(1)
    expect(page.locator("#tab-analyse")).to_have_attribute("aria-selected", "true")
    page.click("#tab-play")
    expect(moves(page)).to_have_count(2)


def tabs(page):
    """Two tabs keep two games; a new tab shows the last one."""
    load(page, "1. e4 e5 2. Nf3")
    other = page.context.new_page()
    page.wait_for_timeout(600)
    other.goto(sys.argv[1])
    expect(moves(other)).to_have_count(3)
    load(other, "1. d4")
    page.click("#last")
    type_move(page, "Nc6")
    page.reload()
    other.reload()
    expect(moves(page)).to_have_count(4)
    expect(moves(other)).to_have_count(1)
    # Each tab has its own game against the engine, too.
    for tab, move in ((other, "a3"), (page, "e4")):
        tab.reload()
        expect(tab.locator("#tab-analyse")).to_have_attribute("aria-selected", "true")
        tab.click("#tab-play")
        tab.click("#begin")
        type_move(tab, move)
        expect(moves(tab)).to_have_count(2)
    for tab, move in ((page, "e4"), (other, "a3")):
        tab.reload()
        expect(moves(tab)).to_have_count(2)
        assert moves(tab).first.inner_text().endswith(move)
    new = page.context.new_page()
    new.goto(sys.argv[1])
    expect(moves(new)).to_have_count(2)
    assert moves(new).first.inner_text().endswith("e4")
    # During a game, a reload shows the tab that was open.
    load(page, "1. d4 d5 2. c4")
    page.keyboard.press("End")
    linked(page, "#ply=3")
    page.wait_for_timeout(600)
    page.reload()
    expect(moves(page)).to_have_count(3)
    assert current(page).endswith("c4")
    page.click("#tab-play")
    expect(moves(page)).to_have_count(2)


def why(page):
    """The table of moves, why not this move, and the beam's tree."""
    load(page, "r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3")
    page.click("#tab-why")
    expect(page.locator("#why-table")).to_be_hidden()
    page.click("#researchers > summary")
    page.evaluate("""() => {
        window.grown = []
        const title = document.querySelector('#plies').previousElementSibling
        new MutationObserver(() => window.grown.push(title.textContent)).observe(title, {childList: true})
    }""")
    page.wait_for_selector("#why-table tbody tr")
    assert page.locator("#why-table tbody tr").count() == 27
    expect(page.locator("#reason")).to_contain_text("at first sight", timeout=30_000)
    page.click("[data-why='Nxe5']")
    expect(page.locator("#reason")).to_contain_text("Nxe5", timeout=30_000)
    assert "asked" in page.get_attribute("tr:has([data-why='Nxe5'])", "class")
    expect(page.locator("#panel-why")).to_contain_text("after ply 6 of 6", timeout=60_000)
    # The tree has grown ply by ply, and the best line is open down to the last ply.
    assert [f"after ply {ply} of 6" in page.evaluate("window.grown") for ply in range(1, 7)] == 6 * [True]
    assert page.locator("#beam > ul > li").count() == 3
    assert page.locator("#beam" + " > ul > li:first-child > details" * 5 + " > ul > li").count() == 3
    kept = [int(row.split()[1]) for row in page.locator("#plies tbody tr").all_inner_texts()]
    assert len(kept) == 6 and kept[0] == 3 and kept == sorted(kept) and kept[5] > 100, kept
    assert "dropped: " in page.locator("#beam").text_content()
    # The page builds the replies to another move only when they are opened.
    other = page.locator("#beam > ul > li").nth(1)
    assert other.locator("ul").count() == 0
    other.locator("summary").click()
    expect(other.locator("> details > ul > li")).to_have_count(3)
    # A move on the board is compared, too.
    click_square(page, "a2")
    click_square(page, "a3")
    expect(page.locator("#reason")).to_contain_text("a3", timeout=30_000)
    expect(page.locator("tr.asked")).to_contain_text("a3")


def space(page):
    """The map: the sample, the path, the candidates and the neighbours."""
    load(page, "1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5")
    page.keyboard.press("End")
    page.click("#tab-space")
    page.wait_for_selector("#here")
    assert page.locator("#map g circle, #map g rect").count() > 1000
    assert page.locator("#map .candidate").count() == 33
    assert page.locator("#near figure").count() == 4
    assert "beam" in page.text_content("#panel-space")
    assert page.locator(".axis").all_inner_texts()[0] == "↑ decided"
    for words in ("lost for White", "won for White", "where White scores", "of like material"):
        expect(page.locator("#panel-space")).to_contain_text(words)
    at = page.get_attribute("#here", "cx")
    page.keyboard.press("ArrowLeft")
    wait_until(page, lambda: page.get_attribute("#here", "cx") != at, "the point moves")
    box = page.locator("#map").bounding_box()
    dot = page.locator("#map g circle").first.bounding_box()
    page.mouse.move(dot["x"] + dot["width"] / 2, dot["y"] + dot["height"] / 2)
    expect(page.locator(".popup")).to_be_visible()
    assert box["width"] > 300
    # The game plays itself, up to its end or a click.
    player = page.locator("#play-game")
    page.keyboard.press("Home")
    player.click()
    wait_until(page, lambda: "Nf3" in current(page), "the game plays itself")
    player.click()
    paused = current(page)
    page.wait_for_timeout(1200)
    assert current(page) == paused
    player.click()
    expect(page.locator("#moves [aria-current]")).to_contain_text("Bc5")
    expect(player).to_contain_text("Play the game")
    # All boards have the same size, in full rows.
    for width in (390, 600, 820, 1024, 1440):
        page.set_viewport_size({"width": width, "height": 844})
        panel = page.locator("#panel-space").bounding_box()
        boards = [board.bounding_box() for board in page.locator("#near .mini").all()]
        assert all(board["x"] + board["width"] <= panel["x"] + panel["width"] for board in boards), (width, boards)
        assert len({round(board["width"]) for board in boards}) == 1 and boards[0]["width"] >= 90, (width, boards)
        assert len({round(board["y"]) for board in boards}) in (1, 2), (width, boards)


def language(page):
    """The page in German: chosen, kept after a reload, and for people who prefer it."""
    page.select_option("#language", "de")
    expect(page.locator("#tab-play")).to_have_text("Spielen")
    page.reload()
    expect(page.locator("html")).to_have_attribute("lang", "de")
    load(page, PGN)
    for name in ("phone", "laptop"):
        width, height = SIZES[name]
        page.set_viewport_size({"width": width, "height": height})
        for tab in ("play", "analyse", "why", "space", "report"):
            page.click(f"#tab-{tab}")
            if tab == "why":
                expect(page.locator("#reason")).to_have_attribute("lang", "en")
            if tab == "report":
                page.click("#report-start")
                expect(page.locator("#counts tbody tr").first).to_contain_text("%", timeout=60_000)
            check_width(page, width, f"{name} {tab}")
            check_accessible(page, f"{name} {tab}")
    assert "Patzer" in page.inner_text("#counts thead")
    # The person's name changes with the language, in the game and in a file.
    page.click("#tab-play")
    page.click("#begin")
    type_move(page, "e4")
    expect(page.locator("#player-bottom .name")).to_have_text("Sie")
    page.select_option("#language", "en")
    expect(page.locator("#player-bottom .name")).to_have_text("You")
    load(page, f'[Black "Sie"]\n\n{FOOLS_MATE}')
    expect(page.locator("#player-top .name")).to_have_text("You")
    page.click("#tab-report")
    page.click("#report-start")
    expect(page.locator("#whose")).to_have_value("black")
    context = page.context.browser.new_context(locale="de-AT")
    other = context.new_page()
    other.goto(sys.argv[1])
    expect(other.locator("#tab-play")).to_have_text("Spielen")
    other.select_option("#language", "en")
    expect(other.locator("#tab-play")).to_have_text("Play")
    context.close()


def report(page):
    """A report, moved through by keys, with another try."""
    load(page, TWO_BLUNDERS)
    page.click("#tab-report")
    page.click("#report-start")
    expect(page.locator("#counts tbody tr").first).to_contain_text("%", timeout=30_000)
    assert page.locator("#counts tbody tr").count() == 2 and "Blunders" in page.inner_text("#counts thead")
    visit_mistakes_of(page, "white")
    wrong = page.inner_text("#about h2")
    assert any(kind in wrong for kind in ("inaccuracy", "mistake", "blunder")), wrong
    assert "Better:" in page.inner_text("#about") and "…" not in wrong, wrong
    page.select_option("#whose", "")
    page.locator("#whose").blur()
    page.keyboard.press("n")
    assert page.inner_text("#about h2") != wrong
    page.keyboard.press("p")
    assert page.inner_text("#about h2") == wrong
    page.click("#retry")
    assert "Find a better move" in page.inner_text("#panel-report")
    # A try that is replaced while the engine judges it leaves no move behind, and neither does a bad one.
    count = moves(page).count()
    for move in ("a3", "Ba6"):
        type_move(page, move)
    expect(page.locator("#panel-report")).to_contain_text("Ba6 gives away")
    expect(moves(page)).to_have_count(count)
    page.click("#show-better")
    assert page.inner_text("#about h2") == wrong
    visit_mistakes_of(page, "black")
    assert "…" in page.inner_text("#about h2"), page.inner_text("#about h2")
    visit_mistakes_of(page, "white")
    assert page.inner_text("#about h2") == wrong
    # Why is it a mistake?
    san = wrong.split()[1]
    page.click("#ask-why")
    expect(page.locator("tr.asked")).to_contain_text(san)
    expect(page.locator("#reason")).to_contain_text(san, timeout=30_000)
    page.click("#tab-report")
    text = saved(page, "text=Save PGN >> visible=true")
    assert "[%eval " in text and "2... Nc6" in text and "Better: " in text and '[ECO "C50"]' in text, text
    game = chess.pgn.read_game(io.StringIO(text))
    assert not game.errors and len(list(game.mainline())) == 14
    positions = json.loads(saved(page, "text=Save JSON >> visible=true"))["positions"]
    assert len(positions) == 15 and positions[-1]["judgement"] is None


def visit_mistakes_of(page, side):
    """Goes to the first mistake of a side."""
    page.select_option("#whose", side)
    page.locator("#whose").blur()
    page.keyboard.press("Home")
    page.keyboard.press("n")


def editor(page):
    """A position is set up by hand, by keyboard and as a FEN. Then the tablebase and the explorer."""
    page.click("#tab-analyse")
    # While no games are open, the explorer has the engine's opening book.
    expect(page.locator("#explorer-title")).to_have_text("Opening book")
    book = page.locator("#explorer tbody tr").first
    expect(book).to_contain_text("%")
    san = book.locator("button").inner_text()
    assert san in ("e4", "d4"), san
    book.locator("button").click()
    assert current(page).endswith(san)
    expect(book).to_be_visible()
    page.keyboard.press("Home")
    fen, board = page.locator("#editor-fen"), page.locator("#board")
    for name in ("phone", "laptop"):
        width, height = SIZES[name]
        page.set_viewport_size({"width": width, "height": height})
        page.click("#set-up")
        expect(page.locator("#moves-section")).to_be_hidden()
        page.click("#editor-clear")
        expect(page.locator("#editor-fault")).to_have_text("The board is empty.")
        expect(page.locator("#editor-analyse")).to_be_disabled()
        page.click("#palette [aria-label='White king']")
        click_square(page, "g6")
        page.click("#palette [aria-label='Black king']")
        click_square(page, "h8")
        page.click("#palette [aria-label='White rook']")
        click_square(page, "b2")
        click_square(page, "b2")
        page.locator("#palette [aria-label='White rook']").drag_to(board, target_position=corner(page))
        expect(fen).to_have_value("7k/8/6K1/8/8/8/8/R7 w - - 0 1")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        check_accessible(page, name)
        page.click("#editor-cancel")
        expect(page.locator("#moves-section")).to_be_visible()
    page.click("#set-up")
    page.click("#editor-start")
    board.focus()
    for key in ("ArrowUp", "ArrowRight", "Delete", "q"):
        page.keyboard.press(key)
    expect(fen).to_have_value("rnbqkbnr/pppppppp/8/8/8/8/PqPPPPPP/RNBQKBNR w KQkq - 0 1")
    page.select_option("#editor-turn", "black")
    page.get_by_label("Black O-O", exact=True).uncheck()
    expect(fen).to_have_value("rnbqkbnr/pppppppp/8/8/8/8/PqPPPPPP/RNBQKBNR b KQq - 0 1")
    fen.fill("7k/8/6K1/8/8/8/8/R7 b - - 0 1 x")
    expect(page.locator("#editor-fault")).to_have_text("This is no FEN.")
    fen.fill("7k/8/6K1/8/8/8/8/R7 w - - 0 1")
    page.click("#editor-analyse")
    rows = page.locator("#tables tbody tr")
    expect(rows).to_have_count(20)
    assert rows.first.inner_text().split() == ["Ra8#", "Win", "Checkmate"], rows.first.inner_text()
    rows.first.locator("button").click()
    expect(moves(page)).to_have_count(1)
    expect(page.locator("#tables")).to_be_hidden()
    load(page, "1. e4 e5 1-0\n\n1. e4 c5 0-1\n\n1. d4 d5 1/2-1/2\n")
    rows = page.locator("#explorer tbody tr")
    expect(rows).to_have_count(3)
    assert rows.first.inner_text().split()[:2] == ["e4", "2"], rows.first.inner_text()
    rows.first.locator("button").click()
    assert current(page).endswith("e4")
    expect(rows.first.locator("[role=img]")).to_have_attribute("aria-label", "White wins 1, draws 0, Black wins 0")


def corner(page):
    """The middle of a1 on a board with White at the bottom."""
    size = page.locator("#board cg-board").bounding_box()["width"] / 8
    return {"x": size / 2, "y": 7.5 * size}


def connection(page, sockets):
    """The connection is lost, and found again."""
    page.click("#tab-analyse")
    page.wait_for_selector(".pv .score")
    assert len(sockets) == 1
    sockets[-1].close()
    page.wait_for_selector("body[data-connection='lost']", timeout=5000)
    page.wait_for_selector("body[data-connection='open']", timeout=10_000)
    assert len(sockets) == 2
    type_move(page, "e4")
    wait_until(page, lambda: page.locator(".pv .line button").count() > 3, "the analysis goes on")
    assert page.inner_text("#connection") == ""


def links(page):
    """The address leads to the position on the board, also after a reload, and adds no entries to the
    history."""
    load(page, PGN)
    entries = page.evaluate("history.length")
    for _ in range(6):
        page.keyboard.press("ArrowRight")
    linked(page, "#ply=6")
    # A reload leads to the same position of a variation.
    page.click("#moves .variation .variation .move >> nth=1")
    linked(page, "#ply=1&line=c7c5.g1f3.b8c6.f1b5")
    page.reload()
    expect(moves(page)).to_have_count(20)
    assert "Bb5" in current(page)
    page.keyboard.press("Home")
    page.keyboard.press("End")
    linked(page, "#ply=14")
    assert page.evaluate("history.length") == entries
    page.evaluate("location.hash = '#ply=3'")
    expect(page.locator("#moves [aria-current]")).to_contain_text("Nf3")
    page.go_back()
    expect(page.locator("#moves [aria-current]")).to_contain_text("Nf3#")
    page.evaluate("location.hash = '#nonsense'")
    page.keyboard.press("ArrowLeft")
    linked(page, "#ply=13")
    # The browser stores the game after a delay.
    page.wait_for_timeout(600)
    page.reload()
    expect(moves(page)).to_have_count(20)
    assert "Be2" in current(page) and "Blackburne" in page.inner_text("#opening")
    assert page.evaluate("window.pwned") is None
    # Without a position in the address, the game is shown from its start, until another one begins.
    page.goto("about:blank")
    page.goto(sys.argv[1])
    expect(moves(page)).to_have_count(20)
    assert page.locator("#moves [aria-current]").count() == 0
    page.click("#load summary")
    page.click("#anew")
    expect(moves(page)).to_have_count(0)
    page.wait_for_timeout(600)
    page.reload()
    expect(moves(page)).to_have_count(0)


def restart(browser, program, folder):
    """The server is started again: the page says what to do, and stops trying."""
    def started(port):
        command = [program, "serve", "--no-open", "--port", port]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        return server, server.stdout.readline().split()[-1]

    first, address = started("0")
    try:
        context, page, _ = opened(browser, address)
        load(page, FOOLS_MATE)
        first.terminate()
        first.wait()
        page.wait_for_selector("body[data-connection='lost']", timeout=10_000)
        assert "Trying again" in page.inner_text("#connection")
        first, renewed = started(address.split("/")[2].split(":")[1])
        page.wait_for_selector("body[data-connection='renewed']", timeout=20_000)
        said = page.inner_text("#connection")
        assert "started again" in said and "address" in said, said
        count = len(page.sockets)
        page.wait_for_timeout(3000)
        assert len(page.sockets) == count, "it goes on trying"
        assert moves(page).count() == 4, "the game stays on the board"
        # The new address works, and the page shows the stored game.
        page.wait_for_timeout(600)
        page.goto(renewed)
        page.wait_for_selector("body[data-connection='open']")
        assert moves(page).count() == 4
        page.goto(renewed + "#ply=3")
        assert "g4" in current(page)
        context.close()
    finally:
        first.kill()
        first.wait()


def everywhere(browser, address, folder):
    """Every tab in every size and both themes: axe-core, no wider than the window, and no layout
    that shifts the board."""
    for name, (width, height) in SIZES.items():
        for scheme in ("light", "dark"):
            context, page, said = opened(browser, address, width, height, scheme)
            check_shifts(page, name)
            load(page, PGN)
            page.wait_for_selector(".pv .score")
            box = page.locator("#board").bounding_box()
            check_labels(page, name)
            for tab in ("play", "analyse", "why", "space", "report"):
                page.click(f"#tab-{tab}")
                if tab == "report":
                    page.click("#report-start")
                    expect(page.locator("#counts tbody tr").first).to_contain_text("%", timeout=60_000)
                    page.keyboard.press("n")
                if tab == "why":
                    page.click("#researchers > summary")
                    expect(page.locator("#reason")).not_to_be_empty(timeout=30_000)
                if tab == "space":
                    page.wait_for_selector("#here")
                if tab == "analyse":
                    page.wait_for_selector(".pv .score")
                # A person who loads a game or opens a tab expects the page to change, even if the
                # server takes long to answer.
                page.evaluate("takeShifts()")
                where = f"{name}-{scheme}-{tab}"
                assert page.locator("#board").bounding_box() == box, where
                check_width(page, width, where)
                panel = page.locator("#panel-side").bounding_box()
                is_below = panel["y"] >= box["y"] + box["height"]
                assert is_below == (name in ("tablet", "phone")), (where, panel)
                if name == "laptop" and tab == "report":
                    graph = page.locator("#graph").bounding_box()
                    assert graph["y"] + graph["height"] <= height and box["y"] + box["height"] <= height, where
                check_accessible(page, where)
                page.screenshot(path=f"{folder}/{where}.png")
                check_shifts(page, where)
            assert not said, said
            context.close()


LABELS = """() => [...document.querySelectorAll('#board coord')].map(label => {
    const range = document.createRange()
    range.selectNodeContents(label)
    const { left, right, top, bottom } = range.getBoundingClientRect()
    const style = getComputedStyle(label)
    return { name: label.textContent, left, right, top, bottom, colour: style.color, size: parseFloat(style.fontSize) }
})"""


def check_labels(page, where):
    """The label of each rank and file is in a square of it, and can be read on both colours."""
    board = page.locator("#board cg-board").bounding_box()
    side = board["width"] / 8
    labels = page.evaluate(LABELS)
    assert [label["name"] for label in labels] == list("12345678abcdefgh"), labels
    for label in labels:
        ends, origin, at = ("left", "right"), board["x"], "abcdefgh".find(label["name"])
        if at < 0:
            ends, origin, at = ("top", "bottom"), board["y"], 8 - int(label["name"])
        low, high = (label[end] - origin for end in ends)
        assert side * at - 1 <= low and high <= side * (at + 1) + 1, (where, label)
        assert label["size"] >= 10 and label["colour"] == "rgb(56, 36, 15)", (where, label)


def check_width(page, width, where):
    """The page is no wider than the window, and no panel is cut off."""
    wide = page.evaluate("document.documentElement.scrollWidth")
    assert wide <= width, f"{where}: the page is {wide} wide"
    for scrolled in ("#panels", "#panel-side"):
        fits = page.evaluate("id => { const it = document.querySelector(id); return it.scrollWidth <= it.clientWidth }", scrolled)
        assert fits, f"{where}: {scrolled} is cut off"


def check_shifts(page, where):
    shifts = page.evaluate("takeShifts()")
    assert sum(value for value, _ in shifts) < 0.05, (where, shifts)


def opened(browser, address, width=1366, height=768, scheme="light"):
    context = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme=scheme, reduced_motion="reduce", accept_downloads=True,
        locale="en-US",
    )
    page = context.new_page()
    page.add_init_script(SHIFTS)
    said = []
    # Without a server, the page stops a task by revoking the address of a blob.
    page.on("console", lambda message: message.location["url"].startswith("blob:") or said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("dialog", lambda dialog: (said.append(dialog.message), dialog.dismiss()))
    page.on("request", lambda request: request.url.startswith((address, "data:", "blob:")) or said.append(request.url))
    sockets = []

    def forward(socket):
        sockets.append(socket)
        socket.connect_to_server()

    page.route_web_socket("**/socket", forward)
    page.sockets = sockets
    page.goto(address)
    page.wait_for_selector("body[data-connection='open']")
    return context, page, said


def attempt(browser, address, scenario, folder):
    """Plays the scenario of one page, and keeps a screenshot if it fails."""
    context, page, said = opened(browser, address)
    try:
        if scenario == "connection":
            connection(page, page.sockets)
        else:
            globals()[scenario](page)
    except BaseException:
        page.screenshot(path=f"{folder}/{scenario}-failed.png")
        raise
    assert not said, said
    context.close()


def main():
    address, scenario, folder = sys.argv[1:4]
    with sync_playwright() as playwright:
        browser = launch(playwright)
        if scenario in ("everywhere", "restart"):
            globals()[scenario](browser, address, folder)
        else:
            attempt(browser, address, scenario, folder)
        browser.close()
    print(f"{scenario}: as it should be")


if __name__ == "__main__":
    main()
