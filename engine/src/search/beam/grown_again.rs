//! The tree of the last search, grown again where somebody asks for it: the beam below a position depends on nothing but
//! that position, its depth and its width, and all its scores are in the cache.

use std::sync::atomic::AtomicU64;

use anyhow::Result;

use super::search::{BeamSearch, Task};
use super::settings::BeamSettings;
use crate::inference::Evaluator;
use crate::position::{Position, legal_moves};
use crate::search::control::{Control, Limits};
use crate::search::explanation::{SearchedMove, SearchedTree};
use crate::search::tablebase::Tablebases;

pub(super) struct GrownAgain<'a> {
    pub(super) evaluator: &'a mut Evaluator,
    pub(super) settings: BeamSettings,
    pub(super) tablebases: Option<&'a Tablebases>,
}

impl SearchedTree for GrownAgain<'_> {
    fn evaluator(&mut self) -> &mut Evaluator {
        self.evaluator
    }

    fn searched(&mut self, position: &Position, ply: u32, depth: u32) -> Result<Vec<SearchedMove>> {
        let task = Task {
            settings: self.settings,
            tablebases: self.tablebases,
            root: position,
            root_moves: &legal_moves(position.board()),
            nodes: &AtomicU64::new(0),
            thread: 0,
        };
        let mut control = Control::without_signals(Limits::default());
        let mut search = BeamSearch::new(self.evaluator, task, &mut control);
        for depth in 1..=depth {
            search.iterate(depth, false)?;
        }
        let mut searched = std::mem::take(&mut search.searched);
        for found in &mut searched {
            found.value = found.value.seen_from_before(ply);
        }
        Ok(searched)
    }
}
