"""The part of lichess's Bot API that lichess-bot needs for its games, on the loopback address.

The server challenges the bot to one game after the other and plays the opponent. Clocks stand
still.
"""

import json
import queue
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import chess

# A message of the API.
Message = dict[str, object]

BOT, OPPONENT = "Azimuth", "Opponent"
# Milliseconds that each side always has.
CLOCK = 10_000
# lichess sends an empty line if a stream is silent; lichess-bot waits 15 seconds for it.
SILENCE = 4
VARIANTS = {"standard": "Standard", "chess960": "Chess960", "fromPosition": "From Position"}


@dataclass
class Game:
    """A game, from the challenge to its result. `reply` is the opponent: it returns its move, or
    None to resign."""

    name: str
    bot: chess.Color
    reply: Callable[[chess.Board], chess.Move | None]
    variant: str = "standard"
    fen: str = chess.STARTING_FEN
    played: str = ""
    offers_draw: bool = False
    ends: str = "mate"
    winner: str | None = None
    status: str = "started"
    agrees: bool = False
    chat: list[str] = field(default_factory=list)
    events: queue.Queue[Message | None] = field(default_factory=queue.Queue)

    def __post_init__(self) -> None:
        self.board = chess.Board(self.fen, chess960=self.variant == "chess960")
        for move in self.played.split():
            self.board.push_uci(move)

    def state(self) -> Message:
        """The state of the game as lichess sends it."""
        offers = {chess.WHITE: False, chess.BLACK: False, (not self.bot): self.offers_draw}
        state: Message = {
            "type": "gameState",
            "moves": " ".join(move.uci() for move in self.board.move_stack),
            "wtime": CLOCK, "btime": CLOCK, "winc": 0, "binc": 0,
            "wdraw": offers[chess.WHITE], "bdraw": offers[chess.BLACK],
            "status": self.status,
        }  # fmt: skip
        return state | ({"winner": self.winner} if self.winner else {})

    def full(self) -> Message:
        """The first line of the game's stream."""
        bot = {"id": BOT.lower(), "name": BOT, "title": "BOT", "rating": 3000}
        opponent = {"id": OPPONENT.lower(), "name": OPPONENT, "rating": 1500}
        white, black = (bot, opponent) if self.bot else (opponent, bot)
        return self.about() | {
            "type": "gameFull", "createdAt": int(time.time() * 1000), "white": white,
            "black": black, "clock": {"initial": CLOCK, "increment": 0}, "state": self.state(),
        }  # fmt: skip

    def about(self) -> Message:
        """What challenges and games have in common."""
        return {
            "id": self.name, "rated": False, "speed": "blitz", "perf": {"name": "Blitz"},
            "variant": {"key": self.variant, "name": VARIANTS[self.variant]},
            "initialFen": "startpos" if self.fen == chess.STARTING_FEN else self.fen,
        }  # fmt: skip

    def challenge(self) -> Message:
        """The opponent's challenge."""
        return self.about() | {
            "color": chess.COLOR_NAMES[not self.bot], "status": "created",
            "timeControl": {"type": "clock", "limit": CLOCK // 1000, "increment": 0},
            "challenger": {"id": OPPONENT.lower(), "name": OPPONENT, "rating": 1500},
            "destUser": {"id": BOT.lower(), "name": BOT, "title": "BOT"},
        }  # fmt: skip

    def start(self) -> None:
        """Sends the first line, and lets the opponent move if it is its turn."""
        self.events.put(self.full())
        self.events.put(
            {"type": "chatLine", "room": "player", "username": OPPONENT, "text": "!name"}
        )
        if self.board.turn != self.bot:
            self.opponent_moves()

    def bot_moves(self, move: str, offers_draw: bool) -> None:
        """Plays the bot's move, which must be legal, and the reply."""
        assert self.status == "started" and self.board.turn == self.bot, f"{move}: not its turn"
        self.board.push(self.board.parse_uci(move))
        self.agrees = offers_draw and self.offers_draw
        if self.agrees:
            self.end("draw", None)
            return
        self.events.put(self.state())
        if not self.ended_by_rules():
            self.opponent_moves()

    def opponent_moves(self) -> None:
        move = self.reply(self.board)
        if move is None:
            self.end("resign", self.bot)
            return
        self.board.push(move)
        if not self.ended_by_rules():
            self.events.put(self.state())

    def ended_by_rules(self) -> bool:
        outcome = self.board.outcome(claim_draw=True)
        if outcome:
            mate = outcome.termination is chess.Termination.CHECKMATE
            self.end("mate" if mate else "draw", outcome.winner)
        return outcome is not None

    def end(self, status: str, winner: chess.Color | None) -> None:
        """Ends the game and closes its stream."""
        self.status = status
        self.winner = None if winner is None else chess.COLOR_NAMES[winner]
        self.events.put(self.state())
        self.events.put(None)


class Lichess(ThreadingHTTPServer):
    """The server: it offers `games` in their order, and is done after the last one."""

    daemon_threads = True

    def __init__(self, games: list[Game]) -> None:
        super().__init__(("127.0.0.1", 0), Request)
        self.games = {game.name: game for game in games}
        self.waiting = list(games)
        self.events: queue.Queue[Message | None] = queue.Queue()
        self.is_bot = False
        self.done = threading.Event()
        self.faults: list[str] = []
        self.offer_next()

    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/"

    def offer_next(self) -> None:
        """Challenges the bot to the next game."""
        if self.waiting:
            self.events.put({"type": "challenge", "challenge": self.waiting.pop(0).challenge()})
        else:
            self.done.set()

    def handle_error(self, request: object, address: object) -> None:
        """A bot that ends leaves its streams; other errors are those of the requests."""


class Request(BaseHTTPRequestHandler):
    """A request of the bot."""

    server: Lichess
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        match urlsplit(self.path).path.strip("/").split("/"):
            case ["api", "account"]:
                title = {"title": "BOT"} if self.server.is_bot else {}
                self.answer({"id": BOT.lower(), "username": BOT} | title)
            case ["api", "account", "playing"]:
                self.answer({"nowPlaying": []})
            case ["api", "users", "status"]:
                self.answer([{"id": BOT.lower(), "online": True}])
            case ["api", "stream", "event"]:
                self.stream(self.server.events)
            case ["api", "bot", "game", "stream", name]:
                self.server.games[name].start()
                self.stream(self.server.games[name].events)
                self.server.events.put({"type": "gameFinish", "game": {"id": name}})
                self.server.offer_next()
            case _:
                self.refuse()

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        address = urlsplit(self.path)
        match address.path.strip("/").split("/"):
            case ["api", "token", "test"]:
                self.answer({body: {"scopes": "bot:play", "userId": BOT.lower()}})
            case ["api", "bot", "account", "upgrade"]:
                self.server.is_bot = True
                self.answer({"ok": True})
            case ["api", "challenge", name, "accept"]:
                self.answer({"ok": True})
                game = {"id": name, "gameId": name, "opponent": {"username": OPPONENT}}
                self.server.events.put({"type": "gameStart", "game": game})
            case ["api", "bot", "game", name, "move", move]:
                offers = parse_qs(address.query).get("offeringDraw") == ["true"]
                try:
                    self.server.games[name].bot_moves(move, offers)
                except (AssertionError, ValueError) as error:
                    self.refuse(f"{name}: {error}")
                else:
                    self.answer({"ok": True})
            case ["api", "bot", "game", name, "chat"]:
                self.server.games[name].chat.append(parse_qs(body)["text"][0])
                self.answer({"ok": True})
            case ["api", "bot", "game", name, "resign"]:
                self.answer({"ok": True})
                self.server.games[name].end("resign", not self.server.games[name].bot)
            case ["api", "bot", "game", name, "abort"]:
                self.answer({"ok": True})
                self.server.games[name].end("aborted", None)
            case _:
                self.refuse()

    def answer(self, content: object, status: int = 200) -> None:
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def refuse(self, fault: str | None = None) -> None:
        """Answers that the request is wrong; the test then fails."""
        self.server.faults.append(fault or f"{self.command} {self.path}")
        self.answer({"error": "wrong"}, 400)

    def stream(self, events: queue.Queue[Message | None]) -> None:
        """Sends events as lines until there is None, and empty lines in between."""
        self.send_response(200)
        self.send_header("Content-Type", "application/x-ndjson")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        while True:
            try:
                event = events.get(timeout=SILENCE)
            except queue.Empty:
                line = b"\n"
            else:
                line = b"" if event is None else json.dumps(event).encode() + b"\n"
            self.wfile.write(b"%x\r\n%s\r\n" % (len(line), line))
            self.wfile.flush()
            if not line:
                return
