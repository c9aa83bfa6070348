//! The embedding bag: the sum of the rows of a table in each bag, plus a bias. It is the first
//! layer of networks with sparse input features.
//!
//! On the CPU it is a custom candle operation, [`sums`] or [`activations`], vectorised by the
//! compiler for each instruction set. The gradient of the table is dense, or a [`RowGradients`]
//! with only the rows in bags. On a device it is [`DeviceSums`].

#[cfg(any(feature = "cuda", test))]
use std::sync::OnceLock;
use std::sync::{Arc, Mutex, PoisonError};

use candle_core::{CpuStorage, CustomOp2, Device, Layout, Result, Shape, Tensor, bail};
use multiversion::multiversion;

#[cfg(feature = "cuda")]
use crate::fused::cuda;
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

/// The rows of a table that are in each bag.
#[derive(Debug)]
pub struct Bags {
    /// The rows of all bags, one bag after another.
    rows: Vec<u16>,
    /// End of each bag in `rows`.
    ends: Vec<u32>,
    #[cfg(any(feature = "cuda", test))]
    on_device: OnceLock<[Tensor; 2]>,
}

impl Bags {
    /// Creates bags from the rows of all bags and the end index of each.
    pub fn new(rows: Vec<u16>, ends: Vec<u32>) -> Self {
        Self {
            rows,
            ends,
            #[cfg(any(feature = "cuda", test))]
            on_device: OnceLock::new(),
        }
    }

    /// Number of bags.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are no bags.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The rows of all bags, with repetitions.
    pub fn rows(&self) -> &[u16] {
        &self.rows
    }

    /// The rows of each bag.
    pub fn iter(&self) -> impl Iterator<Item = &[u16]> {
        let mut start = 0;
        self.ends.iter().map(move |&end| {
            let bag = &self.rows[start..end as usize];
            start = end as usize;
            bag
        })
    }

    /// Rows and ends as u32 tensors for a kernel, copied to the device once.
    #[cfg(any(feature = "cuda", test))]
    pub(crate) fn on_device(&self, device: &Device) -> Result<[Tensor; 2]> {
        if let Some(tensors) = self.on_device.get() {
            return Ok(tensors.clone());
        }
        let rows: Vec<u32> = self.rows.iter().map(|&row| row.into()).collect();
        let tensor = |values: &[u32]| Tensor::from_slice(values, values.len(), device);
        let tensors = [tensor(&rows)?, tensor(&self.ends)?];
        Ok(self.on_device.get_or_init(|| tensors).clone())
    }
}

/// The custom operation.
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
        sum_rows(&self.bags, table, bias, &mut sums);
        if self.is_activated {
            activate(&mut sums);
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
            with_values([found], |[found]| activation_gradients(found, &mut gradients))?;
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
                add_to_rows(&self.bags, &gradients, &mut rows);
                Some(Tensor::from_vec(rows, table.shape(), table.device())?)
            }
        };
        let mut bias_gradient = vec![0.0; bias.elem_count()];
        sum_columns(&gradients, &mut bias_gradient);
        Ok((table_gradient, Some(Tensor::from_vec(bias_gradient, bias.shape(), bias.device())?)))
    }
}

/// The activations of a batch's sums, as dense tensors. candle cannot differentiate them;
/// [`Self::backward`] does.
pub struct DeviceSums {
    bags: Bags,
    /// `clamp(x, 0, 1)²` of the sums: bags x H.
    pub activations: Tensor,
}

impl DeviceSums {
    /// Sums the rows of `table` (rows x H) in each bag plus `bias` (H). Fails if the device has no
    /// kernel for the table.
    pub fn new(bags: Bags, table: &Tensor, bias: &Tensor) -> Result<Self> {
        let width = table.dim(1)?;
        let activations = match table.device() {
            #[cfg(feature = "cuda")]
            Device::Cuda(_) if cuda::takes_sums(table)? => {
                cuda::activated_sums(table, bias, &bags)?
            }
            Device::Cpu => {
                let mut sums = vec![0.0; bags.len() * width];
                with_values([table, bias], |[table, bias]| {
                    sum_rows(&bags, table, bias, &mut sums);
                })?;
                activate(&mut sums);
                Tensor::from_vec(sums, (bags.len(), width), &Device::Cpu)?
            }
            _ => bail!(
                "feature sums of {:?} {}: no kernel for them",
                table.shape(),
                table.dtype().as_str()
            ),
        };
        Ok(Self { bags, activations })
    }

    /// Gradients of the table, which has `rows` rows, and of the bias, given the gradient of the
    /// activations. On CUDA many threads add to the same sums, so their last digits differ from run
    /// to run.
    pub fn backward(&self, gradient: &Tensor, rows: usize) -> Result<(Tensor, Tensor)> {
        let Self { bags, activations } = self;
        let gradient = gradient.reshape(activations.shape())?;
        #[cfg(feature = "cuda")]
        if activations.device().is_cuda() {
            return cuda::activated_sums_back(activations, &gradient, bags, rows);
        }
        let width = activations.dim(1)?;
        let (mut table, mut bias) = (vec![0.0; rows * width], vec![0.0; width]);
        let mut gradients = gradient.flatten_all()?.to_vec1::<f32>()?;
        with_values([activations], |[found]| activation_gradients(found, &mut gradients))?;
        sum_columns(&gradients, &mut bias);
        add_to_rows(bags, &gradients, &mut table);
        let table = Tensor::from_vec(table, (rows, width), &Device::Cpu)?;
        Ok((table, Tensor::from_vec(bias, width, &Device::Cpu)?))
    }
}

/// Sums `bias` (H) and the rows of `table` (rows x H) in each bag: bags x H.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
fn sum_rows(bags: &Bags, table: &[f32], bias: &[f32], sums: &mut [f32]) {
    let width = bias.len();
    for (bag, sum) in bags.iter().zip(sums.chunks_exact_mut(width)) {
        sum.copy_from_slice(bias);
        for &row in bag {
            let row = &table[usize::from(row) * width..][..width];
            sum.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
        }
    }
}

/// Adds the gradient of each bag's sum (bags x H) to those of its rows (rows x H).
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
fn add_to_rows(bags: &Bags, gradients: &[f32], table: &mut [f32]) {
    let width = gradients.len() / bags.len().max(1);
    for (bag, gradient) in bags.iter().zip(gradients.chunks_exact(width.max(1))) {
        for &row in bag {
            let row = &mut table[usize::from(row) * width..][..width];
            row.iter_mut().zip(gradient).for_each(|(row, value)| *row += value);
        }
    }
}

/// Adds the rows of a matrix to `sums`, the gradient of the bias.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
fn sum_columns(rows: &[f32], sums: &mut [f32]) {
    for row in rows.chunks_exact(sums.len()) {
        sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
    }
}

/// `clamp(x, 0, 1)²`.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
fn activate(sums: &mut [f32]) {
    sums.iter_mut().for_each(|x| *x = x.clamp(0.0, 1.0).powi(2));
}

/// Converts the gradient of activations to that of the sums: `d clamp(x, 0, 1)² / dx` is `2x`
/// inside the interval and 0 outside, and inside x is the square root of the activation.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
fn activation_gradients(activations: &[f32], gradients: &mut [f32]) {
    for (gradient, &activation) in gradients.iter_mut().zip(activations) {
        *gradient *= if activation < 1.0 { 2.0 * activation.sqrt() } else { 0.0 };
    }
}

/// Receives a table's gradient from backward passes.
pub type GradientSink = Arc<Mutex<RowGradients>>;

/// Gradient of an embedding table, only for the rows that some position used.
#[derive(Debug)]
pub struct RowGradients {
    width: usize,
    values: Vec<f32>,
    touched: Vec<bool>,
    rows: Vec<u32>,
}

impl RowGradients {
    /// An empty gradient for a table of `rows` x `width`.
    pub fn new(rows: usize, width: usize) -> Self {
        let values = vec![0.0; rows * width];
        Self { width, values, touched: vec![false; rows], rows: Vec::new() }
    }

    /// Passes the gradient of every row that has one to `visit`, lowest row first, and clears the
    /// gradients.
    pub fn drain(&mut self, mut visit: impl FnMut(usize, &mut [f32])) {
        self.rows.sort_unstable();
        for row in self.rows.drain(..).map(|row| row as usize) {
            let gradient = &mut self.values[row * self.width..][..self.width];
            visit(row, gradient);
            gradient.fill(0.0);
            self.touched[row] = false;
        }
    }

    /// The rows that have a gradient, each once, in any order.
    pub fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// All gradients (rows x width); those of the other rows are 0.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// Takes out all gradients (rows x width), until [`Self::put_back`]. Then no row has a
    /// gradient.
    pub fn take(&mut self) -> Vec<f32> {
        for row in self.rows.drain(..) {
            self.touched[row as usize] = false;
        }
        std::mem::take(&mut self.values)
    }

    /// Returns the buffer of [`Self::take`], zeroed.
    pub fn put_back(&mut self, values: Vec<f32>) {
        self.values = values;
    }

    /// Adds to the gradient of a row.
    pub fn add(&mut self, row: usize, gradient: &[f32]) {
        self.touch(row);
        let sums = &mut self.values[row * self.width..][..self.width];
        sums.iter_mut().zip(gradient).for_each(|(sum, value)| *sum += value);
    }

    /// Adds the gradient of each bag, a row of `gradients`, to all table rows in the bag.
    fn add_bags(&mut self, bags: &Bags, gradients: &[f32]) {
        bags.rows().iter().for_each(|&row| self.touch(row.into()));
        add_to_rows(bags, gradients, &mut self.values);
    }

    fn touch(&mut self, row: usize) {
        if !std::mem::replace(&mut self.touched[row], true) {
            self.rows.push(row as u32);
        }
    }
}

#[cfg(test)]
mod tests {
    use candle_core::Var;
    use candle_core::backprop::GradStore;

    use super::*;
    use crate::fused::tests::{self, wave};

    const ROWS: usize = 9;
    const WIDTH: usize = 4;

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
        tests::check(name, found, expected, 1e-5)
    }

    fn gradient(store: &GradStore, variable: &Var) -> Tensor {
        store.get(variable).expect("tracked").clone()
    }

    #[test]
    fn values_and_gradients_equal_those_of_candles_operations() -> Result<()> {
        let table = Var::from_tensor(&(wave(&[ROWS, WIDTH], 1.7)? / 3.0)?)?;
        let bias = Var::new(&[0.5f32, 0.1, 0.9, 0.3], &Device::Cpu)?;
        let gradients = wave(&[bags().len(), WIDTH], 0.9)?;
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
