//! What a killed run needs to go on to the same bytes.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use azimuth_network::replace_file::{remove_unfinished, replace_file};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::description::{Description, Source};
use super::writer::WriterState;

/// A run's place.
#[derive(Clone, Serialize, Deserialize)]
pub struct Journal {
    /// All that decides which bytes come out; a journal belongs to one of these.
    pub job: Value,
    /// The description as far as it goes.
    pub description: Description,
    /// The number of the input at work.
    pub input: usize,
    /// What is known of it; `end` is the first record that is not yet written.
    pub current: Option<Source>,
    /// Where the writing stands.
    pub writer: WriterState,
}

impl Journal {
    /// The beginning of a run.
    pub fn new(job: Value) -> Self {
        let (description, writer) = (Description::new(), WriterState::default());
        Self { job, description, input: 0, current: None, writer }
    }

    /// Reads the journal of `out`; `None` where there is none.
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

    /// Writes the journal of `out` in one step.
    pub fn write(&self, out: &Path) -> Result<()> {
        replace_file(&path(out), &serde_json::to_vec(self)?)
    }

    /// Removes what killed processes left of journals of `out`, which the caller has locked.
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
