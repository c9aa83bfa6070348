//! A UCI engine that scores every legal move of a position in one MultiPV search.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use azimuth::position::{legal_moves, uci_move};
use azimuth_client::{Engine, PATIENCE, Score, number_after, score};
use cozy_chess::{Board, Color, Move};

use crate::data::label::Label;

/// No position has more legal moves.
const ALL_MOVES: &str = "218";

/// A small table is soon cleared, and a shallow search does not fill it.
const HASH: &str = "1";

/// A move with the engine's score of it, from White's view.
#[derive(Clone, Copy, Debug)]
pub struct ScoredMove {
    /// The move.
    pub mv: Move,
    /// Label of the position after it.
    pub label: Label,
}

/// The engine at work.
pub struct Labeller {
    engine: Engine,
    depth: u32,
}

impl Labeller {
    /// Starts the engine; it will search to `depth` plies.
    pub fn start(command: &Path, depth: u32) -> Result<Self> {
        let options = [("MultiPV", ALL_MOVES), ("Threads", "1"), ("Hash", HASH)];
        Ok(Self { engine: Engine::start(command, options)?, depth })
    }

    /// The engine's name.
    pub fn name(&self) -> &str {
        self.engine.name()
    }

    /// Forgets what was searched before, so that labels depend on nothing else.
    pub fn new_game(&mut self) -> Result<()> {
        self.engine.new_game()
    }

    /// Scores all moves, the best for the side to move first.
    pub fn score(&mut self, board: &Board) -> Result<Vec<ScoredMove>> {
        self.engine.send(&format!("position fen {board}"))?;
        self.engine.send(&format!("go depth {}", self.depth))?;
        // The last word on each line of the MultiPV.
        let mut lines: BTreeMap<u32, (String, Score)> = BTreeMap::new();
        loop {
            let line = self.engine.read(PATIENCE)?.text;
            let words: Vec<&str> = line.split_whitespace().collect();
            match words.as_slice() {
                ["bestmove", ..] => break,
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
        let white = board.side_to_move() == Color::White;
        lines
            .into_values()
            .map(|(mv, score)| {
                let known = legal.get(&mv).copied();
                let mv = known.with_context(|| {
                    format!("{}: '{mv}' is not legal in '{board}'", self.engine)
                })?;
                let label = match score {
                    Score::Centipawns(value) => {
                        Label::Centipawns(if white { value } else { -value })
                    }
                    Score::Mate(moves) => Label::Mate((moves > 0) == white),
                };
                Ok(ScoredMove { mv, label })
            })
            .collect()
    }
}
