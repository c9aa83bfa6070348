//! The operations as CUDA kernels (`../kernels`): supported shapes, arguments and launches. On a
//! machine without a GPU, the tests run the same kernels, compiled for the CPU.

#[cfg(feature = "cuda")]
mod device;
#[cfg(test)]
mod emulated;
mod launch;
#[cfg(test)]
mod tests;

use candle_core::{DType, Device, Result, Tensor, bail};

use super::operations::{AddNorm, AddNormBack, Attention, Gelu, Residual, column_sums};
use crate::embedding_bag::Bags;
use launch::{Launch, THREADS, VECTOR_WIDTH};

/// Threads per warp.
const WARP: usize = 32;
/// Number of rows of a head that one warp processes.
const TILE: usize = 16;
/// The longest sequence whose weights fit into the kernels' registers.
const MAX_LENGTH: usize = 80;
/// Maximum number of warps for the gradient of a layer norm.
const MAX_WARPS: usize = 4096;

impl Launch<'_> {
    fn run(self, device: &Device) -> Result<()> {
        self.check()?;
        match device {
            #[cfg(feature = "cuda")]
            Device::Cuda(device) => device::launch(&self, device),
            #[cfg(test)]
            Device::Cpu => emulated::launch(&self),
            _ => bail!("{}: no device for it", self.name),
        }
    }
}

/// Maximum shared memory of a block, in bytes.
fn max_shared_memory(device: &Device) -> Result<usize> {
    match device {
        #[cfg(feature = "cuda")]
        Device::Cuda(device) => device::max_shared_memory(device),
        _ => Ok(256 << 10),
    }
}

/// Sizes of an attention.
struct Shape {
    batch: usize,
    length: usize,
    heads: usize,
    head: usize,
    /// Bytes of a value.
    size: usize,
}

impl Shape {
    fn of(packed: &Tensor, heads: usize) -> Result<Self> {
        let (batch, length, width) = packed.dims3()?;
        let size = packed.dtype().size_in_bytes();
        Ok(Self { batch, length, heads, head: width / 3 / heads, size })
    }

    fn padded(&self) -> usize {
        self.length.next_multiple_of(TILE)
    }

    /// Bytes of a matrix with one head's rows.
    fn rows(&self) -> usize {
        self.padded() * (self.head * self.size + 16)
    }

    /// Bytes of the scores and of the tile of all warps.
    fn scores(&self) -> usize {
        self.padded() * (self.padded() + 4 + TILE) * size_of::<f32>()
    }

    fn shared(&self) -> usize {
        3 * self.rows() + self.scores()
    }

    fn shared_back(&self) -> usize {
        let weights = self.padded() * (self.padded() + 8) * self.size;
        4 * self.rows() + 2 * weights + self.scores()
    }

    fn fits(&self, shared: usize, device: &Device) -> Result<bool> {
        // The y dimension of a grid is limited to 65,535.
        let sizes =
            self.head.is_multiple_of(TILE) && self.length <= MAX_LENGTH && self.batch < 1 << 16;
        Ok(sizes && shared <= max_shared_memory(device)?)
    }

    fn launch<'a>(&self, operation: &str, dtype: DType, shared: usize) -> Result<Launch<'a>> {
        let launch = Launch::new(operation, dtype)?.grid(self.heads, self.batch);
        Ok(launch.block(self.padded() / TILE * WARP).shared(shared))
    }
}

pub fn takes_attention(packed: &Tensor, heads: usize) -> Result<bool> {
    let shape = Shape::of(packed, heads)?;
    shape.fits(shape.shared(), packed.device())
}

pub fn takes_attention_back(packed: &Tensor, heads: usize) -> Result<bool> {
    let shape = Shape::of(packed, heads)?;
    shape.fits(shape.shared_back(), packed.device())
}

pub fn attention(Attention { packed, bias, heads, mask }: Attention<'_>) -> Result<Tensor> {
    let shape = Shape::of(packed, heads)?;
    let [packed, bias] = aligned([packed, bias])?;
    let mixed = empty((shape.batch, shape.length, heads * shape.head), &packed)?;
    let launch = shape.launch("attention", packed.dtype(), shape.shared())?;
    let launch = launch.tensors(&[&packed, &bias, &mixed]);
    let launch = launch.sizes(&[shape.length, heads, shape.head]).mask(mask);
    launch.run(packed.device())?;
    Ok(mixed)
}

pub fn attention_back(input: Attention<'_>, gradient: &Tensor) -> Result<Tensor> {
    let Attention { packed, bias, heads, mask } = input;
    let shape = Shape::of(packed, heads)?;
    let [packed, bias, gradient] = aligned([packed, bias, gradient])?;
    let slopes = empty(packed.shape(), &packed)?;
    let launch = shape.launch("attention_back", packed.dtype(), shape.shared_back())?;
    let launch = launch.tensors(&[&packed, &bias, &gradient, &slopes]);
    let launch = launch.sizes(&[shape.length, heads, shape.head]).mask(mask);
    launch.run(packed.device())?;
    Ok(slopes)
}

/// Whether the row width is a multiple of the four values that a thread processes.
pub fn takes_rows(x: &Tensor) -> Result<bool> {
    Ok(x.dims2()?.1.is_multiple_of(4))
}

pub fn embed(ids: &Tensor, table: &Tensor, positional: &Tensor) -> Result<Tensor> {
    let ((batch, length), width) = (ids.dims2()?, table.dim(1)?);
    let [ids, table, positional] = aligned([ids, table, positional])?;
    let out = empty((batch * length, width), &table)?;
    let (fours, launch) = elementwise("embed", &out)?;
    let launch = launch.tensors(&[&ids, &table, &positional, &out]);
    launch.sizes(&[fours, length, width]).run(table.device())?;
    Ok(out)
}

pub fn gelu(Gelu { x, bias, mask }: Gelu<'_>) -> Result<Tensor> {
    let [x, bias] = aligned([x, bias])?;
    let out = empty(x.shape(), &x)?;
    let (fours, launch) = elementwise("gelu", &x)?;
    let launch = launch.tensors(&[&x, &bias, &out]);
    launch.sizes(&[fours, bias.elem_count()]).mask(mask).run(x.device())?;
    Ok(out)
}

pub fn gelu_back(Gelu { x, bias, mask }: Gelu<'_>, gradient: &Tensor) -> Result<Tensor> {
    let [x, bias, gradient] = aligned([x, bias, gradient])?;
    let slopes = empty(x.shape(), &x)?;
    let (fours, launch) = elementwise("gelu_back", &x)?;
    let launch = launch.tensors(&[&x, &bias, &gradient, &slopes]);
    launch.sizes(&[fours, bias.elem_count()]).mask(mask).run(x.device())?;
    Ok(slopes)
}

/// A launch with one thread per four values. Fails for more than `u32::MAX` values: the kernels
/// count values in 32 bits.
fn elementwise<'a>(operation: &str, x: &Tensor) -> Result<(usize, Launch<'a>)> {
    let values = x.elem_count();
    if values > u32::MAX as usize {
        bail!("{operation}: {values} values are too many; compute fewer positions at a time");
    }
    let fours = values / 4;
    let blocks = fours.div_ceil(THREADS).min(1 << 20);
    Ok((fours, Launch::new(operation, x.dtype())?.grid(blocks, 1)))
}

pub fn takes_norm(x: &Tensor) -> Result<bool> {
    let width = x.dims2()?.1;
    Ok(width.is_multiple_of(4) && width <= 8 * 4 * WARP)
}

/// The kernel whose warps hold a row in registers. The row is padded to a power of two times 128
/// columns.
fn of_rows<'a>(operation: &str, x: &Tensor) -> Result<Launch<'a>> {
    let chunks = x.dims2()?.1.div_ceil(4 * WARP).next_power_of_two();
    Launch::new(&format!("{operation}_{chunks}"), x.dtype())
}

pub fn add_norm(Residual { x, branch, norm, mask }: Residual<'_>) -> Result<Tensor> {
    let (rows, width) = x.dims2()?;
    let AddNorm { bias, weight, shift } = norm;
    let [x, branch, bias, weight, shift] = aligned([x, branch, bias, weight, shift])?;
    let out = empty(x.shape(), &x)?;
    let launch = of_rows("add_norm", &x)?.grid(rows.div_ceil(THREADS / WARP), 1);
    let launch = launch.tensors(&[&x, &branch, &bias, &weight, &shift, &out]);
    launch.sizes(&[rows, width]).mask(mask).run(x.device())?;
    Ok(out)
}

pub fn add_norm_back(input: Residual<'_>, gradient: &Tensor) -> Result<AddNormBack> {
    let Residual { x, branch, norm: AddNorm { bias, weight, .. }, mask } = input;
    let (rows, width) = x.dims2()?;
    let [x, branch, bias, weight, gradient] = aligned([x, branch, bias, weight, gradient])?;
    let x_slopes = empty(x.shape(), &x)?;
    // Without dropout both gradients are equal.
    let branch_slopes = if mask.is_none() { x_slopes.clone() } else { empty(x.shape(), &x)? };
    let blocks = rows.min(MAX_WARPS).div_ceil(THREADS / WARP);
    let parts = (blocks * THREADS / WARP, 2 * width);
    // SAFETY: the kernel writes every value.
    let parts = unsafe { Tensor::empty(parts, DType::F32, x.device())? };
    let launch = of_rows("add_norm_back", &x)?.grid(blocks, 1);
    let launch = launch.tensors(&[&x, &branch, &bias, &weight, &gradient]);
    let launch = launch.tensors(&[&x_slopes, &branch_slopes, &parts]);
    launch.sizes(&[rows, width]).mask(mask).run(x.device())?;
    let sums = column_sums(&parts)?.to_dtype(x.dtype())?;
    Ok(AddNormBack {
        x: x_slopes,
        branch: branch_slopes,
        weight: sums.narrow(0, 0, width)?,
        shift: sums.narrow(0, width, width)?,
    })
}

/// Whether the feature-sum kernel supports a table: f32, with a multiple of 128 columns.
pub fn takes_sums(table: &Tensor) -> Result<bool> {
    Ok(table.dtype() == DType::F32 && table.dim(1)?.is_multiple_of(4 * WARP))
}

/// One block per bag and one thread per four columns, at most [`THREADS`].
fn per_bag<'a>(operation: &str, bags: &Bags, width: usize) -> Result<Launch<'a>> {
    let launch = Launch::new(operation, DType::F32)?.grid(bags.len(), 1);
    Ok(launch.block((width / 4).min(THREADS)))
}

pub fn activated_sums(table: &Tensor, bias: &Tensor, bags: &Bags) -> Result<Tensor> {
    let width = table.dim(1)?;
    let [table, bias] = aligned([table, bias])?;
    let out = empty((bags.len(), width), &table)?;
    let [rows, ends] = bags.on_device(table.device())?;
    let launch = per_bag("activated_sums", bags, width)?;
    let launch = launch.tensors(&[&table, &bias, &rows, &ends, &out]);
    launch.sizes(&[width]).run(table.device())?;
    Ok(out)
}

pub fn activated_sums_back(
    activations: &Tensor,
    gradient: &Tensor,
    bags: &Bags,
    rows: usize,
) -> Result<(Tensor, Tensor)> {
    let width = activations.dim(1)?;
    let [activations, gradient] = aligned([activations, gradient])?;
    let table = Tensor::zeros((rows, width), DType::F32, activations.device())?;
    let bias = Tensor::zeros(width, DType::F32, activations.device())?;
    let [in_bags, ends] = bags.on_device(activations.device())?;
    let launch = per_bag("activated_sums_back", bags, width)?;
    let launch = launch.tensors(&[&activations, &gradient, &in_bags, &ends, &table, &bias]);
    launch.sizes(&[width]).run(activations.device())?;
    Ok((table, bias))
}

/// A tensor for a kernel to fill.
fn empty(shape: impl Into<candle_core::Shape>, like: &Tensor) -> Result<Tensor> {
    // SAFETY: every kernel writes all of its results.
    unsafe { Tensor::empty(shape, like.dtype(), like.device()) }
}

/// The tensors as kernels read them: contiguous, and aligned to [`VECTOR_WIDTH`] values.
fn aligned<const N: usize>(tensors: [&Tensor; N]) -> Result<[Tensor; N]> {
    let mut aligned = tensors.map(Tensor::clone);
    for tensor in &mut aligned {
        let layout = tensor.layout();
        if !layout.is_contiguous() || !layout.start_offset().is_multiple_of(VECTOR_WIDTH) {
            *tensor = tensor.force_contiguous()?;
        }
    }
    Ok(aligned)
}
