//! Walks from a starting position, which repeatedly play one of a few good moves. They visit
//! positions like those in which a search or a player must choose a move.

use anyhow::Result;
use azimuth::inference::{Evaluator, Worker};
use azimuth_chess::position::{Position, TYPICAL_MOVES, board_after, legal_moves};
use cozy_chess::{Board, Move};
use rand::RngExt;
use rand::seq::{IndexedRandom, SliceRandom};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::labeller::Labeller;
use super::options::{LabelOptions, WalkKind};
use super::scored_move::ScoredMove;
use crate::data::family::{Family, FamilyLabels, Game};
use crate::data::label::Label;

/// Megabytes of cached scores; a walk rarely repeats a position.
const CACHE: usize = 1;

/// Maximum loss in centipawns of a move in the engine's games, compared with its best move.
const ENGINE_MARGIN: i32 = 50;

/// Score in centipawns from which a game counts as decided.
const DECIDED: i32 = 1_000;

/// The fifty-move rule, in half-moves.
pub const FIFTY_MOVES: u8 = 100;

/// A source of labelled positions.
pub trait Walk: Send {
    /// Walks from one of `starts`, with `engine` labelling positions along the way.
    fn walk(
        &mut self,
        starts: &[String],
        options: &LabelOptions,
        engine: &mut Labeller,
        rng: &mut Xoshiro256PlusPlus,
    ) -> Result<Game>;
}

/// Walks that label some or all of the moves in each visited position.
pub struct MoveWalker {
    evaluator: Evaluator,
}

impl MoveWalker {
    /// A walker whose beam uses the encoder of `worker`.
    pub fn new(worker: &Worker) -> Result<Self> {
        Ok(Self { evaluator: Evaluator::new(worker, CACHE)? })
    }

    /// The next move, and the engine's scores of all moves; `None` if the game is over.
    fn step(
        &mut self,
        board: &Board,
        options: &LabelOptions,
        engine: &mut Labeller,
        rng: &mut Xoshiro256PlusPlus,
    ) -> Result<Option<(Move, Vec<ScoredMove>)>> {
        let kept = match options.walk {
            _ if !board.generate_moves(|_| true) => Vec::new(),
            WalkKind::Engine => {
                let scored = engine.score(board)?;
                let good = scored.iter().take_while(|other| is_close(board, &scored[0], other));
                let good: Vec<Move> = good.take(options.width).map(|scored| scored.mv).collect();
                return Ok(good.choose(rng).map(|&next| (next, scored)));
            }
            _ => self.kept(board, options.width)?,
        };
        let Some(&next) = kept.choose(rng) else { return Ok(None) };
        Ok(Some((next, engine.score(board)?)))
    }

    /// The moves that a beam keeps: those with the lowest values for the opponent.
    fn kept(&mut self, board: &Board, width: usize) -> Result<Vec<Move>> {
        let mut ranked = Vec::with_capacity(TYPICAL_MOVES);
        for mv in legal_moves(board) {
            let child = board_after(board, mv);
            // If there is no reply, the game is over and the position is not ranked.
            if child.generate_moves(|_| true) {
                ranked.push((mv, self.evaluator.look_up(&child)?));
            }
        }
        let values = self.evaluator.finish()?;
        ranked.sort_by(|a, b| a.1.value(&values).total_cmp(&b.1.value(&values)));
        Ok(ranked.into_iter().take(width).map(|(mv, _)| mv).collect())
    }
}

impl Walk for MoveWalker {
    fn walk(
        &mut self,
        starts: &[String],
        options: &LabelOptions,
        engine: &mut Labeller,
        rng: &mut Xoshiro256PlusPlus,
    ) -> Result<Game> {
        let start = &starts[rng.random_range(0..starts.len())];
        let mut board = Position::from_fen(start)?.board().clone();
        let mut families = Vec::new();
        for _ in 0..options.plies {
            let Some((next, scored)) = self.step(&board, options, engine, rng)? else { break };
            let decided =
                options.walk == WalkKind::Engine && scored.first().is_some_and(is_decided);
            let children = choose(&scored, next, options, rng);
            let children = children.into_iter().map(|scored| (scored.mv, scored.label)).collect();
            families
                .push(Family { board: board.clone(), labels: FamilyLabels::Children(children) });
            board.play_unchecked(next);
            if decided || board.halfmove_clock() >= FIFTY_MOVES {
                break;
            }
        }
        Ok(Game::new(families))
    }
}

/// Whether a move is within the margin of the best.
fn is_close(board: &Board, best: &ScoredMove, other: &ScoredMove) -> bool {
    let side = board.side_to_move();
    match (best.label.seen_by(side), other.label.seen_by(side)) {
        (Label::Centipawns(best), Label::Centipawns(other)) => best - other <= ENGINE_MARGIN,
        (best, other) => best == other,
    }
}

fn is_decided(best: &ScoredMove) -> bool {
    match best.label {
        Label::Centipawns(value) => value.abs() >= DECIDED,
        Label::Mate(_) => true,
    }
}

/// Selects the played move, then the best and some random others of `scored`, which is in the
/// engine's order.
fn choose(
    scored: &[ScoredMove],
    played: Move,
    options: &LabelOptions,
    rng: &mut Xoshiro256PlusPlus,
) -> Vec<ScoredMove> {
    let (mut chosen, mut best): (Vec<ScoredMove>, Vec<ScoredMove>) =
        scored.iter().partition(|scored| scored.mv == played);
    let mut others = best.split_off(options.best.min(best.len()));
    others.shuffle(rng);
    others.truncate(options.others);
    chosen.extend(best);
    chosen.extend(others);
    chosen
}
