//! Rivals that rank the moves of a position without search.

use anyhow::{Context, Result};
use azimuth_chess::position::Position;
use azimuth_search::{Control, Planner, Report, RootMoves, Value, terminal_value};
use cozy_chess::Move;

pub trait RanksMoves: Send {
    /// Ranks `moves` of `root`, at least one.
    fn rank(&mut self, root: &Position, moves: &[Move]) -> Result<Ranking>;

    /// The value for the side to move of a position in which the game is not over. A rival that
    /// only predicts moves returns a draw.
    fn value(&mut self, _position: &Position) -> Result<Value> {
        Ok(Value::DRAW)
    }
}

pub struct Ranking {
    /// The moves, the best first, each with its value for the side that moves.
    pub moves: Vec<(Move, Value)>,
    /// Number of network evaluations.
    pub nodes: u64,
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
        let Ranking { moves, nodes } = self.0.rank(root, &root_moves.moves)?;
        let wanted = control.limits().multipv.max(1);
        let line = |(mv, value)| {
            let mut line = Report::of(value, vec![mv]);
            (line.depth, line.seldepth) = (1, 1);
            (line.nodes, line.scored) = (nodes, nodes);
            line.time = control.elapsed();
            line
        };
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
