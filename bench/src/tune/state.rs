//! The state of a tuning run, in a file from which the run continues.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use azimuth_network::replace_file::replace_file;
use serde::{Deserialize, Serialize};

use super::spsa::{Schedule, Tuned};

/// Approximate number of points per curve.
const POINTS: u64 = 200;

/// The state of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TuneState {
    /// The player and the openings; a run continues only with the same ones.
    pub player: String,
    pub book: String,
    pub seed: u64,
    pub schedule: Schedule,
    /// Number of completed iterations, each of two games.
    pub done: u64,
    pub parameters: Vec<Tuned>,
    /// Values at regular intervals, with the number of completed iterations.
    pub history: Vec<(u64, Vec<f64>)>,
}

impl TuneState {
    /// The run in the file, if the file exists; it must have the same initial state as `self`.
    pub fn or_in(self, path: &Path) -> Result<Self> {
        if !path.exists() {
            return Ok(self);
        }
        let name = || format!("tuning run '{}'", path.display());
        let text = std::fs::read_to_string(path).with_context(name)?;
        let found: Self = serde_json::from_str(&text).with_context(name)?;
        let begin = |state: &Self| {
            let parameters = state.parameters.iter();
            let parameters: Vec<Tuned> =
                parameters.map(|tuned| Tuned { value: tuned.first, ..tuned.clone() }).collect();
            Self { done: 0, history: Vec::new(), parameters, ..state.clone() }
        };
        ensure!(
            begin(&found) == begin(&self),
            "{}: it is of other settings; use those, or another --out",
            name()
        );
        Ok(found)
    }

    /// Records the values if a point of the curves is due.
    pub fn note(&mut self) {
        let between = (self.schedule.iterations / POINTS).max(1);
        let due = self.history.last().is_none_or(|(last, _)| self.done >= last + between);
        if due {
            let values = self.parameters.iter().map(|tuned| tuned.value).collect();
            self.history.push((self.done, values));
        }
    }

    /// Replaces the file.
    pub fn write(&self, path: &Path) -> Result<()> {
        replace_file(path, serde_json::to_string(self)?.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(player: &str) -> TuneState {
        let tuned = |name: &str| Tuned {
            name: name.to_owned(),
            first: 10.0,
            value: 10.0,
            step: 2.0,
            range: [0.0, 20.0],
        };
        TuneState {
            player: player.to_owned(),
            book: "book.epd".to_owned(),
            seed: 1,
            schedule: Schedule { iterations: 400, rate: 0.002 },
            done: 0,
            parameters: vec![tuned("a"), tuned("b")],
            history: Vec::new(),
        }
    }

    #[test]
    fn a_run_goes_on_where_it_was_and_only_as_it_began() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("tune.json");
        let mut run = state("nodes=100").or_in(&path)?;
        run.note();
        run.done = 7;
        run.parameters[1].value = 11.5;
        run.note();
        run.write(&path)?;
        assert_eq!(run.history.len(), 2);
        assert_eq!(state("nodes=100").or_in(&path)?, run);
        let error = state("nodes=200").or_in(&path).expect_err("another player").to_string();
        assert!(error.contains("other settings"), "{error}");
        std::fs::write(&path, "{")?;
        assert!(state("nodes=100").or_in(&path).is_err());
        Ok(())
    }
}
