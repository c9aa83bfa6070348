//! Labels from quiescence search with a Stockfish network. Where a capture wins material, the label
//! comes from the quiet positions that follow.

use anyhow::Result;
use azimuth::inference::Worker;
use azimuth::search::{Planner, Resources, Selective, SelectiveSettings, Value};
use azimuth_chess::position::{Position, board_after};
use azimuth_nnue::StockfishNetwork;
use cozy_chess::{Board, Color, Move};

use super::network::{best_first, result};
use super::scored_move::ScoredMove;
use crate::data::label::Label;

/// A walk's searches share the tables, which are cleared before each walk.
const RESOURCES: Resources = Resources { hash_mb: 2, threads: 1 };

/// The quiescence search of the selective search with a Stockfish network as its evaluation.
pub struct NetworkQuiescence {
    planner: Selective,
    name: String,
}

impl NetworkQuiescence {
    /// Searches with `network`.
    pub fn new(network: &StockfishNetwork) -> Result<Self> {
        let evaluator = network.clone();
        let notice = Box::new(|text: &str| eprintln!("{text}"));
        let worker = Worker::with_evaluator(move || evaluator.clone(), notice);
        let planner = Selective::new(&worker, SelectiveSettings::default(), RESOURCES)?;
        Ok(Self { planner, name: network.name().to_owned() })
    }

    /// Name of the network.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Clears the tables of the search.
    pub fn new_game(&mut self) {
        self.planner.new_game();
    }

    /// Scores a position that has a legal move, from White's point of view.
    pub fn value(&mut self, board: &Board) -> Result<Label> {
        let value = self.planner.quiescence(&Position::from(board.clone()))?;
        Ok(label(value, board.side_to_move()))
    }

    /// Scores each of `moves`, and sorts them with the best for the side to
    /// move first.
    pub fn score(&mut self, board: &Board, moves: &[Move]) -> Result<Vec<ScoredMove>> {
        let scored = moves.iter().map(|&mv| {
            let after = board_after(board, mv);
            let label = result(&after).map_or_else(|| self.value(&after), Ok)?;
            Ok(ScoredMove { mv, label })
        });
        Ok(best_first(scored.collect::<Result<_>>()?, board.side_to_move()))
    }
}

/// A value for `side`, as a label.
fn label(value: Value, side: Color) -> Label {
    let label = match value.moves_to_mate() {
        Some(moves) => Label::Mate(moves > 0),
        None => Label::Centipawns(value.centipawns()),
    };
    label.seen_by(side)
}
