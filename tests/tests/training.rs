//! The trainer from games to weights: a stopped run continues to the same weights, every encoder
//! trains, and the metrics come out as documented.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, ensure};
use azimuth::weights::Weights;
use azimuth_tests::binary;

/// A few labelled games of Stockfish 15.1 against itself, with variations.
const GAMES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/data/games.pgn.zst");

fn trainer(arguments: &[&str]) -> Result<String> {
    let output = Command::new(binary("azimuth-train")?).args(arguments).output()?;
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    ensure!(output.status.success(), "{arguments:?}: {errors}");
    Ok(String::from_utf8(output.stdout)?)
}

fn train(folder: &Path, name: &str, more: &[&str]) -> Result<PathBuf> {
    let weights = folder.join(name);
    let out = weights.to_string_lossy();
    let mut arguments = vec!["train", "--data", GAMES, "--out", &out];
    arguments.extend(more);
    trainer(&arguments)?;
    Ok(weights)
}

#[test]
fn a_stopped_run_continues_to_the_same_weights() -> Result<()> {
    let folder = tempfile::tempdir()?;
    for (encoder, steps, stop, anchors) in [("sparse", "30", "13", "64"), ("mini", "4", "2", "8")] {
        let run = |name: &str, more: &[&str]| {
            let options =
                ["--encoder", encoder, "--steps", steps, "--anchors", anchors, "--sample", "200"];
            train(folder.path(), name, &[&options, more].concat())
        };
        let straight = run("straight.safetensors", &[])?;
        let stopped = run("stopped.safetensors", &["--stop-after", stop])?;
        assert!(!stopped.exists(), "a stopped run writes no weights");
        run("stopped.safetensors", &[])?;
        assert!(std::fs::read(&straight)? == std::fs::read(&stopped)?, "{encoder}");
        std::fs::remove_dir_all(folder.path())?;
        std::fs::create_dir(folder.path())?;
    }
    Ok(())
}

#[test]
fn training_teaches_and_eval_reports_it() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let metrics = |steps: &str| -> Result<serde_json::Value> {
        let name = format!("{steps}.safetensors");
        let options = ["--steps", steps, "--anchors", "128", "--warmup", "10"];
        let weights = train(folder.path(), &name, &options)?;
        assert!(Weights::read(&weights)?.metadata.training["config"]["seed"].is_u64());
        let path = weights.to_string_lossy();
        let printed = trainer(&["eval", "--weights", &path, "--data", GAMES, "--json"])?;
        Ok(serde_json::from_str(printed.lines().last().unwrap_or_default())?)
    };
    let (before, after) = (metrics("1")?, metrics("150")?);
    for key in ["tau", "spearman", "sibling", "r2", "ece", "positions"] {
        assert!(after[key].is_number(), "{key}: {after}");
    }
    let tau = |metrics: &serde_json::Value| metrics["tau"].as_f64().unwrap_or(f64::NAN);
    assert!(tau(&after) > tau(&before) + 0.1, "{before} {after}");
    Ok(())
}

#[test]
fn the_papers_sampling_and_sgd_train_too() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let options = [
        "--steps",
        "5",
        "--anchors",
        "16",
        "--positives",
        "5",
        "--optimizer",
        "sgd",
        "--regression",
        "0",
    ];
    Weights::read(&train(folder.path(), "paper.safetensors", &options)?)?;
    Ok(())
}

#[test]
fn a_checkpoint_of_another_run_is_refused() -> Result<()> {
    let folder = tempfile::tempdir()?;
    train(folder.path(), "run.safetensors", &["--steps", "9", "--stop-after", "2"])?;
    let error = train(folder.path(), "run.safetensors", &["--steps", "8"]).expect_err("refused");
    assert!(error.to_string().contains("belongs to another run"), "{error}");
    Ok(())
}

#[test]
fn bad_data_is_named() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let out = folder.path().join("w.safetensors");
    let out = out.to_string_lossy();
    let illegal = folder.path().join("illegal.pgn");
    std::fs::write(&illegal, "1. e4 { [%eval 0.1] } 1... Ke7 { [%eval 0.1] } *\n")?;
    let empty = folder.path().join("empty.pgn.zst");
    std::fs::write(&empty, "not zstd")?;
    for (path, part) in [
        (illegal, "game 1: move 'Ke7' is not legal"),
        (empty, "empty.pgn.zst"),
        (folder.path().join("none.pgn"), "none.pgn"),
    ] {
        let path = path.to_string_lossy();
        let error = trainer(&["train", "--data", &path, "--out", &out, "--steps", "1"])
            .expect_err("bad data");
        assert!(error.to_string().contains(part), "{error}");
    }
    Ok(())
}
