//! Training runs that are extended, interrupted, watched by TensorBoard, continued with other
//! options, or out of disk space.

use anyhow::{Context, Result};
use azimuth_network::weights::Weights;
use azimuth_tests::{Folder, GAMES, notices, python, text};
use serde_json::{Value, json};

/// Options of a short run of a small encoder.
const SHORT: &str = "--anchors 64 --sample 200 --validate-every 4 --accumulator 128 \
                     --features piece-square";

/// The command of a run.
fn train(name: &str, more: &str) -> String {
    format!("train --data GAMES --out @{name}.safetensors {SHORT} {more}")
}

/// Runs the trainer to its end and returns its standard error.
fn said(folder: &Folder, name: &str, more: &str) -> Result<String> {
    notices(folder.run("azimuth-train", &train(name, more))?)
}

fn steps_of<'a>(lines: impl IntoIterator<Item = &'a Value>) -> Vec<Option<u64>> {
    lines.into_iter().map(|line| line["run"]["step"].as_u64()).collect()
}

fn validations_in_log(folder: &Folder, name: &str) -> Result<Vec<Option<u64>>> {
    let log = folder.json_lines(&format!("{name}.jsonl"))?;
    Ok(steps_of(log.iter().filter(|line| line["held_out"].is_object())))
}

#[test]
fn a_complete_run_goes_on_with_more_steps() -> Result<()> {
    let folder = Folder::new()?;
    let weights = |name: &str| std::fs::read(folder.at(&format!("{name}.safetensors")));
    said(&folder, "run", "--steps 10")?;
    let first = weights("run")?;
    let words = said(&folder, "run", "--steps 10")?;
    assert!(
        words.contains("the run of 10 steps was complete") && !words.contains("positions/s"),
        "{words}"
    );
    assert!(weights("run")? == first, "a complete run changed");
    std::fs::copy(folder.at("run.checkpoint"), folder.at("halted.checkpoint"))?;
    let words = said(&folder, "run", "--steps 20")?;
    let rate =
        "20 steps instead of 10: from here on the learning rate is that of a run of 20 steps";
    assert!(words.contains("continuing at step 10") && words.contains(rate), "{words}");
    assert_eq!(validations_in_log(&folder, "run")?, [4, 8, 12, 16].map(Some));
    assert!(weights("run")? != first, "more steps changed nothing");
    let training = Weights::read(&folder.at("run.safetensors"))?.metadata.training;
    assert_eq!(training["steps"], 20);
    assert_eq!(training["config"]["extended"], json!([{"done": 10, "steps": 10}]));

    // An extended run that is stopped continues to the same weights.
    said(&folder, "halted", "--steps 20 --stop-after 3")?;
    let words = said(&folder, "halted", "--steps 20")?;
    assert!(words.contains("continuing at step 13") && !words.contains("instead"), "{words}");
    assert!(weights("halted")? == weights("run")?);

    let line = folder.trainer_error(&train("run", "--steps 15"))?;
    assert!(line.contains("--steps 20 (now 15);"), "{line}");
    Ok(())
}

#[test]
fn other_options_than_those_of_the_checkpoint_are_named() -> Result<()> {
    let folder = Folder::new()?;
    said(&folder, "run", "--steps 9 --stop-after 2")?;
    let line = folder.trainer_error(&train("run", "--steps 9 --delta-equal 0.02"))?;
    let expected = format!(
        "azimuth-train: checkpoint '{}': its run has other options: --delta-equal 0.05 (now 0.02); \
         give its options again, or delete it to begin anew",
        folder.at("run.checkpoint").display()
    );
    assert_eq!(line, expected);

    let games = zstd::decode_all(&*std::fs::read(GAMES)?)?;
    folder.write("games.pgn.zst", zstd::encode_all(&games[..], 1)?)?;
    let other = train("run", "--steps 9").replace("GAMES", "@games.pgn.zst");
    let line = folder.trainer_error(&other)?;
    assert!(line.contains("options: --data games.pgn.zst (now with other content);"), "{line}");
    Ok(())
}

#[test]
fn tensorboard_reads_the_log() -> Result<()> {
    let folder = Folder::new()?;
    let log = "--tensorboard @runs --log-every 5 --steps 20 --checkpoint-every 6";
    // The run has measured step 8 when it is continued from step 6.
    said(&folder, "space", &format!("{log} --stop-after 9"))?;
    let late = std::fs::read(folder.at("space.checkpoint"))?;
    said(&folder, "early", "--steps 20 --stop-after 6")?;
    let early = std::fs::read(folder.at("early.checkpoint"))?;
    assert!(early != late);
    folder.write("space.checkpoint", early)?;
    said(&folder, "space", log)?;
    let events = python("tensorboard_events.py", &[&text(&folder.at("runs/space"))])?;
    let scalars: Value = serde_json::from_str(&events)?;
    let log = folder.json_lines("space.jsonl")?;
    // Steps 4, 8, 12 and 16 are validations; the other lines have only the losses.
    assert_eq!(steps_of(&log), [4, 5, 8, 10, 12, 15, 16, 20].map(Some));
    assert_eq!(validations_in_log(&folder, "space")?, [4, 8, 12, 16].map(Some));
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
    use std::process::{Command, Stdio};

    use azimuth_tests::{PATIENCE, binary, limited, trainer_refused, wait, wait_until};

    use super::*;

    /// Restores the default effect of Ctrl-C, which a shell's background jobs ignore, and starts a
    /// program.
    const RECEIVE: &str = "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); \
                           os.execv(sys.argv[1], sys.argv[1:])";

    #[test]
    fn ctrl_c_writes_a_checkpoint_and_says_how_to_go_on() -> Result<()> {
        let folder = Folder::new()?;
        let endless = "--steps 100000000 --checkpoint-every 1h";
        let mut child = Command::new("python3")
            .args(["-c", RECEIVE, &text(&binary("azimuth-train")?)])
            .args(folder.words(&train("run", endless))?)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()?;
        // The log has an entry, so the first steps are done.
        let is_logged = || validations_in_log(&folder, "run").is_ok_and(|steps| !steps.is_empty());
        wait_until("no step is done", is_logged)?;
        assert!(!folder.at("run.checkpoint").exists());
        Command::new("kill").args(["-INT", &child.id().to_string()]).status()?;
        wait(&mut child, PATIENCE)?.context("Ctrl-C does not end it")?;
        let line = trainer_refused(child.wait_with_output()?)?;
        let step = line.strip_prefix("azimuth-train: stopped at step ").and_then(|rest| {
            rest.strip_suffix(" by Ctrl-C; the same command continues from there")
        });
        let step = step.with_context(|| line.clone())?;
        let words = said(&folder, "run", &format!("{endless} --stop-after 1"))?;
        assert!(words.contains(&format!("continuing at step {step} of")), "{words}");
        assert_eq!(folder.names()?, ["run.checkpoint", "run.jsonl", "run.toml"]);
        Ok(())
    }

    #[test]
    fn a_full_disk_is_named_and_nothing_unfinished_remains() -> Result<()> {
        let folder = Folder::new()?;
        folder.trainer("data GAMES --out @data.azd")?;
        // Files may have this number of KiB.
        let full = |kibibytes: u64, line: &str| -> Result<String> {
            let mut command = limited(&format!("-f {}", 2 * kibibytes), "azimuth-train")?;
            trainer_refused(command.args(folder.words(line)?).output()?)
        };
        let mini = "--weights ROOT/weights/mini.safetensors";
        for (kibibytes, out, command) in [
            (64, "embeddings.npy", "embed --data @data.azd --sample 2000"),
            (4, "games.csv", "data @data.azd"),
            (4, "games.pgn", "data @data.azd"),
            (4, "games.csv.zst", "data @data.azd"),
            (64, "model.onnx", &format!("export --format onnx {mini}")),
            (
                64,
                "mates.safetensors",
                &format!("export --direction mates {mini} --data @data.azd --sample 50"),
            ),
        ] {
            let line = full(kibibytes, &format!("{command} --out @{out}"))?;
            assert!(line.contains(&format!("'{}'", folder.at(out).display())), "{line}");
            assert!(line.contains("File too large"), "{line}");
            assert_eq!(folder.names()?, ["data.azd"], "{command}");
        }

        // The first file of a run that is too large is its checkpoint; the options stay, and the
        // log, in whole lines.
        let line = full(64, &train("run", "--steps 9").replace("GAMES", "@data.azd"))?;
        assert!(line.contains("run.checkpoint': File too large"), "{line}");
        assert_eq!(validations_in_log(&folder, "run")?, [4, 8].map(Some));
        assert_eq!(folder.names()?, ["data.azd", "run.jsonl", "run.toml"]);
        Ok(())
    }
}
