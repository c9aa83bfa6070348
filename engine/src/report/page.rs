//! The HTML page of a report: the games as data, and the script that displays them.

use std::cell::{Cell, RefCell};
use std::io::Write;

use anyhow::{Error, Result};
use askama::Template;
use azimuth_chess::san::{san_of_line, san_of_move};
use azimuth_network::axis::Axis;
use cozy_chess::Color;
use serde::{Serialize, Serializer};

use super::analysis::{Arrival, Judgement, Stop};
use super::game::{Game, GameMove};
use super::journal::{Journal, StoredGames};
use super::path::path;
use crate::pages::{BOARD_CREDIT, BOARD_SCRIPT, STYLE, policy};
use crate::search::Value;

/// Maximum number of moves of a line on the page.
const SHOWN_MOVES: usize = 8;

/// Tags below the title.
const SHOWN_TAGS: [&str; 8] =
    ["Event", "Site", "Date", "Round", "TimeControl", "Opening", "Termination", "Annotator"];

#[derive(Template)]
#[template(path = "report.html")]
struct Page<'a> {
    title: &'a str,
    policy: String,
    style: &'static str,
    script: &'a str,
    credit: &'a str,
    board_credit: &'static str,
    data: Data<'a>,
}

#[derive(Serialize)]
struct Data<'a> {
    games: Streamed<'a>,
}

/// Games that are read from the journal while they are written to the page.
struct Streamed<'a> {
    games: RefCell<StoredGames<'a>>,
    failed: &'a Cell<Option<Error>>,
}

impl Serialize for Streamed<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut games = self.games.borrow_mut();
        serializer.collect_seq(games.by_ref().map_while(|game| match game {
            Ok(game) => Some(game),
            Err(error) => {
                self.failed.set(Some(error));
                None
            }
        }))
    }
}

/// A game in the form that the page's script reads.
#[derive(Serialize)]
pub struct GameData {
    title: String,
    tags: String,
    stops: Vec<StopData>,
}

/// A position; scores and probabilities are White's.
#[derive(Serialize)]
struct StopData {
    fen: String,
    check: bool,
    p: f32,
    score: String,
    /// Chances to win, draw and lose, in permille; `None` if the game is over.
    wdl: Option<[u32; 3]>,
    x: f32,
    y: f32,
    #[serde(rename = "move")]
    arrival: Option<MoveData>,
    best: Option<BestData>,
}

#[derive(Serialize)]
struct MoveData {
    number: u16,
    white: bool,
    san: String,
    from: String,
    to: String,
    rank: usize,
    of: usize,
    loss: f32,
    judgement: Option<Judgement>,
    clock: Option<String>,
    eval: Option<String>,
    comment: Option<String>,
}

#[derive(Serialize)]
struct BestData {
    from: String,
    to: String,
    line: String,
}

/// Writes the page with the games of a journal to `out`. `credit` names the engine that analysed
/// them.
pub fn write_page(journal: &mut Journal, credit: &str, out: &mut impl Write) -> Result<()> {
    let script = format!("{BOARD_SCRIPT}\n{}", include_str!("../../pages/report.js"));
    let policy = policy(&script);
    let first = journal.games()?.next().transpose()?;
    let title = first.as_ref().and_then(|game| game["title"].as_str()).unwrap_or_default();
    let failed = Cell::new(None);
    let games = Streamed { games: RefCell::new(journal.games()?), failed: &failed };
    let page = Page {
        title,
        policy,
        style: STYLE,
        script: &script,
        credit,
        board_credit: BOARD_CREDIT,
        data: Data { games },
    };
    let written = page.write_into(out);
    // The cause of an error of the journal is lost on the way through the template.
    failed.take().map_or(Ok(()), Err)?;
    Ok(written?)
}

impl GameData {
    /// Converts an analysed game.
    pub fn new(game: &Game, stops: &[Stop], axis: &Axis) -> Self {
        let places = path(stops, axis);
        let said = std::iter::once(None).chain(game.moves.iter().map(Some));
        let stops =
            stops.iter().enumerate().zip(places).zip(said).map(|(((index, stop), place), said)| {
                let before = index.checked_sub(1).map(|before| &stops[before]);
                StopData::new(stop, place, before.zip(said))
            });
        Self { title: title(game), tags: tags(game), stops: stops.collect() }
    }
}

impl StopData {
    fn new(stop: &Stop, [x, y]: [f32; 2], arrival: Option<(&Stop, &GameMove)>) -> Self {
        let board = stop.position.board();
        let white_moves = board.side_to_move() == Color::White;
        let value = if white_moves { stop.value } else { -stop.value };
        let best = stop.line.first().map(|mv| BestData {
            from: mv.from.to_string(),
            to: mv.to.to_string(),
            line: san_of_line(board, &stop.line[..stop.line.len().min(SHOWN_MOVES)]).join(" "),
        });
        let arrival = stop.arrival.as_ref().zip(arrival);
        Self {
            fen: stop.position.fen(false),
            check: !board.checkers().is_empty(),
            p: value.win_probability(),
            score: score(stop.value, white_moves),
            wdl: stop.wdl.map(|[win, draw, loss]| match white_moves {
                true => [win, draw, loss],
                false => [loss, draw, win],
            }),
            x,
            y,
            arrival: arrival.map(|(made, (before, said))| MoveData::new(made, before, said)),
            best,
        }
    }
}

impl MoveData {
    fn new(made: &Arrival, before: &Stop, said: &GameMove) -> Self {
        let board = before.position.board();
        Self {
            number: board.fullmove_number(),
            white: board.side_to_move() == Color::White,
            san: san_of_move(board, made.mv),
            from: made.mv.from.to_string(),
            to: made.mv.to.to_string(),
            rank: made.rank.0,
            of: made.rank.1,
            loss: made.loss,
            judgement: made.judgement,
            clock: said.clock.clone(),
            eval: said.eval.clone(),
            comment: said.comment.clone(),
        }
    }
}

/// `White – Black, 1-0`.
fn title(game: &Game) -> String {
    let player = |side: &str| {
        let name = game.tag(side).unwrap_or_else(|| side.to_owned());
        match game.tag(&format!("{side}Elo")) {
            Some(elo) => format!("{name} ({elo})"),
            None => name,
        }
    };
    let result = game.tag("Result").filter(|result| result != "*");
    let result = result.map_or(String::new(), |result| format!(", {result}"));
    format!("{} – {}{result}", player("White"), player("Black"))
}

fn tags(game: &Game) -> String {
    let shown = SHOWN_TAGS.iter().filter_map(|name| game.tag(name));
    let shown: Vec<String> = shown.filter(|value| !value.starts_with("????")).collect();
    shown.join(" · ")
}

/// `+0.35` or `#-3`, from White's view, of a value for the side to move.
fn score(value: Value, white_moves: bool) -> String {
    let for_white = if white_moves { value } else { -value };
    match value.moves_to_mate() {
        Some(moves) => {
            let sign = if for_white > Value::DRAW { "" } else { "-" };
            format!("#{sign}{}", moves.abs())
        }
        None => format!("{:+.2}", f64::from(for_white.centipawns()) / 100.0),
    }
}
