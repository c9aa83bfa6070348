//! The trainer from games to weights: a stopped run continues to the same weights, every encoder
//! trains, and the metrics are as documented.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use azimuth_client::{Engine, PATIENCE};
use azimuth_network::axis::Direction;
use azimuth_network::weights::Weights;
use azimuth_tests::kills::Run;
use azimuth_tests::{GAMES, root, stockfish, text, trainer};
use serde_json::Value;

/// Half of the usual parameters, for tests that do not depend on them.
const SMALL: [&str; 2] = ["--accumulator", "128"];

fn train(folder: &Path, name: &str, more: &[&str]) -> Result<PathBuf> {
    train_on(GAMES, folder, name, more)
}

fn train_on(data: &str, folder: &Path, name: &str, more: &[&str]) -> Result<PathBuf> {
    let weights = folder.join(name);
    trainer(&[&["train", "--data", data, "--out", &text(&weights)], more].concat())?;
    Ok(weights)
}

/// The positions of the games in a CSV file, in which each is a separate family.
fn without_siblings(folder: &Path) -> Result<String> {
    let [dataset, csv] = ["games.azd", "positions.csv"].map(|name| text(&folder.join(name)));
    trainer(&["data", GAMES, "--out", &dataset])?;
    trainer(&["data", &dataset, "--out", &csv])?;
    Ok(csv)
}

fn export(checkpoint: &Path, out: &Path, stored: &str) -> Result<()> {
    let files = ["export", "--checkpoint", &text(checkpoint), "--out", &text(out)];
    let options = ["--stored", stored, "--data", GAMES, "--sample", "100"];
    trainer(&[&files[..], &options].concat()).map(drop)
}

/// The metrics that `eval` prints.
fn evaluated(options: &[&str]) -> Result<Value> {
    let printed = trainer(&[&["eval", "--json"], options].concat())?;
    Ok(serde_json::from_str(printed.lines().last().unwrap_or_default())?)
}

#[test]
fn a_stopped_run_continues_to_the_same_weights() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let kept = [&SMALL[..], &["--patience", "3", "--validate-every", "5"]].concat();
    for (encoder, steps, stop, anchors, own) in [
        ("sparse", "30", "13", "64", &SMALL[..]),
        ("sparse", "40", "18", "64", &kept[..]),
        ("mini", "4", "2", "8", &[]),
    ] {
        let run = |name: &str, more: &[&str]| {
            let options =
                ["--encoder", encoder, "--steps", steps, "--anchors", anchors, "--sample", "200"];
            train(folder.path(), name, &[&options, own, more].concat())
        };
        let straight = run("straight.safetensors", &[])?;
        let stopped = run("stopped.safetensors", &["--stop-after", stop])?;
        assert!(!stopped.exists(), "a stopped run writes no weights");
        let checkpoint = stopped.with_extension("checkpoint");
        let sizes = ["f32", "f16", "bf16"].map(|stored| {
            let out = folder.path().join(stored);
            export(&checkpoint, &out, stored)?;
            Weights::read(&out)?;
            Ok(std::fs::metadata(out)?.len())
        });
        let [whole, half, coarse]: [Result<u64>; 3] = sizes;
        let whole = whole? as f64;
        assert!([half?, coarse?].iter().all(|&size| (0.5..0.53).contains(&(size as f64 / whole))));
        run("stopped.safetensors", &[])?;
        assert!(std::fs::read(&straight)? == std::fs::read(&stopped)?, "{encoder}");
        std::fs::remove_dir_all(folder.path())?;
        std::fs::create_dir(folder.path())?;
    }
    Ok(())
}

#[test]
fn killed_training_continues_to_the_same_weights() -> Result<()> {
    Run::train().kill_and_continue()
}

#[test]
fn a_run_goes_on_where_its_checkpoint_is_taken() -> Result<()> {
    let [straight, here, there] = [(); 3].map(|()| tempfile::tempdir());
    let (straight, here, there) = (straight?, here?, there?);
    let run = |folder: &Path, more: &[&str]| -> Result<PathBuf> {
        let games = folder.join("games.pgn.zst");
        std::fs::copy(GAMES, &games)?;
        let options = ["--encoder", "mini", "--steps", "3", "--anchors", "8", "--sample", "100"];
        train_on(&text(&games), folder, "run.safetensors", &[&options, more].concat())
    };
    // The run stops by time, so its number of steps is arbitrary.
    run(here.path(), &["--stop-after", "100ms"])?;
    std::fs::rename(here.path().join("run.checkpoint"), there.path().join("run.checkpoint"))?;
    let moved = run(there.path(), &[])?;
    assert!(std::fs::read(run(straight.path(), &[])?)? == std::fs::read(moved)?);
    Ok(())
}

#[test]
fn a_run_begins_where_another_ended() -> Result<()> {
    let folder = tempfile::tempdir()?;
    for encoder in ["sparse", "mini"] {
        let sizes = ["--encoder", encoder, "--anchors", "8", "--sample", "100"];
        let run = |name: &str, more: &[&str]| train(folder.path(), name, &[&sizes, more].concat());
        let first = run(&format!("{encoder}-first.safetensors"), &["--steps", "3"])?;
        let from = text(&first);
        // At this rate the parameters hardly change.
        let still = ["--from", &from, "--steps", "1", "--learning-rate", "1e-30", "--seed", "2"];
        let second = run(&format!("{encoder}-second.safetensors"), &still)?;
        let (first, second) = (Weights::read(&first)?, Weights::read(&second)?);
        for (name, _) in first.parameters.iter() {
            let [first, second] = [&first, &second].map(|weights| weights.parameters.values(name));
            let (first, second) = (first?, second?);
            let is_same = |(a, b): (&f32, &f32)| (a - b).abs() < 1e-20;
            assert!(first.iter().zip(&second).all(is_same), "{encoder}: {name}");
            assert_eq!(first.len(), second.len());
        }
        let origin = &second.metadata.training["config"]["from"];
        assert_eq!(origin["name"], format!("{encoder}-first.safetensors"));
        let other = ["--from", &from, "--encoder", "small", "--steps", "1"];
        let error = train(folder.path(), "other.safetensors", &other).expect_err("another encoder");
        assert!(error.to_string().contains("its encoder is"), "{error}");
    }
    Ok(())
}

#[test]
fn a_space_is_read_along_each_of_its_directions() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let shipped = root().join("weights/beam.safetensors");
    let before = Weights::read(&shipped)?;
    let (won, lost) = (&before.axis.white_mean, &before.axis.black_mean);
    let difference: Vec<f32> = won.iter().zip(lost).map(|(won, lost)| won - lost).collect();
    for (name, direction, expected) in [
        ("mates", Direction::Mates, &difference),
        ("nearest", Direction::Nearest, won),
        ("fitted", Direction::Fitted, &before.axis.unit().to_vec()),
    ] {
        let out = folder.path().join(name);
        let export = ["export", "--weights", &text(&shipped), "--out", &text(&out)];
        let more = ["--direction", name, "--data", GAMES, "--sample", "500"];
        trainer(&[&export[..], &more].concat())?;
        let after = Weights::read(&out)?;
        assert_eq!(after.axis.direction(), direction);
        assert!((after.axis.cosine(expected) - length(expected)).abs() < 1e-5, "{name}");
        assert_eq!((&after.axis.white_mean, &after.axis.black_mean), (won, lost));
        // The calibration belongs to the new cosines: other knots, still from lost to won.
        assert_ne!(after.calibration.cosines(), before.calibration.cosines());
        let p = |cosine| after.calibration.win_probability(cosine);
        assert!(p(-0.9) < 0.2 && p(0.99) > 0.8, "{name}: {} {}", p(-0.9), p(0.99));
    }
    let out = text(&folder.path().join("none"));
    let error = trainer(&["export", "--weights", &text(&shipped), "--out", &out]);
    let error = error.expect_err("there is nothing to do").to_string();
    assert!(error.contains("--direction selects its axis"), "{error}");
    Ok(())
}

fn length(vector: &[f32]) -> f32 {
    vector.iter().map(|value| value * value).sum::<f32>().sqrt()
}

#[test]
fn training_teaches_and_eval_reports_it() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let metrics = |steps: &str| -> Result<Value> {
        let name = format!("{steps}.safetensors");
        let options = ["--steps", steps, "--anchors", "128", "--warmup", "10"];
        let weights = train(folder.path(), &name, &options)?;
        assert!(Weights::read(&weights)?.metadata.training["config"]["seed"].is_u64());
        evaluated(&["--weights", &text(&weights), "--data", GAMES])
    };
    let (before, after) = (metrics("1")?, metrics("150")?);
    for key in ["tau", "spearman", "sibling", "r2", "ece", "positions"] {
        assert!(after[key].is_number(), "{key}: {after}");
    }
    let tau = |metrics: &Value| metrics["tau"].as_f64().unwrap_or(f64::NAN);
    assert!(tau(&after) > tau(&before) + 0.1, "{before} {after}");
    Ok(())
}

#[test]
fn eval_measures_the_choice_of_a_move() -> Result<()> {
    // All moves of these positions are labelled.
    let data = text(&root().join("train/positions/beam-nodes.azd"));
    let measure = |options: &[&str]| -> Result<Value> {
        let metrics = evaluated(&[&["--data", &data, "--all"], options].concat())?;
        Ok(metrics["move_choice"]["all"].clone())
    };
    let (shipped, perfect) = (measure(&[])?, measure(&["--labels", &data])?);
    for measured in [&shipped, &perfect] {
        assert!(measured["parents"].as_u64() > Some(2_000), "{measured}");
    }
    let mean = |measured: &Value, key: &str| measured[key]["mean"].as_f64();
    assert_eq!((mean(&perfect, "regret"), mean(&perfect, "error")), (Some(0.0), Some(0.0)));
    let found = (mean(&shipped, "regret"), mean(&shipped, "error"));
    assert!(found.0 < Some(0.02) && found.1 < Some(0.05), "{shipped}");
    let kept = [0, 1, 2].map(|index| shipped["recall"][index]["mean"].as_f64());
    assert!(kept.is_sorted() && kept[2] < Some(0.9), "{shipped}");
    let error = trainer(&["eval", "--data", &data, "--all", "--labels", GAMES]);
    let error = error.expect_err("other positions").to_string();
    assert!(error.contains("--labels: not all moves of"), "{error}");
    Ok(())
}

#[test]
fn the_papers_sampling_and_sgd_train_too() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let options = "--steps 5 --anchors 16 --positives 5 --optimizer sgd --regression 0";
    let options: Vec<&str> = options.split(' ').collect();
    Weights::read(&train(folder.path(), "paper.safetensors", &options)?)?;
    Ok(())
}

/// The lines of a log that have held-out metrics.
fn validations(log: &Path) -> Result<Vec<Value>> {
    let log = std::fs::read_to_string(log)?;
    let lines = log.lines().map(|line| Ok(serde_json::from_str::<Value>(line)?));
    let lines = lines.collect::<Result<Vec<_>>>()?;
    Ok(lines.into_iter().filter(|line| line["held_out"].is_object()).collect())
}

#[test]
fn a_run_without_progress_stops_and_plays_its_best() -> Result<()> {
    let folder = tempfile::tempdir()?;
    // At this rate the parameters do not change, so that no validation is better than the first.
    let options = "--steps 500 --anchors 64 --sample 200 --learning-rate 1e-30 --patience 2 \
                   --validate-every 3 --clip 1";
    let options: Vec<&str> = options.split_whitespace().collect();
    let weights = Weights::read(&train(folder.path(), "early.safetensors", &options)?)?;
    assert_eq!(weights.metadata.training["steps"], 9);
    assert!(folder.path().join("early.checkpoint").exists());
    let looks = validations(&folder.path().join("early.jsonl"))?;
    assert_eq!(looks.len(), 3);
    let look = looks.last().context("no validation")?;
    assert!(look["held_out"]["sibling"].is_number() && look["run"]["step"] == 9, "{look}");
    // The final parameters are a choice, too.
    let options = "--steps 4 --anchors 64 --sample 200 --patience 2 --validate-every 3";
    let options: Vec<&str> = options.split_whitespace().collect();
    train(folder.path(), "whole.safetensors", &options)?;
    let looks = validations(&folder.path().join("whole.jsonl"))?;
    let steps: Vec<_> = looks.iter().map(|look| look["run"]["step"].as_u64()).collect();
    assert_eq!(steps, [3, 4].map(Some));
    Ok(())
}

#[test]
fn positions_without_siblings_choose_the_direction_and_the_best_parameters() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let csv = without_siblings(folder.path())?;
    let options =
        ["--steps", "500", "--anchors", "64", "--sample", "5000", "--validate-every", "3"];
    let stop = ["--learning-rate", "1e-30", "--patience", "2"];
    let out = train_on(&csv, folder.path(), "alone", &[&options[..], &stop].concat())?;
    let weights = Weights::read(&out)?;
    assert!(weights.metadata.metrics["sibling"].is_null());
    assert_eq!(weights.metadata.direction, Direction::Fitted);
    // The first validation, after three steps, was the best.
    assert_eq!(weights.metadata.training["steps"], 9);
    Ok(())
}

#[test]
fn a_sweep_makes_one_table_and_repeats_nothing() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let (runs, out) = (folder.path().join("runs.txt"), folder.path().join("out"));
    let sweep = |lines: &str| {
        std::fs::write(&runs, lines)?;
        let files = ["sweep", "--runs", &text(&runs), "--folder", &text(&out)];
        let measure = ["--measure", GAMES, "--", "--data", GAMES];
        let shared = ["--steps", "5", "--anchors", "64", "--sample", "300"];
        trainer(&[&files[..], &measure, &shared].concat())
    };
    let exchanges = "wide: --accumulator 128 --features exchange-states-16+threats --heads 2\n";
    sweep(exchanges)?;
    let made = std::fs::metadata(out.join("wide.safetensors"))?.modified()?;
    let table =
        sweep(&format!("{exchanges}drawn: --anchors 16 --positives 3 --steps 4 --no-mirror\n"))?;
    assert_eq!(table.lines().count(), 4, "{table}");
    assert!(
        table.contains("| drawn | `--anchors 16 --positives 3 --steps 4 --no-mirror` |"),
        "{table}"
    );
    assert_eq!(table, std::fs::read_to_string(out.join("table.md"))?);
    assert_eq!(std::fs::metadata(out.join("wide.safetensors"))?.modified()?, made);
    // Errors in one line, before any training.
    let error = sweep("fine:\nbad: --delta nought\n").expect_err("no number");
    assert!(error.to_string().contains("run 'bad'") && !out.join("fine.json").exists(), "{error}");
    let error = sweep("fine:\nwide: --accumulator 256\n").expect_err("another run of that name");
    let remedy = "delete the files of the run, rename the run or choose another --folder";
    assert!(error.to_string().contains(remedy) && !out.join("fine.json").exists(), "{error}");
    Ok(())
}

/// Runs a sweep of the lines `runs` in `folder`, with further arguments, and returns its table.
fn sweep_in(folder: &Path, runs: &str, more: &[&str]) -> Result<String> {
    let file = folder.join("runs.txt");
    std::fs::write(&file, runs)?;
    let command = ["sweep", "--runs", &text(&file), "--folder", &text(folder)];
    trainer(&[&command[..], more].concat())
}

#[test]
fn a_sweep_that_ends_in_its_games_does_not_train_again() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let (folder, book) = (folder.path(), text(&folder.path().join("book.epd")));
    let games = ["--games", "2", "--nodes", "200", "--book", &book, "--"];
    let options = ["--data", GAMES, "--steps", "5", "--anchors", "64", "--sample", "300"];
    let sweep = || sweep_in(folder, "weak:\n", &[&games[..], &options].concat());
    let error = sweep().expect_err("there is no book").to_string();
    assert!(error.contains("run 'weak'") && folder.join("weak.checkpoint").exists(), "{error}");
    std::fs::write(&book, "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1\n")?;
    let table = sweep()?;
    // Untrained weights lose against the engine's own. No step was repeated, so there is no speed.
    assert!(table.ends_with("| +0 -2 =0 | 5 |  |\n"), "{table}");
    assert!(folder.join("weak.pgn").is_file() && !folder.join("weak.games.json").exists());
    assert!(!folder.join("weak.checkpoint").exists());
    assert_eq!(sweep()?, table);
    let error = sweep_in(folder, "weak:\n", &[&["--"], &options[..]].concat());
    let error = error.expect_err("without games").to_string();
    let difference = format!("--games '2 --book {book} --nodes 200' (now '')");
    assert!(error.contains(&difference), "{error}");
    Ok(())
}

#[test]
fn a_sweep_without_siblings_goes_on() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let folder = folder.path();
    let csv = without_siblings(folder)?;
    let options = ["--", "--data", &csv, "--sample", "300", "--steps", "2", "--anchors", "16"];
    let first = sweep_in(folder, "one:\n", &options)?;
    assert!(first.contains("| NaN |"), "{first}");
    let second = sweep_in(folder, "one:\ntwo:\n", &options)?;
    assert!(second.starts_with(&first), "{second}");
    Ok(())
}

#[test]
fn a_run_of_a_sweep_is_measured_as_if_it_were_alone() -> Result<()> {
    let [alone, second] = [tempfile::tempdir()?, tempfile::tempdir()?];
    let mini = "mini: --encoder mini --layers 1 --hidden 16 --heads 1 --mlp 16\n";
    let measured = |folder: &Path, runs: &str| -> Result<Value> {
        let options = ["--", "--data", GAMES, "--steps", "1", "--anchors", "8"];
        sweep_in(folder, runs, &options)?;
        let row: Value = serde_json::from_slice(&std::fs::read(folder.join("mini.json"))?)?;
        Ok(row["measured"].clone())
    };
    // A sparse encoder has a larger sample than a transformer on the CPU.
    let runs = format!("sparse: --accumulator 128\n{mini}");
    assert_eq!(measured(alone.path(), mini)?, measured(second.path(), &runs)?);
    Ok(())
}

#[test]
fn a_sweep_refuses_results_of_other_shared_options() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let folder = folder.path();
    let sweep = |measure: &[&str], steps: &str| {
        let options = ["--", "--data", GAMES, "--sample", "300", "--steps", steps];
        sweep_in(folder, "run: --anchors 16 --accumulator 128\n", &[measure, &options].concat())
    };
    let measure = ["--measure", GAMES];
    let table = sweep(&measure, "2")?;
    let refused = |measure: &[&str], steps: &str, difference: &str| {
        let error = sweep(measure, steps).expect_err("other options").to_string();
        let parts = ["run.json", difference, "delete the files", "another --folder"];
        let is_named = parts.iter().all(|part| error.contains(part));
        assert!(is_named && error.trim_end().lines().count() == 1, "{error}");
    };
    refused(&measure, "3", "--steps 3'");
    refused(&[], "2", &format!("--measure '{GAMES}' (now '')"));
    let path = folder.join("run.json");
    let result = std::fs::read(&path)?;
    let mut older: Value = serde_json::from_slice(&result)?;
    older.as_object_mut().context("an object")?.remove("shared");
    std::fs::write(&path, older.to_string())?;
    refused(&measure, "2", "unknown shared options");
    std::fs::write(&path, result)?;
    assert_eq!(sweep(&measure, "2")?, table);
    Ok(())
}

#[test]
fn labels_come_from_an_engine_and_shards_make_the_same_file() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let fens = folder.path().join("fens.txt");
    // Positions after each first move of a pawn by two squares, and an endgame.
    let but_one = |others: char, one: char, file: usize| -> String {
        (0..8).map(|other| if other == file { one } else { others }).collect()
    };
    let starts = (0..8).map(|file| {
        let (fourth, second) = (but_one('1', 'P', file), but_one('P', '1', file));
        format!("rnbqkbnr/pppppppp/8/8/{fourth}/8/{second}/RNBQKBNR b KQkq - 0 1\n")
    });
    let starts: String = starts.collect();
    std::fs::write(&fens, format!("{starts}8/5k2/8/8/3R4/8/4K3/8 b - - hmvc 0; id \"rook\";\n"))?;
    let label = |name: &str, fens: &Path, more: &[&str]| -> Result<PathBuf> {
        let out = folder.path().join(name);
        let (fens, out_text, engine) = (text(fens), text(&out), text(&stockfish()?));
        let starts = if more.contains(&"endings") { vec![] } else { vec!["--fens", &fens] };
        let command = ["label", "--engine", &engine, "--out", &out_text];
        let walks = ["--walks", "200", "--depth", "1"];
        trainer(&[&command[..], &starts[..], &walks, more].concat())?;
        Ok(out)
    };
    let straight = label("straight.azd", &fens, &["--plies", "2", "--engines", "2"])?;
    let shards = ["1/2", "2/2"].map(|shard| {
        label(&format!("shard-{}.azd", &shard[..1]), &fens, &["--plies", "2", "--shard", shard])
    });
    let [first, second] = shards;
    let (first, second, merged) = (first?, second?, folder.path().join("merged.azd"));
    trainer(&["data", "--merge", &text(&first), &text(&second), "--out", &text(&merged)])?;
    assert!(std::fs::read(&straight)? == std::fs::read(&merged)?);

    let metrics = evaluated(&["--data", &text(&straight), "--all"])?;
    assert!(metrics["positions"].as_u64() > Some(300), "{metrics}");
    // Stockfish at one ply and the default weights agree far more often than not.
    assert!(metrics["tau"].as_f64() > Some(0.3), "{metrics}");

    let games =
        label("games.azd", &fens, &["--walk", "engine", "--plies", "40", "--engines", "2"])?;
    let info = trainer(&["data", "--info", &text(&games)])?;
    assert!(info.contains("\"walk\":\"engine\""), "{info}");

    // Leaves and endings are labelled independently of each other; the number of engines changes
    // nothing.
    let syzygy = concat!(env!("CARGO_MANIFEST_DIR"), "/../syzygy");
    for walk in ["leaves", "endings"] {
        let kind = ["--walk", walk, "--nodes", "200", "--leaf-every", "8"];
        let files = ["1", "2"].map(|engines| {
            let more = ["--plies", "3", "--syzygy", syzygy, "--engines", engines];
            label(&format!("{walk}-{engines}.azd"), &fens, &[&kind[..], &more].concat())
        });
        let [one, two] = files;
        let one = one?;
        assert!(std::fs::read(&one)? == std::fs::read(two?)?, "{walk}");
        let csv = text(&folder.path().join(format!("{walk}.csv")));
        trainer(&["data", &text(&one), "--out", &csv])?;
        let rows = std::fs::read_to_string(csv)?;
        let pieces = |line: &str| {
            let board = line.split(' ').next().unwrap_or_default();
            board.chars().filter(char::is_ascii_alphabetic).count()
        };
        let few = rows.lines().skip(1).filter(|line| pieces(line) <= 8).count();
        let all = rows.lines().count() - 1;
        assert!(all > 150 && (few == all) == (walk == "endings"), "{walk}: {few} of {all}");
        if walk == "endings" {
            // The tables know rook against king: a win, or a draw if the rook is lost.
            let rook = rows.lines().filter(|line| {
                let board = line.split(' ').next().unwrap_or_default();
                pieces(line) == 3 && board.contains('R')
            });
            let labels: Vec<&str> = rook.filter_map(|line| line.split(',').nth(1)).collect();
            let won = |label: &&str| label.parse::<i32>().is_ok_and(|label| label >= 1_500);
            assert!(labels.iter().all(|label| won(label) || *label == "0"), "{labels:?}");
            assert!(labels.iter().any(won), "{labels:?}");
        }
    }

    let bad = folder.path().join("bad.txt");
    let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
    std::fs::write(&bad, format!("{start}\n\n8/8/8/8/8/8/8/8 w - - 0 1\n"))?;
    let error = label("bad.azd", &bad, &[]).expect_err("no kings").to_string();
    let named = error.contains("bad.txt': line 3: FEN '8/8/8/8/8/8/8/8 w - - 0 1'");
    assert!(named, "{error}");
    assert!(!folder.path().join("bad.azd").exists());
    Ok(())
}

#[test]
fn a_network_labels_as_the_engine_it_comes_from_evaluates() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let path = |name: &str| text(&folder.path().join(name));
    let [network, fens, out, csv] = ["own.nnue", "fens.txt", "labels.azd", "labels.csv"].map(path);
    let mut engine = export_network(&network)?;
    // Black to move, a king that can castle, a promotion, an en-passant capture, a check.
    let starts = [
        "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1",
        "r3k2r/pppq1ppp/2npbn2/2b1p3/2B1P3/2NPBN2/PPPQ1PPP/R3K2R w KQkq - 4 8",
        "8/P4k2/8/8/3p4/8/4P2K/8 w - - 0 40",
        "6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 30",
    ];
    std::fs::write(&fens, starts.join("\n"))?;
    let command = ["label", "--network", &network, "--fens", &fens, "--out", &out];
    let choices = ["--walks", "64", "--plies", "3", "--best", "40", "--others", "40"];
    trainer(&[&command[..], &choices, &["--engines", "2"]].concat())?;
    trainer(&["data", &out, "--out", &csv])?;
    let mut compared = 0;
    for line in std::fs::read_to_string(&csv)?.lines().skip(1).step_by(7) {
        let (fen, label) = line.rsplit_once(',').context("two columns")?;
        let Some(pawns) = network_evaluation(&mut engine, fen)? else { continue };
        // Stockfish 15.1 writes 361 units as a pawn; Stockfish 16, whose centipawns the labels use,
        // 328.
        let expected = pawns * 100.0 * 361.0 / 328.0;
        let label: f64 = label.parse().with_context(|| format!("'{line}'"))?;
        assert!((label - expected).abs() < 2.5, "{fen}: {label}, the engine {expected}");
        compared += 1;
    }
    assert!(compared > 50, "{compared} positions compared");

    std::fs::write(&network, "no network")?;
    let error = trainer(&[&command[..5], &["--out", &path("b.azd"), "--walks", "1"]].concat());
    let error = error.expect_err("no network").to_string();
    assert!(error.contains(&format!("--network: network '{network}'")), "{error}");
    Ok(())
}

#[test]
fn quiescence_search_with_a_network_labels_what_captures_lead_to() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let path = |name: &str| text(&folder.path().join(name));
    let [network, fens] = ["own.nnue", "fens.txt"].map(path);
    export_network(&network)?;
    // Black's knight attacks the queen, which 1. a3 leaves where it is.
    std::fs::write(&fens, "r1bqkbnr/ppp2ppp/2np4/4p3/3QP3/5N2/PPP2PPP/RNB1KB1R w KQkq - 0 5\n")?;
    let after = "r1bqkbnr/ppp2ppp/2np4/4p3/3QP3/P4N2/1PP2PPP/RNB1KB1R b KQkq - 0 5";
    let label = |quiescence: &[&str], engines: &str| -> Result<f64> {
        let [out, csv] =
            ["azd", "csv"].map(|kind| path(&format!("{}-{engines}.{kind}", quiescence.len())));
        let walk = ["--walks", "2", "--plies", "1", "--best", "40", "--others", "40"];
        let by = ["label", "--network", &network, "--engines", engines];
        let walk = [&walk[..], quiescence].concat();
        trainer(&[&by[..], &walk, &["--fens", &fens, "--out", &out]].concat())?;
        trainer(&["data", &out, "--out", &csv])?;
        let rows = std::fs::read_to_string(&csv)?;
        let line = rows.lines().find_map(|line| line.strip_prefix(after)?.strip_prefix(','));
        Ok(line.with_context(|| format!("'{after}' has no label"))?.parse()?)
    };
    let quiescence = ["--quiescence"];
    let (still, searched) = (label(&[], "1")?, label(&quiescence, "1")?);
    assert!(still > -300.0 && searched < -500.0, "{still} without a search, {searched} with it");
    assert_eq!(label(&quiescence, "2")?, searched);
    Ok(())
}

/// Starts Stockfish 15.1 and writes its network in the format of later versions.
fn export_network(path: &str) -> Result<Engine> {
    let mut engine = Engine::start(&stockfish()?, &[], [])?;
    engine.send(&format!("export_net {path}"))?;
    engine.new_game()?;
    std::fs::write(path, compressed(&std::fs::read(path)?)?)?;
    Ok(engine)
}

/// A network of Stockfish 15.1 in the format of Stockfish 16 and later: the three arrays of the
/// feature transformer in LEB128, each preceded by its length.
fn compressed(network: &[u8]) -> Result<Vec<u8>> {
    const FEATURES: usize = 22_528;
    const WIDTH: usize = 1_024;
    const BUCKETS: usize = 8;
    let description = u32::from_le_bytes(network[8..12].try_into()?) as usize;
    let (header, mut rest) = network.split_at(12 + description + 4);
    let mut written = header.to_vec();
    for (numbers, bytes) in [(WIDTH, 2), (FEATURES * WIDTH, 2), (FEATURES * BUCKETS, 4)] {
        let array = rest.split_off(..numbers * bytes).context("the network is too short")?;
        let mut packed = Vec::new();
        for number in array.chunks_exact(bytes) {
            let sign = if number[bytes - 1] < 128 { 0 } else { u8::MAX };
            let mut wide = [sign; 4];
            wide[..bytes].copy_from_slice(number);
            let mut value = i32::from_le_bytes(wide);
            while !(-64..64).contains(&value) {
                packed.push((value & 127) as u8 | 128);
                value >>= 7;
            }
            packed.push((value & 127) as u8);
        }
        written.extend_from_slice(b"COMPRESSED_LEB128");
        written.extend_from_slice(&u32::try_from(packed.len())?.to_le_bytes());
        written.extend(packed);
    }
    written.extend_from_slice(rest);
    Ok(written)
}

/// The evaluation of a position by the engine's network, in pawns from White's view; `None` in
/// check.
fn network_evaluation(engine: &mut Engine, fen: &str) -> Result<Option<f64>> {
    engine.send(&format!("position fen {fen}"))?;
    engine.send("eval")?;
    loop {
        let line = engine.read(PATIENCE)?.text;
        if line.starts_with("Final evaluation: none") {
            return Ok(None);
        }
        if let Some(facts) = line.strip_prefix("NNUE evaluation ") {
            let pawns = facts.split_whitespace().next().context("a number")?;
            return Ok(Some(pawns.parse()?));
        }
    }
}

#[test]
fn rows_stay_within_what_plays() -> Result<()> {
    let folder = tempfile::tempdir()?;
    // Steps of this size would exceed 16 bits by far.
    let wild = ["--learning-rate", "3", "--warmup", "1", "--steps", "12", "--anchors", "32"];
    let features = ["--features", "piece-square+king-buckets-4", "--validate-every", "5"];
    let sample = ["--sample", "100"];
    let weights =
        train(folder.path(), "wild.safetensors", &[&wild[..], &features, &sample].concat())?;
    let table = Weights::read(&weights)?.parameters.values("features.weight")?;
    let largest = table.iter().fold(0f32, |largest, value| largest.max(value.abs()));
    assert!((3.0..4.0).contains(&largest), "{largest}");
    // Reads the weights like the engine.
    trainer(&["eval", "--weights", &text(&weights), "--data", GAMES]).map(drop)
}

#[test]
fn parts_of_a_step_make_the_same_weights_every_time() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let run = |name: &str, parts: &str, more: &[&str]| {
        let options = ["--steps", "20", "--anchors", "64", "--sample", "200", "--parts", parts];
        train(folder.path(), name, &[&options[..], &SMALL, more].concat())
    };
    let straight = run("straight.safetensors", "2", &["--clip", "5"])?;
    run("stopped.safetensors", "2", &["--clip", "5", "--stop-after", "9"])?;
    let stopped = run("stopped.safetensors", "2", &["--clip", "5"])?;
    assert!(std::fs::read(&straight)? == std::fs::read(&stopped)?);
    // Without the contrastive loss, a step in parts equals the whole step, except for the order of
    // sums.
    let alone = ["--contrastive", "0", "--learning-rate", "0.0001"];
    let [one, two] = ["1", "2"].map(|parts| -> Result<Vec<f32>> {
        let weights = Weights::read(&run(&format!("{parts}.safetensors"), parts, &alone)?)?;
        weights.parameters.values("features.weight")
    });
    let apart = one?.iter().zip(two?).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(apart < 1e-3, "{apart}");
    let error = run("bad.safetensors", "2", &["--positives", "1"]).expect_err("not both");
    assert!(
        error.to_string().contains("--parts goes without --positives for the sparse encoder"),
        "{error}"
    );
    Ok(())
}

#[test]
fn bad_data_is_named() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let illegal = folder.path().join("illegal.pgn");
    std::fs::write(&illegal, "1. e4 { [%eval 0.1] } 1... Ke7 { [%eval 0.1] } *\n")?;
    let empty = folder.path().join("empty.pgn.zst");
    std::fs::write(&empty, "not zstd")?;
    for (path, part) in [
        (illegal, "game 1: half-move 2: move 'Ke7' is not legal"),
        (empty, "empty.pgn.zst"),
        (folder.path().join("none.pgn"), "none.pgn"),
    ] {
        let error = train_on(&text(&path), folder.path(), "w.safetensors", &["--steps", "1"]);
        let error = error.expect_err(part);
        assert!(error.to_string().contains(part), "{error}");
    }
    Ok(())
}
