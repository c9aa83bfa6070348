//! Alpha-beta as a planner: iterative deepening, one ply at a time, until a limit is reached.

use anyhow::{Context, Result};
use azimuth_chess::position::Position;
use azimuth_search::{
    Control, Deepening, Planner, Report, RootMoves, Value, deepen, terminal_value,
};
use cozy_chess::{Board, Move};

use super::evaluation::{Judge, Worth};
use super::search::{Memory, Search};

/// Default search depth in plies (seed document 003, section 1).
pub const DEFAULT_DEPTH: u32 = 3;

/// Upper bound on the depth in plies; no search reaches it.
const DEEPEST: u32 = 64;

/// The planner that searches with a judge.
pub struct AlphaBeta<J: Judge> {
    judge: J,
    memory: Memory<J::Leaf>,
    /// The default depth in plies for a board.
    depth: fn(&Board) -> u32,
}

impl<J: Judge> AlphaBeta<J> {
    /// A planner that searches `depth` plies by default, and remembers `count` positions.
    pub fn new(judge: J, depth: fn(&Board) -> u32, count: usize) -> Self {
        Self { judge, memory: Memory::new(count), depth }
    }
}

impl<J: Judge> Planner for AlphaBeta<J> {
    fn search(
        &mut self,
        root: &Position,
        control: &mut Control,
        report: &mut dyn FnMut(&Report),
    ) -> Result<Report> {
        let root_moves = RootMoves::new(root, control.limits(), None);
        let default_depth = (self.depth)(root.board());
        let search = Search::new(root, &mut self.judge, &mut self.memory, control);
        let mut iterations = Iterations {
            search,
            root: root.board(),
            moves: &root_moves.moves,
            depth: 0,
            default_depth,
        };
        deepen(&mut iterations, &root_moves, report)
    }

    fn evaluate(&mut self, position: &Position) -> Result<Value> {
        let board = position.board();
        if let Some(value) = terminal_value(board, 0, position.history()) {
            return Ok(value);
        }
        let leaf = self.judge.leaf(board)?;
        Worth::Leaf(leaf).value(board.side_to_move())
    }

    fn new_game(&mut self) {
        self.memory.clear();
    }
}

struct Iterations<'a, J: Judge> {
    search: Search<'a, J>,
    root: &'a Board,
    moves: &'a [Move],
    depth: u32,
    default_depth: u32,
}

impl<J: Judge> Deepening for Iterations<'_, J> {
    fn next_depth(&mut self) -> Option<u32> {
        self.depth += 1;
        (self.depth <= DEEPEST).then_some(self.depth)
    }

    fn may_begin(&self, depth: u32) -> bool {
        self.search.control.may_begin(depth, self.default_depth)
    }

    fn iterate(&mut self, depth: u32, interruptible: bool) -> Result<Option<Vec<Report>>> {
        self.search.interruptible = interruptible;
        let wanted = self.search.control.limits().multipv.clamp(1, self.moves.len());
        let mut left = self.moves.to_vec();
        let mut lines = Vec::with_capacity(wanted);
        for _ in 0..wanted {
            let before = self.search.line_before.clone();
            let Some((worth, line)) = self.search.root(self.root, &left, depth)? else {
                self.search.line_before = before;
                return Ok(None);
            };
            left.retain(|mv| Some(mv) != line.first());
            let value = worth.value(self.root.side_to_move())?;
            lines.push(Report::of(value, line));
        }
        let best = lines.first().context("no legal move")?;
        self.search.line_before.clone_from(&best.pv);
        for line in &mut lines {
            line.depth = depth;
            self.add_costs(line);
        }
        Ok(Some(lines))
    }

    fn is_settled(&self, lines: &[Report]) -> bool {
        // A mate within the searched depth is the shortest, so deeper iterations cannot improve it.
        lines
            .first()
            .and_then(|line| line.value.plies_to_mate())
            .is_some_and(|plies| plies <= self.depth)
    }

    fn on_the_clock(&self) -> bool {
        self.search.control.on_the_clock()
    }

    fn add_costs(&mut self, report: &mut Report) {
        report.seldepth = report.pv.len() as u32;
        report.nodes = self.search.nodes;
        report.scored = self.search.nodes;
        report.time = self.search.control.elapsed();
    }
}
