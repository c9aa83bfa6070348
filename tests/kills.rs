//! Runs of the trainer that are killed at random times, or find the disk full, and are continued.

use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use azimuth_chess::position::STARTPOS;

use crate::{Folder, binary, limited, names_in};

/// Default number of kills; the environment variable `AZIMUTH_KILLS` sets another.
const KILLS: usize = 6;

/// A command of the trainer without its output.
pub struct Run {
    arguments: Vec<String>,
    /// The extension of its output.
    extension: &'static str,
    /// The extensions of the files that it leaves beside its output.
    beside: &'static [&'static str],
}

/// Numbers of interruptions and of finished outputs.
#[derive(Default)]
pub struct Counts {
    /// Kills.
    pub kills: usize,
    /// Runs that could not write a file.
    pub full_disks: usize,
    /// Runs that continued another.
    pub continued: usize,
    /// Outputs with the bytes of the run without interruptions.
    pub outputs: usize,
}

impl Run {
    /// Packs several files, which it writes to `inputs`.
    pub fn data(inputs: &Folder) -> Result<Self> {
        inputs.trainer("data GAMES --out @packed.azd --filter no-mate")?;
        inputs.trainer("data @packed.azd --out @most.csv.zst")?;
        let line = "data @most.csv.zst GAMES @packed.azd --commit-every 1ms";
        Ok(Self { arguments: inputs.words(line)?, extension: "azd", beside: &[] })
    }

    /// Labels walks from a position, which it writes to `inputs`.
    pub fn label(inputs: &Folder) -> Result<Self> {
        inputs.write("fens.txt", format!("{STARTPOS}\n"))?;
        let line = "label --engine STOCKFISH --fens @fens.txt --walks 1280 --plies 4 --depth 1 \
                    --engines 2 --commit-every 1ms";
        Ok(Self { arguments: inputs.words(line)?, extension: "azd", beside: &[] })
    }

    /// Trains a small encoder.
    pub fn train(inputs: &Folder) -> Result<Self> {
        let line = "train --data GAMES --steps 60 --anchors 64 --sample 200 --accumulator 128 \
                    --features piece-square --checkpoint-every 1";
        let beside = &["checkpoint", "jsonl", "toml"];
        Ok(Self { arguments: inputs.words(line)?, extension: "safetensors", beside })
    }

    /// Interrupts the command as [`Self::interrupt`] does, until all kills are used.
    pub fn kill_and_continue(&self) -> Result<()> {
        let limit = std::env::var("AZIMUTH_KILLS").map_or(Ok(KILLS), |number| number.parse())?;
        let counts = self.interrupt(false, |counts| counts.kills < limit)?;
        ensure!(counts.continued > 0, "no run continued where another was killed");
        Ok(())
    }

    /// Starts the command repeatedly and kills each run at a different time, while `goes_on`, which
    /// gets the numbers so far. With `full_disks`, every third run can only write files up to some
    /// size instead. The outputs must equal that of a run without interruptions, and only the files
    /// beside them may stay. A run that was killed after its last write may also leave its locks.
    pub fn interrupt(&self, full_disks: bool, goes_on: impl Fn(&Counts) -> bool) -> Result<Counts> {
        let folder = tempfile::tempdir()?;
        let straight = folder.path().join("out").with_extension(self.extension);
        let began = Instant::now();
        let output = self.command(&straight, None)?.output()?;
        ensure!(output.status.success(), "the run without kills failed");
        let (mut took, expected) = (began.elapsed(), std::fs::read(&straight)?);
        let (mut counts, mut starts) = (Counts::default(), 0u32);
        while goes_on(&counts) {
            let folder = tempfile::tempdir()?;
            let out = folder.path().join("out").with_extension(self.extension);
            let (mut finished, mut killed_at_the_end) = (false, false);
            while !finished {
                // The times are spread over the whole run, and no two are equal.
                starts += 1;
                let part = (f64::from(starts) * 0.618_034).fract();
                let largest = (full_disks && starts.is_multiple_of(3) && goes_on(&counts))
                    .then_some(expected.len() as f64 * part);
                let moment = if largest.is_some() { Duration::MAX } else { took.mul_f64(part) };
                let mut child = self.command(&out, largest)?.spawn()?;
                let asked = Instant::now();
                while asked.elapsed() < moment && child.try_wait()?.is_none() {
                    std::thread::sleep(Duration::from_millis(1));
                }
                let kill = child.try_wait()?.is_none() && goes_on(&counts);
                if kill {
                    child.kill()?;
                    counts.kills += 1;
                }
                let status = child.wait()?;
                // On Windows, a killed process has an exit code, too.
                let killed = kill && (cfg!(windows) || status.code().is_none());
                killed_at_the_end = killed && is_complete(&out);
                finished = status.success() || killed_at_the_end;
                let mut errors = String::new();
                child.stderr.take().context("no errors")?.read_to_string(&mut errors)?;
                let last = errors.lines().last().unwrap_or_default();
                let was_full = largest.is_some()
                    && status.code() == Some(1)
                    && last.contains("File too large");
                ensure!(status.success() || killed || was_full, "it failed: {errors}");
                let continued = errors.contains("continuing");
                // The machine has more or less other work than before: a run took longer, or was
                // killed before it could continue the one before.
                if status.success() && !continued {
                    took = asked.elapsed();
                } else if killed && !continued {
                    took = took.mul_f64(1.2);
                }
                counts.full_disks += usize::from(was_full);
                counts.continued += usize::from(continued);
            }
            let Counts { kills, full_disks, .. } = counts;
            let interruptions = format!("{kills} kills and {full_disks} full disks");
            ensure!(std::fs::read(&out)? == expected, "other bytes after {interruptions}");
            self.check_files(folder.path(), killed_at_the_end).context(interruptions)?;
            counts.outputs += 1;
        }
        Ok(counts)
    }

    /// Fails unless a folder has the output and the files beside it, and no others.
    fn check_files(&self, folder: &Path, locks_may_stay: bool) -> Result<()> {
        let mut names = names_in(folder)?;
        names.retain(|name| !(locks_may_stay && name.ends_with(".lock")));
        let extensions = self.beside.iter().chain([&self.extension]);
        let mut known: Vec<String> =
            extensions.map(|extension| format!("out.{extension}")).collect();
        known.sort_unstable();
        ensure!(names == known, "files beside the output: {names:?}");
        Ok(())
    }

    /// The command, which can write files up to the size `largest` in bytes.
    fn command(&self, out: &Path, largest: Option<f64>) -> Result<Command> {
        let mut command = match largest {
            None => Command::new(binary("azimuth-train")?),
            Some(bytes) => limited(&format!("-f {}", (bytes / 512.0).floor()), "azimuth-train")?,
        };
        command.args(&self.arguments).arg("--out").arg(out);
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        Ok(command)
    }
}

/// Whether a killed run had made its last write: its output is there, and no journal to continue
/// from.
fn is_complete(out: &Path) -> bool {
    let mut journal = out.as_os_str().to_owned();
    journal.push(".journal");
    out.exists() && !Path::new(&journal).exists()
}
