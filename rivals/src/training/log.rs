//! The log of a run: held-out metrics as they came, a line of JSON each.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result};
use azimuth_network::replace_file::replace_file;
use serde_json::{Value, json};

use super::checkpoint::Reached;

/// Held-out metrics as they came, a line of JSON each.
pub struct Log(File);

impl Log {
    /// A log that goes on after what was `reached`: a run that was killed may have written more.
    pub fn open(path: &Path, reached: Reached) -> Result<Self> {
        let name = || format!("log '{}'", path.display());
        let is_kept = |line: &&str| {
            let line: Option<Value> = serde_json::from_str(line).ok();
            let step = line.and_then(|line| line["step"].as_u64());
            reached.step > 0 && step.is_some_and(|step| step <= reached.step)
        };
        let before = std::fs::read_to_string(path).unwrap_or_default();
        let kept: String = before.lines().filter(is_kept).map(|line| format!("{line}\n")).collect();
        replace_file(path, kept.as_bytes())?;
        let file = OpenOptions::new().append(true).open(path);
        Ok(Self(file.with_context(name)?))
    }

    /// Adds what was measured, and the loss of the step before.
    pub fn add(
        &mut self,
        reached: Reached,
        loss: Option<f64>,
        metrics: &[(&'static str, f64)],
    ) -> Result<()> {
        let mut line = json!({"step": reached.step, "seconds": reached.seconds.round(), "training_loss": loss});
        for &(name, value) in metrics {
            line[name] = value.into();
        }
        writeln!(self.0, "{line}").context("log")
    }
}
