//! The tree of the last search, grown again where somebody asks for it: the beam below a position depends on nothing but
//! that position, its depth and its width, and all its scores are in the cache.

use std::sync::atomic::AtomicU64;

use anyhow::Result;

use super::batched_quiescence::Rules;
use super::search::{BeamSearch, Task};
use super::settings::BeamSettings;
use super::verifier::Verifier;
use crate::inference::Evaluator;
use crate::position::{Position, legal_moves};
use crate::search::control::{Control, Limits};
use crate::search::explanation::{SearchedMove, SearchedTree};
use crate::search::selective::{SearchTables, ShallowSearch};
use crate::search::tablebase::Tablebases;

pub(super) struct GrownAgain<'a> {
    pub(super) evaluator: &'a mut Evaluator,
    pub(super) verification: Option<&'a mut SearchTables>,
    pub(super) quiescence: Option<Rules>,
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
            quiescence: self.quiescence,
            tablebases: self.tablebases,
            root: position,
            root_moves: &legal_moves(position.board()),
            nodes: &AtomicU64::new(0),
            thread: 0,
        };
        let mut control = Control::without_signals(Limits::default());
        let begun = self.verification.as_mut().map(|tables| tables.begin_search(position));
        let (shared, verifying) = begun.unzip();
        let searching = verifying.and_then(|threads| threads.first_mut()).zip(shared.as_ref());
        let beyond = self.settings.verify.plies().unwrap_or(0);
        let verifier = searching.map(|(data, shared)| {
            Verifier::new(ShallowSearch::new(data, shared), beyond, Some(depth))
        });
        let mut search = BeamSearch::new(self.evaluator, task, verifier, &mut control);
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
