//! Rows of a table in bags, as a device reads them.

use candle_core::{Device, Result, Tensor};

/// Which rows of a table are in which bag.
pub struct Bags {
    /// The rows of all bags, one bag after another (u32).
    pub(super) rows: Tensor,
    /// Where each bag ends among them (bags, u32).
    pub(super) ends: Tensor,
}

impl Bags {
    /// Hands bags over to a device: the rows of all, and where each of them ends.
    pub fn new(rows: Vec<u32>, ends: Vec<u32>, device: &Device) -> Result<Self> {
        let tensor = |values: Vec<u32>| {
            let count = values.len();
            Tensor::from_vec(values, count, device)
        };
        Ok(Self { rows: tensor(rows)?, ends: tensor(ends)? })
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.ends.elem_count()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
