//! Verification in a beam search: of the children of a node that is expanded, of a node at the
//! horizon, and of many children in batches.

use std::sync::atomic::Ordering::Relaxed;

use anyhow::Result;
use azimuth_chess::position::{board_after, legal_moves};
use cozy_chess::Board;

use super::batched_quiescence::{BatchedQuiescence, Rules, Start};
use super::search::{BeamSearch, Expansion, estimates};
use super::tree::{Candidate, ROOT};
use super::verification::{Child, Parent, Verifier};
use crate::selective::{ANCESTORS, Ancestor};
use crate::value::Value;

impl<'a> BeamSearch<'a> {
    /// The children of `node` by verified scores: the best `width` have values; the others follow
    /// with bounds only. `None` if a limit stopped the search.
    pub fn verify(
        &mut self,
        node: usize,
        board: &Board,
        keys: Vec<u64>,
        children: Vec<Child>,
        width: usize,
    ) -> Result<Option<Vec<Candidate>>> {
        let parent = self.parent(node, board, keys);
        self.with_verifier(|verifier, stop| verifier.best_children(parent, children, width, stop))
    }

    /// The value of a node that is not expanded, in a window: the best of its children's verified
    /// values. `None` if a limit stopped the search.
    pub fn value_at_horizon(
        &mut self,
        node: usize,
        window: (Value, Value),
    ) -> Result<Option<Value>> {
        let board = self.tree.board(node);
        let keys = self.keys_before_children(node, &board);
        let ply = self.tree.nodes[node].ply + 1;
        let mut children = Vec::new();
        for mv in legal_moves(&board) {
            let child = board_after(&board, mv);
            let exact = self.exact_value(&child, ply, &keys);
            let value = match exact {
                Some(value) => value,
                None => Value::estimate(self.evaluator.value(&child)?),
            };
            let candidate = Candidate::new(mv, value, exact.is_some());
            children.push(Child { board: child, candidate });
        }
        let parent = self.parent(node, &board, keys);
        let width = self.task.settings.width;
        let found = self.with_verifier(|verifier, stop| {
            verifier.best_value(parent, children, width, window, stop)
        })?;
        Ok(found.map(|(value, line)| {
            if !line.is_empty() {
                self.tree.nodes[node].tail = line;
            }
            value
        }))
    }

    /// Gives every child without a certain value the value of a batched quiescence search. Returns
    /// `false` if a limit stopped the search.
    pub fn verify_in_batches(&mut self, expanded: &mut [Expansion], rules: Rules) -> Result<bool> {
        let starts = expanded.iter().flat_map(|Expansion { keys, ply, children, .. }| {
            let open = children.iter().filter(|child| !child.candidate.exact);
            open.map(|Child { board, candidate }| Start {
                board: board.clone(),
                ply: *ply,
                value: candidate.value,
                keys,
            })
        });
        let mut quiescence = BatchedQuiescence::new(rules, starts);
        loop {
            let positions =
                quiescence.deepen(|board, ply, keys| self.exact_value(board, ply, keys));
            if positions == 0 {
                break;
            }
            self.task.nodes.fetch_add(positions as u64, Relaxed);
            quiescence.score(self.evaluator)?;
            if self.must_stop() {
                return Ok(false);
            }
        }
        self.seldepth = self.seldepth.max(quiescence.seldepth());
        let resolved = quiescence.resolved();
        for (candidate, (value, line)) in estimates(expanded).zip(resolved) {
            (candidate.value, candidate.tail) = (value, line);
            candidate.exact = value.is_decisive();
        }
        Ok(true)
    }

    /// Runs the verifier, if there is one, with a function that checks the limits, and counts its
    /// nodes.
    fn with_verifier<T>(
        &mut self,
        verify: impl FnOnce(&mut Verifier<'a>, &mut dyn FnMut(&Verifier<'a>) -> bool) -> Option<T>,
    ) -> Result<Option<T>> {
        let Some(mut verifier) = self.verifier.take() else { return Ok(None) };
        let mut counted = verifier.search.nodes();
        let mut stop = |verifier: &Verifier<'a>| {
            let nodes = verifier.search.nodes();
            self.task.nodes.fetch_add(nodes - counted, Relaxed);
            counted = nodes;
            self.must_stop()
        };
        let found = verify(&mut verifier, &mut stop);
        self.task.nodes.fetch_add(verifier.search.nodes() - counted, Relaxed);
        self.seldepth = self.seldepth.max(verifier.search.seldepth());
        let error = verifier.search.take_error();
        self.verifier = Some(verifier);
        error.map_or(Ok(found), Err)
    }

    fn parent<'p>(&self, node: usize, board: &'p Board, keys: Vec<u64>) -> Parent<'p> {
        let mut line = Vec::new();
        let mut place = node;
        while place != ROOT && line.len() < ANCESTORS {
            let mv = self.tree.nodes[place].mv;
            place = self.tree.nodes[place].parent;
            line.push(Ancestor { board: self.tree.board(place), mv });
        }
        Parent { board, ply: self.tree.nodes[node].ply, keys, line }
    }
}
