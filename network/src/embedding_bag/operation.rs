//! The embedding bag as a custom candle operation on the CPU, with its gradient.

use std::sync::PoisonError;

use candle_core::{CpuStorage, CustomOp2, Layout, Result, Shape, Tensor};

use super::bags::Bags;
use super::kernels;
use super::row_gradients::GradientSink;
use crate::tensor_slices::{values, with_values};

/// Sums of `bias` (H) and the rows of `table` (rows x H) in each of the `bags`: bags x H. The
/// gradient of the table is dense, as candle's optimisers expect.
pub fn sums(table: &Tensor, bias: &Tensor, bags: Bags) -> Result<Tensor> {
    apply(table, bias, EmbeddingBag { bags, is_activated: false, table: TableGradient::Whole })
}

/// Activations `clamp(x, 0, 1)²` of such sums. `sink` receives the gradient of the table, only for
/// rows in bags; without a sink it is not computed.
pub fn activations(
    table: &Tensor,
    bias: &Tensor,
    bags: Bags,
    sink: Option<&GradientSink>,
) -> Result<Tensor> {
    let gradient = sink.map_or(TableGradient::Nowhere, |sink| TableGradient::Rows(sink.clone()));
    apply(table, bias, EmbeddingBag { bags, is_activated: true, table: gradient })
}

fn apply(table: &Tensor, bias: &Tensor, bag: EmbeddingBag) -> Result<Tensor> {
    table.contiguous()?.apply_op2(&bias.contiguous()?, bag)
}

struct EmbeddingBag {
    bags: Bags,
    is_activated: bool,
    table: TableGradient,
}

/// Destination of the table's gradient.
enum TableGradient {
    Nowhere,
    Rows(GradientSink),
    Whole,
}

impl CustomOp2 for EmbeddingBag {
    fn name(&self) -> &'static str {
        "embedding-bag"
    }

    fn cpu_fwd(
        &self,
        table: &CpuStorage,
        table_layout: &Layout,
        bias: &CpuStorage,
        bias_layout: &Layout,
    ) -> Result<(CpuStorage, Shape)> {
        let (table, bias) = (values(table, table_layout)?, values(bias, bias_layout)?);
        let mut sums = vec![0.0; self.bags.len() * bias.len()];
        kernels::sum_rows(&self.bags, table, bias, &mut sums);
        if self.is_activated {
            kernels::activate(&mut sums);
        }
        Ok((CpuStorage::F32(sums), (self.bags.len(), bias.len()).into()))
    }

    fn bwd(
        &self,
        table: &Tensor,
        bias: &Tensor,
        found: &Tensor,
        gradient: &Tensor,
    ) -> Result<(Option<Tensor>, Option<Tensor>)> {
        let mut gradients = gradient.flatten_all()?.to_vec1::<f32>()?;
        if self.is_activated {
            with_values([found], |[found]| kernels::activation_gradients(found, &mut gradients))?;
        }
        let table_gradient = match &self.table {
            TableGradient::Nowhere => None,
            TableGradient::Rows(sink) => {
                let mut rows = sink.lock().unwrap_or_else(PoisonError::into_inner);
                rows.add_bags(&self.bags, &gradients);
                None
            }
            TableGradient::Whole => {
                let mut rows = vec![0.0; table.elem_count()];
                kernels::add_to_rows(&self.bags, &gradients, &mut rows);
                Some(Tensor::from_vec(rows, table.shape(), table.device())?)
            }
        };
        let mut bias_gradient = vec![0.0; bias.elem_count()];
        kernels::sum_columns(&gradients, &mut bias_gradient);
        Ok((table_gradient, Some(Tensor::from_vec(bias_gradient, bias.shape(), bias.device())?)))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use candle_core::backprop::GradStore;
    use candle_core::{Device, Var};

    use super::super::row_gradients::RowGradients;
    use super::*;

    const ROWS: usize = 9;
    const WIDTH: usize = 4;

    fn wave(shape: (usize, usize), step: f32, scale: f32) -> Result<Tensor> {
        let values = (0..shape.0 * shape.1).map(|index| (index as f32 * step).sin() * scale);
        Tensor::from_iter(values, &Device::Cpu)?.reshape(shape)
    }

    /// Bags of several sizes, one of them empty; one row is in many bags, one is twice in a bag,
    /// and one is in none.
    fn bags() -> Bags {
        let rows = vec![0, 3, 8, 8, 8, 1, 2, 3, 4, 5, 7, 0, 2, 5, 5];
        Bags::new(rows, vec![3, 3, 4, 13, 15])
    }

    /// The same sums from candle's operations: the counts of the rows in each bag, times the table.
    fn composed(table: &Tensor, bias: &Tensor) -> Result<Tensor> {
        let mut counts = vec![0f32; bags().len() * ROWS];
        for (bag, counts) in bags().iter().zip(counts.chunks_exact_mut(ROWS)) {
            bag.iter().for_each(|&row| counts[usize::from(row)] += 1.0);
        }
        let counts = Tensor::from_vec(counts, (bags().len(), ROWS), &Device::Cpu)?;
        counts.matmul(table)?.broadcast_add(bias)
    }

    fn check(name: &str, found: &Tensor, expected: &Tensor) -> Result<()> {
        let error = (found - expected)?.abs()?.max_all()?.to_scalar::<f32>()?;
        assert!(error < 1e-5, "{name}: {error}");
        Ok(())
    }

    fn gradient(store: &GradStore, variable: &Var) -> Tensor {
        store.get(variable).expect("tracked").clone()
    }

    #[test]
    fn values_and_gradients_equal_those_of_candles_operations() -> Result<()> {
        let table = Var::from_tensor(&wave((ROWS, WIDTH), 1.7, 0.5)?)?;
        let bias = Var::new(&[0.5f32, 0.1, 0.9, 0.3], &Device::Cpu)?;
        let gradients = wave((bags().len(), WIDTH), 0.9, 1.0)?;
        let back = |found: &Tensor| (found * &gradients)?.sum_all()?.backward();

        let (found, expected) = (sums(&table, &bias, bags())?, composed(&table, &bias)?);
        check("sums", &found, &expected)?;
        let [own, known] = [back(&found)?, back(&expected)?];
        for (name, variable) in [("table", &table), ("bias", &bias)] {
            check(name, &gradient(&own, variable), &gradient(&known, variable))?;
        }

        let sink = Arc::new(Mutex::new(RowGradients::new(ROWS, WIDTH)));
        let found = activations(&table, &bias, bags(), Some(&sink))?;
        let expected = expected.clamp(0f32, 1f32)?.sqr()?;
        check("activations", &found, &expected)?;
        // The sums lie below, inside and above the interval of the clamp.
        let inside = expected.flatten_all()?.to_vec1::<f32>()?;
        assert!([0.0, 1.0].iter().all(|clip| inside.contains(clip)));
        assert!(inside.iter().any(|&a| a > 0.0 && a < 1.0));
        let [own, known] = [back(&found)?, back(&expected)?];
        check("bias", &gradient(&own, &bias), &gradient(&known, &bias))?;
        assert!(own.get(&table).is_none());
        let mut rows = vec![0.0; ROWS * WIDTH];
        let mut present = Vec::new();
        sink.lock().unwrap_or_else(PoisonError::into_inner).drain(|row, gradient| {
            present.push(row);
            rows[row * WIDTH..][..WIDTH].copy_from_slice(gradient);
        });
        assert_eq!(present, [0, 1, 2, 3, 4, 5, 7, 8]);
        let rows = Tensor::from_vec(rows, (ROWS, WIDTH), &Device::Cpu)?;
        check("rows", &rows, &gradient(&known, &table))
    }
}
