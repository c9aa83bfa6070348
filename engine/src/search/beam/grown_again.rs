//! The tree of the last search, rebuilt for an explanation. The beam below a position depends only
//! on the position, its depth, its width and the horizon of its verification; its scores are in the
//! cache.

use std::sync::atomic::AtomicU64;

use anyhow::Result;
use azimuth_chess::position::{Position, legal_moves};
use cozy_chess::Move;

use super::batched_quiescence::Rules;
use super::search::{BeamSearch, Task};
use super::settings::BeamSettings;
use super::verified_moves::verified_moves;
use super::verifier::{Horizons, Verifier};
use crate::inference::Evaluator;
use crate::search::control::{Control, Limits};
use crate::search::explanation::{SearchedMove, SearchedTree, VerifiedMove};
use crate::search::selective::{SearchTables, ShallowSearch};
use crate::search::tablebase::Tablebases;

pub(super) struct GrownAgain<'a> {
    pub(super) evaluator: &'a mut Evaluator,
    /// Tables of the verifying searches, and their horizon in plies from the root.
    pub(super) verification: Option<(&'a mut SearchTables, u32)>,
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
        let (tables, horizon) = self.verification.as_mut().map(|(t, h)| (t, *h)).unzip();
        let (shared, verifying) = tables.map(|tables| tables.begin_search(position)).unzip();
        let searching = verifying.and_then(|threads| threads.first_mut()).zip(shared.as_ref());
        let verifier = searching.zip(horizon).map(|((data, shared), horizon)| {
            let horizons = Horizons::Fixed(horizon.saturating_sub(ply));
            Verifier::new(ShallowSearch::new(data, shared), horizons)
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

    fn verified(
        &mut self,
        position: &Position,
        ply: u32,
        moves: &[Move],
    ) -> Result<Vec<VerifiedMove>> {
        let Some((tables, horizon)) = &mut self.verification else { return Ok(Vec::new()) };
        let (shared, threads) = tables.begin_search(position);
        let Some(data) = threads.first_mut() else { return Ok(Vec::new()) };
        let search = ShallowSearch::new(data, &shared);
        verified_moves(search, self.tablebases, position, (ply, *horizon), moves)
    }
}
