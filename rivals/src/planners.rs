//! The planners that several rivals share: alpha-beta over an evaluation, and the moves in the order
//! in which a network ranks them.

use anyhow::{Context, Result};
use azimuth_chess::position::Position;
use azimuth_cli::say;
use azimuth_search::inference::{EvaluateOne, Worker};
use azimuth_search::{
    Control, Part, Parts, Planner, Report, Resources, RootMoves, Selective, SelectiveSettings,
    Value, terminal_value,
};
use cozy_chess::{Board, Move};

/// Default search depth in plies (seed document 003, section 1).
pub const DEFAULT_DEPTH: u32 = 3;

/// Memory in megabytes without remembered positions: one for the values of the positions evaluated
/// last, one for the smallest transposition table.
const LEAST_MEMORY: usize = 2;

/// Bytes for each remembered position: 16 in the transposition table, which has three quarters of
/// the memory.
const BYTES_A_POSITION: usize = 22;

/// Alpha-beta over an evaluation (seed documents 003, section 2, and 004, section 2.3.4): the
/// engine's selective search without any of its techniques, or with its transposition table alone.
pub struct AlphaBeta {
    search: Selective,
    /// The default depth in plies for a board.
    depth: fn(&Board) -> u32,
}

impl AlphaBeta {
    /// A planner that searches `depth` plies by default, and remembers the results of about
    /// `remembered` positions. Fails if there is no memory for them.
    pub fn new<E: EvaluateOne + Clone + 'static>(
        evaluation: E,
        depth: fn(&Board) -> u32,
        remembered: usize,
    ) -> Result<Self> {
        let parts = if remembered == 0 { &[][..] } else { &[Part::TranspositionTable] };
        let settings = SelectiveSettings { parts: Parts::only(parts), ..Default::default() };
        let hash_mb = LEAST_MEMORY + ((remembered * BYTES_A_POSITION) >> 20);
        let worker = Worker::with_evaluator(move || evaluation.clone(), |notice| say(notice));
        let search = Selective::new(&worker, settings, Resources { hash_mb, threads: 1 })?;
        Ok(Self { search, depth })
    }
}

impl Planner for AlphaBeta {
    fn search(
        &mut self,
        root: &Position,
        control: &mut Control,
        report: &mut dyn FnMut(&Report),
    ) -> Result<Report> {
        self.search.set_default_depth((self.depth)(root.board()));
        self.search.search(root, control, report)
    }

    fn evaluate(&mut self, position: &Position) -> Result<Value> {
        self.search.evaluate(position)
    }

    fn new_game(&mut self) {
        self.search.new_game();
    }
}

/// A rival that ranks the moves of a position without search.
pub trait RanksMoves: Send {
    /// Ranks `moves` of `root`, at least one: the best first, each with its value for the side that
    /// moves. Also returns the number of network evaluations.
    fn rank(&mut self, root: &Position, moves: &[Move]) -> Result<(Vec<(Move, Value)>, u64)>;

    /// The value for the side to move of a position in which the game is not over. A rival that
    /// only predicts moves returns a draw.
    fn value(&mut self, _position: &Position) -> Result<Value> {
        Ok(Value::DRAW)
    }
}

/// The report of a line after `nodes` network evaluations.
pub fn report_of(value: Value, pv: Vec<Move>, nodes: u64, control: &Control) -> Report {
    let (depth, time) = (pv.len() as u32, control.elapsed());
    Report { depth, seldepth: depth, nodes, scored: nodes, time, ..Report::of(value, pv) }
}

/// A ranking as a planner: it plays the first move.
pub struct MoveRanking<R>(pub R);

impl<R: RanksMoves> Planner for MoveRanking<R> {
    fn search(
        &mut self,
        root: &Position,
        control: &mut Control,
        report: &mut dyn FnMut(&Report),
    ) -> Result<Report> {
        let root_moves = RootMoves::new(root, control.limits(), None);
        let (moves, nodes) = self.0.rank(root, &root_moves.moves)?;
        let wanted = control.limits().multipv.max(1);
        let line = |(mv, value)| report_of(value, vec![mv], nodes, control);
        let mut lines: Vec<Report> = moves.into_iter().take(wanted).map(line).collect();
        root_moves.present(&mut lines, report);
        lines.into_iter().next().context("no legal move")
    }

    fn evaluate(&mut self, position: &Position) -> Result<Value> {
        match terminal_value(position.board(), 0, position.history()) {
            Some(value) => Ok(value),
            None => self.0.value(position),
        }
    }
}

#[cfg(test)]
mod tests {
    use azimuth_search::Limits;

    use super::*;
    use crate::heuristic::Heuristic;

    #[test]
    fn a_remembered_position_is_searched_once_and_the_depth_is_the_boards() -> Result<()> {
        // Kings that can only walk reach every position by many paths.
        let root = Position::from_fen("8/k7/3p4/p2P1p2/P2P1P2/8/8/K7 w - - 0 1")?;
        let nodes = |remembered: usize| -> Result<u64> {
            let depth = |board: &Board| board.occupied().len() - 2;
            let mut planner = AlphaBeta::new(Heuristic, depth, remembered)?;
            let mut control = Control::without_signals(Limits::default());
            let found = planner.search(&root, &mut control, &mut |_| ())?;
            assert_eq!(found.depth, 7);
            Ok(found.nodes)
        };
        let [without, with] = [nodes(0)?, nodes(1 << 16)?];
        assert!(2 * with < without, "{with} of {without}");
        Ok(())
    }
}
