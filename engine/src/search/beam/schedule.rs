//! How the beam grows, iteration by iteration.

use super::settings::{BeamMode, BeamSettings};

/// Deepest ply of any search.
const MAX_DEPTH: u32 = 128;

/// Most moves kept at a node.
const MAX_WIDTH: usize = 64;

/// The plies of an iteration and the moves that it keeps at a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Iteration {
    pub(super) depth: u32,
    pub(super) width: usize,
}

/// One ply deeper each time; where time is left beyond the beam's own shape, in turn half as wide again and
/// one ply deeper: what a narrow beam has cut away it never finds, however deep it goes.
#[derive(Clone)]
pub(super) struct Schedule {
    settings: BeamSettings,
    widens: bool,
    next: Iteration,
}

impl Schedule {
    /// Begins at one ply. `open_ended` says that time is all that ends it.
    pub(super) fn new(settings: BeamSettings, open_ended: bool) -> Self {
        let widens = open_ended && settings.mode == BeamMode::Tree;
        Self { settings, widens, next: Iteration { depth: 1, width: settings.width } }
    }
}

impl Iterator for Schedule {
    type Item = Iteration;

    fn next(&mut self) -> Option<Iteration> {
        let iteration = self.next;
        let BeamSettings { depth, width, .. } = self.settings;
        let own_shape = iteration.depth < depth || !self.widens;
        // As often wider as deeper: as many times as there are plies beyond the usual ones.
        let wider = width_after(width, iteration.depth.saturating_sub(depth) + 1);
        self.next = match own_shape || iteration.width >= wider {
            true => Iteration { depth: iteration.depth + 1, ..iteration },
            false => Iteration { width: wider, ..iteration },
        };
        (iteration.depth <= MAX_DEPTH).then_some(iteration)
    }
}

fn width_after(width: usize, times: u32) -> usize {
    (0..times).fold(width, |width, _| (width + width / 2 + 1).min(MAX_WIDTH.max(width)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beyond_its_shape_it_grows_both_ways() {
        let iterations = |mode, open_ended, first: usize| -> Vec<(u32, usize)> {
            let settings = BeamSettings { width: 3, depth: 2, mode, ..BeamSettings::PAPER };
            let steps = Schedule::new(settings, open_ended).take(first);
            steps.map(|iteration| (iteration.depth, iteration.width)).collect()
        };
        let grown = [(1, 3), (2, 3), (2, 5), (3, 5), (3, 8), (4, 8), (4, 13)];
        assert_eq!(iterations(BeamMode::Tree, true, 7), grown);
        for (mode, open_ended) in [(BeamMode::Tree, false), (BeamMode::Global, true)] {
            assert_eq!(iterations(mode, open_ended, 3), [(1, 3), (2, 3), (3, 3)]);
        }
        assert_eq!(iterations(BeamMode::Tree, true, 40).last().map(|last| last.1), Some(MAX_WIDTH));
    }
}
