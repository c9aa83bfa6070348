//! The log of a stream: a line of JSON at an interval of steps.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde_json::json;

use super::place::Place;
use crate::loss::LossValues;

/// The log, and what happened since its last line.
pub struct Log {
    path: PathBuf,
    file: File,
    every: u64,
    since: Since,
}

/// Sums over some steps.
struct Since {
    began: Instant,
    /// Spent waiting for batches and rounds.
    waited: Duration,
    steps: u64,
    positions: u64,
    contrastive: f64,
    regression: f64,
}

impl Since {
    fn now() -> Self {
        Self {
            began: Instant::now(),
            waited: Duration::ZERO,
            steps: 0,
            positions: 0,
            contrastive: 0.0,
            regression: 0.0,
        }
    }
}

impl Log {
    /// Goes on with the log at `path`, a line every `every` steps.
    pub fn open(path: PathBuf, every: u64) -> Result<Self> {
        let file = OpenOptions::new().create(true).append(true).open(&path);
        let file = file.with_context(|| format!("cannot write '{}'", path.display()))?;
        Ok(Self { path, file, every, since: Since::now() })
    }

    /// Receives something that training waits for.
    pub fn wait<T>(&mut self, receive: impl FnOnce() -> T) -> T {
        let asked = Instant::now();
        let received = receive();
        self.since.waited += asked.elapsed();
        received
    }

    /// Counts a step; the run has done `step` of them and is at `place`. As every position is new, `found` are losses on
    /// positions that nothing was learnt from.
    pub fn step(
        &mut self,
        step: u64,
        place: Place,
        positions: u64,
        found: &LossValues,
    ) -> Result<()> {
        self.since.steps += 1;
        self.since.positions += positions;
        self.since.contrastive += f64::from(found.contrastive.to_scalar::<f32>()?);
        self.since.regression += f64::from(found.regression.to_scalar::<f32>()?);
        if self.since.steps < self.every {
            return Ok(());
        }
        let since = std::mem::replace(&mut self.since, Since::now());
        let (seconds, steps) = (since.began.elapsed().as_secs_f64(), since.steps as f64);
        let line = json!({
            "step": step,
            "round": place.round,
            "positions": place.positions,
            "contrastive": since.contrastive / steps,
            "regression": since.regression / steps,
            "rms": (since.regression / steps).sqrt(),
            "positions_per_second": (since.positions as f64 / seconds).round(),
            "waiting": since.waited.as_secs_f64() / seconds,
        });
        eprintln!("{line}");
        // One write, so that another process never reads half a line.
        let written = self.file.write_all(format!("{line}\n").as_bytes());
        written.with_context(|| format!("cannot write '{}'", self.path.display()))
    }
}
