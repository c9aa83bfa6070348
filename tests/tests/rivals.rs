//! The built `azimuth-rivals`, as a user runs it: every rival learns, resumes, plays and is measured.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use azimuth_tests::{binary, root, text};

/// A run's first parameters come from its seed. From some, networks as small as these start no worse than they can get
/// from so few games; from this one all seven have far to go.
const SEED: &str = "8";

const GAMES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/data/games.pgn.zst");

/// The rivals that learn, with sizes that learn in seconds.
const LEARNERS: [(&str, &str); 7] = [
    ("deepchess", "--size encoder=[128,32] --size comparator=[32] --steps 150 --batch 256"),
    (
        "qlearning",
        "--size channels=[8,8,8] --size hidden=32 --steps 120 --batch 64 --learning-rate 0.003",
    ),
    ("diffusion", "--size width=16 --size layers=1 --size heads=2 --steps 40 --batch 8"),
    ("policy", "--size blocks=1 --size channels=8 --steps 60 --batch 32"),
    ("twohead", "--size blocks=1 --size channels=8 --steps 60 --batch 32"),
    ("value", "--size blocks=1 --size channels=8 --size last_channels=8 --steps 80 --batch 64"),
    ("nnue", "--size half=16 --size first=8 --size second=8 --steps 60 --batch 512"),
];

const RIVALS: [&str; 8] =
    ["deepchess", "heuristic", "qlearning", "diffusion", "policy", "twohead", "value", "nnue"];

fn rivals(arguments: &[&str]) -> Result<Output> {
    Ok(Command::new(binary("azimuth-rivals")?).args(arguments).output()?)
}

fn train(rival: &str, options: &str, out: &Path) -> Result<Vec<String>> {
    let out = text(out);
    let mut arguments =
        vec!["train", rival, "--preset", "small", "--data", GAMES, "--out", &out, "--seed", SEED];
    arguments.extend(options.split(' '));
    Ok(arguments.into_iter().map(str::to_owned).collect())
}

fn run(arguments: &[String]) -> Result<()> {
    let output = rivals(&arguments.iter().map(String::as_str).collect::<Vec<_>>())?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(())
}

/// Held-out metrics of a run, first to last.
fn log(weights: &Path) -> Result<Vec<serde_json::Value>> {
    let text = fs::read_to_string(weights.with_extension("jsonl"))?;
    Ok(text.lines().map(serde_json::from_str).collect::<Result<_, _>>()?)
}

#[test]
fn every_trainer_lowers_its_held_out_loss_and_its_weights_play() -> Result<()> {
    let folder = tempfile::tempdir()?;
    for (rival, options) in LEARNERS {
        let weights = folder.path().join(rival).with_extension("safetensors");
        run(&train(rival, options, &weights)?).context(rival)?;
        let log = log(&weights)?;
        let loss = |place: usize| -> Option<f64> {
            let metrics = log[place].as_object()?;
            let name = ["cross_entropy", "loss", "mse", "td_error"]
                .into_iter()
                .find(|name| metrics.contains_key(*name))?;
            metrics[name].as_f64()
        };
        // The lowest: on so few games some learn them by heart in the end.
        let before = loss(0).with_context(|| format!("{rival}: no loss"))?;
        let after = (1..log.len()).filter_map(loss).fold(f64::INFINITY, f64::min);
        assert!(after < before, "{rival}: {before} {after}");
        plays(rival, Some(&weights)).context(rival)?;
    }
    Ok(())
}

#[test]
fn what_ships_plays_full_games() -> Result<()> {
    for rival in RIVALS {
        plays(rival, None).context(rival)?;
    }
    Ok(())
}

/// Two games against a player of random moves, over UCI; an illegal move or a crash would end the match.
fn plays(rival: &str, weights: Option<&Path>) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let [book, games] = ["book.epd", "games.pgn"].map(|name| folder.path().join(name));
    fs::write(&book, "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2\n")?;
    let weights = weights.map_or(String::new(), |path| format!(" --weights {}", path.display()));
    let player = format!(
        "cmd={} name=rival movetime=10 margin=5000 args='play {rival}{weights}'",
        binary("azimuth-rivals")?.display()
    );
    let output = Command::new(binary("azimuth-bench")?)
        .args(["elo", "--games", "2", "--player", &player])
        .args(["--against", "width=64 depth=1 noise=100 name=random"])
        .args(["--book", &text(&book), "--pgn", &text(&games)])
        .output()?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let played = fs::read_to_string(&games)?;
    assert_eq!(played.matches("[Event ").count(), 2);
    for bad in ["illegal", "forfeit", "abandoned", "crash"] {
        assert!(!played.to_lowercase().contains(bad), "{rival}: {played}");
    }
    Ok(())
}

#[test]
fn a_killed_run_goes_on() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let weights = folder.path().join("value.safetensors");
    let options = "--size blocks=1 --size channels=8 --size last_channels=8 --steps 300 --batch 64 \
                   --checkpoint-every 1ms";
    let options = options.split_whitespace().collect::<Vec<_>>().join(" ");
    let arguments = train("value", &options, &weights)?;
    let mut child =
        Command::new(binary("azimuth-rivals")?).args(&arguments).stderr(Stdio::null()).spawn()?;
    let checkpoint = weights.with_extension("checkpoint");
    for _ in 0..600 {
        if checkpoint.exists() {
            break;
        }
        sleep(Duration::from_millis(50));
    }
    child.kill()?;
    child.wait()?;
    assert!(checkpoint.exists() && !weights.exists());

    let others = train("value", &options.replace("--batch 64", "--batch 32"), &weights)?;
    let refused = run(&others).expect_err("another run's checkpoint").to_string();
    assert!(refused.contains("of another run"), "{refused}");
    let output = rivals(&arguments.iter().map(String::as_str).collect::<Vec<_>>())?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && said.contains("goes on after step"), "{said}");
    assert!(weights.exists() && !checkpoint.exists());
    let steps: Vec<u64> = log(&weights)?.iter().filter_map(|line| line["step"].as_u64()).collect();
    assert!(
        steps.is_sorted() && steps.first() == Some(&0) && steps.last() == Some(&300),
        "{steps:?}"
    );
    Ok(())
}

#[test]
fn what_is_wrong_is_one_clear_line_and_overwrites_nothing() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let file = |name: &str| folder.path().join(name);
    let shipped =
        |rival: &str| root().join("rivals/weights").join(rival).with_extension("safetensors");
    let truncated = file("cut.safetensors");
    fs::write(&truncated, &fs::read(shipped("policy"))?[..1000])?;
    let unlabelled = file("unlabelled.pgn");
    fs::write(&unlabelled, "1. e4 e5 *\n")?;
    let kept = file("kept.safetensors");
    fs::write(&kept, "kept")?;
    let [truncated, unlabelled, kept_text, of_value] =
        [&truncated, &unlabelled, &kept, &shipped("value")].map(|path| text(path));
    let train = |rest: &[&'static str]| -> Vec<String> {
        let begin = ["train", "value", "--preset", "small", "--out", &kept_text, "--data"];
        begin
            .iter()
            .map(|word| (*word).to_owned())
            .chain(rest.iter().map(|word| (*word).to_owned()))
            .collect()
    };
    let words =
        |words: &[&str]| -> Vec<String> { words.iter().map(|word| (*word).to_owned()).collect() };
    let mut without_labels = train(&[]);
    without_labels.push(unlabelled);
    for (arguments, part) in [
        (
            words(&["play", "policy", "--weights", &of_value]),
            "weights of the rival 'value', expected 'policy'",
        ),
        (words(&["play", "policy", "--weights", &truncated]), "not a complete safetensors file"),
        (words(&["play", "heuristic", "--weights", &of_value]), "has no weights"),
        (words(&["tau", "policy", "--data", GAMES]), "no position with a label of its own"),
        (train(&["none.pgn"]), "none.pgn"),
        (without_labels, "too few games with labelled moves"),
        (train(&[GAMES, "--size", "width=3"]), "unknown field `width`, expected one of `blocks`"),
    ] {
        let output = rivals(&arguments.iter().map(String::as_str).collect::<Vec<_>>())?;
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        let last = errors.lines().last().unwrap_or_default();
        assert!(!output.status.success() && last.contains(part), "{arguments:?}: {errors}");
        assert!(last.starts_with("azimuth-rivals: "), "{errors}");
    }
    let unknown = rivals(&["play", "shogi"])?;
    let errors = String::from_utf8_lossy(&unknown.stderr).into_owned();
    assert!(!unknown.status.success() && errors.contains("possible values: deepchess"), "{errors}");
    assert_eq!(fs::read_to_string(&kept)?, "kept");
    Ok(())
}
