//! Training by ranks under `mpirun`: the weights are those of one process, a killed rank ends the
//! run, and any number of ranks continues it. Without `mpirun` on the `PATH` nothing is tested.
#![cfg(feature = "mpi")]

use std::path::Path;
use std::process::{Command, Output, Stdio};

use anyhow::{Context, Result, ensure};

const PROGRAM: &str = env!("CARGO_BIN_EXE_azimuth-train");
const GAMES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/games.pgn.zst");

/// Options of a short run whose weights depend on everything that ranks exchange.
const SPARSE: &str = "--anchors 64 --sample 200 --parts 4 --clip 5 --heads 2";

/// The same of a small transformer.
const TRANSFORMER: &str = "--encoder mini --layers 1 --hidden 32 --heads 2 --mlp 32 --anchors 16 \
                           --sample 50 --parts 4 --positives 1";

/// A training run of `ranks` processes, or of one without `mpirun`.
fn command(ranks: Option<usize>, out: &Path, more: &str) -> Command {
    let mut command = match ranks {
        None => Command::new(PROGRAM),
        Some(ranks) => {
            let mut command = Command::new("mpirun");
            command.args(["-q", "--oversubscribe", "-n", &ranks.to_string(), PROGRAM]);
            // Containers often run tests as root.
            for name in ["OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] {
                command.env(name, "1");
            }
            command
        }
    };
    command.args(["train", "--data", GAMES, "--out"]).arg(out);
    command.args(more.split_whitespace());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// The text on standard error of a run that succeeds.
fn train(ranks: Option<usize>, out: &Path, more: &str) -> Result<String> {
    let output = command(ranks, out, more).output()?;
    let said = String::from_utf8(output.stderr)?;
    ensure!(output.status.success(), "{said}");
    Ok(said)
}

/// The lines of error of a run that fails.
fn lines(output: Output) -> Result<Vec<String>> {
    let said = String::from_utf8(output.stderr)?;
    ensure!(!output.status.success(), "it did not fail: {said}");
    let lines = said.lines().filter(|line| line.starts_with("azimuth-train: "));
    Ok(lines.map(str::to_owned).collect())
}

fn has_mpirun() -> bool {
    Command::new("mpirun").arg("--version").output().is_ok()
}

#[test]
fn ranks_write_the_weights_of_one_process() -> Result<()> {
    if !has_mpirun() {
        return Ok(());
    }
    for options in [SPARSE, TRANSFORMER] {
        let folder = tempfile::tempdir()?;
        let [alone, out] =
            ["alone.safetensors", "ranks.safetensors"].map(|n| folder.path().join(n));
        let options = format!("{options} --steps 12 --validate-every 5 --patience 9");
        train(None, &alone, &options)?;
        for count in [2, 4] {
            train(Some(count), &out, &format!("{options} --stop-after 7"))?;
            assert!(!out.exists(), "a stopped run writes no weights");
            let said = train(Some(6 - count), &out, &options)?;
            assert_eq!(said.matches("continuing at step 7").count(), 1, "{said}");
            assert!(std::fs::read(&out)? == std::fs::read(&alone)?, "{count} ranks, {options}");
            let log = std::fs::read_to_string(out.with_extension("jsonl"))?;
            // At steps 5 and 10, and at the end.
            assert_eq!(log.matches("held_out").count(), 3, "{log}");
            // Another line for each of the other steps.
            assert_eq!(log.lines().count(), 12, "{log}");
            std::fs::remove_file(out.with_extension("checkpoint"))?;
            std::fs::remove_file(&out)?;
        }
    }
    Ok(())
}

#[test]
fn a_rank_that_fails_ends_all_with_a_line() -> Result<()> {
    if !has_mpirun() {
        return Ok(());
    }
    let folder = tempfile::tempdir()?;
    let out = folder.path().join("space.safetensors");
    let lines = lines(command(Some(3), &out, &format!("{SPARSE} --steps 9")).output()?)?;
    let reason = "--parts 4: 3 ranks need a multiple of 3, so that each has equally many";
    assert!(!lines.is_empty() && lines.iter().all(|line| line.ends_with(reason)), "{lines:?}");
    Ok(())
}

#[cfg(target_os = "linux")]
#[test]
fn a_killed_rank_ends_the_run_and_another_number_continues_it() -> Result<()> {
    use std::thread::sleep;
    use std::time::{Duration, Instant};

    if !has_mpirun() {
        return Ok(());
    }
    let folder = tempfile::tempdir()?;
    let [alone, out] = ["alone.safetensors", "ranks.safetensors"].map(|n| folder.path().join(n));
    let options = format!("{SPARSE} --steps 400 --checkpoint-every 50");
    let run = command(Some(2), &out, &options).spawn()?;
    let began = Instant::now();
    while !out.with_extension("checkpoint").exists() {
        ensure!(began.elapsed() < Duration::from_secs(100), "no checkpoint");
        sleep(Duration::from_millis(5));
    }
    let children = format!("/proc/{0}/task/{0}/children", run.id());
    let children = std::fs::read_to_string(children)?;
    let last = children.split_whitespace().last().context("mpirun started no ranks")?;
    ensure!(Command::new("kill").args(["-KILL", last]).status()?.success());
    let lines = lines(run.wait_with_output()?)?;
    let reason =
        "another rank did not answer in 0.8 s; the same command continues from the checkpoint";
    assert!(lines.len() == 1 && lines[0].ends_with(reason), "{lines:?}");

    train(Some(4), &out, &options)?;
    train(None, &alone, &options)?;
    assert!(std::fs::read(&out)? == std::fs::read(&alone)?);
    Ok(())
}
