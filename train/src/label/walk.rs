//! Walks from a starting position: along the moves that a beam or an engine finds good, with labels
//! for the moves of each position, or along the moves of the selective search, with labels for the
//! leaves of its trees or for these moves. A lead of random moves may come first.
//!
//! Walks without moves: random positions with few pieces. In half of them one side is likely to have
//! most of the pieces. Games between equal players rarely reach such endings, but searches do after
//! exchanges.

use std::collections::HashSet;
use std::ops::RangeInclusive;
use std::sync::Arc;

use anyhow::{Context, Result};
use azimuth_chess::position::{Position, TYPICAL_MOVES, board_after, legal_moves};
use azimuth_search::inference::{Evaluator, Worker};
use azimuth_search::{
    Control, Limits, Planner, Resources, Selective, SelectiveSettings, Tablebases,
};
use cozy_chess::Piece::{self, Bishop, King, Knight, Pawn, Queen, Rook};
use cozy_chess::{Board, BoardBuilder, Color, Move, Square};
use rand::RngExt;
use rand::seq::{IndexedRandom, SliceRandom};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::labeller::{Labeller, ScoredMove};
use super::options::{LabelOptions, WalkKind};
use crate::data::family::{Family, FamilyLabels, Game};
use crate::data::packed::Label;

/// Megabytes of cached scores; a walk rarely repeats a position.
const CACHE: usize = 1;

/// The fifty-move rule, in half-moves.
const FIFTY_MOVES: u8 = 100;

pub trait Walk: Send {
    /// Walks from a random one of the starts, and labels positions along the way.
    fn walk(&mut self, task: &mut Task<'_>) -> Result<Game>;
}

/// The inputs of a walk.
pub struct Task<'a> {
    pub starts: &'a [String],
    pub options: &'a LabelOptions,
    pub engine: &'a mut Labeller,
    pub rng: Xoshiro256PlusPlus,
}

/// Number of moves to score for each of the `--best` moves if the labeller scores moves one at a
/// time. The walk's encoder selects the moves; the labeller's best moves are usually among them.
const CANDIDATES: usize = 4;

/// Walks that label some or all of the moves in each visited position.
pub struct MoveWalker {
    evaluator: Evaluator,
}

impl MoveWalker {
    pub fn new(worker: &Worker) -> Result<Self> {
        Ok(Self { evaluator: Evaluator::new(worker, CACHE)? })
    }

    /// The next move of the walk and the labelled moves; `None` if the game is over.
    fn step(&mut self, board: &Board, task: &mut Task<'_>) -> Result<Option<Step>> {
        let Task { options, engine, rng, .. } = task;
        if !board.generate_moves(|_| true) {
            return Ok(None);
        }
        if options.walk == WalkKind::Engine {
            let scored = engine.score(board, &legal_moves(board))?;
            let good = scored.iter().take_while(|other| is_close(board, &scored[0], other));
            let good: Vec<Move> = good.take(options.width).map(|scored| scored.mv).collect();
            let Some(&next) = good.choose(rng) else { return Ok(None) };
            let best = scored[0].label;
            let decided = !matches!(best, Label::Centipawns(value) if value.abs() < DECIDED);
            let labelled = choose(&scored, |scored| scored.mv == next, options, rng);
            return Ok(Some(Step { next, labelled, decided }));
        }
        let (last, others) = self.ranking(board)?;
        let Some(&next) = others[..options.width.min(others.len())].choose(rng) else {
            return Ok(None);
        };
        let candidates = match engine {
            // Scoring all moves of a position costs no more than scoring one move.
            Labeller::Engine { .. } => others.len(),
            _ => CANDIDATES.saturating_mul(options.best).min(others.len()),
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

    /// The moves that end the game, by mate or stalemate, which a beam does not score; and the
    /// other moves in the order of a beam, by their values for the opponent, the best first.
    fn ranking(&mut self, board: &Board) -> Result<(Vec<Move>, Vec<Move>)> {
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
        Ok((last, ranked.into_iter().map(|(mv, _)| mv).collect()))
    }
}

struct Step {
    next: Move,
    labelled: Vec<ScoredMove>,
    /// Whether the walk ends after this move, because the game is decided (`--walk engine`).
    decided: bool,
}

impl Walk for MoveWalker {
    fn walk(&mut self, task: &mut Task<'_>) -> Result<Game> {
        let Task { starts, options, rng, .. } = task;
        let start = begin(&mut self.evaluator, starts, options.lead, rng)?;
        let mut board = start.board().clone();
        let mut families = Vec::new();
        for _ in 0..task.options.plies {
            let Some(step) = self.step(&board, task)? else { break };
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

/// Maximum loss in centipawns of a move in the engine's games, compared with its best move.
const ENGINE_MARGIN: i32 = 50;

fn is_close(board: &Board, best: &ScoredMove, other: &ScoredMove) -> bool {
    let side = board.side_to_move();
    match (best.label.seen_by(side), other.label.seen_by(side)) {
        (Label::Centipawns(best), Label::Centipawns(other)) => best - other <= ENGINE_MARGIN,
        (best, other) => best == other,
    }
}

/// Score in centipawns from which a game counts as decided.
const DECIDED: i32 = 1_000;

/// Selects the played move, the first `options.best` others, and `options.others` random ones.
fn choose<T: Copy>(
    best_first: &[T],
    is_played: impl Fn(&T) -> bool,
    options: &LabelOptions,
    rng: &mut Xoshiro256PlusPlus,
) -> Vec<T> {
    let (played, mut best): (Vec<T>, Vec<T>) = best_first.iter().partition(|mv| is_played(mv));
    let mut others = best.split_off(options.best.min(best.len()));
    others.shuffle(rng);
    others.truncate(options.others);
    [played, best, others].concat()
}

/// Tables for a few thousand nodes, which are cleared before every walk.
const RESOURCES: Resources = Resources { hash_mb: 1, threads: 1 };

/// Walks that play the selective search's moves, with labels for leaves of its trees or for its
/// moves.
pub struct SearchWalker {
    planner: Selective,
    /// Ranks random moves.
    evaluator: Evaluator,
}

/// One of this number of moves, on average, is the best of six random ones, so that walks also visit
/// positions after worse moves.
const RANDOM_ONE_OF: u32 = 8;

impl SearchWalker {
    pub fn new(worker: &Worker) -> Result<Self> {
        let planner = Selective::new(worker, SelectiveSettings::default(), RESOURCES)?;
        Ok(Self { planner, evaluator: Evaluator::new(worker, CACHE)? })
    }

    /// The best line, and its first move.
    fn search(&mut self, position: &Position, nodes: u64) -> Result<(Vec<Move>, Move)> {
        let limits = Limits { nodes: Some(nodes), ..Limits::default() };
        let mut control = Control::without_signals(limits);
        let line = self.planner.search(position, &mut control, &mut |_| ())?.pv;
        let first = *line.first().context("the search found no move")?;
        Ok((line, first))
    }

    /// Labels the sampled leaves and the end of each principal variation.
    fn label_leaves(&mut self, mut position: Position, task: &mut Task<'_>) -> Result<Vec<Family>> {
        self.planner.sample_leaves(task.options.leaf_every);
        let (mut families, mut seen) = (Vec::new(), HashSet::new());
        for _ in 0..task.options.plies {
            if !position.has_legal_move() {
                break;
            }
            let (line, best) = self.search(&position, task.options.nodes)?;
            let mut leaves = self.planner.take_leaves();
            leaves.push(position.after_line(&line).board().clone());
            position.play(best);
            for leaf in leaves {
                if leaf.generate_moves(|_| true) && seen.insert(leaf.hash()) {
                    let label = task.engine.value(&leaf)?;
                    families.push(Family::own(leaf, label));
                }
            }
        }
        Ok(families)
    }

    /// Labels the move of each search, and sometimes plays a random one instead.
    fn label_moves(&mut self, mut position: Position, task: &mut Task<'_>) -> Result<Vec<Family>> {
        let mut families = Vec::new();
        for _ in 0..task.options.plies {
            let board = position.board().clone();
            if !position.has_legal_move() || board.halfmove_clock() >= FIFTY_MOVES {
                break;
            }
            let (_, best) = self.search(&position, task.options.nodes)?;
            let label = task.engine.value_after(&board, best)?;
            families.push(Family { board, labels: FamilyLabels::Children(vec![(best, label)]) });
            let other = match task.rng.random_ratio(1, RANDOM_ONE_OF) {
                true => best_of_drawn(&mut self.evaluator, &position, &mut task.rng)?,
                false => None,
            };
            position.play(other.unwrap_or(best));
        }
        Ok(families)
    }
}

impl Walk for SearchWalker {
    fn walk(&mut self, task: &mut Task<'_>) -> Result<Game> {
        // A walk must not depend on earlier walks.
        self.planner.new_game();
        let start = begin(&mut self.evaluator, task.starts, task.options.lead, &mut task.rng)?;
        let families = match task.options.walk {
            WalkKind::Leaves => self.label_leaves(start, task)?,
            _ => self.label_moves(start, task)?,
        };
        Ok(Game::new(families))
    }
}

/// Number of random moves of which a lead plays the best. Scoring all moves would take several
/// times as long, and single random moves would soon be blunders.
const DRAWN: usize = 6;

/// One of `starts` after a lead of 0 to `most` moves; all numbers have the same probability. The
/// lead stops earlier if the fifty-move rule applies or all of the moves drawn end the game.
fn begin(
    evaluator: &mut Evaluator,
    starts: &[String],
    most: u32,
    rng: &mut Xoshiro256PlusPlus,
) -> Result<Position> {
    let mut position = Position::from_fen(&starts[rng.random_range(0..starts.len())])?;
    // Draws no random number without a lead, so that walks stay equal to those of versions without
    // leads.
    let length = if most > 0 { rng.random_range(0..=most) } else { 0 };
    for _ in 0..length {
        if position.board().halfmove_clock() >= FIFTY_MOVES {
            break;
        }
        let Some(mv) = best_of_drawn(evaluator, &position, rng)? else { break };
        position.play(mv);
    }
    Ok(position)
}

/// The best of [`DRAWN`] random moves; `None` if all of these end the game.
fn best_of_drawn(
    evaluator: &mut Evaluator,
    position: &Position,
    rng: &mut Xoshiro256PlusPlus,
) -> Result<Option<Move>> {
    let mut moves = legal_moves(position.board());
    moves.shuffle(rng);
    let mut best: Option<(f32, Move)> = None;
    for mv in moves.into_iter().take(DRAWN) {
        let child = board_after(position.board(), mv);
        if child.generate_moves(|_| true) {
            let value = evaluator.value(&child)?;
            if best.is_none_or(|(lowest, _)| value < lowest) {
                best = Some((value, mv));
            }
        }
    }
    Ok(best.map(|(_, mv)| mv))
}

/// Number of pieces on the board, including kings.
const PIECES: RangeInclusive<usize> = 3..=8;

/// Pieces besides the kings, in proportion to their frequency.
const KINDS: [Piece; 8] = [Pawn, Pawn, Pawn, Knight, Bishop, Rook, Rook, Queen];

/// Probabilities that a piece other than a king is White's. Each position draws one of them.
const SHARES: [f64; 4] = [0.1, 0.5, 0.5, 0.9];

/// Centipawns of a tablebase win, less the second value for every ply to the next capture or pawn
/// move, so that shorter wins score higher.
const WON: i32 = 2_500;
const WON_PER_PLY: i32 = 10;

/// Walks without moves, whose positions are endings.
pub struct EndingSampler {
    /// Label the positions that they contain; the engine labels the others.
    pub tablebases: Option<Arc<Tablebases>>,
}

impl EndingSampler {
    fn label(&self, board: &Board, engine: &mut Labeller) -> Result<Label> {
        match self.tablebases.as_ref().and_then(|tables| tables.distance_to_zeroing(board)) {
            Some(plies) => Ok(label_of_distance(plies).seen_by(board.side_to_move())),
            None => engine.value(board),
        }
    }
}

impl Walk for EndingSampler {
    fn walk(&mut self, Task { options, engine, rng, .. }: &mut Task<'_>) -> Result<Game> {
        let families = (0..options.plies).map(|_| {
            let board = ending(rng);
            let label = self.label(&board, engine)?;
            Ok(Family::own(board, label))
        });
        Ok(Game::new(families.collect::<Result<_>>()?))
    }
}

/// The label of a distance to zeroing, from the side to move's point of view.
fn label_of_distance(plies: i32) -> Label {
    let in_time = 1..=i32::from(FIFTY_MOVES);
    Label::Centipawns(match plies.abs() {
        distance if in_time.contains(&distance) => plies.signum() * (WON - WON_PER_PLY * distance),
        // A draw, or a win that the fifty-move rule prevents.
        _ => 0,
    })
}

/// A random legal position in which the game is not over.
fn ending(rng: &mut Xoshiro256PlusPlus) -> Board {
    loop {
        // The builder accepts adjacent kings, and `Position` rejects them.
        if let Ok(board) = draw(rng).build()
            && let Ok(position) = Position::from_fen(&board.to_string())
            && position.has_legal_move()
        {
            return board;
        }
    }
}

fn draw(rng: &mut Xoshiro256PlusPlus) -> BoardBuilder {
    let mut builder = BoardBuilder::empty();
    let share = *SHARES.choose(rng).unwrap_or(&0.5);
    let kings = [(King, Color::White), (King, Color::Black)];
    let others = (kings.len()..rng.random_range(PIECES)).map(|_| {
        let color = if rng.random_bool(share) { Color::White } else { Color::Black };
        (*KINDS.choose(rng).unwrap_or(&Pawn), color)
    });
    let pieces: Vec<_> = kings.into_iter().chain(others).collect();
    for piece in pieces {
        // A pawn on the first or last rank makes the board illegal: `ending` draws again.
        let square = Square::index(rng.random_range(0..64));
        *builder.square_mut(square) = Some(piece);
    }
    builder.side_to_move = if rng.random() { Color::White } else { Color::Black };
    builder
}

#[cfg(test)]
mod tests {
    use azimuth_search::DefaultWeights;
    use rand::SeedableRng;

    use super::*;

    fn ends(fen: &str, most: u32) -> Result<Vec<Position>> {
        let worker = Worker::on_cpu(DefaultWeights::Beam.weights()?, |_| ())?;
        let mut evaluator = Evaluator::new(&worker, 1)?;
        let starts = [fen.to_owned()];
        let rngs = (0..40).map(Xoshiro256PlusPlus::seed_from_u64);
        rngs.map(|mut rng| begin(&mut evaluator, &starts, most, &mut rng)).collect()
    }

    #[test]
    fn leads_from_one_start_differ() -> Result<()> {
        let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
        let hashes = |most| -> Result<HashSet<u64>> {
            Ok(ends(start, most)?.iter().map(|position| position.board().hash()).collect())
        };
        assert_eq!(hashes(0)?.len(), 1);
        assert!(hashes(16)?.len() > 30);
        Ok(())
    }

    #[test]
    fn a_lead_ends_before_the_game() -> Result<()> {
        // Many moves give mate, and some give stalemate.
        let ends = ends("7k/8/6K1/5Q2/8/8/8/8 w - - 0 1", 40)?;
        assert!(ends.iter().all(Position::has_legal_move));
        Ok(())
    }

    #[test]
    fn a_lead_of_any_length_ends() -> Result<()> {
        let ends = ends("8/8/4k3/8/8/4K3/8/8 w - - 0 1", u32::MAX)?;
        assert!(ends.iter().all(|end| end.board().halfmove_clock() == FIFTY_MOVES));
        Ok(())
    }

    #[test]
    fn endings_are_of_all_kinds() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let boards: Vec<Board> = (0..2_000).map(|_| ending(&mut rng)).collect();
        let pieces =
            |count: u32| boards.iter().filter(|board| board.occupied().len() == count).count();
        assert!((3..=8).all(|count| pieces(count) > 100) && pieces(2) + pieces(9) < 500);
        let is_bare = |board: &&Board| Color::ALL.iter().any(|&c| board.colors(c).len() == 1);
        assert!((300..1_500).contains(&boards.iter().filter(is_bare).count()));
    }

    #[test]
    fn wins_are_certain_and_nearer_ones_better() {
        let p = |plies| label_of_distance(plies).win_probability();
        assert!(p(100) > 0.99 && p(1) > p(20) && p(20) > p(100) && p(-100) < 0.01);
        assert_eq!([p(0), p(101), p(-120)], [0.5; 3]);
    }
}
