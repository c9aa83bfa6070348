//! `azimuth explain`: what it says is what the search says, and bad input gets one clear line.

use std::process::{Command, Output};

use anyhow::{Context, Result, ensure};
use azimuth_chess::position::{Position, fen_of};
use azimuth_tests::{Session, binary};
use serde_json::Value;

/// Nothing is to be won by a capture.
const QUIET: &str = "r1bqk2r/ppp2ppp/2n2n2/2bpp3/4P3/2PP1N2/PP1NBPPP/R1BQK2R w KQkq - 0 7";

const KIWIPETE: &str = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";

fn explain(arguments: &[&str]) -> Result<Output> {
    Ok(Command::new(binary("azimuth")?).arg("explain").args(arguments).output()?)
}

fn json(arguments: &[&str]) -> Result<Value> {
    let output = explain(&[arguments, &["--json", "--hash", "16"]].concat())?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// The one line on standard error of a command that fails.
fn refusal(arguments: &[&str]) -> Result<String> {
    let output = explain(arguments)?;
    let said = String::from_utf8(output.stderr)?;
    assert!(!output.status.success() && output.stdout.is_empty(), "{arguments:?}: {said}");
    let lines: Vec<&str> = said.lines().collect();
    ensure!(lines.len() == 1 && lines[0].starts_with("azimuth: "), "{arguments:?}: {said}");
    Ok(lines[0].to_owned())
}

/// What follows `name` in an `info` line, up to `end`.
fn word<'a>(info: &'a str, name: &str) -> &'a str {
    let rest = info.split_once(&format!(" {name} ")).map_or("", |(_, rest)| rest);
    rest.split(' ').next().unwrap_or_default()
}

#[test]
fn it_says_what_the_search_says() -> Result<()> {
    for (planner, limit) in [("beam", ["depth", "6"]), ("selective", ["nodes", "20000"])] {
        let [kind, number] = limit;
        let mut session = Session::start()?;
        session.send(&format!("setoption name Planner value {planner}"))?;
        session.send(&format!("position fen {KIWIPETE}"))?;
        let lines = session.ask(&format!("go {kind} {number}"), "bestmove")?;
        let info = lines.iter().rev().find(|line| line.starts_with("info depth"));
        let info = info.context("no info line")?;
        session.send("explain")?;
        let table = session.ask("isready", "readyok")?;
        session.end()?;

        let limit = format!("--{kind}={number}");
        let said = json(&["--planner", planner, &limit, KIWIPETE])?;
        let search = &said["search"];
        assert_eq!(said["planner"], planner);
        assert_eq!(search["depth"].to_string(), word(info, "depth"), "{info}");
        assert_eq!(search["cp"].to_string(), word(info, "cp"), "{info}");
        assert_eq!(search["nodes"].to_string(), word(info, "nodes"), "{info}");
        let pv: Vec<&str> =
            search["pv"].as_array().context("pv")?.iter().filter_map(Value::as_str).collect();
        assert!(info.ends_with(&pv.join(" ")), "{info} {pv:?}");

        // Move by move, what the console's table says: verified values, dropped moves, plies and values.
        let moves = said["moves"].as_array().context("moves")?;
        assert_eq!(moves.len(), 48);
        for explained in moves {
            let uci = explained["uci"].as_str().context("uci")?;
            let line = table.iter().find(|line| line.starts_with(&format!("{uci} ")));
            let words: Vec<&str> = line.context("in the table")?.split_whitespace().collect();
            let searched = &explained["searched"];
            assert_eq!(searched.is_null(), words.contains(&"dropped"), "{uci}");
            assert_eq!(
                format!("{:+}", explained["static"]["cp"].as_i64().context("cp")?),
                words[1]
            );
            let verified = &explained["verified"];
            assert_eq!(verified.is_null(), planner == "selective", "{uci}");
            if let Some(cp) = verified["cp"].as_i64() {
                assert_eq!(format!("{cp:+}"), words[4], "{uci}");
            }
            if !searched.is_null() {
                let plies = if verified.is_null() { words[4] } else { words[7] };
                assert_eq!(searched["depth"].to_string(), plies, "{uci}");
                assert_eq!(searched["bound"] == "upper", words.contains(&"most"), "{uci}");
                let cp = format!("{:+}", searched["cp"].as_i64().context("cp")?);
                assert!(words[5..].contains(&cp.as_str()), "{uci}: {words:?} {cp}");
            }
        }
        // The moves that a person would compare have their values.
        let first_sight = moves.iter().filter(|mv| mv["rank_before"].as_u64() <= Some(3));
        assert!(first_sight.clone().all(|mv| mv["rank_after"].is_u64()), "{said}");
        assert!(moves[..2].iter().map(|mv| &mv["rank_after"]).eq([1, 2].iter()), "{said}");
        assert_eq!(moves[0]["uci"], pv[0]);
    }
    Ok(())
}

#[test]
fn the_tree_backs_its_values_up() -> Result<()> {
    for planner in ["beam", "selective"] {
        let said = json(&["--planner", planner, "--depth", "6", "--tree", "2", KIWIPETE])?;
        let chosen = &said["moves"][0];
        let replies = chosen["replies"].as_array().context("replies")?;
        let best = &replies[0];
        assert_eq!(best["uci"], said["search"]["pv"][1], "{planner}");
        let cp = |searched: &Value| searched["cp"].as_i64();
        assert_eq!(cp(&best["searched"]), cp(&chosen["searched"]).map(|cp| -cp), "{planner}");
        let dropped = replies.iter().filter(|reply| reply["searched"].is_null()).count();
        let kept = replies.len() - dropped;
        assert!(kept > 0 && (planner == "selective" || kept == 3), "{planner}: {kept}");
    }
    Ok(())
}

/// Plays the lines behind moves and replies, to the quiet positions that they name.
fn follow_verified_lines(position: &Position, moves: &[Value]) -> Result<()> {
    for explained in moves {
        let verified = &explained["verified"];
        let mut after = position.clone();
        after.play(after.parse_move(explained["uci"].as_str().context("uci")?)?);
        let mut quiet = after.clone();
        for mv in verified["line"].as_array().context("line")? {
            quiet.play(quiet.parse_move(mv.as_str().context("a move")?)?);
        }
        assert_eq!(verified["fen"], fen_of(quiet.board()));
        let replies = explained["replies"].as_array().map_or(&[][..], Vec::as_slice);
        follow_verified_lines(&after, replies)?;
    }
    Ok(())
}

#[test]
fn verified_moves_lead_to_quiet_positions_of_the_same_worth() -> Result<()> {
    let root = Position::from_fen(QUIET)?;
    for (verify, plies) in [("quiescence", 3), ("2", 5)] {
        let said = json(&["--depth", "4", "--verify", verify, "--tree", "2", QUIET])?;
        let moves = said["moves"].as_array().context("moves")?;
        follow_verified_lines(&root, moves)?;
        assert!(moves.iter().all(|explained| explained["verified"]["plies"] == plies), "{said}");
        for explained in moves.iter().filter(|explained| explained["searched"].is_object()) {
            let verified = &explained["verified"];
            let fen = verified["fen"].as_str().context("fen")?;
            let quiet = &json(&["--planner", "selective", "--depth", "1", fen])?["position"];
            let (p, cosine) = (quiet["win_probability"].as_f64(), quiet["cosine"].as_f64());
            let (p, cosine) = p.zip(cosine).context("a score")?;
            let same_side = fen.contains(" w ");
            let (p, cosine) = if same_side { (p, cosine) } else { (1.0 - p, -cosine) };
            let known = verified["win_probability"].as_f64().zip(verified["cosine"].as_f64());
            let (known_p, known_cosine) = known.context("an estimate")?;
            assert!((p - known_p).abs() < 0.1, "{explained} {quiet}");
            assert!((cosine - known_cosine).abs() < 1e-4, "{explained} {quiet}");
        }
    }
    Ok(())
}

#[test]
fn verified_values_are_those_that_the_beam_keeps_moves_by() -> Result<()> {
    for fen in [QUIET, KIWIPETE] {
        let said = json(&["--depth", "1", "--verify", "2", fen])?;
        let moves = said["moves"].as_array().context("moves")?;
        let kept = moves.iter().filter(|explained| explained["searched"].is_object());
        assert_eq!(kept.clone().count(), 3);
        for explained in kept {
            assert_eq!(explained["searched"]["cp"], explained["verified"]["cp"], "{explained}");
        }
    }
    Ok(())
}

#[test]
fn where_nothing_is_verified_nothing_is_said_of_it() -> Result<()> {
    for options in [["--planner=selective", "--depth=3"], ["--verify=none", "--depth=3"]] {
        let said = json(&[&options[..], &["--tree", "2", QUIET]].concat())?;
        for explained in said["moves"].as_array().context("moves")? {
            assert!(explained["verified"].is_null(), "{explained}");
        }
        let text = String::from_utf8(explain(&[&options[..], &[QUIET]].concat())?.stdout)?;
        assert!(text.contains("after the search") && !text.contains("verified"), "{text}");
    }
    Ok(())
}

#[test]
fn a_mate_is_verified_without_a_search() -> Result<()> {
    let said = json(&["--depth", "2", "6k1/5ppp/8/8/8/8/r4PPP/1R4K1 w - - 0 1"])?;
    let verified = &said["moves"][0]["verified"];
    assert_eq!((&verified["mate"], &verified["plies"]), (&1.into(), &0.into()), "{verified}");
    assert_eq!((&verified["line"], &verified["cosine"]), (&Value::Array(vec![]), &Value::Null));
    Ok(())
}

#[test]
fn moves_that_are_asked_about_get_values_of_their_own() -> Result<()> {
    let asked = ["Rb1", "a2a4"];
    let said = json(&["--nodes", "5000", "--moves", &asked.join(","), KIWIPETE])?;
    let moves = said["moves"].as_array().context("moves")?;
    for name in asked {
        let found = moves.iter().find(|mv| mv["san"] == name || mv["uci"] == name);
        let found = found.context("listed")?;
        assert_eq!(found["own_search"]["bound"], "exact", "{found}");
        assert!(found["own_search"]["depth"].as_u64() > Some(1), "{found}");
    }
    Ok(())
}

#[test]
fn a_games_position_keeps_its_history() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("game.pgn");
    let path = path.to_str().context("a path")?;
    // The same position for the second time after eight half-moves.
    let game = "1. Nf3 Nf6 2. Ng1 Ng8 3. Nf3 ( 3. e4 e5 ) 3... Nf6 4. Ng1 Ng8 5. Nf3 Nf6 *\n\n\
                [FEN \"8/8/8/8/8/2k5/1q6/K7 w - - 0 1\"]\n\n*\n";
    std::fs::write(path, game)?;
    let said = json(&["--pgn", path, "--ply", "7", "--depth", "2"])?;
    assert_eq!(said["fen"], "rnbqkb1r/pppppppp/5n2/8/8/8/PPPPPPPP/RNBQKBNR b KQkq - 7 4");
    let back = said["moves"].as_array().context("moves")?.iter().find(|mv| mv["san"] == "Ng8");
    // The starting position for the third time.
    assert_eq!(back.context("legal")?["static"]["win_probability"], 0.5);
    assert_eq!(json(&["--pgn", path, "--depth", "1"])?["search"]["depth"], 1);
    for (arguments, expected) in [
        (vec!["--pgn", path, "--ply", "11"], "--ply 11: the game has 10 half-moves"),
        (vec!["--pgn", path, "--game", "2"], "no legal move to explain, checkmate"),
        (vec!["--pgn", path, "--game", "4"], "the file has 2 games"),
    ] {
        let said = refusal(&arguments)?;
        assert!(said.contains(expected), "{said}");
    }
    Ok(())
}

#[test]
fn what_cannot_be_explained_is_refused_in_one_line() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let (empty, broken) = (folder.path().join("empty.pgn"), folder.path().join("broken.pgn"));
    std::fs::write(&empty, "")?;
    std::fs::write(&broken, "1. e4 e5 2. Ke3 *\n")?;
    let [empty, broken] = [empty.to_str(), broken.to_str()].map(Option::unwrap_or_default);
    for (arguments, expected) in [
        (vec!["8/8/8/8/8/8/8/8 w - - 0 1"], "not a legal board"),
        (vec!["hello"], "expected 4 to 6 fields"),
        (vec!["7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"], "no legal move to explain, stalemate"),
        (vec!["7k/6Q1/6K1/8/8/8/8/8 b - - 0 1"], "no legal move to explain, checkmate"),
        (vec!["--moves", "e5"], "--moves: move 'e5' is not legal in"),
        (vec!["--weights", "missing.safetensors"], "weights file 'missing.safetensors'"),
        (vec!["--pgn", empty], "the file has no such game"),
        (vec!["--pgn", broken], "half-move 3: move 'Ke3' is not legal in"),
        (vec!["--pgn", "missing.pgn"], "game 1 of 'missing.pgn'"),
        (vec!["--syzygy", "missing"], "--syzygy: Syzygy folder 'missing'"),
    ] {
        let said = refusal(&arguments)?;
        assert!(said.contains(expected), "{arguments:?}: {said}");
    }
    Ok(())
}
