//! The log of a run: a line of JSON for each measurement, and the same numbers for TensorBoard.

use std::fs::{File, OpenOptions, create_dir_all};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};
use azimuth_network::replace_file::{read_if_exists, replace_file};
use prost::{Message, Oneof};
use serde_json::Value;

/// A file of JSON lines, each with the run's step as `step` or `run.step`. TensorBoard's events may
/// be written with it.
pub struct Log {
    path: PathBuf,
    file: File,
    events: Option<Events>,
}

impl Log {
    /// Opens the log at `path` of a run that has done `step` steps. Removes lines after that step:
    /// a killed run repeats the steps after its last checkpoint. With `tensorboard`, also writes the
    /// numbers of its lines for TensorBoard, to a subfolder of this folder that has the name of the
    /// log without its extension.
    pub fn open(path: &Path, step: u64, tensorboard: Option<&Path>) -> Result<Self> {
        let name = || format!("log '{}'", path.display());
        let before = read_if_exists(path).with_context(name)?.unwrap_or_default();
        let before = String::from_utf8(before).with_context(name)?;
        let is_kept = |line: &&str| step > 0 && step_of(line).is_some_and(|of| of <= step);
        let kept: String = before.lines().filter(is_kept).map(|line| format!("{line}\n")).collect();
        if kept != before {
            replace_file(path, kept.as_bytes())?;
        }
        let file = OpenOptions::new().create(true).append(true).open(path).with_context(name)?;
        let run = path.file_stem().unwrap_or_default();
        let events = tensorboard.map(|folder| Events::create(&folder.join(run), step));
        Ok(Self { path: path.to_owned(), file, events: events.transpose()? })
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

/// Appends `bytes` in a single write, so that readers see whole records only. If the disk is full,
/// no part of them remains.
fn append(file: &mut File, bytes: &[u8]) -> io::Result<()> {
    let before = file.metadata()?.len();
    let written = file.write_all(bytes);
    if written.is_err() {
        // An incomplete record is ignored when the file is read again.
        let _ = file.set_len(before);
    }
    written
}

/// An event file of one process.
pub struct Events {
    path: PathBuf,
    file: File,
}

impl Events {
    /// Starts a file in `folder` for a run that has done `step` steps. TensorBoard shows the folder
    /// as a run, and discards later steps of earlier files: a killed run repeats them.
    pub fn create(folder: &Path, step: u64) -> Result<Self> {
        create_dir_all(folder).with_context(|| format!("folder '{}'", folder.display()))?;
        // TensorBoard reads the files of a folder in the order of their names.
        let name = format!("events.out.tfevents.{:013}.{}", now().as_millis(), std::process::id());
        let path = folder.join(name);
        let file = OpenOptions::new().create(true).append(true).open(&path);
        let file = file.with_context(|| format!("events '{}'", path.display()))?;
        let mut events = Self { path, file };
        // TensorBoard reads session logs only in files of this version. Status 1, the start of a
        // session, makes it discard earlier events from this step on.
        events.write(0, Content::FileVersion("brain.Event:2".to_owned()))?;
        events.write(step + 1, Content::SessionLog(SessionLog { status: 1 }))?;
        Ok(events)
    }

    /// Adds the numbers of a line of the log, each under its path in it, such as `held_out/tau`.
    pub fn add(&mut self, step: u64, line: &Value) -> Result<()> {
        let mut values = Vec::new();
        collect_scalars("", line, &mut values);
        self.write(step, Content::Summary(Summary { values }))
    }

    fn write(&mut self, step: u64, content: Content) -> Result<()> {
        let event = Event {
            wall_time: now().as_secs_f64(),
            step: i64::try_from(step).context("a step beyond 2^63")?,
            content: Some(content),
        };
        // A record: length, checksum of the length, content, checksum of the content.
        let content = event.encode_to_vec();
        let length = (content.len() as u64).to_le_bytes();
        let [of_length, of_content] = [&length[..], &content].map(masked_checksum);
        let record = [&length[..], &of_length, &content, &of_content].concat();
        let written = append(&mut self.file, &record);
        written.with_context(|| format!("events '{}'", self.path.display()))
    }
}

/// Collects the numbers in `value`, whose path is `path`.
fn collect_scalars(path: &str, value: &Value, into: &mut Vec<Scalar>) {
    if let Value::Object(entries) = value {
        for (key, value) in entries.iter().filter(|(key, _)| *key != "step") {
            let inner = if path.is_empty() { key.clone() } else { format!("{path}/{key}") };
            collect_scalars(&inner, value, into);
        }
    } else if let Some(number) = value.as_f64() {
        into.push(Scalar { tag: path.to_owned(), simple_value: Some(number as f32) });
    }
}

/// The checksum in TensorFlow's form: rotated, plus a constant.
fn masked_checksum(bytes: &[u8]) -> [u8; 4] {
    crc32c::crc32c(bytes).rotate_right(15).wrapping_add(0xa282_ead8).to_le_bytes()
}

fn now() -> Duration {
    // If the clock is set before 1970, the time is 0.
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

#[derive(Clone, PartialEq, Message)]
struct Event {
    /// In seconds since 1970.
    #[prost(double, tag = "1")]
    wall_time: f64,
    #[prost(int64, tag = "2")]
    step: i64,
    #[prost(oneof = "Content", tags = "3, 5, 7")]
    content: Option<Content>,
}

#[derive(Clone, PartialEq, Oneof)]
enum Content {
    #[prost(string, tag = "3")]
    FileVersion(String),
    #[prost(message, tag = "5")]
    Summary(Summary),
    #[prost(message, tag = "7")]
    SessionLog(SessionLog),
}

#[derive(Clone, PartialEq, Message)]
struct Summary {
    #[prost(message, repeated, tag = "1")]
    values: Vec<Scalar>,
}

#[derive(Clone, PartialEq, Message)]
struct Scalar {
    #[prost(string, tag = "1")]
    tag: String,
    #[prost(float, optional, tag = "2")]
    simple_value: Option<f32>,
}

#[derive(Clone, PartialEq, Message)]
struct SessionLog {
    #[prost(int32, tag = "1")]
    status: i32,
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::json;

    use super::*;

    #[test]
    fn lines_after_the_checkpoint_go() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("run.jsonl");
        let mut log = Log::open(&path, 0, None)?;
        for step in [0, 10, 20] {
            log.add(&json!({"step": step}))?;
        }
        log.add(&json!({"run": {"step": 30}, "held_out": {"tau": 0.5}}))?;
        log.add(&json!({"run": {"step": 40}, "held_out": {"tau": 0.6}}))?;
        fs::write(&path, fs::read_to_string(&path)? + "{\"step\": 2")?;
        let mut log = Log::open(&path, 30, None)?;
        log.add(&json!({"step": 35}))?;
        let steps = || -> Result<Vec<Option<u64>>> {
            Ok(fs::read_to_string(&path)?.lines().map(step_of).collect())
        };
        assert_eq!(steps()?, [0, 10, 20, 30, 35].map(Some));
        Log::open(&path, 0, None)?;
        assert_eq!(steps()?, []);
        assert!(Log::open(&folder.path().join("none/run.jsonl"), 0, None).is_err());
        Ok(())
    }
}
