//! The feature sums of one side's view, each made from the sum of a similar position: if few rows
//! differ, only these are subtracted and added. Also the order of the sum's units.

use azimuth_chess::bench_positions::BENCH_POSITIONS;
use azimuth_network::sparse::features::{
    EMPTY, FeatureBatch, FeatureSet, KINDS, PIECE_SQUARES, SLOTS, Slots, SlottedFeatures, ViewRows,
};
use cozy_chess::{Board, Square};

use super::kernels::{Changed, Kernels, Sums};

/// Number of plies whose last sums are kept. The parent of a position is one move away, its
/// siblings two.
const PLIES: usize = 32;

/// The sums of one view, for the last position of each ply of the game.
#[derive(Clone)]
pub struct Accumulators {
    by_ply: Vec<Accumulator>,
    /// Index of the sum that was prepared last.
    current: usize,
    pieces: ChangeList<SLOTS>,
    attackers: ChangeList<ATTACKED_SQUARES>,
}

/// Number of squares for all kinds of attackers: each has at most one row.
const ATTACKED_SQUARES: usize = KINDS * Square::NUM;

/// A sum and its rows.
#[derive(Clone)]
struct Accumulator {
    sum: Vec<i16>,
    rows: ViewRows,
}

impl Accumulators {
    /// Sums without rows: the bias.
    pub fn new(bias: &[i16]) -> Self {
        let none = Accumulator { sum: bias.to_vec(), rows: ViewRows::NONE };
        Self {
            by_ply: vec![none; PLIES],
            current: 0,
            pieces: ChangeList::NONE,
            attackers: ChangeList::NONE,
        }
    }

    /// Finds the rows to add and to remove so that the sum of `ply` is that of `rows`, of which
    /// there are `count`, and fetches them into the processor's cache.
    pub fn prepare(
        &mut self,
        kernels: Kernels,
        sums: &Sums,
        rows: &ViewRows,
        (count, ply): (usize, usize),
    ) {
        let here = ply % PLIES;
        let parent = (here + PLIES - 1) % PLIES;
        let [mut differing, from_parent] =
            [here, parent].map(|ply| kernels.differing(&self.by_ply[ply].rows.slots, &rows.slots));
        if from_parent.count_ones() < differing.count_ones()
            && let Ok([here, parent]) = self.by_ply.get_disjoint_mut([here, parent])
        {
            here.sum.copy_from_slice(&parent.sum);
            here.rows.clone_from(&parent.rows);
            differing = from_parent;
        }
        self.current = here;
        let Self { by_ply, pieces, attackers, .. } = self;
        let accumulator = &mut by_ply[here];
        pieces.exchange(&accumulator.rows.slots, &rows.slots, differing);
        let has_attackers = !sums.attackers.is_empty();
        if has_attackers {
            attackers.exchange_attackers(&accumulator.rows, rows, differing as u64);
        }
        if pieces.len() + attackers.len() >= count {
            accumulator.sum.copy_from_slice(&sums.bias);
            pieces.exchange(&ViewRows::NONE.slots, &rows.slots, u128::MAX >> (128 - SLOTS));
            if has_attackers {
                attackers.exchange_attackers(&ViewRows::NONE, rows, u64::MAX);
            }
        }
        accumulator.rows.clone_from(rows);
        sums.prefetch(pieces.changed(), attackers.changed());
    }

    /// Makes the sum that of the prepared rows, and writes its activations.
    pub fn activate(&mut self, kernels: Kernels, sums: &Sums, activations: &mut [u8]) {
        let Self { by_ply, current, pieces, attackers } = self;
        let sum = &mut by_ply[*current].sum;
        kernels.activate(sums, sum, (pieces.changed(), attackers.changed()), activations);
    }
}

/// Rows to add and to remove, at most N of each.
#[derive(Clone)]
struct ChangeList<const N: usize> {
    added: RowList<N>,
    removed: RowList<N>,
}

impl<const N: usize> ChangeList<N> {
    const NONE: Self = Self { added: RowList::NONE, removed: RowList::NONE };

    fn len(&self) -> usize {
        self.added.len + self.removed.len
    }

    fn changed(&self) -> Changed<'_> {
        Changed { added: self.added.as_slice(), removed: self.removed.as_slice() }
    }
}

impl ChangeList<SLOTS> {
    /// Lists the rows in the slots that differ.
    fn exchange(&mut self, before: &Slots, now: &Slots, differing: u128) {
        (self.added.len, self.removed.len) = (0, 0);
        for (first, squares) in [(0, differing as u64), (Square::NUM, (differing >> 64) as u64)] {
            for_each_square(squares, |square| {
                self.added.push(now[first + square]);
                self.removed.push(before[first + square]);
            });
        }
    }
}

impl ChangeList<ATTACKED_SQUARES> {
    /// Lists the rows of attackers that differ. `differing` are the squares whose slots differ.
    fn exchange_attackers(&mut self, before: &ViewRows, now: &ViewRows, differing: u64) {
        (self.added.len, self.removed.len) = (0, 0);
        let piece = |slots: &Slots, square: usize| slots[square] % PIECE_SQUARES as u16;
        let mut replaced = 0;
        for_each_square(differing, |square| {
            let is_replaced = piece(&before.slots, square) != piece(&now.slots, square);
            replaced |= u64::from(is_replaced) << square;
        });
        for kind in 0..KINDS {
            let (attacked_before, attacked_now) = (before.attacked[kind], now.attacked[kind]);
            let changed = (attacked_before ^ attacked_now) | replaced;
            let first = (kind * PIECE_SQUARES) as u16;
            for_each_square(attacked_now & changed, |square| {
                self.added.push(first + piece(&now.slots, square));
            });
            for_each_square(attacked_before & changed, |square| {
                self.removed.push(first + piece(&before.slots, square));
            });
        }
    }
}

fn for_each_square(mut squares: u64, mut f: impl FnMut(usize)) {
    while squares != 0 {
        f(squares.trailing_zeros() as usize);
        squares &= squares - 1;
    }
}

#[derive(Clone)]
struct RowList<const N: usize> {
    rows: [u16; N],
    len: usize,
}

impl<const N: usize> RowList<N> {
    const NONE: Self = Self { rows: [0; N], len: 0 };

    /// Appends `row` unless it is [`EMPTY`]. Branch-free: whether a square was or becomes empty is
    /// unpredictable.
    fn push(&mut self, row: u16) {
        self.rows[self.len] = row;
        self.len += usize::from(row != EMPTY);
    }

    fn as_slice(&self) -> &[u16] {
        &self.rows[..self.len]
    }
}

/// The units, ordered by the number of views of a sample of positions in which they are active,
/// fewest first. The kernels skip groups of units that are all zero; with rarely active units side
/// by side, a third fewer groups are left to multiply, and the products stay the same.
pub fn by_activity(kernels: Kernels, set: FeatureSet, sums: &Sums) -> Vec<usize> {
    let width = sums.bias.len();
    let mut activations = vec![0; width];
    let mut active = vec![0; width];
    let boards: Vec<Board> = BENCH_POSITIONS.iter().filter_map(|fen| fen.parse().ok()).collect();
    let mut accumulators = Accumulators::new(&sums.bias);
    for position in FeatureBatch::of(set, &boards).iter() {
        let features = SlottedFeatures::from_rows(set, &position);
        for rows in &features.views {
            accumulators.prepare(kernels, sums, rows, (features.rows, 0));
            accumulators.activate(kernels, sums, &mut activations);
            active
                .iter_mut()
                .zip(&activations)
                .for_each(|(count, &unit)| *count += i32::from(unit != 0));
        }
    }
    let mut order: Vec<usize> = (0..width).collect();
    order.sort_by_key(|&unit| active[unit]);
    order
}

/// Puts the values of every row (`[_][order.len()]`) in this order.
pub fn reorder<T: Copy>(rows: &mut [T], order: &[usize]) {
    let mut before = Vec::with_capacity(order.len());
    for row in rows.chunks_exact_mut(order.len()) {
        before.clear();
        before.extend_from_slice(row);
        row.iter_mut().zip(order).for_each(|(value, &unit)| *value = before[unit]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_that_are_seldom_active_come_first() {
        let set: FeatureSet = "piece-square".parse().expect("a set");
        let mut bias = vec![0; 128];
        bias[3] = 255;
        bias[100] = 255;
        let table = vec![0; set.rows() * bias.len()];
        let sums = Sums { table, attackers: Vec::new(), bias };
        for kernels in Kernels::available() {
            let order = by_activity(kernels, set, &sums);
            assert_eq!(order[126..], [3, 100], "{kernels:?}");
            let mut sorted = order;
            sorted.sort_unstable();
            assert!(sorted.into_iter().eq(0..128));
        }
    }

    #[test]
    fn every_row_comes_into_the_same_order() {
        let mut rows = [10, 11, 12, 20, 21, 22];
        reorder(&mut rows, &[2, 0, 1]);
        assert_eq!(rows, [12, 10, 11, 22, 20, 21]);
    }
}
