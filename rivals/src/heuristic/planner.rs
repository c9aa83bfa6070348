//! The planner of the hand-written evaluation.

use anyhow::Result;
use azimuth::search::Planner;
use azimuth_chess::win_probability::win_probability_of_centipawns;
use cozy_chess::{Board, Move};

use super::evaluation::evaluate;
use crate::alpha_beta::{AlphaBeta, DEFAULT_DEPTH, Evaluates, Evaluation};
use crate::play::Play;

/// The planner that plays with the evaluation.
pub fn planner(play: &Play) -> Box<dyn Planner> {
    Box::new(AlphaBeta::new(Evaluation(Heuristic), |_| DEFAULT_DEPTH, play.remembered))
}

struct Heuristic;

impl Evaluates for Heuristic {
    fn evaluate_children(&mut self, _: &Board, children: &[(Move, Board)]) -> Result<Vec<f32>> {
        children.iter().map(|(_, board)| self.evaluate(board)).collect()
    }

    fn evaluate(&mut self, board: &Board) -> Result<f32> {
        let p = win_probability_of_centipawns(evaluate(board).into());
        Ok((2.0 * p - 1.0) as f32)
    }
}
