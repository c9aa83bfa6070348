//! `azimuth play`: a game against the engine in a terminal. The command line, the dialogue with the
//! human, and the board.

mod game;
mod opponent;

use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anstyle::{Ansi256Color, Color as Colour, Style};
use anyhow::{Context, Result, bail, ensure};
use azimuth_chess::pgn::decode;
use azimuth_chess::san::{parse_move, san_of_move};
use azimuth_chess::text::shortened;
use azimuth_network::replace_file::replace_file;
use azimuth_search::inference::ModelSource;
use azimuth_search::{Control, DefaultWeights, Limits, Resources, StopSwitch, TimeLimit};
use clap::Args;
use cozy_chess::{Board, Color, File, Move, Piece, Rank, Square};
use game::{End, Game, pgn};
use jiff::Zoned;
use opponent::{Clock, Opponent, Timing};

use crate::explain::{Study, Subject, Task, numbered, reason, side_name, worth};
use crate::limited_strength::{Level, WEAKEST_TO_STRONGEST};
use crate::session::{Allowance, Models, Plan, Seat};

/// Size of the score cache and transposition table together, of the opponent and of the advisor.
const HASH_MB: usize = 64;

/// Time for hint and why if the game has a clock.
const ADVICE: Duration = Duration::from_secs(1);

/// Play a game in the terminal. Enter moves as Nf3 or g1f3; enter help for a list of commands.
#[derive(Args)]
pub struct PlayCommand {
    #[command(flatten)]
    start: Subject,
    /// Limit the engine to this rating, on the scale of Stockfish 16's UCI_Elo [default: no limit]
    #[arg(long, value_parser = clap::value_parser!(u32).range(elo_range()))]
    elo: Option<u32>,
    /// Time of the engine for a move (500ms, 10s), or a clock for both sides: the time for the game
    /// and the increment for a move. 5m+3s is five minutes and three seconds; 300+3 is the same,
    /// since numbers without a unit are seconds. With a clock, hint and why search for one second.
    #[arg(long, default_value = "1s")]
    time: Timing,
    /// Number of search threads.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: u16,
    /// Play White (the default).
    #[arg(long, conflicts_with = "black")]
    white: bool,
    /// Play Black.
    #[arg(long)]
    black: bool,
}

fn elo_range() -> std::ops::RangeInclusive<i64> {
    (*WEAKEST_TO_STRONGEST.start()).into()..=(*WEAKEST_TO_STRONGEST.end()).into()
}

impl PlayCommand {
    /// Plays until `quit` or the end of `input`. Fails with one line if the position or a file is
    /// invalid.
    pub fn run(&self, input: impl BufRead, output: impl Write) -> Result<()> {
        let start = self.start.position()?;
        let human = if self.black { Color::Black } else { Color::White };
        let (time, clock) = match self.time {
            Timing::PerMove(time) => (time, None),
            Timing::Clock(base, increment) => (ADVICE, Some(Clock::new(base, increment))),
        };
        let models = Models::open(ModelSource::default(), None)?;
        let resources = Resources { hash_mb: HASH_MB, threads: self.threads.into() };
        let allowance = Allowance { usual: resources, most: resources };
        // Loading the weights takes no time of a clock.
        let planner = models.planner(Plan::player(self.elo.map(Level::of)), resources)?;
        let time = TimeLimit::exactly(time);
        let session = Session {
            game: Game::new(start),
            human,
            opponent: Opponent::new(planner, self.elo, time),
            advisor: Seat::new(Arc::new(models), allowance),
            advice: Limits { time: Some(time), ..Limits::default() },
            clock,
            running_since: Instant::now(),
            output,
            bottom: human,
            saved: None,
        };
        session.run(input)
    }
}

/// Maximum length of a quoted line in an error, in characters.
const LONGEST_QUOTE: usize = 80;

/// A game with its players.
struct Session<W> {
    game: Game,
    human: Color,
    opponent: Opponent,
    /// Searches at full strength for hint and why, whatever the opponent's strength.
    advisor: Seat,
    advice: Limits,
    clock: Option<Clock>,
    /// Start of the time that has not been taken off a clock yet.
    running_since: Instant,
    output: W,
    /// The side at the bottom of the board.
    bottom: Color,
    /// The file that this game was saved to, which may be overwritten.
    saved: Option<PathBuf>,
}

impl<W: Write> Session<W> {
    /// Plays until `quit` or the end of the input. An invalid line produces an error message, and
    /// the game continues.
    fn run(mut self, mut input: impl BufRead) -> Result<()> {
        let (name, side) = (self.opponent.name(), side_name(self.human));
        writeln!(self.output, "You play {side} against {name}. help lists what can be typed.\n")?;
        self.show_board()?;
        self.running_since = Instant::now();
        self.answer()?;
        let mut line = Vec::new();
        loop {
            let turn = match self.game.end() {
                Some(_) => "Game over".to_owned(),
                None => format!("{} to move", side_name(self.side_to_move())),
            };
            if let Some(clock) = &self.clock {
                write!(self.output, "{}. ", clock.shown())?;
            }
            write!(self.output, "{turn}> ")?;
            self.output.flush()?;
            line.clear();
            if input.read_until(b'\n', &mut line)? == 0 {
                writeln!(self.output)?;
                return Ok(());
            }
            let went_on = self.game.end().is_none();
            self.run_clock()?;
            let text = decode(&line);
            match text.trim() {
                "quit" | "exit" => return Ok(()),
                // The line arrived after the time was over.
                _ if went_on && self.game.is_out_of_time() => {}
                text => {
                    if let Err(error) = self.execute(text) {
                        writeln!(self.output, "{error:#}")?;
                    }
                }
            }
        }
    }

    fn execute(&mut self, text: &str) -> Result<()> {
        match text.split_once(char::is_whitespace).unwrap_or((text, "")) {
            ("", _) => Ok(()),
            ("help", "") => Ok(write!(self.output, "{}", include_str!("help.txt"))?),
            ("board", "") => self.show_board(),
            ("flip", "") => {
                self.bottom = !self.bottom;
                self.show_board()
            }
            ("moves", "") => {
                let moves = numbered(self.game.start().board(), self.game.moves());
                Ok(writeln!(self.output, "{moves}")?)
            }
            ("undo", "") => {
                ensure!(!self.game.is_out_of_time(), "undo: the time is over");
                ensure!(self.game.undo(self.human), "undo: you have played no move");
                self.show_board()
            }
            ("hint", "") => self.hint(),
            ("why", "") => self.why(),
            ("draw", "") => {
                self.ensure_goes_on("draw")?;
                self.opponent.agree_to_draw(self.game.position())?;
                self.game.stop(End::Agreement);
                self.tell_end()
            }
            ("save", "") => bail!("save: the name of a file is missing, as in save game.pgn"),
            ("save", file) => self.save(Path::new(file.trim())),
            ("resign", "") => {
                self.ensure_goes_on("resign")?;
                self.game.stop(End::Resignation(self.human));
                self.tell_end()
            }
            _ => self.play(text),
        }
    }

    fn play(&mut self, text: &str) -> Result<()> {
        let mv = parse_move(self.game.position(), text).ok();
        let mv = mv.with_context(|| {
            let text = shortened(text, LONGEST_QUOTE);
            format!(
                "'{text}' is no legal move (expected Nf3 or g1f3) and no command; help lists them"
            )
        })?;
        self.ensure_goes_on("a move")?;
        self.make_move(mv);
        if self.game.end().is_some() {
            self.show_board()?;
        }
        self.answer()
    }

    fn side_to_move(&self) -> Color {
        self.game.position().board().side_to_move()
    }

    /// Takes the time since the last call off the clock of the side to move, and ends the game if
    /// none is left.
    fn run_clock(&mut self) -> Result<()> {
        let used = self.running_since.elapsed();
        self.running_since = Instant::now();
        let side = self.side_to_move();
        let goes_on = self.game.end().is_none();
        if let Some(clock) = self.clock.as_mut().filter(|_| goes_on)
            && !clock.take(side, used)
        {
            self.game.run_out_of_time(side);
            self.tell_end()?;
        }
        Ok(())
    }

    /// Plays a move and adds the increment.
    fn make_move(&mut self, mv: Move) {
        let side = self.side_to_move();
        self.game.play(mv);
        if let Some(clock) = &mut self.clock {
            clock.add_increment(side);
        }
    }

    /// Plays the engine's move if it is to move, and announces the end of the game if it is over.
    fn answer(&mut self) -> Result<()> {
        let side = self.side_to_move();
        if self.game.end().is_none() && side != self.human {
            let position = self.game.position().clone();
            let limit = self.clock.as_ref().and_then(|clock| clock.limit(side));
            let mv = self.opponent.choose(&position, limit)?;
            self.run_clock()?;
            if self.game.end().is_some() {
                return Ok(());
            }
            self.make_move(mv);
            self.show_board()?;
            let played = numbered(position.board(), &[mv]);
            writeln!(self.output, "{} plays {played}", self.opponent.name())?;
        }
        self.tell_end()
    }

    fn hint(&mut self) -> Result<()> {
        self.ensure_goes_on("hint")?;
        let position = self.game.position();
        let planner = self.advisor.planner(Plan::analyst())?;
        // The time begins when the weights are loaded.
        let control = &mut Control::without_signals(self.advice.clone());
        let report = planner.search(position, control, &mut |_| ())?;
        let mv = report.pv.first().context("hint: the search found no move")?;
        let san = san_of_move(position.board(), *mv);
        let line = numbered(position.board(), &report.pv);
        let wdl = planner.wdl_model();
        let worth = worth(&wdl, report.value, position.board());
        Ok(writeln!(self.output, "{san} {worth}: {line}")?)
    }

    /// Explains whether the last move of each side was the best one, or which move was better.
    fn why(&mut self) -> Result<()> {
        ensure!(!self.game.moves().is_empty(), "why: no move has been played");
        for side in [self.human, !self.human] {
            let Some((before, mv)) = self.game.last_of(side) else { continue };
            let (root, limits, compared) = (before.clone(), self.advice.clone(), vec![mv]);
            let task = Task { root, limits, compared, plies: 1, stop: StopSwitch::default() };
            let mut model = self.advisor.models.model(DefaultWeights::Selective)?;
            let study = Study::make(task, self.advisor.planner(Plan::analyst())?, &mut model)?;
            let played = numbered(before.board(), &[mv]);
            let line = numbered(before.board(), &study.report.pv);
            let who = if side == self.human { "You".to_owned() } else { self.opponent.name() };
            let why = reason(&study);
            writeln!(self.output, "{who} played {played}. {why}\nBest line: {line}")?;
        }
        Ok(())
    }

    fn save(&mut self, path: &Path) -> Result<()> {
        let name = || format!("save: '{}'", shortened(&path.display().to_string(), LONGEST_QUOTE));
        let own = self.saved.as_deref() == Some(path);
        ensure!(own || !path.exists(), "{} exists; choose another name", name());
        let engine = self.opponent.name();
        let players = match self.human {
            Color::White => ["You", &engine],
            Color::Black => [&engine, "You"],
        };
        let date = Zoned::now().strftime("%Y.%m.%d").to_string();
        let game = pgn(&self.game, players, &date, self.clock.as_ref())?;
        replace_file(path, &game).with_context(name)?;
        self.saved = Some(path.to_owned());
        Ok(writeln!(self.output, "Written to '{}'", path.display())?)
    }

    fn show_board(&mut self) -> Result<()> {
        let last = self.game.moves().last().copied();
        let board = drawn(self.game.position().board(), last, self.bottom);
        Ok(writeln!(self.output, "{board}")?)
    }

    fn tell_end(&mut self) -> Result<()> {
        if let Some(end) = self.game.end() {
            writeln!(self.output, "{} ({})", end.words(), end.result())?;
        }
        Ok(())
    }

    fn ensure_goes_on(&self, what: &str) -> Result<()> {
        ensure!(!self.game.is_out_of_time(), "{what}: the game is over");
        ensure!(self.game.end().is_none(), "{what}: the game is over; undo takes a move back");
        Ok(())
    }
}

/// Indices in the 256-colour palette: light and dark squares, and those of the last move; pieces.
const SQUARES: [[u8; 2]; 2] = [[180, 137], [186, 143]];
const INK: u8 = 16;

/// Draws the board with `bottom`'s side at the bottom and the squares of the last move marked.
fn drawn(board: &Board, last: Option<Move>, bottom: Color) -> String {
    let (mut ranks, mut files) = (Rank::ALL, File::ALL);
    match bottom {
        Color::White => ranks.reverse(),
        Color::Black => files.reverse(),
    }
    let mut text = String::new();
    for rank in ranks {
        text.push_str(&format!("  {rank} "));
        for file in files {
            let square = Square::new(file, rank);
            let moved = last.is_some_and(|mv| mv.from == square || mv.to == square);
            let style = style(square, moved);
            text.push_str(&format!("{style} {} {style:#}", glyph(board, square)));
        }
        text.push('\n');
    }
    let names: String = files.iter().map(|file| format!(" {file} ")).collect();
    text.push_str(&format!("    {}\n", names.trim_end()));
    text
}

fn style(square: Square, moved: bool) -> Style {
    let is_dark = (square.file() as usize + square.rank() as usize).is_multiple_of(2);
    let background = SQUARES[usize::from(moved)][usize::from(is_dark)];
    let colour = |number| Some(Colour::Ansi256(Ansi256Color(number)));
    Style::new().bg_color(colour(background)).fg_color(colour(INK))
}

/// White's and Black's pieces, in the order of [`Piece`].
const GLYPHS: [[char; Piece::NUM]; Color::NUM] =
    [['♙', '♘', '♗', '♖', '♕', '♔'], ['♟', '♞', '♝', '♜', '♛', '♚']];

fn glyph(board: &Board, square: Square) -> char {
    let found = board.color_on(square).zip(board.piece_on(square));
    found.map_or('·', |(color, piece)| GLYPHS[color as usize][piece as usize])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_move_is_marked() {
        let mv: Move = "e2e4".parse().expect("a move");
        let marked = drawn(&Board::default(), Some(mv), Color::White);
        let count = |number: u8| marked.matches(&format!("48;5;{number}m")).count();
        let [[light, dark], moved] = SQUARES.map(|colours| colours.map(count));
        assert_eq!((light, dark, moved[0] + moved[1]), (30, 32, 2));
    }
}
