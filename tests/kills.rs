//! Runs of the trainer that are killed at random times and continued.

use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use crate::binary;

/// Default number of kills; the environment variable `AZIMUTH_KILLS` sets another.
const KILLS: usize = 20;

/// Starts a command of the trainer repeatedly and kills each run at a different time, until all
/// kills are used. The output, a file with the given extension, must equal that of a run without
/// kills. At the end, `folder` must contain only the outputs and, for each of them, the files whose
/// extensions are in `beside`. A run that was killed after its last write may also leave its locks.
pub fn kill_and_continue(
    arguments: &[&str],
    extension: &str,
    beside: &[&str],
    folder: &Path,
) -> Result<()> {
    let run = |out: &Path| -> Result<Command> {
        let mut command = Command::new(binary("azimuth-train")?);
        command.args(arguments).arg("--out").arg(out).stdout(Stdio::null()).stderr(Stdio::piped());
        Ok(command)
    };
    let limit = std::env::var("AZIMUTH_KILLS").map_or(Ok(KILLS), |number| number.parse())?;
    let began = Instant::now();
    let straight = folder.join("straight").with_extension(extension);
    ensure!(run(&straight)?.output()?.status.success(), "the run without kills failed");
    let (took, expected) = (began.elapsed(), std::fs::read(&straight)?);
    let (mut kills, mut continued, mut starts, mut number) = (0, 0, 0u32, 0);
    let mut killed_at_the_end = Vec::new();
    while kills < limit {
        let out = folder.join(format!("killed-{number}")).with_extension(extension);
        let mut finished = false;
        while !finished {
            let mut child = run(&out)?.spawn()?;
            // The times are spread over the whole run, and no two are equal.
            starts += 1;
            let moment = took.mul_f64((f64::from(starts) * 0.618_034).fract());
            let asked = Instant::now();
            while asked.elapsed() < moment && child.try_wait()?.is_none() {
                std::thread::sleep(Duration::from_millis(1));
            }
            let kill = child.try_wait()?.is_none() && kills < limit;
            if kill {
                child.kill()?;
                kills += 1;
            }
            let status = child.wait()?;
            // On Windows, a killed process has an exit code, too.
            let killed = kill && (cfg!(windows) || status.code().is_none());
            let at_the_end = killed && is_complete(&out);
            if at_the_end {
                killed_at_the_end.push(format!("killed-{number}"));
            }
            finished = status.success() || at_the_end;
            let mut errors = String::new();
            child.stderr.take().context("no errors")?.read_to_string(&mut errors)?;
            ensure!(status.success() || killed, "it failed: {errors}");
            continued += usize::from(errors.contains("continuing"));
        }
        ensure!(std::fs::read(&out)? == expected, "other bytes after {kills} kills");
        number += 1;
    }
    ensure!(continued > 0, "no run continued where another was killed");
    let outputs = number + 1;
    let names = std::fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name().into_string().ok()));
    let may_stay = |name: &String| {
        let (output, extension) = name.split_once('.').unwrap_or_default();
        extension.ends_with(".lock") && killed_at_the_end.iter().any(|killed| killed == output)
    };
    let names = names.collect::<Result<Vec<_>>>()?.into_iter().flatten();
    let names: Vec<String> = names.filter(|name| !may_stay(name)).collect();
    let expected = outputs * (1 + beside.len());
    let known = |name: &String| {
        let (_, known) = name.split_once('.').unwrap_or_default();
        known == extension || beside.contains(&known)
    };
    ensure!(
        names.len() == expected && names.iter().all(known),
        "files beside the outputs: {names:?}"
    );
    Ok(())
}

/// Whether a killed run had made its last write: its output is there, and no journal to continue
/// from.
fn is_complete(out: &Path) -> bool {
    let mut journal = out.as_os_str().to_owned();
    journal.push(".journal");
    out.exists() && !Path::new(&journal).exists()
}
