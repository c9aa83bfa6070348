//! An analysed position as the page reads it.

use azimuth_chess::position::{castles_as_in_chess960, uci_move};
use serde::Serialize;

use super::analysis::{Judgement, Stop};
use crate::explain::{ScoreJson, line, score};

/// A position of a game, analysed. The page computes everything else from these.
#[derive(Serialize)]
pub struct Judged {
    /// Number of half-moves before the position.
    ply: usize,
    /// The score of the side to move.
    score: ScoreJson,
    /// Chances of the side to move to win, draw and lose, in permille; none if the game is over.
    wdl: Option<[u32; 3]>,
    /// The best line; empty if the game is over.
    pv: Vec<String>,
    /// The cosine of the position with the axis, for White.
    cosine: f32,
    /// Win probability that the move before the position lost.
    loss: Option<f32>,
    /// The classification of that move.
    judgement: Option<Judgement>,
    /// The rank of that move by static evaluation, and the number of legal moves.
    rank: Option<(usize, usize)>,
    /// The best moves of the position, if they were compared.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    compared: Vec<Compared>,
}

/// One of several moves of a position.
#[derive(Serialize)]
struct Compared {
    /// The move in UCI notation.
    uci: String,
    /// The win probability of the side that moves.
    p: f32,
}

impl Judged {
    /// The analysis of a position after `ply` half-moves.
    pub fn new(ply: usize, stop: &Stop) -> Self {
        let board = stop.position.board();
        let chess960 = castles_as_in_chess960(board);
        let arrival = stop.arrival.as_ref();
        let compared = stop.compared.iter().map(|&(mv, value)| Compared {
            uci: uci_move(board, mv, chess960),
            p: value.win_probability(),
        });
        Self {
            ply,
            score: score(stop.value),
            wdl: stop.wdl,
            pv: line(board, chess960, &stop.line),
            cosine: stop.cosine,
            loss: arrival.map(|arrival| arrival.loss),
            judgement: arrival.and_then(|arrival| arrival.judgement),
            rank: arrival.map(|arrival| arrival.rank),
            compared: compared.collect(),
        }
    }
}
