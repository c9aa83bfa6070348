//! Products of the small matrices of one attention head. They add in the order of the inner index,
//! so the result does not depend on how the work is divided.

/// Number of neighbouring columns that are summed in a register.
pub const BLOCK: usize = 16;

/// Rows and blocks of a tile. With AVX-512 a tile occupies eight registers, the number of additions
/// that a processor can have in flight.
const ROWS: usize = 4;
const BLOCKS: usize = 2;

/// A matrix in a slice.
#[derive(Clone, Copy)]
pub struct Matrix<'a> {
    values: &'a [f32],
    /// Distance between values of neighbouring rows.
    row: usize,
    /// Distance between values of neighbouring columns.
    column: usize,
}

impl<'a> Matrix<'a> {
    /// A matrix whose rows start `row` values apart.
    #[inline(always)]
    pub fn new(values: &'a [f32], row: usize) -> Self {
        Self { values, row, column: 1 }
    }

    /// The transposed matrix.
    #[inline(always)]
    pub fn transposed(self) -> Self {
        Self { row: self.column, column: self.row, ..self }
    }

    #[inline(always)]
    fn at(self, row: usize, column: usize) -> f32 {
        self.values[row * self.row + column * self.column]
    }
}

/// The matrix to which a product is added; its rows start `row` values apart.
pub struct Sums<'a> {
    pub values: &'a mut [f32],
    pub row: usize,
}

/// Rows, inner size and columns of a product.
#[derive(Clone, Copy)]
pub struct Size {
    pub rows: usize,
    pub inner: usize,
    pub columns: usize,
}

/// Adds the product of `a` and `b` to `sums`. The values of each row of `b` must be contiguous.
#[inline(always)]
pub fn add_product(a: Matrix<'_>, b: Matrix<'_>, mut sums: Sums<'_>, size: Size) {
    debug_assert_eq!(b.column, 1);
    let mut row = 0;
    while row + ROWS <= size.rows {
        add_rows::<ROWS>(a, b, &mut sums, size, row);
        row += ROWS;
    }
    for row in row..size.rows {
        add_rows::<1>(a, b, &mut sums, size, row);
    }
}

#[inline(always)]
fn add_rows<const R: usize>(
    a: Matrix<'_>,
    b: Matrix<'_>,
    sums: &mut Sums<'_>,
    size: Size,
    row: usize,
) {
    let mut column = 0;
    while column + BLOCKS * BLOCK <= size.columns {
        add_tile::<R, BLOCKS>(a, b, sums, size.inner, [row, column]);
        column += BLOCKS * BLOCK;
    }
    while column + BLOCK <= size.columns {
        add_tile::<R, 1>(a, b, sums, size.inner, [row, column]);
        column += BLOCK;
    }
    for row in row..row + R {
        for column in column..size.columns {
            let sum = &mut sums.values[row * sums.row + column];
            for inner in 0..size.inner {
                *sum += a.at(row, inner) * b.at(inner, column);
            }
        }
    }
}

#[inline(always)]
fn add_tile<const R: usize, const B: usize>(
    a: Matrix<'_>,
    b: Matrix<'_>,
    sums: &mut Sums<'_>,
    inner: usize,
    [row, column]: [usize; 2],
) {
    let mut tile = [[[0.0; BLOCK]; B]; R];
    for (index, tile) in tile.iter_mut().enumerate() {
        let from = &sums.values[(row + index) * sums.row + column..][..B * BLOCK];
        tile.as_flattened_mut().copy_from_slice(from);
    }
    for inner in 0..inner {
        let (blocks, _) = b.values[inner * b.row + column..][..B * BLOCK].as_chunks::<BLOCK>();
        for (index, tile) in tile.iter_mut().enumerate() {
            let weight = a.at(row + index, inner);
            for (sums, block) in tile.iter_mut().zip(blocks) {
                for (sum, x) in sums.iter_mut().zip(block) {
                    *sum += weight * x;
                }
            }
        }
    }
    for (index, tile) in tile.iter().enumerate() {
        let to = &mut sums.values[(row + index) * sums.row + column..][..B * BLOCK];
        to.copy_from_slice(tile.as_flattened());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Irregular numbers, the same in every run.
    fn numbers(count: usize) -> Vec<f32> {
        (0..count).map(|place| (place * 37 % 101) as f32 / 101.0 - 0.5).collect()
    }

    #[test]
    fn sums_equal_those_of_the_definition() {
        for (rows, inner, columns) in [(1, 1, 1), (4, 3, 32), (9, 5, 71), (6, 40, 16)] {
            let (a, b) = (numbers(rows * inner), numbers(inner * columns));
            let turned: Vec<f32> =
                (0..inner * rows).map(|i| a[i % rows * inner + i / rows]).collect();
            let before = numbers(rows * (columns + 2));
            let mut expected = before.clone();
            for row in 0..rows {
                for column in 0..columns {
                    let sum = &mut expected[row * (columns + 2) + column];
                    (0..inner).for_each(|k| *sum += a[row * inner + k] * b[k * columns + column]);
                }
            }
            let by_row = Matrix::new(&a, inner);
            for a in [by_row, Matrix::new(&turned, rows).transposed()] {
                let mut found = before.clone();
                let sums = Sums { values: &mut found, row: columns + 2 };
                add_product(a, Matrix::new(&b, columns), sums, Size { rows, inner, columns });
                assert_eq!(found, expected);
            }
        }
    }
}
