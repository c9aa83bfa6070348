//! Writes an explanation as JSON. `docs/explain.md` documents the format.

use std::io::{self, Write};

use anyhow::Result;
use azimuth_chess::position::{board_after, fen_of, uci_move};
use azimuth_chess::san::{san_of_line, san_of_move};
use azimuth_search::names::name_of;
use azimuth_search::{Bound, ExplainedMove, PlannerKind, SearchedMove, Value};
use cozy_chess::{Board, Move};
use serde::Serialize;

use super::chess_terms::{boards_along, side_name};
use super::reason::reason;
use super::sentences::expected_score;
use super::study::{StudiedMove, Study};

/// Version of the format. It increases when a field changes its meaning or is removed.
const FORMAT_VERSION: u32 = 1;

/// An explanation in the form of `docs/explain.md`.
#[derive(Serialize)]
pub struct Document {
    format_version: u32,
    engine: &'static str,
    planner: String,
    fen: String,
    side_to_move: String,
    position: Static,
    search: Search,
    reason: String,
    moves: Vec<RootMove>,
}

#[derive(Serialize)]
struct Static {
    cosine: f32,
    #[serde(flatten)]
    score: ScoreJson,
}

#[derive(Serialize)]
struct Search {
    depth: u32,
    seldepth: u32,
    nodes: u64,
    time_ms: u64,
    #[serde(flatten)]
    score: ScoreJson,
    expected_score: f32,
    /// Chances to win, draw and lose, in permille.
    wdl: [u32; 3],
    pv: Vec<String>,
    pv_san: Vec<String>,
}

/// A score for the side that moves: `cp` or `mate` as in UCI, and the latent score.
#[derive(Clone, Serialize)]
pub struct ScoreJson {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cp: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mate: Option<i32>,
    pub win_probability: f32,
}

#[derive(Serialize)]
struct RootMove {
    cosine: f32,
    rank_before: usize,
    rank_after: Option<usize>,
    own_search: Option<Found>,
    #[serde(flatten)]
    node: NodeJson,
}

#[derive(Serialize)]
struct NodeJson {
    uci: String,
    san: String,
    #[serde(rename = "static")]
    static_score: ScoreJson,
    verified: Option<Verified>,
    searched: Option<Found>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    replies: Vec<NodeJson>,
}

/// The line of the search that verified a move, and the quiet position at its end. The search went
/// `plies` plies beyond the move.
#[derive(Serialize)]
struct Verified {
    plies: u32,
    #[serde(flatten)]
    score: ScoreJson,
    line: Vec<String>,
    line_san: Vec<String>,
    fen: String,
    cosine: Option<f32>,
}

#[derive(Serialize)]
struct Found {
    depth: u32,
    bound: &'static str,
    #[serde(flatten)]
    score: ScoreJson,
    expected_score: f32,
}

/// Writes the study as one JSON object.
pub fn write(study: &Study, planner: PlannerKind, output: &mut impl Write) -> Result<()> {
    let document = document(study, planner);
    serde_json::to_writer_pretty(&mut *output, &document).map_err(io::Error::from)?;
    Ok(writeln!(output)?)
}

/// The study as an object to serialise.
pub fn document(study: &Study, planner: PlannerKind) -> Document {
    let (root, report) = (&study.root, &study.report);
    let chess960 = study.chess960();
    let wdl = study.wdl.permille(report.value, root.board());
    Document {
        format_version: FORMAT_VERSION,
        engine: concat!("Azimuth ", env!("CARGO_PKG_VERSION")),
        planner: name_of(&planner),
        fen: root.fen(chess960),
        side_to_move: side_name(root.board().side_to_move()).to_lowercase(),
        position: Static { cosine: study.cosine, score: score(study.static_value) },
        search: Search {
            depth: report.depth,
            seldepth: report.seldepth,
            nodes: report.nodes,
            time_ms: report.time.as_millis() as u64,
            score: score(report.value),
            expected_score: expected_score(wdl),
            wdl,
            pv: line(root.board(), chess960, &report.pv),
            pv_san: san_of_line(root.board(), &report.pv),
        },
        reason: reason(study),
        moves: study.moves.iter().map(|studied| root_move(study, studied)).collect(),
    }
}

fn root_move(study: &Study, studied: &StudiedMove) -> RootMove {
    let board = study.root.board();
    RootMove {
        cosine: studied.cosine,
        rank_before: studied.rank_before,
        rank_after: studied.rank_after,
        own_search: studied.own_search.map(|searched| found(study, board, searched)),
        node: node(study, board, &studied.explained),
    }
}

fn node(study: &Study, board: &Board, explained: &ExplainedMove) -> NodeJson {
    let chess960 = study.chess960();
    let ExplainedMove { mv, static_value, verified, searched, replies } = explained;
    let after = board_after(board, *mv);
    let verified = verified.as_ref().zip(study.quiet(board, explained));
    NodeJson {
        uci: uci_move(board, *mv, chess960),
        san: san_of_move(board, *mv),
        static_score: score(*static_value),
        verified: verified.map(|(verified, (end, cosine))| Verified {
            plies: verified.plies,
            score: score(verified.value),
            line: line(&after, chess960, &verified.line),
            line_san: san_of_line(&after, &verified.line),
            fen: fen_of(&end),
            cosine,
        }),
        searched: searched.map(|searched| found(study, board, searched)),
        replies: replies.iter().map(|reply| node(study, &after, reply)).collect(),
    }
}

fn found(study: &Study, board: &Board, searched: SearchedMove) -> Found {
    let bound = match searched.bound {
        Bound::Exact => "exact",
        Bound::Upper => "upper",
        Bound::Lower => "lower",
    };
    let SearchedMove { depth, value, .. } = searched;
    let expected_score = expected_score(study.wdl.permille(value, board));
    Found { depth, bound, score: score(value), expected_score }
}

/// The score of a value.
pub fn score(value: Value) -> ScoreJson {
    let mate = value.moves_to_mate();
    let win_probability = value.win_probability();
    let cp = mate.is_none().then(|| value.centipawns());
    ScoreJson { cp, mate, win_probability }
}

/// A line in UCI notation.
pub fn line(board: &Board, chess960: bool, moves: &[Move]) -> Vec<String> {
    let boards = boards_along(board, moves);
    moves.iter().zip(&boards).map(|(&mv, board)| uci_move(board, mv, chess960)).collect()
}
