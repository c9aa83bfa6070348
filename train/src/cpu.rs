//! Work on the CPU: on independent items in parallel, and on a tensor's values in place.

use std::cell::RefCell;
use std::panic::resume_unwind;
use std::thread;

use candle_core::{CpuStorage, InplaceOp1, Layout, Result, Tensor, bail};

/// The results of `work` on every item, in order. The calling thread processes the first.
pub fn side_by_side<T: Send, R: Send>(mut items: Vec<T>, work: impl Fn(T) -> R + Sync) -> Vec<R> {
    let work = &work;
    thread::scope(|scope| {
        let others = items.split_off(items.len().min(1)).into_iter();
        let threads: Vec<_> = others.map(|item| scope.spawn(move || work(item))).collect();
        let first = items.into_iter().map(work).collect::<Vec<_>>();
        let joined =
            threads.into_iter().map(|thread| thread.join().unwrap_or_else(|e| resume_unwind(e)));
        first.into_iter().chain(joined).collect()
    })
}

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
