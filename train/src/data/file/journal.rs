//! The progress of a packing run, so that a resumed run writes the same bytes.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use azimuth_network::replace_file::{remove_unfinished, replace_file};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::description::{Description, Source};
use super::writer::WriterState;

/// The progress of a run.
#[derive(Clone, Serialize, Deserialize)]
pub struct Journal {
    /// The settings that determine the output; a journal is valid only for equal settings.
    pub job: Value,
    /// The description so far.
    pub description: Description,
    /// Index of the current input.
    pub input: usize,
    /// The description of the current source so far. Its `end` is the index of the first record
    /// that is not yet written.
    pub current: Option<Source>,
    /// The state of the writer.
    pub writer: WriterState,
}

impl Journal {
    /// The journal of a new run.
    pub fn new(job: Value) -> Self {
        let (description, writer) = (Description::new(), WriterState::default());
        Self { job, description, input: 0, current: None, writer }
    }

    /// Reads the journal of `out`; `None` if there is none.
    pub fn read(out: &Path) -> Result<Option<Self>> {
        let path = path(out);
        let name = || format!("journal '{}'", path.display());
        match fs::read(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            bytes => {
                Ok(Some(serde_json::from_slice(&bytes.with_context(name)?).with_context(name)?))
            }
        }
    }

    /// Writes the journal of `out` atomically.
    pub fn write(&self, out: &Path) -> Result<()> {
        replace_file(&path(out), &serde_json::to_vec(self)?)
    }

    /// Removes temporary journals of `out` that killed processes left. The caller must hold the
    /// lock on `out`.
    pub fn remove_unfinished(out: &Path) {
        remove_unfinished(&path(out));
    }

    /// Removes the journal of `out`.
    pub fn remove(out: &Path) -> Result<()> {
        let path = path(out);
        fs::remove_file(&path).with_context(|| format!("cannot remove '{}'", path.display()))
    }
}

fn path(out: &Path) -> PathBuf {
    let mut name = out.as_os_str().to_owned();
    name.push(".journal");
    name.into()
}
