//! Walks down the beam: from a start, again and again one of the moves that the encoder ranks
//! highest. The positions passed are those whose children the search has to rank.

use anyhow::Result;
use azimuth::inference::{Evaluator, Worker};
use azimuth::position::{Position, TYPICAL_MOVES, board_after, legal_moves};
use cozy_chess::{Board, Color, Move, util::display_san_move};
use rand::RngExt;
use rand::seq::{IndexedRandom, SliceRandom};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::labeller::{Labeller, ScoredMove};
use super::options::LabelOptions;
use crate::data::packed::Label;

/// Megabytes of scores remembered; a walk meets the same positions seldom.
const CACHE: usize = 1;

/// A walk as a game: the walk is its main line, the other labelled moves are variations.
pub struct LabelledWalk {
    /// PGN.
    pub text: String,
    /// Positions labelled in it.
    pub labels: u64,
}

/// Walks down the beam of one encoder.
pub struct Walker {
    evaluator: Evaluator,
    width: usize,
}

impl Walker {
    /// Walks along one of `width` moves.
    pub fn new(worker: &Worker, width: usize) -> Result<Self> {
        Ok(Self { evaluator: Evaluator::new(worker, CACHE)?, width })
    }

    /// Walks from one of `starts` and has `engine` label the moves on the way. The first position
    /// is up to `plies - 1` plies from the start.
    pub fn walk(
        &mut self,
        starts: &[String],
        options: &LabelOptions,
        engine: &mut Labeller,
        rng: &mut Xoshiro256PlusPlus,
    ) -> Result<LabelledWalk> {
        let start = &starts[rng.random_range(0..starts.len())];
        let position = Position::from_fen(start)?;
        let mut board = position.board().clone();
        let mut game = LabelledWalk { text: String::new(), labels: 0 };
        let fen = position.fen(false);
        game.text.push_str(&format!(
            "[Event \"?\"]\n[Annotator \"{}, depth {}\"]\n[Result \"*\"]\n[FEN \"{fen}\"]\n[SetUp \"1\"]\n\n",
            engine.name(),
            options.depth
        ));
        for _ in 0..options.plies {
            let kept = self.kept(&board)?;
            let Some(&next) = kept.choose(rng) else { break };
            let scored = engine.score(&board)?;
            let chosen = choose(&scored, next, options, rng);
            let Some(main) = scored.iter().find(|scored| scored.mv == next) else { break };
            game.text.push_str(&describe(&board, main));
            for scored in &chosen {
                game.text.push_str(&format!("( {}) ", describe(&board, scored)));
            }
            game.labels += 1 + chosen.len() as u64;
            board.play_unchecked(next);
        }
        game.text.push_str("*\n\n");
        Ok(game)
    }

    /// The moves that a beam keeps: those after which the opponent is worst off.
    fn kept(&mut self, board: &Board) -> Result<Vec<Move>> {
        let mut ranked = Vec::with_capacity(TYPICAL_MOVES);
        for mv in legal_moves(board) {
            let child = board_after(board, mv);
            // Without replies the game is over, and there is nothing to rank.
            if child.generate_moves(|_| true) {
                ranked.push((mv, self.evaluator.look_up(&child)?));
            }
        }
        let values = self.evaluator.finish()?;
        ranked.sort_by(|a, b| a.1.value(&values).total_cmp(&b.1.value(&values)));
        Ok(ranked.into_iter().take(self.width).map(|(mv, _)| mv).collect())
    }
}

/// The best and some others of `scored`, which are in the engine's order, without `played`.
fn choose(
    scored: &[ScoredMove],
    played: Move,
    options: &LabelOptions,
    rng: &mut Xoshiro256PlusPlus,
) -> Vec<ScoredMove> {
    let mut moves: Vec<ScoredMove> = scored.iter().filter(|s| s.mv != played).copied().collect();
    let mut others = moves.split_off(options.best.min(moves.len()));
    others.shuffle(rng);
    moves.extend(others.into_iter().take(options.others));
    moves
}

/// `12... Nf6 { [%eval 0.31] } `
fn describe(board: &Board, scored: &ScoredMove) -> String {
    let number = board.fullmove_number();
    let dots = if board.side_to_move() == Color::White { "." } else { "..." };
    let label = match scored.label {
        Label::Centipawns(value) => format!("{:.2}", f64::from(value) / 100.0),
        Label::Mate(true) => "#1".to_owned(),
        Label::Mate(false) => "#-1".to_owned(),
    };
    format!("{number}{dots} {} {{ [%eval {label}] }} ", display_san_move(board, scored.mv))
}
