//! The log of a run: a line of JSON for each measurement.

use std::fs::{self, File, OpenOptions};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use azimuth_network::replace_file::replace_file;
use serde_json::Value;

use super::append::append;
use super::events::Events;

/// A file of JSON lines, each with the run's step as `step` or `run.step`. TensorBoard's events may
/// be written with it.
pub struct Log {
    path: PathBuf,
    file: File,
    step: u64,
    events: Option<Events>,
}

impl Log {
    /// Opens the log at `path` of a run that has done `step` steps. Removes lines after that step:
    /// a killed run repeats the steps after its last checkpoint.
    pub fn open(path: &Path, step: u64) -> Result<Self> {
        let name = || format!("log '{}'", path.display());
        let before = match fs::read_to_string(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
            before => before.with_context(name)?,
        };
        let is_kept = |line: &&str| step > 0 && step_of(line).is_some_and(|of| of <= step);
        let kept: String = before.lines().filter(is_kept).map(|line| format!("{line}\n")).collect();
        if kept != before {
            replace_file(path, kept.as_bytes())?;
        }
        let file = OpenOptions::new().create(true).append(true).open(path).with_context(name)?;
        Ok(Self { path: path.to_owned(), file, step, events: None })
    }

    /// Also writes the numbers of its lines for TensorBoard, to a subfolder of `folder`. The
    /// subfolder has the name of `run`, a file or folder of the run, without the extension.
    pub fn tensorboard(self, folder: Option<&Path>, run: &Path) -> Result<Self> {
        let run = || run.file_stem().context("--tensorboard: the run has no name");
        let events = folder.map(|folder| Events::create(&folder.join(run()?), self.step));
        Ok(Self { events: events.transpose()?, ..self })
    }

    /// Adds a line.
    pub fn add(&mut self, line: &Value) -> Result<()> {
        let written = append(&mut self.file, format!("{line}\n").as_bytes());
        written.with_context(|| format!("log '{}'", self.path.display()))?;
        match (&mut self.events, step_in(line)) {
            (Some(events), Some(step)) => events.add(step, line),
            _ => Ok(()),
        }
    }
}

/// The step of a line; `None` if the line is incomplete.
fn step_of(line: &str) -> Option<u64> {
    step_in(&serde_json::from_str(line).ok()?)
}

fn step_in(line: &Value) -> Option<u64> {
    line["step"].as_u64().or_else(|| line["run"]["step"].as_u64())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn lines_after_the_checkpoint_go() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("run.jsonl");
        let mut log = Log::open(&path, 0)?;
        for step in [0, 10, 20] {
            log.add(&json!({"step": step}))?;
        }
        log.add(&json!({"run": {"step": 30}, "held_out": {"tau": 0.5}}))?;
        log.add(&json!({"run": {"step": 40}, "held_out": {"tau": 0.6}}))?;
        fs::write(&path, fs::read_to_string(&path)? + "{\"step\": 2")?;
        let mut log = Log::open(&path, 30)?;
        log.add(&json!({"step": 35}))?;
        let steps = || -> Result<Vec<Option<u64>>> {
            Ok(fs::read_to_string(&path)?.lines().map(step_of).collect())
        };
        assert_eq!(steps()?, [0, 10, 20, 30, 35].map(Some));
        Log::open(&path, 0)?;
        assert_eq!(steps()?, []);
        assert!(Log::open(&folder.path().join("none/run.jsonl"), 0).is_err());
        Ok(())
    }
}
