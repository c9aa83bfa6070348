//! The trainer from games to weights: a stopped run continues to the same weights, every encoder
//! trains, and the metrics are as documented.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use azimuth_chess::position::{Position, STARTPOS};
use azimuth_client::{Engine, PATIENCE};
use azimuth_network::axis::Direction;
use azimuth_network::weights::Weights;
use azimuth_tests::kills::Run;
use azimuth_tests::{Folder, GAMES, Session, last_number, root, stockfish};
use serde_json::Value;

/// Trains with these options, and returns the path of the weights.
fn train(folder: &Folder, name: &str, options: &str) -> Result<PathBuf> {
    folder.trainer(&format!("train --data GAMES --out @{name} {options}"))?;
    Ok(folder.at(name))
}

/// The metrics that `eval` prints.
fn evaluated(folder: &Folder, options: &str) -> Result<Value> {
    let printed = folder.trainer(&format!("eval --json {options}"))?;
    Ok(serde_json::from_str(printed.lines().last().unwrap_or_default())?)
}

#[test]
fn a_stopped_run_continues_to_the_same_weights() -> Result<()> {
    for (options, stop) in [
        ("--encoder sparse --accumulator 128 --steps 30 --anchors 64", 13),
        (
            "--encoder sparse --accumulator 128 --steps 40 --anchors 64 --patience 3 \
             --validate-every 5",
            18,
        ),
        (
            "--encoder sparse --accumulator 128 --steps 20 --anchors 64 --parts 2 --clip 5 \
             --features exchange-states-16+threats --heads 2",
            9,
        ),
        ("--encoder mini --steps 4 --anchors 8", 2),
    ] {
        let folder = Folder::new()?;
        let run = |name: &str, more: &str| {
            train(&folder, name, &format!("{options} --sample 200 {more}"))
        };
        let straight = run("straight.safetensors", "")?;
        let stopped = run("stopped.safetensors", &format!("--stop-after {stop}"))?;
        assert!(!stopped.exists(), "a stopped run writes no weights");
        let size = |stored: &str| -> Result<f64> {
            let export = "export --checkpoint @stopped.checkpoint --data GAMES --sample 100";
            folder.trainer(&format!("{export} --stored {stored} --out @{stored}"))?;
            let out = folder.at(stored);
            Weights::read(&out)?;
            Ok(std::fs::metadata(out)?.len() as f64)
        };
        let whole = size("f32")?;
        for stored in ["f16", "bf16"] {
            assert!((0.5..0.53).contains(&(size(stored)? / whole)), "{options}: {stored}");
        }
        run("stopped.safetensors", "")?;
        assert!(std::fs::read(&straight)? == std::fs::read(&stopped)?, "{options}");
    }
    Ok(())
}

#[test]
fn killed_training_continues_to_the_same_weights() -> Result<()> {
    Run::train(&Folder::new()?)?.kill_and_continue()
}

#[test]
fn a_run_goes_on_where_its_checkpoint_is_taken() -> Result<()> {
    let [straight, here, there] = [Folder::new()?, Folder::new()?, Folder::new()?];
    let run = |folder: &Folder, more: &str| -> Result<()> {
        std::fs::copy(GAMES, folder.at("games.pgn.zst"))?;
        let options = "--encoder mini --steps 3 --anchors 8 --sample 100 --out @run.safetensors";
        folder.trainer(&format!("train --data @games.pgn.zst {options} {more}")).map(drop)
    };
    // The run stops by time, so its number of steps is arbitrary.
    run(&here, "--stop-after 100ms")?;
    std::fs::rename(here.at("run.checkpoint"), there.at("run.checkpoint"))?;
    run(&there, "")?;
    run(&straight, "")?;
    let [straight, moved] =
        [&straight, &there].map(|folder| std::fs::read(folder.at("run.safetensors")));
    assert!(straight? == moved?);
    Ok(())
}

#[test]
fn a_run_begins_where_another_ended() -> Result<()> {
    let folder = Folder::new()?;
    for encoder in ["sparse", "mini"] {
        let sizes = format!("--encoder {encoder} --anchors 8 --sample 100");
        let origin = format!("{encoder}-first.safetensors");
        let first = train(&folder, &origin, &format!("{sizes} --steps 3"))?;
        // At this rate the parameters hardly change.
        let still = format!("{sizes} --from @{origin} --steps 1 --learning-rate 1e-30 --seed 2");
        let second = train(&folder, &format!("{encoder}-second.safetensors"), &still)?;
        let (first, second) = (Weights::read(&first)?, Weights::read(&second)?);
        for (name, _) in first.parameters.iter() {
            let [first, second] = [&first, &second].map(|weights| weights.parameters.values(name));
            let (first, second) = (first?, second?);
            let is_same = |(a, b): (&f32, &f32)| (a - b).abs() < 1e-20;
            assert!(first.iter().zip(&second).all(is_same), "{encoder}: {name}");
            assert_eq!(first.len(), second.len());
        }
        assert_eq!(second.metadata.training["config"]["from"]["name"], origin.as_str());
        let other = format!("--from @{origin} --encoder small --steps 1 --out @other.safetensors");
        let error = folder.trainer_error(&format!("train --data GAMES {other}"))?;
        assert!(error.contains("its encoder is"), "{error}");
    }
    Ok(())
}

#[test]
fn a_policy_head_learns_the_best_moves_and_the_beam_plays_with_it() -> Result<()> {
    let folder = Folder::new()?;
    train(&folder, "space.safetensors", "--accumulator 128 --anchors 64 --steps 20 --sample 200")?;
    let command = "policy --weights @space.safetensors --data GAMES --steps 40 --examples 256 \
                   --learning-rate 0.01";
    let policy = |name: &str, more: &str| -> Result<String> {
        folder.trainer(&format!("{command} --out @{name}.safetensors {more}"))
    };
    let printed = policy("straight", "")?;
    let measured: Value = serde_json::from_str(printed.lines().last().unwrap_or_default())?;
    // Equal probabilities of all moves have an entropy of 3.26.
    let entropy = measured["cross_entropy"].as_f64().context("no cross entropy")?;
    assert!(entropy < 3.2, "{measured}");
    policy("stopped", "--stop-after 13")?;
    assert!(!folder.at("stopped.safetensors").exists(), "a stopped run writes no weights");
    policy("stopped", "")?;
    let bytes = |name: &str| std::fs::read(folder.at(name));
    assert!(bytes("straight.safetensors")? == bytes("stopped.safetensors")?);
    let other = command.replace("--steps 40", "--steps 41");
    let error = folder.trainer_error(&format!("{other} --out @stopped.safetensors"))?;
    assert!(error.contains("--steps 40 (now 41)"), "{error}");

    train(&folder, "other.safetensors", "--accumulator 128 --anchors 64 --steps 1 --sample 200")?;
    let other = command.replace("@space", "@other");
    let error = folder.trainer_error(&format!("{other} --out @stopped.safetensors"))?;
    assert!(error.contains("--weights space.safetensors (now other.safetensors)"), "{error}");

    // The head outlives a conversion, and training continues from it.
    folder.trainer(
        "export --weights @straight.safetensors --direction mates --data GAMES --sample 200 \
         --out @mates.safetensors",
    )?;
    let again = command.replace("@space", "@mates").replace("--steps 40", "--steps 10");
    folder.trainer(&format!("{again} --out @again.safetensors --stored f16"))?;

    let mut session = Session::start()?;
    session.set("BeamVerify", "none")?;
    session.set("Planner", "beam")?;
    let mut nodes = |weights: &str, policy: bool| -> Result<u64> {
        session.set("WeightsFile", folder.at(weights).display())?;
        session.set("BeamPolicy", policy)?;
        last_number(&session.ask("go depth 4", "bestmove")?, "nodes")
    };
    let plain = nodes("space.safetensors", true)?;
    assert_eq!(nodes("straight.safetensors", false)?, plain);
    assert_ne!(nodes("straight.safetensors", true)?, plain);
    session.end()
}

#[test]
fn a_space_is_read_along_each_of_its_directions() -> Result<()> {
    let folder = Folder::new()?;
    let before = Weights::read(&root().join("weights/beam.safetensors"))?;
    let (won, lost) = (&before.axis.white_mean, &before.axis.black_mean);
    let difference: Vec<f32> = won.iter().zip(lost).map(|(won, lost)| won - lost).collect();
    let export = "export --weights ROOT/weights/beam.safetensors";
    for (name, direction, expected) in [
        ("mates", Direction::Mates, &difference),
        ("nearest", Direction::Nearest, won),
        ("fitted", Direction::Fitted, &before.axis.unit().to_vec()),
    ] {
        let more = format!("--direction {name} --data GAMES --sample 500");
        folder.trainer(&format!("{export} --out @{name} {more}"))?;
        let after = Weights::read(&folder.at(name))?;
        assert_eq!(after.axis.direction(), direction);
        assert!((after.axis.cosine(expected) - length(expected)).abs() < 1e-5, "{name}");
        assert_eq!((&after.axis.white_mean, &after.axis.black_mean), (won, lost));
        // The calibration belongs to the new cosines: other knots, still from lost to won.
        assert_ne!(after.calibration.cosines(), before.calibration.cosines());
        let p = |cosine| after.calibration.win_probability(cosine);
        assert!(p(-0.9) < 0.2 && p(0.99) > 0.8, "{name}: {} {}", p(-0.9), p(0.99));
    }
    let error = folder.trainer_error(&format!("{export} --out @none"))?;
    assert!(error.contains("--direction selects its axis"), "{error}");
    Ok(())
}

fn length(vector: &[f32]) -> f32 {
    vector.iter().map(|value| value * value).sum::<f32>().sqrt()
}

#[test]
fn training_teaches_and_eval_reports_it() -> Result<()> {
    let folder = Folder::new()?;
    let metrics = |steps: &str| -> Result<Value> {
        let options = format!("--steps {steps} --anchors 128 --warmup 10");
        let weights = train(&folder, &format!("{steps}.safetensors"), &options)?;
        assert!(Weights::read(&weights)?.metadata.training["config"]["seed"].is_u64());
        evaluated(&folder, &format!("--weights @{steps}.safetensors --data GAMES"))
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
    let folder = Folder::new()?;
    // All moves of these positions are labelled.
    let data = "ROOT/train/positions/beam-nodes.azd";
    let measure = |options: &str| -> Result<Value> {
        evaluated(&folder, &format!("--data {data} --all {options}"))
    };
    let (shipped, perfect) = (measure("")?, measure(&format!("--labels {data}"))?);
    let (with_policy, of_labels) = (&shipped["with_policy"]["all"], &perfect["with_policy"]);
    assert!(with_policy["error"].is_null() && of_labels.is_null(), "{with_policy} {of_labels}");
    let with_policy = with_policy["regret"]["mean"].as_f64();
    let [shipped, perfect] = [shipped, perfect].map(|found| found["move_choice"]["all"].clone());
    for measured in [&shipped, &perfect] {
        assert!(measured["parents"].as_u64() > Some(2_000), "{measured}");
    }
    let mean = |measured: &Value, key: &str| measured[key]["mean"].as_f64();
    assert_eq!((mean(&perfect, "regret"), mean(&perfect, "error")), (Some(0.0), Some(0.0)));
    let found = (mean(&shipped, "regret"), mean(&shipped, "error"));
    assert!(found.0 < Some(0.02) && found.1 < Some(0.05), "{shipped}");
    assert!(with_policy > Some(0.0) && with_policy < found.0, "{with_policy:?} {shipped}");
    let kept = [0, 1, 2].map(|index| shipped["recall"][index]["mean"].as_f64());
    assert!(kept.is_sorted() && kept[2] < Some(0.9), "{shipped}");
    let error = folder.trainer_error(&format!("eval --data {data} --all --labels GAMES"))?;
    assert!(error.contains("--labels: not all moves of"), "{error}");
    Ok(())
}

#[test]
fn the_papers_sampling_and_sgd_train_too() -> Result<()> {
    let options = "--steps 5 --anchors 16 --positives 5 --optimizer sgd --regression 0 --no-mirror";
    let folder = Folder::new()?;
    Weights::read(&train(&folder, "paper.safetensors", options)?)?;
    Ok(())
}

/// The lines of a log that have held-out metrics.
fn validations(folder: &Folder, log: &str) -> Result<Vec<Value>> {
    let mut lines = folder.json_lines(log)?;
    lines.retain(|line| line["held_out"].is_object());
    Ok(lines)
}

#[test]
fn a_run_without_progress_stops_and_plays_its_best() -> Result<()> {
    let folder = Folder::new()?;
    // At this rate the parameters do not change, so that no validation is better than the first.
    let options = "--anchors 64 --sample 200 --learning-rate 1e-30 --patience 2 \
                   --validate-every 3 --clip 1";
    let early = train(&folder, "early.safetensors", &format!("{options} --steps 500"))?;
    assert_eq!(Weights::read(&early)?.metadata.training["steps"], 9);
    assert!(folder.at("early.checkpoint").exists());
    let looks = validations(&folder, "early.jsonl")?;
    assert_eq!(looks.len(), 3);
    let look = looks.last().context("no validation")?;
    assert!(look["held_out"]["sibling"].is_number() && look["run"]["step"] == 9, "{look}");
    // More steps would not continue it.
    let more = format!("train --data GAMES --out @early.safetensors {options} --steps 600");
    let error = folder.trainer_error(&more)?;
    assert!(error.contains("early.checkpoint': --patience ended its run at step 9"), "{error}");
    // The final parameters are a choice, too.
    let options = "--steps 4 --anchors 64 --sample 200 --patience 2 --validate-every 3";
    train(&folder, "whole.safetensors", options)?;
    let looks = validations(&folder, "whole.jsonl")?;
    let steps: Vec<_> = looks.iter().map(|look| look["run"]["step"].as_u64()).collect();
    assert_eq!(steps, [3, 4].map(Some));
    Ok(())
}

#[test]
fn positions_without_siblings_choose_the_direction_and_the_best_parameters() -> Result<()> {
    let folder = Folder::new()?;
    // Each position of a table is a separate family.
    folder.trainer("data GAMES --out @games.azd")?;
    folder.trainer("data @games.azd --out @positions.csv")?;
    let options = "--steps 500 --anchors 64 --sample 5000 --validate-every 3 \
                   --learning-rate 1e-30 --patience 2";
    folder.trainer(&format!("train --data @positions.csv --out @alone {options}"))?;
    let weights = Weights::read(&folder.at("alone"))?;
    assert!(weights.metadata.metrics["sibling"].is_null());
    assert_eq!(weights.metadata.direction, Direction::Fitted);
    // The first validation, after three steps, was the best.
    assert_eq!(weights.metadata.training["steps"], 9);
    Ok(())
}

#[test]
fn labels_come_from_an_engine_and_shards_make_the_same_file() -> Result<()> {
    let folder = Folder::new()?;
    // Positions after each first move of a pawn by two squares, and an endgame.
    let starts = ('a'..='h').map(|file| {
        let mut position = Position::default();
        position.play(position.parse_move(&format!("{file}2{file}4"))?);
        Ok(format!("{}\n", position.fen(false)))
    });
    let starts = starts.collect::<Result<String>>()?;
    let rook = "8/5k2/8/8/3R4/8/4K3/8 b - - hmvc 0; id \"rook\";\n";
    folder.write("fens.txt", format!("{starts}{rook}"))?;
    let command = "label --engine STOCKFISH --walks 200 --depth 1";
    let fens = "--fens @fens.txt";
    let label = |name: &str, more: &str| -> Result<Vec<u8>> {
        folder.trainer(&format!("{command} --out @{name} {more}"))?;
        Ok(std::fs::read(folder.at(name))?)
    };
    let straight = label("straight.azd", &format!("{fens} --plies 2 --engines 2"))?;
    for shard in ["1/2", "2/2"] {
        let options = format!("{fens} --plies 2 --shard {shard}");
        label(&format!("shard-{}.azd", &shard[..1]), &options)?;
    }
    folder.trainer("data --merge @shard-1.azd @shard-2.azd --out @merged.azd")?;
    assert!(straight == std::fs::read(folder.at("merged.azd"))?);

    let metrics = evaluated(&folder, "--data @straight.azd --all")?;
    assert!(metrics["positions"].as_u64() > Some(300), "{metrics}");
    // Stockfish at one ply and the default weights agree far more often than not.
    assert!(metrics["tau"].as_f64() > Some(0.3), "{metrics}");

    label("games.azd", &format!("{fens} --walk engine --plies 40 --engines 2"))?;
    let info = folder.trainer("data --info @games.azd")?;
    assert!(info.contains("\"walk\":\"engine\""), "{info}");

    // Leaves and endings are labelled independently of each other; the number of engines changes
    // nothing.
    for (walk, fens) in [("leaves", fens), ("search", fens), ("endings", "")] {
        let [one, two] = [1, 2].map(|engines| {
            let kind = format!("{fens} --walk {walk} --nodes 200 --leaf-every 8 --plies 3");
            let more = format!("{kind} --syzygy ROOT/syzygy --engines {engines}");
            label(&format!("{walk}-{engines}.azd"), &more)
        });
        assert!(one? == two?, "{walk}");
        folder.trainer(&format!("data @{walk}-1.azd --out @{walk}.csv"))?;
        let rows = folder.read(&format!("{walk}.csv"))?;
        let pieces = |line: &str| {
            let board = line.split(' ').next().unwrap_or_default();
            board.chars().filter(char::is_ascii_alphabetic).count()
        };
        let few = rows.lines().skip(1).filter(|line| pieces(line) <= 8).count();
        let all = rows.lines().count() - 1;
        // Only one move of eight is random, so many walks visit the same positions.
        let least = if walk == "search" { 50 } else { 150 };
        assert!(all > least && (few == all) == (walk == "endings"), "{walk}: {few} of {all}");
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

    folder.write("bad.txt", format!("{STARTPOS}\n\n8/8/8/8/8/8/8/8 w - - 0 1\n"))?;
    let error = folder.trainer_error(&format!("{command} --out @bad.azd --fens @bad.txt"))?;
    let named = error.contains("bad.txt': line 3: FEN '8/8/8/8/8/8/8/8 w - - 0 1'");
    assert!(named, "{error}");
    assert!(!folder.at("bad.azd").exists());
    Ok(())
}

#[test]
fn a_network_labels_as_the_engine_it_comes_from_evaluates() -> Result<()> {
    let folder = Folder::new()?;
    let network = folder.at("own.nnue");
    let mut engine = export_network(&network)?;
    // Black to move, a king that can castle, a promotion, an en-passant capture, a check.
    let starts = [
        "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1",
        "r3k2r/pppq1ppp/2npbn2/2b1p3/2B1P3/2NPBN2/PPPQ1PPP/R3K2R w KQkq - 4 8",
        "8/P4k2/8/8/3p4/8/4P2K/8 w - - 0 40",
        "6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 30",
    ];
    folder.write("fens.txt", starts.join("\n"))?;
    let command = "label --network @own.nnue --fens @fens.txt";
    let choices = "--walks 64 --plies 3 --best 40 --others 40 --engines 2";
    folder.trainer(&format!("{command} {choices} --out @labels.azd"))?;
    folder.trainer("data @labels.azd --out @labels.csv")?;
    let mut compared = 0;
    for line in folder.read("labels.csv")?.lines().skip(1).step_by(7) {
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
    quiescence_labels_what_captures_lead_to(&folder)?;

    std::fs::write(&network, "no network")?;
    let error = folder.trainer_error(&format!("{command} --out @b.azd --walks 1"))?;
    assert!(error.contains(&format!("--network: network '{}'", network.display())), "{error}");
    Ok(())
}

fn quiescence_labels_what_captures_lead_to(folder: &Folder) -> Result<()> {
    // Black's knight attacks the queen, which 1. a3 leaves where it is.
    let start = "r1bqkbnr/ppp2ppp/2np4/4p3/3QP3/5N2/PPP2PPP/RNB1KB1R w KQkq - 0 5\n";
    folder.write("start.txt", start)?;
    let after = "r1bqkbnr/ppp2ppp/2np4/4p3/3QP3/P4N2/1PP2PPP/RNB1KB1R b KQkq - 0 5";
    let label = |name: &str, options: &str| -> Result<f64> {
        let walk = "--fens @start.txt --walks 2 --plies 1 --best 40 --others 40";
        folder.trainer(&format!("label --network @own.nnue {walk} {options} --out @{name}.azd"))?;
        folder.trainer(&format!("data @{name}.azd --out @{name}.csv"))?;
        let rows = folder.read(&format!("{name}.csv"))?;
        let line = rows.lines().find_map(|line| line.strip_prefix(after)?.strip_prefix(','));
        Ok(line.with_context(|| format!("'{after}' has no label"))?.parse()?)
    };
    let still = label("still", "--engines 1")?;
    let searched = label("searched", "--engines 1 --quiescence")?;
    assert!(still > -300.0 && searched < -500.0, "{still} without a search, {searched} with it");
    assert_eq!(label("two", "--engines 2 --quiescence")?, searched);
    Ok(())
}

/// Starts Stockfish 15.1 and writes its network in the format of later versions.
fn export_network(path: &Path) -> Result<Engine> {
    let mut engine = Engine::start(&stockfish()?, &[], [])?;
    engine.send(&format!("export_net {}", path.display()))?;
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
    let folder = Folder::new()?;
    // Steps of this size would exceed 16 bits by far.
    let options = "--learning-rate 3 --warmup 1 --steps 12 --anchors 32 --sample 100 \
                   --features piece-square+king-buckets-4 --validate-every 5";
    let weights = train(&folder, "wild.safetensors", options)?;
    let table = Weights::read(&weights)?.parameters.values("features.weight")?;
    let largest = table.iter().fold(0f32, |largest, value| largest.max(value.abs()));
    assert!((3.0..4.0).contains(&largest), "{largest}");
    // Reads the weights like the engine.
    folder.trainer("eval --weights @wild.safetensors --data GAMES").map(drop)
}

#[test]
fn a_step_in_parts_is_the_whole_step() -> Result<()> {
    let folder = Folder::new()?;
    let options = "--steps 20 --anchors 64 --sample 200 --accumulator 128 --parts";
    // Without the contrastive loss, they are equal but for the order of sums.
    let [one, two] = ["1", "2"].map(|parts| -> Result<Vec<f32>> {
        let alone = format!("{options} {parts} --contrastive 0 --learning-rate 0.0001");
        let weights = Weights::read(&train(&folder, &format!("{parts}.safetensors"), &alone)?)?;
        weights.parameters.values("features.weight")
    });
    let apart = one?.iter().zip(two?).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(apart < 1e-3, "{apart}");
    let bad = format!("train --data GAMES --out @bad.safetensors {options} 2 --positives 1");
    let error = folder.trainer_error(&bad)?;
    let expected = "--parts goes without --positives for the sparse encoder";
    assert!(error.contains(expected), "{error}");
    Ok(())
}
