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
use super::lead;
use super::options::{LabelOptions, WalkKind};
use super::scored_move::ScoredMove;
use crate::data::family::{Family, FamilyLabels, Game};
use crate::data::label::Label;

/// Megabytes of cached scores; a walk rarely repeats a position.
pub const CACHE: usize = 1;

/// Number of moves to score for each of the `--best` moves if the labeller scores moves one at a
/// time. The walk's encoder selects the moves; the labeller's best moves are usually among them.
const CANDIDATES: usize = 4;

/// Maximum loss in centipawns of a move in the engine's games, compared with its best move.
const ENGINE_MARGIN: i32 = 50;

/// Score in centipawns from which a game counts as decided.
const DECIDED: i32 = 1_000;

/// The fifty-move rule, in half-moves.
pub const FIFTY_MOVES: u8 = 100;

/// A source of labelled positions.
pub trait Walk: Send {
    /// Walks from a random one of `starts`, and labels positions along the way with `engine`.
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

    /// The next move of the walk and the labelled moves; `None` if the game is over.
    fn step(
        &mut self,
        board: &Board,
        options: &LabelOptions,
        engine: &mut Labeller,
        rng: &mut Xoshiro256PlusPlus,
    ) -> Result<Option<Step>> {
        if !board.generate_moves(|_| true) {
            return Ok(None);
        }
        if options.walk == WalkKind::Engine {
            let scored = engine.score(board, &legal_moves(board))?;
            let good = scored.iter().take_while(|other| is_close(board, &scored[0], other));
            let good: Vec<Move> = good.take(options.width).map(|scored| scored.mv).collect();
            let Some(&next) = good.choose(rng) else { return Ok(None) };
            let decided = is_decided(&scored[0]);
            let labelled = choose(&scored, |scored| scored.mv == next, options, rng);
            return Ok(Some(Step { next, labelled, decided }));
        }
        let Ranking { last, others } = self.ranking(board)?;
        let Some(&next) = others[..options.width.min(others.len())].choose(rng) else {
            return Ok(None);
        };
        let candidates = match engine.scores_moves_together() {
            true => others.len(),
            false => CANDIDATES.saturating_mul(options.best).min(others.len()),
        };
        let (candidates, rest) = others.split_at(candidates);
        let mut labelled = engine.score(board, &[&last, candidates].concat())?;
        let best_first: Vec<Move> = labelled.iter().map(|scored| scored.mv).collect();
        let mut kept = choose(&[&best_first, rest].concat(), |&mv| mv == next, options, rng);
        labelled.retain(|scored| kept.contains(&scored.mv));
        kept.retain(|mv| !best_first.contains(mv));
        labelled.extend(engine.score(board, &kept)?);
        Ok(Some(Step { next, labelled, decided: false }))
    }

    /// Ranks the moves as a beam does, by their values for the opponent.
    fn ranking(&mut self, board: &Board) -> Result<Ranking> {
        let mut last = Vec::new();
        let mut ranked = Vec::with_capacity(TYPICAL_MOVES);
        for mv in legal_moves(board) {
            let child = board_after(board, mv);
            if child.generate_moves(|_| true) {
                ranked.push((mv, self.evaluator.look_up(&child)?));
            } else {
                last.push(mv);
            }
        }
        let values = self.evaluator.finish()?;
        ranked.sort_by(|a, b| a.1.value(&values).total_cmp(&b.1.value(&values)));
        Ok(Ranking { last, others: ranked.into_iter().map(|(mv, _)| mv).collect() })
    }
}

/// A step of a walk.
struct Step {
    next: Move,
    labelled: Vec<ScoredMove>,
    /// Whether the walk ends after this move, because the game is decided (`--walk engine`).
    decided: bool,
}

/// The moves of a position.
struct Ranking {
    /// Moves that end the game, by mate or stalemate. A beam does not score the positions after
    /// these.
    last: Vec<Move>,
    /// The other moves, the best first.
    others: Vec<Move>,
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
        let mut position = Position::from_fen(start)?;
        lead::play(&mut self.evaluator, &mut position, options.lead, rng)?;
        let mut board = position.board().clone();
        let mut families = Vec::new();
        for _ in 0..options.plies {
            let Some(step) = self.step(&board, options, engine, rng)? else { break };
            let children = step.labelled.into_iter().map(|scored| (scored.mv, scored.label));
            let labels = FamilyLabels::Children(children.collect());
            families.push(Family { board: board.clone(), labels });
            board.play_unchecked(step.next);
            if step.decided || board.halfmove_clock() >= FIFTY_MOVES {
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

/// Selects the played move, then the first `options.best` of the other moves, then `options.others`
/// random ones of the rest.
fn choose<T: Copy>(
    best_first: &[T],
    is_played: impl Fn(&T) -> bool,
    options: &LabelOptions,
    rng: &mut Xoshiro256PlusPlus,
) -> Vec<T> {
    let (mut chosen, mut best): (Vec<T>, Vec<T>) =
        best_first.iter().partition(|scored| is_played(scored));
    let mut others = best.split_off(options.best.min(best.len()));
    others.shuffle(rng);
    others.truncate(options.others);
    chosen.extend(best);
    chosen.extend(others);
    chosen
}
