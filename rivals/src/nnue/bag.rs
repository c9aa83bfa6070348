//! Sums of the rows of active features, as one operation: candle's own would first copy every row that is active. Its
//! gradient is that of the whole table, as candle's optimisers want it.

use std::sync::Arc;

use candle_core::{CpuStorage, CustomOp1, Layout, Result, Shape, Tensor};
use cozy_chess::Board;

use super::features::active;
use crate::network::values;

/// The active features of positions, for the side to move and then for the other side.
#[derive(Default)]
pub struct Bags {
    rows: Vec<u16>,
    ends: Vec<usize>,
}

impl Bags {
    /// The features of boards.
    pub fn of<'a>(boards: impl Iterator<Item = &'a Board>) -> Self {
        let mut bags = Self::default();
        for board in boards {
            let own = board.side_to_move();
            for side in [own, !own] {
                active(board, side, |feature| bags.rows.push(feature as u16));
                bags.ends.push(bags.rows.len());
            }
        }
        bags
    }

    fn iter(&self) -> impl Iterator<Item = &[u16]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.rows[start..end])
    }
}

/// Adds up the rows of `table` (features x width) of every bag: bags x width.
pub fn sums(table: &Tensor, bags: &Arc<Bags>) -> Result<Tensor> {
    table.apply_op1(Sums(bags.clone()))
}

struct Sums(Arc<Bags>);

/// Back: every row's share of the gradient, as large as the table.
struct Spread {
    bags: Arc<Bags>,
    rows: usize,
}

impl CustomOp1 for Sums {
    fn name(&self) -> &'static str {
        "bag-sums"
    }

    fn cpu_fwd(&self, table: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
        let (_, width) = layout.shape().dims2()?;
        let table = values(table, layout)?;
        let mut sums = vec![0.0; self.0.ends.len() * width];
        for (bag, sum) in self.0.iter().zip(sums.chunks_exact_mut(width)) {
            for &row in bag {
                add(sum, &table[usize::from(row) * width..][..width]);
            }
        }
        Ok((CpuStorage::F32(sums), (self.0.ends.len(), width).into()))
    }

    fn bwd(&self, table: &Tensor, _: &Tensor, gradient: &Tensor) -> Result<Option<Tensor>> {
        let spread = Spread { bags: self.0.clone(), rows: table.dim(0)? };
        gradient.contiguous()?.apply_op1_no_bwd(&spread).map(Some)
    }
}

impl CustomOp1 for Spread {
    fn name(&self) -> &'static str {
        "bag-sums-gradient"
    }

    fn cpu_fwd(&self, gradient: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
        let (_, width) = layout.shape().dims2()?;
        let gradient = values(gradient, layout)?;
        let mut table = vec![0.0; self.rows * width];
        for (bag, gradient) in self.bags.iter().zip(gradient.chunks_exact(width)) {
            for &row in bag {
                add(&mut table[usize::from(row) * width..][..width], gradient);
            }
        }
        Ok((CpuStorage::F32(table), (self.rows, width).into()))
    }
}

#[multiversion::multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
fn add(sum: &mut [f32], row: &[f32]) {
    sum.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
}

#[cfg(test)]
mod tests {
    use candle_core::{Device, Var};

    use super::*;

    #[test]
    fn sums_and_gradients_equal_those_of_candles_operations() -> Result<()> {
        let bags = Bags { rows: vec![0, 2, 2, 1], ends: vec![2, 2, 4] };
        let table = Var::new(&[[1f32, 2.0], [3.0, 4.0], [5.0, 6.0]], &Device::Cpu)?;
        // How often each row is in each bag.
        let counts =
            Tensor::new(&[[1f32, 0.0, 1.0], [0.0, 0.0, 0.0], [0.0, 1.0, 1.0]], &Device::Cpu)?;
        let found = sums(&table, &Arc::new(bags))?;
        let known = counts.matmul(&table)?;
        assert_eq!(found.to_vec2::<f32>()?, known.to_vec2::<f32>()?);
        let gradient = |sums: &Tensor| -> Result<Vec<Vec<f32>>> {
            let store = sums.sqr()?.sum_all()?.backward()?;
            store.get(&table).expect("tracked").to_vec2()
        };
        assert_eq!(gradient(&found)?, gradient(&known)?);
        Ok(())
    }
}
