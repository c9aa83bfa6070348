//! The messages between a page and the engine: JSON objects, one for each text message of the
//! WebSocket, or for each call in WebAssembly.
//!
//! A page sends `run` with a task. The engine answers with events that carry the same `id`, the
//! last of which is `ended` or `error`. A new `run`, and `stop`, end the page's previous task.
//! Scores are those of the side to move, as in UCI; moves are in UCI notation, castling in Chess960
//! as the king's move to the rook.

use std::num::NonZero;

use anyhow::Result;
use serde::{Deserialize, Serialize};

use crate::explain::{Document, ScoreJson};
use crate::limited_strength::WEAKEST_TO_STRONGEST;
use crate::map::{MapWeights, Neighbours, Sampled};
use crate::report::Judged;
use crate::session::Allowance;

/// From the page.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum Message {
    /// Begin a task.
    Run(Request),
    /// End the task; without effect if there is none.
    Stop {},
}

/// A task for a position.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The page's number for this request.
    pub id: u32,
    /// The FEN of the first position; `startpos` is the standard starting position.
    pub fen: String,
    /// The moves that lead from it to the position, in UCI notation or SAN.
    pub moves: Vec<String>,
    pub task: Task,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "name", rename_all = "snake_case", deny_unknown_fields)]
pub enum Task {
    /// Search, and send `info` events.
    Analyse {
        /// Number of lines, from 1 to 10.
        lines: usize,
        /// Time in milliseconds; without it, until `stop`.
        milliseconds: Option<u64>,
        /// Number of threads, at most that of [`Event::Welcome`]; the usual one without it.
        threads: Option<NonZero<usize>>,
        /// The same for the size of the tables, in MB.
        hash: Option<NonZero<usize>>,
    },
    /// Search for 1 to 10 lines with the second engine until `stop`, and send `info` events.
    SecondEngine { lines: usize },
    /// Choose a move, and send a `move` event.
    Play {
        /// A rating, as `UCI_Elo`; full strength without it.
        elo: Option<u32>,
        /// Seed of the noise of a limited strength; the same number for a whole game. Another
        /// number begins a game, with empty tables.
        seed: u32,
        time: PlayTime,
    },
    /// Explain the choice of a move beside the moves `compared`, in `why` events.
    Why { compared: Vec<String> },
    /// Search with the beam, and send a `tree` event for each ply.
    Beam {},
    /// Look the legal moves up in the tablebases, and send a `tablebase` event.
    Tablebase {},
    /// Look the position up in the opening book, and send a `book` event.
    Book {},
    /// Place the game's positions and the legal moves on the map: a `space` event, with the sample
    /// if `sample` is true.
    Space { sample: bool },
    /// Analyse every position of the game, each for this time, in `judged` events.
    Report { milliseconds: u64 },
}

/// The engine's time for a move, in milliseconds.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub enum PlayTime {
    /// For this move alone.
    Move { milliseconds: u64 },
    /// On the clocks of White and Black.
    Clock { left: [u64; 2], increment: u64 },
}

/// To the page.
#[derive(Serialize)]
pub struct Answer {
    /// The page's number for the request; `None` if the event answers no request, or none that can
    /// be read.
    pub id: Option<u32>,
    #[serde(flatten)]
    pub event: Event,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Event {
    /// The first event: facts about the engine.
    Welcome {
        version: &'static str,
        /// The range of `elo`.
        elo: [u32; 2],
        /// The usual and the largest number of threads of an analysis.
        threads: [usize; 2],
        /// The same for the size of its tables, in MB.
        hash: [usize; 2],
        /// The name of the second engine, if there is one.
        #[serde(skip_serializing_if = "Option::is_none")]
        second: Option<String>,
    },
    /// The task waits for a free seat, at this place in the queue, from 1.
    Queued { place: usize },
    /// The task has begun.
    Begun,
    /// The state of a search.
    Info(Info),
    /// The move that the engine plays.
    Move {
        uci: String,
        score: ScoreJson,
        /// Milliseconds that the page waits before it shows the move: with a clock, a limited
        /// strength takes the time of a person.
        pause: u64,
    },
    /// An explanation.
    Why {
        /// As `azimuth explain --json` writes it.
        explanation: Box<Document>,
        /// The expected score of each move after the search, as far as it is known; a bound where
        /// the move's value is one.
        expected: Vec<Option<f32>>,
        /// Whether moves were compared by separate searches: the last explanation.
        complete: bool,
    },
    /// The beam's tree after an iteration of `depth` plies.
    Tree { depth: u32, tree: Tree },
    /// The legal moves in the tablebases, in no particular order; none if the position is not in
    /// them.
    Tablebase { moves: Vec<TableMove> },
    /// The moves of the opening book, each with its share of the games, the most popular first.
    Book { moves: Vec<(String, f64)> },
    /// Places on the map.
    Space(Box<Space>),
    /// A position of a game, analysed.
    Judged(Box<Judged>),
    /// The task has ended.
    Ended { reason: Reason },
    /// The task, or the message, is refused or has failed, for the reason in this line.
    Error { message: String },
}

impl Event {
    /// The welcome of an engine whose searches get the resources of `allowance`, beside a second
    /// engine of this name.
    pub fn welcome(allowance: &Allowance, second: Option<String>) -> Self {
        let Allowance { usual, most } = allowance;
        let (least, strongest) = WEAKEST_TO_STRONGEST.into_inner();
        Self::Welcome {
            version: env!("CARGO_PKG_VERSION"),
            elo: [least, strongest],
            threads: [usual.threads, most.threads],
            hash: [usual.hash_mb, most.hash_mb],
            second,
        }
    }

    /// The last event of a task.
    pub fn end_of(task: Result<Reason>) -> Self {
        match task {
            Ok(reason) => Self::Ended { reason },
            Err(error) => Self::Error { message: format!("{error:#}") },
        }
    }

    /// The answer to a message that cannot be read.
    pub fn unreadable(error: &serde_json::Error) -> Self {
        Self::Error { message: format!("a message that cannot be read: {error}") }
    }
}

/// Why a task ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// It is complete.
    Done,
    /// The page asked for its end.
    Stopped,
    /// Another page waited for a seat.
    Turn,
    /// It took the longest time that a task may take.
    Limit,
}

/// The state of a search.
#[derive(Clone, Serialize)]
pub struct Info {
    /// Plies of the last finished iteration.
    pub depth: u32,
    /// The longest line, in plies.
    pub seldepth: u32,
    /// Positions searched, and those each second.
    pub nodes: u64,
    pub nps: u64,
    /// Time in milliseconds.
    pub time: u64,
    /// The lines, best first.
    pub lines: Vec<Line>,
}

/// A line of a search.
#[derive(Clone, Serialize)]
pub struct Line {
    pub score: ScoreJson,
    /// Chances of the side to move to win, draw and lose, in permille; the second engine has none.
    pub wdl: Option<[u32; 3]>,
    /// Its depth in plies.
    pub depth: u32,
    pub pv: Vec<String>,
}

/// The moves of a position, as the beam sees them.
#[derive(Serialize)]
pub struct Tree {
    /// The moves that the beam kept, best first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<Branch>,
    /// The best of the moves that the beam dropped, best first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dropped: Vec<Dropped>,
    /// Number of the other moves that the beam dropped.
    pub others: usize,
}

/// A move that the beam kept.
#[derive(Serialize)]
pub struct Branch {
    pub san: String,
    /// The latent score of the side that moves: the win probability of the cosine at first sight.
    pub first_sight: f32,
    /// The same, after the search that verifies the move.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verified: Option<f32>,
    /// The same, after the beam's search.
    pub searched: f32,
    #[serde(flatten)]
    pub replies: Tree,
}

/// A move that the beam dropped.
#[derive(Serialize)]
pub struct Dropped {
    pub san: String,
    /// The latent score of the side that moves, by which it was dropped.
    pub value: f32,
}

/// A legal move in the tablebases.
#[derive(Serialize)]
pub struct TableMove {
    pub uci: String,
    /// Plies from the position after the move, with its halfmove clock at 0, to the winning side's
    /// next capture or pawn move: positive if the move wins, negative if it loses. 0 for a draw and
    /// for a move that ends the game.
    pub dtz: i32,
}

/// Places on the map. `x` is the cosine with the axis for White; `y` the coordinate off the axis.
#[derive(Serialize)]
pub struct Space {
    /// The weights that draw the map.
    pub weights: MapWeights,
    /// The places of the game's positions.
    pub path: Vec<[f32; 2]>,
    /// The legal moves of the last position.
    pub candidates: Vec<Candidate>,
    /// The positions of the sample that are nearest to the last position.
    #[serde(flatten)]
    pub near: Neighbours,
    /// The sample, if asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sample: Option<Vec<Sampled>>,
}

/// A legal move on the map.
#[derive(Serialize)]
pub struct Candidate {
    pub uci: String,
    pub san: String,
    /// The place of the position after it.
    pub at: [f32; 2],
    /// The latent score of the side that moves, at first sight.
    pub p: f32,
}
