//! Starts a worker from a weights file or the embedded weights.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Result;

use super::backend::{Backend, Precision};
use super::worker::Worker;
use crate::embedded_weights::EmbeddedWeights;

/// The weights to load, and the device and precision of their encoder.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelSource {
    /// The weights file; if `None`, the embedded weights.
    pub weights: Option<PathBuf>,
    /// The device of the encoder.
    pub backend: Backend,
    /// The precision of the encoder.
    pub precision: Precision,
}

impl ModelSource {
    /// Starts a worker, with `embedded` weights if no file is named. Fails if the file cannot be
    /// read or the device cannot be opened.
    pub fn start(
        &self,
        embedded: EmbeddedWeights,
        notice: impl Fn(&str) + Send + Sync + 'static,
    ) -> Result<Worker> {
        let weights = embedded.or_read(self.weights.as_deref())?;
        let architecture = &weights.metadata.architecture;
        let (device, dtype) = self.backend.open(self.precision, architecture, &notice)?;
        Worker::start(Arc::new(weights), &device, dtype, notice)
    }
}
