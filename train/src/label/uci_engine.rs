//! A UCI engine as a labeller: it scores a position, or every legal move in one MultiPV search.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use azimuth_chess::position::{legal_moves, uci_move};
use azimuth_client::{Engine, PATIENCE, UciScore, number_after, score};
use cozy_chess::{Board, Move};

use crate::data::packed::Label;

#[derive(Clone, Copy, Debug)]
pub struct ScoredMove {
    pub mv: Move,
    /// The label of the position after the move, from White's point of view.
    pub label: Label,
}

/// MultiPV value for all moves: no position has more legal moves.
const ALL_MOVES: &str = "218";

/// Hash size in MB of shallow searches, which do not fill it: a small table is cleared quickly.
const SMALL_HASH: &str = "1";

/// Hash size in MB of searches from [`DEEP`] plies on.
const LARGE_HASH: &str = "16";

/// The least depth of searches that fill the small table.
const DEEP: u32 = 8;

pub struct UciLabeller {
    pub engine: Engine,
    depth: u32,
}

impl UciLabeller {
    /// Starts the engine, with searches of `depth` plies. [`Self::score`] needs `all_moves`.
    pub fn start(command: &Path, depth: u32, all_moves: bool) -> Result<Self> {
        let lines = if all_moves { ALL_MOVES } else { "1" };
        let hash = if depth < DEEP { SMALL_HASH } else { LARGE_HASH };
        let options = [("MultiPV", lines), ("Threads", "1"), ("Hash", hash)];
        Ok(Self { engine: Engine::start(command, &[], options)?, depth })
    }

    /// Scores a position that has a legal move, from White's point of view.
    pub fn value(&mut self, board: &Board) -> Result<Label> {
        let lines = self.search(board)?;
        let (_, score) = lines
            .into_values()
            .next()
            .with_context(|| format!("{}: no score for '{board}'", self.engine))?;
        Ok(label_of_score(score, board))
    }

    /// Scores all moves, the best for the side to move first.
    pub fn score(&mut self, board: &Board) -> Result<Vec<ScoredMove>> {
        let lines = self.search(board)?;
        let moves = legal_moves(board).into_iter();
        let legal: BTreeMap<String, Move> =
            moves.map(|mv| (uci_move(board, mv, false), mv)).collect();
        ensure!(
            lines.len() == legal.len(),
            "{}: {} of {} moves scored in '{board}'",
            self.engine,
            lines.len(),
            legal.len()
        );
        lines
            .into_values()
            .map(|(mv, score)| {
                let known = legal.get(&mv).copied();
                let mv = known.with_context(|| {
                    format!("{}: '{mv}' is not legal in '{board}'", self.engine)
                })?;
                Ok(ScoredMove { mv, label: label_of_score(score, board) })
            })
            .collect()
    }

    /// The final first move and score of each MultiPV line, from the side to move's point of view.
    fn search(&mut self, board: &Board) -> Result<BTreeMap<u32, (String, UciScore)>> {
        self.engine.send(&format!("position fen {board}"))?;
        self.engine.send(&format!("go depth {}", self.depth))?;
        let mut lines = BTreeMap::new();
        loop {
            let line = self.engine.read(PATIENCE)?.text;
            let words: Vec<&str> = line.split_whitespace().collect();
            match words.as_slice() {
                ["bestmove", ..] => return Ok(lines),
                ["info", facts @ ..] => {
                    let rank = number_after(facts, "multipv");
                    let mv = facts.iter().skip_while(|&&word| word != "pv").nth(1);
                    if let (Some(rank), Some(mv), Some(score)) = (rank, mv, score(facts)) {
                        lines.insert(rank, ((*mv).to_owned(), score));
                    }
                }
                _ => {}
            }
        }
    }
}

/// Converts a score of the side to move to a label from White's point of view.
fn label_of_score(score: UciScore, board: &Board) -> Label {
    let label = match score {
        UciScore::Centipawns(value) => Label::Centipawns(value),
        UciScore::Mate(moves) => Label::Mate(moves > 0),
    };
    label.seen_by(board.side_to_move())
}
