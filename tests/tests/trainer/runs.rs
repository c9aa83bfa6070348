//! Training runs that are extended, interrupted, watched by TensorBoard, continued with other
//! options, or out of disk space.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use anyhow::{Context, Result, ensure};
use azimuth_network::weights::Weights;
use azimuth_tests::{GAMES, binary, names_in, python, text, trainer};
use serde_json::{Value, json};

/// Options of a short run of a small encoder.
const SHORT: [&str; 10] = [
    "--anchors",
    "64",
    "--sample",
    "200",
    "--validate-every",
    "4",
    "--accumulator",
    "128",
    "--features",
    "piece-square",
];

fn command(out: &Path, more: &[&str]) -> Vec<String> {
    let files = ["train", "--data", GAMES, "--out", &text(out)].map(str::to_owned);
    files.into_iter().chain([&SHORT[..], more].concat().into_iter().map(str::to_owned)).collect()
}

fn run(out: &Path, more: &[&str]) -> Result<Output> {
    azimuth_tests::run("azimuth-train", &command(out, more))
}

/// Runs the trainer to its end and returns its standard error.
fn said(out: &Path, more: &[&str]) -> Result<String> {
    let output = run(out, more)?;
    let said = String::from_utf8(output.stderr)?;
    ensure!(output.status.success(), "{said}");
    Ok(said)
}

/// The line of error of a command that fails.
fn refusal(output: Output) -> Result<String> {
    let said = String::from_utf8(output.stderr)?;
    ensure!(!output.status.success(), "not refused: {said}");
    let mut lines = said.lines().filter(|line| line.starts_with("azimuth-train: "));
    let line = lines.next().with_context(|| format!("no line of error: {said}"))?.to_owned();
    ensure!(lines.next().is_none() && said.ends_with(&format!("{line}\n")), "{said}");
    Ok(line)
}

/// The lines of a run's log.
fn log_of(out: &Path) -> Result<Vec<Value>> {
    let log = std::fs::read_to_string(out.with_extension("jsonl"))?;
    log.lines().map(|line| Ok(serde_json::from_str(line)?)).collect()
}

fn steps_of<'a>(lines: impl IntoIterator<Item = &'a Value>) -> Vec<Option<u64>> {
    lines.into_iter().map(|line| line["run"]["step"].as_u64()).collect()
}

fn validations_in_log(out: &Path) -> Result<Vec<Option<u64>>> {
    Ok(steps_of(log_of(out)?.iter().filter(|line| line["held_out"].is_object())))
}

#[test]
fn a_complete_run_goes_on_with_more_steps() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let [out, halted] =
        ["run", "halted"].map(|name| folder.path().join(name).with_extension("safetensors"));
    said(&out, &["--steps", "10"])?;
    let first = std::fs::read(&out)?;
    let words = said(&out, &["--steps", "10"])?;
    assert!(
        words.contains("the run of 10 steps was complete") && !words.contains("positions/s"),
        "{words}"
    );
    assert!(std::fs::read(&out)? == first, "a complete run changed");
    std::fs::copy(out.with_extension("checkpoint"), halted.with_extension("checkpoint"))?;
    let words = said(&out, &["--steps", "20"])?;
    let rate =
        "20 steps instead of 10: from here on the learning rate is that of a run of 20 steps";
    assert!(words.contains("continuing at step 10") && words.contains(rate), "{words}");
    assert_eq!(validations_in_log(&out)?, [4, 8, 12, 16].map(Some));
    assert!(std::fs::read(&out)? != first, "more steps changed nothing");
    let training = Weights::read(&out)?.metadata.training;
    assert_eq!(training["steps"], 20);
    assert_eq!(training["config"]["extended"], json!([{"done": 10, "steps": 10}]));

    // An extended run that is stopped continues to the same weights.
    said(&halted, &["--steps", "20", "--stop-after", "3"])?;
    let words = said(&halted, &["--steps", "20"])?;
    assert!(words.contains("continuing at step 13") && !words.contains("instead"), "{words}");
    assert!(std::fs::read(&halted)? == std::fs::read(&out)?);

    let line = refusal(run(&out, &["--steps", "15"])?)?;
    assert!(line.contains("--steps 20 (now 15);"), "{line}");
    Ok(())
}

#[test]
fn more_steps_than_early_stopping_allows_are_refused() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let out = folder.path().join("run.safetensors");
    let still = ["--learning-rate", "1e-30", "--patience", "1"];
    said(&out, &[&still[..], &["--steps", "40"]].concat())?;
    let line = refusal(run(&out, &[&still[..], &["--steps", "50"]].concat())?)?;
    assert!(line.contains("run.checkpoint': --patience ended its run at step 8"), "{line}");
    Ok(())
}

#[test]
fn other_options_than_those_of_the_checkpoint_are_named() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let out = folder.path().join("run.safetensors");
    said(&out, &["--steps", "9", "--stop-after", "2"])?;
    let other = ["--steps", "8", "--seed", "5", "--delta-equal", "0.02", "--no-mirror"];
    let line = refusal(run(&out, &other)?)?;
    let expected = format!(
        "azimuth-train: checkpoint '{}': its run has other options: --delta-equal 0.05 (now 0.02), \
         --no-mirror false (now true), --steps 9 (now 8), --seed 1 (now 5); give its options again, \
         or delete it to begin anew",
        out.with_extension("checkpoint").display()
    );
    let sorted = |line: &str| {
        let mut parts: Vec<String> =
            line.split([',', ';', ':']).map(|part| part.trim().to_owned()).collect();
        parts.sort();
        parts
    };
    assert_eq!(sorted(&line), sorted(&expected));

    let games = folder.path().join("games.pgn.zst");
    std::fs::write(&games, zstd::encode_all(&zstd::decode_all(&*std::fs::read(GAMES)?)?[..], 1)?)?;
    let mut arguments = command(&out, &["--steps", "9"]);
    arguments[2] = text(&games);
    let line = refusal(azimuth_tests::run("azimuth-train", &arguments)?)?;
    assert!(line.contains("options: --data games.pgn.zst (now with other content);"), "{line}");
    Ok(())
}

#[test]
fn tensorboard_reads_the_log() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let (out, runs) = (folder.path().join("space.safetensors"), folder.path().join("runs"));
    let to = text(&runs);
    let log = ["--log-every", "5", "--steps", "20", "--checkpoint-every", "6"];
    let events = [&["--tensorboard", &to][..], &log].concat();
    // The run has measured step 8 when it is continued from step 6.
    said(&out, &[&events[..], &["--stop-after", "9"]].concat())?;
    let late = std::fs::read(out.with_extension("checkpoint"))?;
    let early = folder.path().join("early.safetensors");
    said(&early, &["--steps", "20", "--stop-after", "6"])?;
    std::fs::copy(early.with_extension("checkpoint"), out.with_extension("checkpoint"))?;
    assert!(std::fs::read(out.with_extension("checkpoint"))? != late);
    said(&out, &events)?;
    let scalars: Value =
        serde_json::from_str(&python("tensorboard_events.py", &[&text(&runs.join("space"))])?)?;
    let log = log_of(&out)?;
    // Steps 4, 8, 12 and 16 are validations; the other lines have only the losses.
    assert_eq!(steps_of(&log), [4, 5, 8, 10, 12, 15, 16, 20].map(Some));
    assert_eq!(validations_in_log(&out)?, [4, 8, 12, 16].map(Some));
    for (tag, place) in [
        ("run/contrastive", "/run/contrastive"),
        ("run/learning_rate", "/run/learning_rate"),
        ("held_out/tau", "/held_out/tau"),
        ("held_out/decided/won", "/held_out/decided/won"),
    ] {
        let read = scalars[tag].as_array().with_context(|| format!("{tag}: {scalars}"))?;
        let lines: Vec<&Value> = log.iter().filter(|line| line.pointer(place).is_some()).collect();
        assert_eq!(read.len(), lines.len(), "{tag}: {read:?}");
        for (scalar, line) in read.iter().zip(lines) {
            assert_eq!(scalar[0], line["run"]["step"]);
            let value = |value: Option<&Value>| value.and_then(Value::as_f64).unwrap_or(f64::NAN);
            let (read, logged) = (value(scalar.get(1)), value(line.pointer(place)));
            assert!((read - logged).abs() < 1e-6 * logged.abs().max(1.0), "{tag}: {read} {logged}");
        }
    }
    Ok(())
}

#[cfg(unix)]
mod unix {
    use std::time::{Duration, Instant};

    use super::*;

    /// Longest wait for a run's first checkpoint, or for its end.
    const PATIENCE: Duration = Duration::from_secs(120);

    /// Restores the default effect of Ctrl-C, which a shell's background jobs ignore, and starts a
    /// program.
    const RECEIVE: &str = "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); \
                           os.execv(sys.argv[1], sys.argv[1:])";

    #[test]
    fn ctrl_c_writes_a_checkpoint_and_says_how_to_go_on() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let out = folder.path().join("run.safetensors");
        let endless = ["--steps", "100000000", "--checkpoint-every", "1h"];
        let mut child = Command::new("python3")
            .args(["-c", RECEIVE, &text(&binary("azimuth-train")?)])
            .args(command(&out, &endless))
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()?;
        // The log has an entry, so the first steps are done.
        let began = Instant::now();
        while validations_in_log(&out).map_or(0, |steps| steps.len()) == 0 {
            ensure!(began.elapsed() < PATIENCE, "no step is done");
            std::thread::sleep(Duration::from_millis(20));
        }
        assert!(!out.with_extension("checkpoint").exists());
        Command::new("kill").args(["-INT", &child.id().to_string()]).status()?;
        let began = Instant::now();
        while child.try_wait()?.is_none() {
            ensure!(began.elapsed() < PATIENCE, "Ctrl-C does not end it");
            std::thread::sleep(Duration::from_millis(20));
        }
        let line = refusal(child.wait_with_output()?)?;
        let step = line.strip_prefix("azimuth-train: stopped at step ").and_then(|rest| {
            rest.strip_suffix(" by Ctrl-C; the same command continues from there")
        });
        let step = step.with_context(|| line.clone())?;
        let more = [&endless[..], &["--stop-after", "1"]].concat();
        let words = said(&out, &more)?;
        assert!(words.contains(&format!("continuing at step {step} of")), "{words}");
        assert_eq!(names_in(folder.path())?, ["run.checkpoint", "run.jsonl", "run.toml"]);
        Ok(())
    }

    /// Runs the trainer with a limit for the size of a file, in KiB, as on a disk that is full.
    fn limited(kibibytes: u64, arguments: &[String]) -> Result<Output> {
        // A shell counts in units of 512 bytes.
        let script = format!("ulimit -f {}; exec \"$@\"", 2 * kibibytes);
        let mut shell = Command::new("sh");
        shell.args(["-c", &script, "sh"]).arg(binary("azimuth-train")?).args(arguments);
        Ok(shell.output()?)
    }

    #[test]
    fn a_full_disk_is_named_and_nothing_unfinished_remains() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let at = |name: &str| folder.path().join(name);
        let data = at("data.azd");
        trainer(&["data", GAMES, "--out", &text(&data)])?;
        let mini = text(&azimuth_tests::root().join("weights/mini.safetensors"));
        let full = |kibibytes: u64, arguments: &[&str], out: &Path| -> Result<()> {
            let arguments: Vec<String> = arguments.iter().map(|&word| word.to_owned()).collect();
            let line = refusal(limited(kibibytes, &arguments)?)?;
            assert!(line.contains(&format!("'{}'", out.display())), "{line}");
            assert!(line.contains("File too large"), "{line}");
            let mut names = names_in(folder.path())?;
            names.retain(|name| name != "data.azd");
            assert!(names.is_empty(), "{arguments:?} leaves {names:?}");
            Ok(())
        };
        let from = ["--data", &text(&data)];
        let out = at("embeddings.npy");
        let embed = ["embed", "--out", &text(&out), "--sample", "2000"];
        full(64, &[&embed[..], &from].concat(), &out)?;
        for name in ["games.csv", "games.pgn", "games.csv.zst"] {
            let out = at(name);
            full(4, &["data", &text(&data), "--out", &text(&out)], &out)?;
        }
        let out = at("model.onnx");
        let export = ["export", "--format", "onnx", "--weights", &mini, "--out", &text(&out)];
        full(64, &export, &out)?;
        let out = at("mates.safetensors");
        let export = ["export", "--direction", "mates", "--weights", &mini, "--out", &text(&out)];
        full(64, &[&export[..], &from, &["--sample", "50"]].concat(), &out)?;

        // The first file of a run that is too large is its checkpoint; the options stay, and the
        // log, in whole lines.
        let out = at("run.safetensors");
        let mut arguments = command(&out, &["--steps", "9"]);
        arguments[2] = text(&data);
        let line = refusal(limited(64, &arguments)?)?;
        assert!(line.contains("run.checkpoint': File too large"), "{line}");
        assert_eq!(validations_in_log(&out)?, [4, 8].map(Some));
        for kept in ["jsonl", "toml"] {
            std::fs::remove_file(out.with_extension(kept))?;
        }
        assert_eq!(std::fs::read_dir(folder.path())?.count(), 1);
        Ok(())
    }
}
