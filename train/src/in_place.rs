//! In-place changes of a tensor's values.

use std::cell::RefCell;

use candle_core::{CpuStorage, InplaceOp1, Layout, Result, Tensor, bail};

/// Runs `change` on the values of a contiguous f32 tensor on the CPU.
pub fn change_in_place(tensor: &Tensor, change: impl FnMut(&mut [f32])) -> Result<()> {
    tensor.inplace_op1(&Change(RefCell::new(change)))
}

struct Change<F>(RefCell<F>);

impl<F: FnMut(&mut [f32])> InplaceOp1 for Change<F> {
    fn name(&self) -> &'static str {
        "change-in-place"
    }

    fn cpu_fwd(&self, storage: &mut CpuStorage, layout: &Layout) -> Result<()> {
        let (CpuStorage::F32(values), Some((start, end))) = (storage, layout.contiguous_offsets())
        else {
            bail!("change-in-place: expected a contiguous f32 tensor");
        };
        (self.0.borrow_mut())(&mut values[start..end]);
        Ok(())
    }
}
