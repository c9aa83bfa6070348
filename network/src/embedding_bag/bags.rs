//! Bags: lists of rows of a table.

#[cfg(any(feature = "cuda", test))]
use std::sync::OnceLock;

#[cfg(any(feature = "cuda", test))]
use candle_core::{Device, Result, Tensor};

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
