//! The sequence of depths and widths of the iterations.

use super::settings::BeamSettings;

/// Maximum depth in plies.
const MAX_DEPTH: u32 = 128;

/// Maximum number of moves kept at a node, unless the settings ask for more.
const MAX_WIDTH: usize = 64;

/// The depth of an iteration in plies, and the number of moves that it keeps at a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Iteration {
    pub(super) depth: u32,
    pub(super) width: usize,
}

/// Each iteration is a ply deeper. The iterations of an open-ended search alternate once the
/// configured depth is reached: one widens the beam by half and one move, the next is a
/// ply deeper. At a constant width, the beam would never find the moves that it cut, at any depth.
#[derive(Clone)]
pub(super) struct Schedule {
    settings: BeamSettings,
    open_ended: bool,
    next: Iteration,
}

impl Schedule {
    /// Starts at depth 1. `open_ended` is true if the limits name no depth, and time, nodes or a
    /// signal end the search.
    pub(super) fn new(settings: BeamSettings, open_ended: bool) -> Self {
        Self { settings, open_ended, next: Iteration { depth: 1, width: settings.width } }
    }
}

impl Iterator for Schedule {
    type Item = Iteration;

    fn next(&mut self) -> Option<Iteration> {
        let iteration = self.next;
        let BeamSettings { depth, width, .. } = self.settings;
        let own_shape = iteration.depth < depth || !self.open_ended;
        // The beam is widened as often as it is deepened beyond the configured depth.
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
        let iterations = |open_ended, first: usize| -> Vec<(u32, usize)> {
            let settings = BeamSettings { width: 3, depth: 2, ..BeamSettings::PAPER };
            let steps = Schedule::new(settings, open_ended).take(first);
            steps.map(|iteration| (iteration.depth, iteration.width)).collect()
        };
        let grown = [(1, 3), (2, 3), (2, 5), (3, 5), (3, 8), (4, 8), (4, 13)];
        assert_eq!(iterations(true, 7), grown);
        assert_eq!(iterations(false, 3), [(1, 3), (2, 3), (3, 3)]);
        assert_eq!(iterations(true, 40).last().map(|last| last.1), Some(MAX_WIDTH));
    }
}
