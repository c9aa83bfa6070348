//! Token embedding and positional embedding.

use candle_core::{Device, Result, Tensor};

use crate::tensor_slices::with_values;

pub fn embed(ids: &Tensor, table: &Tensor, positional: &Tensor) -> Result<Tensor> {
    let (count, width) = (ids.elem_count(), table.dim(1)?);
    let ids = ids.to_vec2::<u8>()?;
    let mut rows = Vec::with_capacity(count * width);
    with_values([table, positional], |[table, positional]| {
        for ids in &ids {
            for (&id, position) in ids.iter().zip(positional.chunks_exact(width)) {
                let row = &table[usize::from(id) * width..][..width];
                rows.extend(row.iter().zip(position).map(|(token, position)| token + position));
            }
        }
    })?;
    Tensor::from_vec(rows, (count, width), &Device::Cpu)
}
