"""The engine: python-chess talks UCI to the command ``azimuth`` of this package."""

from __future__ import annotations

import asyncio
import contextlib
import html
import json
import math
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from numbers import Integral, Real
from pathlib import Path
from types import NoneType, TracebackType
from typing import Any, Literal, TypeVar, overload

import chess.engine
import chess.pgn
import chess.svg
from chess.engine import (
    ConfigMapping,
    ConfigValue,
    Cp,
    InfoDict,
    Limit,
    Mate,
    PlayResult,
    PovScore,
    SimpleAnalysisResult,
)

import chess

from ._native import NativeSpace, check_board

Planner = Literal["auto", "beam", "selective"]

_Result = TypeVar("_Result")

# By its path: `-m` would also look for modules in the current folder.
_COMMAND = [sys.executable, str(Path(__file__).with_name("__main__.py"))]

_EXPLAIN_ARGUMENTS = {
    "planner": "--planner",
    "weightsfile": "--weights",
    "hash": "--hash",
    "syzygypath": "--syzygy",
}
"""The UCI options that `explain` passes to its process, and the arguments for them."""

_SIGNS = {"exact": "", "upper": "≤ ", "lower": "≥ "}

_SHOWN_MOVES = 8
"""The moves of an explanation that Jupyter shows."""

_PATIENCE = 60.0
"""Longest wait for an answer of the engine, in seconds. A busy machine loads weights slowly."""

_WITHOUT_SIGNALS: dict[str, Any]
if sys.platform == "win32":
    _WITHOUT_SIGNALS = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
else:
    _WITHOUT_SIGNALS = {"start_new_session": True}
"""Keeps Ctrl-C from the engine. This process receives it and ends only the search."""


@dataclass(frozen=True)
class ExplainedMove:
    """A legal move of an explained position. Scores are those of the side that makes the move."""

    move: chess.Move
    san: str
    """The move in standard algebraic notation."""
    cosine: float
    """The cosine with the axis of the position after the move, in [-1, 1]."""
    static: PovScore
    """The score of the position after the move, without a search."""
    static_win_probability: float
    """The same as a win probability, in [0, 1]."""
    rank_before: int
    """The rank by static score, from 1."""
    rank_after: int | None
    """The rank after the search, from 1; ``None`` if the search did not find the move's value."""
    score: PovScore | None
    """The move's value after the search, or a bound; ``None`` if the search dropped the move."""
    bound: Literal["exact", "upper", "lower"] | None
    """Whether :attr:`score` is exact, at most this, or at least this."""

    def _row(self) -> str:
        score = f"{_SIGNS[self.bound]}{self.score.relative}" if self.score and self.bound else ""
        cells = (
            html.escape(self.san),
            self.rank_before,
            f"{self.static_win_probability:.1%}",
            self.rank_after or "",
            score,
        )
        return f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"


@dataclass(frozen=True)
class Explanation:
    """The reasons for a move. ``print`` shows :attr:`reason`, and Jupyter also the board and the
    first moves."""

    fen: str
    """The position."""
    planner: Literal["beam", "selective"]
    """The search that chose the move."""
    reason: str
    """A few sentences."""
    score: PovScore
    """The position's value after the search."""
    win_probability: float
    """The same as a win probability of the side to move, in [0, 1]."""
    cosine: float
    """The cosine of the position itself with the axis, for the side to move."""
    depth: int
    """Depth of the search in plies."""
    nodes: int
    """Positions searched."""
    pv: list[chess.Move]
    """The best line."""
    moves: list[ExplainedMove]
    """All legal moves: the chosen one, those with a known value, then the others."""
    json: dict[str, Any] = field(repr=False)
    """All that ``azimuth explain --json`` says; docs/explain.md describes the fields."""

    @property
    def move(self) -> chess.Move:
        """The chosen move."""
        return self.moves[0].move

    def __str__(self) -> str:
        return self.reason

    def _repr_html_(self) -> str:
        board = chess.svg.board(
            chess.BaseBoard(self.fen.split()[0]),
            orientation=self.score.turn,
            arrows=[(self.move.from_square, self.move.to_square)],
            size=300,
        )
        rows = "".join(move._row() for move in self.moves[:_SHOWN_MOVES])
        more = len(self.moves) - _SHOWN_MOVES
        return (
            f"<div>{board}<p>{html.escape(self.reason)}</p><table><thead><tr><th>move</th>"
            "<th>rank before</th><th>win probability</th><th>rank after</th><th>score</th></tr>"
            f"</thead><tbody>{rows}</tbody></table>{f'<p>{more} more moves</p>' * (more > 0)}</div>"
        )


class Engine:
    """The engine Azimuth, in a separate process.

    Use it as a context manager, or call :meth:`quit` at the end: like the engines of python-chess,
    it otherwise keeps the process alive.

    Ctrl-C ends a search: the call raises :class:`KeyboardInterrupt`, and the engine is ready for
    the next one.

    A forked process needs its own engine. There, the methods of an engine of the parent process
    raise :class:`RuntimeError`.

    :param planner: The search: ``"beam"`` is the paper's, ``"selective"`` an alpha-beta search;
        ``"auto"`` takes the beam for depths of up to 6 plies, and else the selective search.
    :param weights: A weights file for both searches; by default, those of the package.
    :param threads: Number of search threads.
    :param hash: Size of the tables in MB.
    :param options: More UCI options, such as ``{"UCI_LimitStrength": True, "UCI_Elo": 1500}``.
    :raises OSError: if the weights file cannot be read.
    :raises ValueError: if the weights file is damaged or contains something else.
    :raises TypeError: if an option is no string, int or bool.
    :raises chess.engine.EngineError: if an option is unknown or its value is out of range.
    """

    def __init__(
        self,
        *,
        planner: Planner = "auto",
        weights: str | os.PathLike[str] | None = None,
        threads: int = 1,
        hash: int = 16,
        options: Mapping[str, ConfigValue] | None = None,
    ) -> None:
        if weights is not None:
            # UCI cannot report an error: the engine would continue with its embedded weights.
            NativeSpace(weights)
        self._settings: dict[str, ConfigValue] = {}
        self._engine = chess.engine.SimpleEngine.popen_uci(
            _COMMAND, timeout=_PATIENCE, **_WITHOUT_SIGNALS
        )
        self._owner = os.getpid()
        settings: dict[str, ConfigValue] = {"Planner": planner, "Threads": threads, "Hash": hash}
        if weights is not None:
            settings["WeightsFile"] = str(Path(weights).absolute())
        try:
            self.configure({**settings, **(options or {})})
        except BaseException:
            self._engine.close()
            raise

    def play(
        self,
        board: chess.Board,
        limit: Limit,
        *,
        game: object = None,
        info: chess.engine.Info = chess.engine.INFO_NONE,
        ponder: bool = False,
        root_moves: Iterable[chess.Move] | None = None,
    ) -> PlayResult:
        """Chooses a move, as :meth:`chess.engine.SimpleEngine.play` does.

        :param board: The position, with the moves before it.
        :param limit: When to stop: ``Limit(time=1)`` (seconds), ``Limit(depth=6)`` (plies),
            ``Limit(nodes=100_000)``, or clocks.
        :param game: An object that identifies the game. Another object than in the last call starts
            a new game and clears the tables.
        :param info: The information to collect in ``PlayResult.info``.
        :param ponder: Whether to go on thinking on the opponent's time.
        :param root_moves: The moves to choose from; all legal ones by default.
        :raises ValueError: if the board is one of a variant other than Chess960, its position is
            illegal, its fields contradict each other, its moves do not lead to its position, a
            number of the limit is infinite or NaN, or a root move is illegal.
        :raises TypeError: if it is no board, or an argument or one of its fields has another type.
        """
        board = _checked(board)
        _check_limit(limit)
        _check("info", info, Integral, "chess.engine.Info")
        moves = _legal(board, root_moves)
        return self._interruptible(
            lambda: self._running.play(
                board, limit, game=game, info=info, ponder=ponder, root_moves=moves
            )
        )

    @overload
    def analyse(
        self,
        board: chess.Board,
        limit: Limit,
        *,
        game: object = None,
        root_moves: Iterable[chess.Move] | None = None,
    ) -> InfoDict: ...
    @overload
    def analyse(
        self,
        board: chess.Board,
        limit: Limit,
        multipv: int,
        *,
        game: object = None,
        root_moves: Iterable[chess.Move] | None = None,
    ) -> list[InfoDict]: ...
    def analyse(
        self,
        board: chess.Board,
        limit: Limit,
        multipv: int | None = None,
        *,
        game: object = None,
        root_moves: Iterable[chess.Move] | None = None,
    ) -> InfoDict | list[InfoDict]:
        """Analyses a position, as :meth:`chess.engine.SimpleEngine.analyse` does.

        :param board: The position, with the moves before it.
        :param limit: As in :meth:`play`.
        :param multipv: The number of lines. With it, the result is a list, best line first.
        :param game: As in :meth:`play`.
        :param root_moves: As in :meth:`play`.
        :returns: A dictionary with ``score`` (a :class:`chess.engine.PovScore`), ``pv``, ``depth``,
            ``nodes``, ``time`` and more.
        :raises ValueError: as :meth:`play`.
        :raises TypeError: as :meth:`play`.
        """
        board = _checked(board)
        _check_limit(limit)
        _check("multipv", multipv, (Integral, NoneType), "a number")
        moves = _legal(board, root_moves)
        return self._interruptible(
            lambda: self._running.analyse(
                board, limit, multipv=multipv, game=game, root_moves=moves
            )
        )

    def analysis(
        self,
        board: chess.Board,
        limit: Limit | None = None,
        *,
        multipv: int | None = None,
        game: object = None,
        info: chess.engine.Info = chess.engine.INFO_ALL,
        root_moves: Iterable[chess.Move] | None = None,
    ) -> SimpleAnalysisResult:
        """Starts an analysis and returns at once, as :meth:`chess.engine.SimpleEngine.analysis`
        does. Iterate over the result to read the information as it arrives:

        >>> with engine.analysis(board) as analysis:  # doctest: +SKIP
        ...     for info in analysis:
        ...         if info.get("depth", 0) >= 12:
        ...             break

        :param board: The position, with the moves before it.
        :param limit: As in :meth:`play`; by default, the search continues until it is stopped.
        :param multipv: The number of lines.
        :param game: As in :meth:`play`.
        :param info: The information to collect.
        :param root_moves: As in :meth:`play`.
        :raises ValueError: as :meth:`play`.
        :raises TypeError: as :meth:`play`.
        """
        board = _checked(board)
        if limit is not None:
            _check_limit(limit)
        _check("multipv", multipv, (Integral, NoneType), "a number")
        _check("info", info, Integral, "chess.engine.Info")
        moves = _legal(board, root_moves)
        return self._interruptible(
            lambda: self._running.analysis(
                board, limit, multipv=multipv, game=game, info=info, root_moves=moves
            )
        )

    def explain(
        self,
        board: chess.Board,
        limit: Limit | None = None,
        *,
        compare: Iterable[chess.Move] = (),
    ) -> Explanation:
        """Explains the best move: its reasons in words, and the values of all moves before and
        after the search.

        Moves that a person would compare with it get separate searches, so it takes longer than the
        limit. The search has one thread, and tables that no other call fills. Of the UCI options, it
        uses ``Planner``, ``WeightsFile``, ``Hash`` and ``SyzygyPath``.

        :param board: The position, with the moves before it.
        :param limit: ``time`` in seconds, ``depth`` in plies or ``nodes``; 1 s by default.
        :param compare: More moves to compare.
        :raises ValueError: as :meth:`play`, or if there is no legal move, the limit has clocks, or
            a move is illegal.
        :raises TypeError: as :meth:`play`.
        """
        board = _checked(board)
        arguments = ["explain", "--json", *_limit_arguments(limit)]
        for option, argument in _EXPLAIN_ARGUMENTS.items():
            value = self._settings.get(option)
            if value not in (None, "", "auto"):
                arguments += [argument, str(value)]
        if moves := _legal(board, compare):
            arguments += ["--moves", ",".join(board.uci(move) for move in moves)]
        if not board.move_stack:
            return _explanation(board, _output([*arguments, board.fen()]))
        # The moves before the position tell which positions are repetitions.
        game = str(chess.pgn.Game.from_board(board))
        return _explanation(board, _output([*arguments, "--pgn", "-"], game))

    @property
    def id(self) -> Mapping[str, str]:
        """Name and author of the engine."""
        return self._running.id

    @property
    def options(self) -> Mapping[str, chess.engine.Option]:
        """The UCI options of the engine, with their defaults and ranges."""
        return self._running.options

    def configure(self, options: ConfigMapping) -> None:
        """Sets UCI options.

        :raises TypeError: if an option is no string, int or bool.
        :raises chess.engine.EngineError: if an option is unknown or its value is out of range.
        """
        for name, value in options.items():
            _check("name of an option", name, str, "a string")
            _check(f"option {name}", value, (str, Integral, NoneType), "a string, int or bool")
        self._running.configure(options)
        self._settings.update({name.lower(): value for name, value in options.items()})

    def quit(self) -> None:
        """Ends the engine."""
        self._running.quit()

    def close(self) -> None:
        """Ends the engine at once, even in the middle of a search."""
        self._engine.close()

    def __enter__(self) -> Engine:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Engine planner={self._settings.get('planner')!r}>"

    @property
    def _running(self) -> chess.engine.SimpleEngine:
        # The thread that talks to the engine does not exist in a fork: it would never answer.
        if os.getpid() != self._owner:
            raise RuntimeError("the engine runs for the parent process: make another Engine")
        return self._engine

    def _interruptible(self, search: Callable[[], _Result]) -> _Result:
        try:
            return search()
        except KeyboardInterrupt:
            # python-chess ends the running search before it sends the next command.
            with contextlib.suppress(asyncio.TimeoutError, chess.engine.EngineError):
                self._running.ping()
            raise


# python-chess would wait for ever after an exception other than its own: the arguments are checked
# before it gets them.


def _checked(board: chess.Board) -> chess.Board:
    """The board with the moves that the engine needs: those after the last null move, which no
    engine accepts."""
    check_board(board)
    start = board.copy()
    moves: list[chess.Move] = []
    while start.move_stack and start.peek():
        moves.append(start.pop())
    check_board(start)
    replayed = start.copy(stack=False)
    for move in reversed(moves):
        if not replayed.is_legal(move):
            raise ValueError(f"the board's move {move.uci()} is illegal in '{replayed.fen()}'")
        replayed.push(move)
    if replayed != board:
        raise ValueError(
            f"the board's moves lead to '{replayed.fen()}', not to '{board.fen()}': "
            "board.copy(stack=False) has no moves"
        )
    return replayed


def _check(name: str, value: object, kinds: type | tuple[type, ...], expected: str) -> None:
    if not isinstance(value, kinds):
        raise TypeError(f"{name}: expected {expected}, got {type(value).__name__}")


def _check_limit(limit: Limit) -> None:
    _check("limit", limit, Limit, "a chess.engine.Limit")
    for name, value in vars(limit).items():
        if name == "clock_id" or value is None:
            continue
        _check(f"limit.{name}", value, Real, "a number")
        if not abs(value) < math.inf:
            raise ValueError(f"limit.{name}: expected a finite number, got {value}")


def _legal(board: chess.Board, moves: Iterable[chess.Move] | None) -> list[chess.Move] | None:
    if moves is None:
        return None
    checked = list(moves)
    for move in checked:
        _check("move", move, chess.Move, "a chess.Move")
        if not board.is_legal(move):
            raise ValueError(f"the move {move.uci()} is illegal in '{board.fen()}'")
    return checked


def _limit_arguments(limit: Limit | None) -> list[str]:
    limit = limit or Limit(time=1)
    _check_limit(limit)
    clocks = (limit.white_clock, limit.black_clock, limit.mate)
    if any(value is not None for value in clocks):
        raise ValueError("explain takes a limit of time, depth or nodes")
    arguments: list[str] = []
    if limit.time is not None:
        arguments += ["--time", f"{max(1, round(limit.time * 1000))}ms"]
    if limit.depth is not None:
        arguments += ["--depth", str(limit.depth)]
    if limit.nodes is not None:
        arguments += ["--nodes", str(limit.nodes)]
    return arguments


def _output(arguments: list[str], text: str = "") -> dict[str, Any]:
    done = subprocess.run(
        [*_COMMAND, *arguments], input=text, capture_output=True, encoding="utf-8", check=False
    )
    if done.returncode != 0:
        raise ValueError(done.stderr.strip().removeprefix("azimuth: ") or "azimuth ended early")
    output: dict[str, Any] = json.loads(done.stdout)
    return output


def _explanation(board: chess.Board, output: dict[str, Any]) -> Explanation:
    search = output["search"]
    return Explanation(
        fen=output["fen"],
        planner=output["planner"],
        reason=output["reason"],
        score=_score(search, board.turn),
        win_probability=search["win_probability"],
        cosine=output["position"]["cosine"],
        depth=search["depth"],
        nodes=search["nodes"],
        pv=_line(board, search["pv"]),
        moves=[_explained_move(board, move) for move in output["moves"]],
        json=output,
    )


def _explained_move(board: chess.Board, move: dict[str, Any]) -> ExplainedMove:
    found = move["own_search"] or move["searched"]
    return ExplainedMove(
        move=board.parse_uci(move["uci"]),
        san=move["san"],
        cosine=move["cosine"],
        static=_score(move["static"], board.turn),
        static_win_probability=move["static"]["win_probability"],
        rank_before=move["rank_before"],
        rank_after=move["rank_after"],
        score=_score(found, board.turn) if found else None,
        bound=found["bound"] if found else None,
    )


def _score(score: dict[str, Any], turn: chess.Color) -> PovScore:
    mate = score.get("mate")
    return PovScore(Cp(score["cp"]) if mate is None else Mate(mate), turn)


def _line(board: chess.Board, moves: list[str]) -> list[chess.Move]:
    board = board.copy(stack=False)
    return [board.push_uci(move) for move in moves]
