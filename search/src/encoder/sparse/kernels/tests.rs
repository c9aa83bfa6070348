//! Tests of the kernels alone: every instruction set gives the results of plain Rust. Buffers have
//! exactly the required size, so that a sanitizer or Miri detects any access beyond them.

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::*;

/// Rows of the table.
const ROWS: usize = 7;

fn random<T>(count: usize, seed: u64, value: impl Fn(&mut StdRng) -> T) -> Vec<T> {
    let mut random = StdRng::seed_from_u64(seed);
    (0..count).map(|_| value(&mut random)).collect()
}

#[test]
fn sums_and_activations_are_those_of_plain_rust() {
    for width in [BLOCK, 3 * BLOCK] {
        let values = |count, seed| random(count, seed, |random| random.random_range(-300..300));
        let sums = Sums {
            table: values(ROWS * width, 1),
            attackers: random(ROWS * width, 5, |random| random.random()),
            bias: values(width, 2),
        };
        // The last rows end where the tables do.
        let mut changes = RowChanges::NONE;
        [0, 6, 3, 3].into_iter().for_each(|row| changes.pieces.added.push(row));
        [6, 1].into_iter().for_each(|row| changes.pieces.removed.push(row));
        [2, 5].into_iter().for_each(|row| changes.attackers.added.push(row));
        changes.attackers.removed.push(6);
        let activate = |kernels: Kernels| {
            let (mut sum, mut activations) = (sums.bias.clone(), vec![0; width]);
            kernels.activate(&sums, &mut sum, &changes, &mut activations);
            (sum, activations)
        };
        let row = |row: usize, place: usize| sums.table[row * width + place];
        let (sum, activations) = activate(Kernels::Portable);
        for place in 0..width {
            let attacker = |row: usize| i16::from(sums.attackers[row * width + place]);
            let expected = sums.bias[place] + row(0, place) + 2 * row(3, place) - row(1, place)
                + attacker(2)
                + attacker(5)
                - attacker(6);
            assert_eq!(sum[place], expected);
            let clipped = u32::from(expected.clamp(0, SUM_ONE) as u16);
            assert_eq!(u32::from(activations[place]), clipped * clipped / 512);
        }
        for kernels in Kernels::available() {
            assert_eq!(activate(kernels), (sum.clone(), activations.clone()), "{kernels}");
        }
    }
}

#[test]
fn products_are_those_of_plain_rust() {
    // Fewer and more groups than the kernels test together. With 9 zeros in 10 activations, most
    // groups are zero.
    for (width, zeros) in [(BLOCK, 0), (2 * BLOCK, 9), (12 * BLOCK, 3)] {
        let activations = random(width, 3, |random| {
            if random.random_range(0..10) < zeros { 0 } else { random.random_range(0..=127) }
        });
        let hidden = random(width * HIDDEN, 4, |random| random.random::<i8>());
        let expected = portable::multiply(&hidden, &activations);
        for kernels in Kernels::available() {
            assert_eq!(kernels.multiply(&hidden, &activations), expected, "{kernels}");
        }
    }
}

#[test]
#[should_panic(expected = "is_multiple_of")]
fn a_width_that_no_register_divides_is_refused() {
    let width = BLOCK + 8;
    let sums = Sums { table: vec![0; width], attackers: Vec::new(), bias: vec![0; width] };
    let best = Kernels::available()[0];
    best.activate(&sums, &mut vec![0; width], &RowChanges::NONE, &mut vec![0; width]);
}
