//! The built `azimuth-rivals` on its command line: every rival trains, resumes, plays and is
//! measured.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use azimuth_tests::{Folder, RIVALS, binary, notices, printed, run, text};
use candle_core::safetensors::BufferedSafetensors;

/// The rivals that learn, with sizes that train in seconds, and the options of a run that memorises
/// the few games, or starts to, for any initial parameters.
const LEARNERS: [(&str, &str, &str); 8] = [
    (
        "deepchess",
        "--size encoder=[128,32] --size comparator=[32] --batch 256",
        "--steps 150 --learning-rate 0.003",
    ),
    (
        "deepchess",
        "--size encoder=[128,32] --size comparator=[32] --size score=true --batch 256",
        "--steps 150 --learning-rate 0.003",
    ),
    (
        "qlearning",
        "--size channels=[8,8,8] --size hidden=32 --batch 64",
        "--steps 120 --learning-rate 0.003",
    ),
    ("diffusion", "--size width=16 --size layers=1 --size heads=2 --batch 8", "--steps 80"),
    ("policy", "--size blocks=1 --size channels=8 --batch 32", "--steps 800 --learning-rate 0.01"),
    ("twohead", "--size blocks=1 --size channels=8 --batch 32", "--steps 200 --learning-rate 0.01"),
    (
        "value",
        "--size blocks=1 --size channels=8 --size last_channels=8 --batch 64",
        "--steps 200 --learning-rate 0.01",
    ),
    (
        "nnue",
        "--size half=16 --size first=8 --size second=8 --batch 512",
        "--steps 60 --learning-rate 0.005",
    ),
];

/// The command of a training run, which writes `@NAME.safetensors`.
fn train(rival: &str, name: &str, options: &str) -> String {
    format!("train {rival} --preset small --data GAMES --out @{name}.safetensors {options}")
}

/// Runs the program, and returns its notices; fails if it does.
fn rivals(folder: &Folder, line: &str) -> Result<String> {
    notices(folder.run("azimuth-rivals", line)?)
}

#[test]
fn every_trainer_lowers_its_loss_and_its_weights_play() -> Result<()> {
    let folder = Folder::new()?;
    for (place, (rival, sizes, options)) in (1..).zip(LEARNERS) {
        let name = place.to_string();
        rivals(&folder, &train(rival, &name, &format!("{sizes} {options}"))).context(rival)?;
        // The held-out metrics of the run, in order.
        let log = folder.json_lines(&format!("{name}.jsonl"))?;
        for line in &log {
            let metrics = line.as_object().context("an object")?;
            let numbers = metrics.iter().filter(|(name, _)| *name != "training_loss");
            assert!(numbers.clone().count() > 3 && numbers.clone().all(|(_, n)| n.is_number()));
        }
        // Mean losses over a tenth of the run, on the training games: on other games, networks this
        // small may be no better than their random initial parameters.
        let loss = |tenth: usize| -> Result<f64> {
            let line = log.get(tenth).and_then(|line| line["training_loss"].as_f64());
            line.with_context(|| format!("{rival}: no loss of tenth {tenth}"))
        };
        // The first fifth of a run of DeepChess trains the layers of its encoder, by another loss.
        let first_tenth = if rival == "deepchess" { 3 } else { 1 };
        let (before, after) = (loss(first_tenth)?, loss(10)?);
        assert!(after < 0.95 * before, "{rival}: {before} {after}");
        // The weights that ship play full games below; here the first moves end in a draw.
        let weights = text(&folder.at(&format!("{name}.safetensors")));
        let draw = ["--draw", "moves=1,score=32000,from=1"];
        plays(rival, &format!("--weights {weights}"), &draw).context(rival)?;
    }
    Ok(())
}

/// The tensors of a safetensors file as bytes, by name.
fn tensors(path: &Path) -> Result<BTreeMap<String, Vec<u8>>> {
    let file = BufferedSafetensors::new(fs::read(path)?)?;
    Ok(file.tensors().into_iter().map(|(name, view)| (name, view.data().to_vec())).collect())
}

#[test]
fn a_stopped_run_continues_to_the_same_weights() -> Result<()> {
    let folder = Folder::new()?;
    for (place, (rival, sizes, _)) in (1..).zip(LEARNERS) {
        let [straight, stopped] = ["straight", "stopped"].map(|name| format!("{place}-{name}"));
        // The two-headed network plays its first games against itself in the last steps of the run.
        let learn = |name: &str, more: &str| {
            let options = format!("{sizes} --steps 20 {more}");
            rivals(&folder, &train(rival, name, &options)).context(rival)
        };
        let weights = |name: &str| folder.at(&format!("{name}.safetensors"));
        learn(&straight, "")?;
        learn(&stopped, "--stop-after 7")?;
        assert!(!weights(&stopped).exists(), "{rival}: a stopped run writes no weights");
        let refused = learn(&stopped, "--seed 2").expect_err("another run's checkpoint");
        let refused = format!("{refused:#}");
        assert!(refused.contains("other options: --seed 1 (now 2)"), "{refused}");
        assert!(learn(&stopped, "")?.contains("continuing at step 7"), "{rival}");
        assert!(!folder.at(&format!("{stopped}.checkpoint")).exists());
        let [straight, stopped] = [straight, stopped].map(|name| tensors(&weights(&name)));
        assert!(straight? == stopped?, "{rival}: other weights");
    }
    Ok(())
}

#[test]
fn what_ships_plays_full_games() -> Result<()> {
    for rival in RIVALS {
        plays(rival, "", &[]).context(rival)?;
    }
    plays("value", "--remember 1000", &[])
}

/// Plays two games against a player of random moves, over UCI; `more` are further arguments of the
/// match. An illegal move or a crash would end it with an error.
fn plays(rival: &str, options: &str, more: &[&str]) -> Result<()> {
    let folder = Folder::new()?;
    folder.write("book.epd", "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2\n")?;
    let player = format!(
        "cmd={} name=rival movetime=10 margin=5000 args='play {rival} {options}'",
        binary("azimuth-rivals")?.display()
    );
    let players = ["--player", &player, "--against", "width=64 depth=1 noise=100 name=random"];
    let files = ["--book", &text(&folder.at("book.epd")), "--pgn", &text(&folder.at("games.pgn"))];
    let arguments = [&["elo", "--games", "2"], &players[..], &files, more].concat();
    printed(run("azimuth-bench", &arguments)?)?;
    let played = folder.read("games.pgn")?;
    assert_eq!(played.matches("[Event ").count(), 2);
    for bad in ["illegal", "forfeit", "abandoned", "crash"] {
        assert!(!played.to_lowercase().contains(bad), "{rival}: {played}");
    }
    Ok(())
}

#[test]
fn tau_is_measured_on_each_file_with_an_interval() -> Result<()> {
    let games =
        "ROOT/rivals/positions/depth-10.pgn.zst ROOT/rivals/positions/human-depth-10.pgn.zst";
    let output =
        Folder::new()?.run("azimuth-rivals", &format!("tau azimuth --json --data {games}"))?;
    let said = printed(output)?;
    let json: serde_json::Value = serde_json::from_str(said.lines().last().unwrap_or_default())?;
    assert_eq!(json["rival"], "azimuth-beam");
    for (index, (data, expected)) in
        [("depth-10", 0.680), ("human-depth-10", 0.596)].iter().enumerate()
    {
        let tau = &json["taus"][index];
        let number = |key: &str| tau[key].as_f64().unwrap_or(f64::NAN);
        assert_eq!((&tau["data"], &tau["positions"]), (&(*data).into(), &1000.into()));
        assert!((number("tau") - expected).abs() < 0.01, "{json}");
        assert!(number("low") < number("tau") && number("tau") < number("high"), "{json}");
    }
    Ok(())
}

#[test]
fn what_is_wrong_is_one_clear_line_and_overwrites_nothing() -> Result<()> {
    let folder = Folder::new()?;
    folder.write("unlabelled.pgn", "1. e4 e5 *\n")?;
    folder.write("kept.safetensors", "kept")?;
    let of_value = "ROOT/rivals/weights/value.safetensors";
    let train = "train value --preset small --out @kept.safetensors --data";
    for (command, part) in [
        (format!("play policy --weights {of_value}"), "of the rival 'value', expected 'policy'"),
        (format!("play heuristic --weights {of_value}"), "has no weights"),
        ("play policy --remember 9".into(), "only heuristic, value and nnue remember positions"),
        ("tau policy --data GAMES".into(), "labels of moves alone are not enough"),
        (format!("{train} none.pgn"), "none.pgn"),
        (format!("{train} @unlabelled.pgn"), "too few games with labelled moves"),
        (
            format!("{train} GAMES --size width=3"),
            "unknown field `width`, expected one of `blocks`",
        ),
    ] {
        let output = folder.run("azimuth-rivals", &command)?;
        let errors = String::from_utf8(output.stderr)?;
        let last = errors.lines().last().unwrap_or_default();
        assert!(!output.status.success() && last.contains(part), "{command}: {errors}");
        assert!(last.starts_with("azimuth-rivals: "), "{errors}");
    }
    let unknown = folder.run("azimuth-rivals", "play shogi")?;
    let errors = String::from_utf8(unknown.stderr)?;
    assert!(!unknown.status.success() && errors.contains("possible values: deepchess"), "{errors}");
    assert_eq!(folder.read("kept.safetensors")?, "kept");
    Ok(())
}
