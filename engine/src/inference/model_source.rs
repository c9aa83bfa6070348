//! From a weights file, or the embedded weights, to a worker.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Result;

use super::backend::{Backend, Precision};
use super::worker::Worker;
use crate::embedded_weights::Embedded;

/// The weights to load, and where to run their encoder.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelSource {
    /// The weights file; embedded weights where `None`.
    pub weights: Option<PathBuf>,
    /// Where the encoder runs.
    pub backend: Backend,
    /// The precision of its numbers.
    pub precision: Precision,
}

impl ModelSource {
    /// Starts a worker, for `embedded` weights where no file is named. Fails where the file cannot be
    /// read or the device cannot be had.
    pub fn start(
        &self,
        embedded: Embedded,
        notice: impl Fn(&str) + Send + Sync + 'static,
    ) -> Result<Worker> {
        let weights = embedded.or_read(self.weights.as_deref())?;
        let architecture = &weights.metadata.architecture;
        let (device, dtype) = self.backend.open(self.precision, architecture, &notice)?;
        Worker::start(Arc::new(weights), &device, dtype, notice)
    }
}
