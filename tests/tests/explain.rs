//! `azimuth explain`: its output agrees with the search, and bad input gets a single line of error.

use std::process::{Command, Output};

use anyhow::{Context, Result, ensure};
use azimuth_chess::position::{Position, fen_of};
use azimuth_tests::{
    Folder, KIWIPETE, Session, binary, notices, printed, refused, run, run_with_input, text,
    word_after,
};
use serde_json::Value;

/// A position in which no capture wins material.
const QUIET: &str = "r1bqk2r/ppp2ppp/2n2n2/2bpp3/4P3/2PP1N2/PP1NBPPP/R1BQK2R w KQkq - 0 7";

fn explain(arguments: &[&str]) -> Result<Output> {
    run("azimuth", &[&["explain"], arguments].concat())
}

fn json(arguments: &[&str]) -> Result<Value> {
    let output = explain(&[arguments, &["--json", "--hash", "16"]].concat())?;
    Ok(serde_json::from_str(&printed(output)?)?)
}

/// The line of error of a command that fails and prints nothing else.
fn refusal(arguments: &[&str]) -> Result<String> {
    let output = explain(arguments)?;
    assert!(output.stdout.is_empty(), "{arguments:?}");
    let line = refused(output)?;
    ensure!(line.starts_with("azimuth: "), "{arguments:?}: {line}");
    Ok(line)
}

#[test]
fn it_says_what_the_search_says() -> Result<()> {
    for (planner, limit) in [("beam", ["depth", "6"]), ("selective", ["nodes", "20000"])] {
        let [kind, number] = limit;
        let mut session = Session::start()?;
        let refused = session.answer("explain", "info string")?;
        assert!(refused.contains("no search to explain"), "{refused}");
        session.set("Planner", planner)?;
        let lines = session.search(&format!("fen {KIWIPETE}"), &format!("go {kind} {number}"))?;
        let info = lines.iter().rev().find(|line| line.starts_with("info depth"));
        let info = info.context("no info line")?;
        // The engine does not warm up after a search.
        session.ask("isready", "readyok")?;
        let table = session.said("explain")?;
        session.end()?;

        let limit = format!("--{kind}={number}");
        let said = json(&["--planner", planner, &limit, KIWIPETE])?;
        let search = &said["search"];
        assert_eq!(said["planner"], planner);
        for fact in ["depth", "cp", "nodes"] {
            assert_eq!(Some(search[fact].to_string().as_str()), word_after(info, fact), "{info}");
        }
        let pv: Vec<&str> =
            search["pv"].as_array().context("pv")?.iter().filter_map(Value::as_str).collect();
        assert!(info.ends_with(&pv.join(" ")), "{info} {pv:?}");
        let chance = |place: usize| search["wdl"][place].as_f64();
        let expected = chance(0).zip(chance(1)).map(|(win, draw)| (win + draw / 2.0) / 1000.0);
        assert_eq!(search["expected_score"].as_f64(), expected, "{search}");

        // Every move agrees with the console's table: verified values, dropped moves, plies and
        // values.
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
        // The moves that look best at first sight have values.
        let first_sight = moves.iter().filter(|mv| mv["rank_before"].as_u64() <= Some(3));
        assert!(first_sight.clone().all(|mv| mv["rank_after"].is_u64()), "{said}");
        assert_eq!(moves[0]["uci"], pv[0]);
        let first = table.iter().find(|line| line.contains(" cp "));
        assert!(first.is_some_and(|line| line.starts_with(pv[0])), "{table:?}");
        ranks_follow_values(&said)?;
    }
    Ok(())
}

/// The ranks of the moves follow the values shown for them.
fn ranks_follow_values(said: &Value) -> Result<()> {
    let moves = said["moves"].as_array().context("moves")?;
    let mut ranked = Vec::new();
    for studied in moves {
        let Some(rank) = studied["rank_after"].as_u64() else { continue };
        let own = Some(&studied["own_search"]).filter(|own| own.is_object());
        let found = own.unwrap_or(&studied["searched"]);
        ranked.push((rank, found["win_probability"].as_f64().context("a value")?));
    }
    ranked.sort_by_key(|&(rank, _)| rank);
    assert!(ranked.iter().map(|&(rank, _)| rank).eq(1..=ranked.len() as u64), "{said}");
    assert!(ranked.is_sorted_by(|(_, better), (_, worse)| better >= worse), "{said}");
    Ok(())
}

#[test]
fn a_depth_beyond_the_beam_is_searched_by_the_selective_search() -> Result<()> {
    assert_eq!(json(&["--depth", "6", QUIET])?["planner"], "beam");
    let said = json(&["--depth", "9", QUIET])?;
    assert_eq!((&said["planner"], &said["search"]["depth"]), (&"selective".into(), &9.into()));
    let output = explain(&["--depth", "9", "6k1/5ppp/8/8/8/8/8/K2R4 w - - 0 1"])?;
    let notice = String::from_utf8(output.stderr)?;
    assert!(notice.ends_with("of 9 reached: checkmate is forced\n"), "{notice}");
    Ok(())
}

#[test]
fn reasons_are_chess_and_from_the_lines() -> Result<()> {
    // A fork, from which the knight cannot return; a knight attacked by a pawn; a pawn
    // breakthrough; a draw that the tables know.
    for (fen, asked, expected) in [
        (
            "r3k3/8/8/3N4/8/8/PPP5/2K5 w - - 0 1",
            "",
            &["It forks the king and the rook and wins the exchange: 1. Nc7+ "][..],
        ),
        (
            "rnbqkbnr/p1pppppp/8/8/1p6/2N5/PPPPPPPP/R1BQKBNR w KQkq - 0 1",
            "--moves=e4",
            &[
                "It parries the threat of bxc3, which wins a knight for a pawn.",
                "It loses a knight for a pawn: 1. e4 bxc3 2. ",
            ],
        ),
        ("8/ppp5/8/PPP5/8/5k2/8/7K w - - 0 1", "", &["It promotes a pawn: 1. b6 "]),
        (
            "7k/8/6KP/8/8/8/8/5B2 w - - 0 1",
            "",
            &[", although White has a bishop and a pawn more: the bishop does not control h8."],
        ),
    ] {
        let options = [fen, "--nodes=20000", asked];
        let said = json(if asked.is_empty() { &options[..2] } else { &options })?;
        let reason = said["reason"].as_str().context("a reason")?;
        assert!(expected.iter().all(|part| reason.contains(part)), "{fen}: {reason}");
        ranks_follow_values(&said)?;
    }
    Ok(())
}

#[test]
fn no_sentence_argues_against_its_own_move() -> Result<()> {
    let mut missed = 0;
    for fen in [
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "rnbqkbnr/ppp2ppp/8/3pp3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 0 3",
        "r1b1kb1r/1pq2ppp/p1nppn2/8/3NP3/2N1B3/PPP1BPPP/R2Q1RK1 w kq - 0 9",
        QUIET,
        KIWIPETE,
        // White sacrifices the queen and mates in three.
        "rnb1kb1r/pp3ppp/2p5/4q3/4n3/3Q4/PPPB1PPP/2KR1BNR w kq - 0 1",
    ] {
        for nodes in ["300", "1000", "2000", "8000"] {
            let said = json(&["--planner", "selective", "--nodes", nodes, fen])?;
            let reason = said["reason"].as_str().context("a reason")?;
            let verdict = reason.split(". ").next().unwrap_or_default();
            assert!(!verdict.contains("less than"), "{reason}");
            ranks_follow_values(&said)?;
            let moves = said["moves"].as_array().context("moves")?;
            let score = |place: usize| {
                let found = ["own_search", "searched"].map(|search| &moves[place][search]);
                found.into_iter().find_map(|found| found["expected_score"].as_f64())
            };
            let (chosen, other) = score(0).zip(score(1)).context("expected scores")?;
            let says_so = reason.contains(&format!(
                "But {} is better: searched by itself it ",
                moves[1]["san"].as_str().context("a move")?
            ));
            // Only an inaccuracy is worth a sentence.
            assert_eq!(says_so, other - chosen >= 0.12, "{reason}");
            if says_so {
                assert!(reason.contains("the first search missed it."), "{reason}");
                // Both moves were searched separately, the chosen one at least as deeply.
                let depth = |place: usize| moves[place]["own_search"]["depth"].as_u64();
                assert!(depth(0) >= depth(1) && depth(1).is_some(), "{said}");
                missed += 1;
            }
        }
    }
    assert!(missed > 0, "no search missed a better move");
    Ok(())
}

#[test]
fn the_value_of_the_tables_is_that_of_the_chosen_move() -> Result<()> {
    let tables = concat!(env!("CARGO_MANIFEST_DIR"), "/../syzygy");
    let won = "8/8/8/3k4/8/8/8/Q3K3 w - - 0 1";
    for folders in [&["--syzygy", tables][..], &[]] {
        let usual = [won, "--planner", "selective", "--depth", "3"];
        let said = json(&[&usual, folders].concat())?;
        let searched = &said["moves"][0]["searched"];
        assert_eq!((&said["search"]["cp"], &searched["cp"]), (&20000.into(), &20000.into()));
    }
    Ok(())
}

#[test]
fn every_move_that_was_asked_for_is_searched_and_in_the_sentence() -> Result<()> {
    let said = json(&["--nodes", "5000", "--moves", "Rb1,a2a4,Bxa6", KIWIPETE])?;
    let reason = said["reason"].as_str().context("a reason")?;
    for name in ["Rb1 is worth ", "a4 is worth ", "Bxa6"] {
        assert!(reason.contains(name), "{reason}");
    }
    assert!(reason.contains(" points less than "), "{reason}");
    let moves = said["moves"].as_array().context("moves")?;
    for name in ["Rb1", "a4"] {
        let own = &moves.iter().find(|mv| mv["san"] == name).context("listed")?["own_search"];
        assert!(own["bound"] == "exact" && own["depth"].as_u64() > Some(1), "{own}");
    }
    // After a mate, the verdict compares the chosen move with no other.
    let mate = "6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1";
    let all = "a1a2,a1a3,a1a4,a1a5,a1a6,a1a7,e1e2";
    let said = json(&["--depth", "8", "--moves", all, mate])?;
    let reason = said["reason"].as_str().context("a reason")?;
    for name in ["Ra2 ", "Ra3 ", "Ra4 ", "Ra5 ", "Ra6 ", "Ra7 ", "Ke2 "] {
        assert!(reason.contains(name), "{name}: {reason}");
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

/// Follows the verified lines of moves and replies to the quiet positions that they name.
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
    let unverified = ["--verify=none", "--depth=3", QUIET];
    for explained in json(&unverified)?["moves"].as_array().context("moves")? {
        assert!(explained["verified"].is_null(), "{explained}");
    }
    for options in [&unverified, &["--planner=selective", "--depth=3", QUIET]] {
        let text = printed(explain(options)?)?;
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
fn a_games_position_keeps_its_history() -> Result<()> {
    let folder = Folder::new()?;
    let path = &text(&folder.at("game.pgn"));
    // After eight half-moves the starting position occurs for the third time.
    let game = "1. Nf3 Nf6 2. Ng1 Ng8 3. Nf3 ( 3. e4 e5 ) 3... Nf6 4. Ng1 Ng8 5. Nf3 Nf6 *\n\n\
                [FEN \"8/8/8/8/8/2k5/1q6/K7 w - - 0 1\"]\n\n*\n";
    folder.write("game.pgn", game)?;
    let said = json(&["--pgn", path, "--ply", "7", "--depth", "2"])?;
    assert_eq!(said["fen"], "rnbqkb1r/pppppppp/5n2/8/8/8/PPPPPPPP/RNBQKBNR b KQkq - 7 4");
    let back = said["moves"].as_array().context("moves")?.iter().find(|mv| mv["san"] == "Ng8");
    // Ng8 repeats the starting position for the third time: a draw.
    assert_eq!(back.context("legal")?["static"]["win_probability"], 0.5);
    assert_eq!(json(&["--pgn", path, "--depth", "1"])?["search"]["depth"], 1);
    let black = json(&["--pgn", path, "--move", "4b", "--depth", "2"])?;
    assert_eq!(black["fen"], said["fen"]);
    let white = json(&["--pgn", path, "--move", "6w", "--depth", "1"])?;
    assert_eq!(white["fen"], "rnbqkb1r/pppppppp/5n2/8/8/5N2/PPPPPPPP/RNBQKB1R w KQkq - 10 6");
    for (arguments, expected) in [
        (["--ply", "11"], "--ply 11: the game has 10 half-moves"),
        (["--game", "2"], "no legal move to explain, checkmate"),
        (["--move", "6b"], "--move 6b: the game has 10 half-moves"),
        (["--game", "4"], "there are only 2 games in it"),
    ] {
        let said = refusal(&[&["--pgn", path], &arguments[..]].concat())?;
        assert!(said.contains(expected), "{said}");
    }
    Ok(())
}

#[test]
fn games_come_from_compressed_files_folders_and_pipes() -> Result<()> {
    let season = Folder::new()?;
    let games = ["1. e4 *\n", "1. d4 *\n\n1. c4 *\n"];
    season.write("a.pgn", games[0])?;
    season.write("b.pgn.zst", zstd::encode_all(games[1].as_bytes(), 3)?)?;
    season.write("notes.txt", "no game")?;
    let folder = text(season.path());
    let played = |said: &Value, mv: &str| -> Result<()> {
        let mut position = Position::default();
        position.play(position.parse_move(mv)?);
        assert_eq!(said["fen"], position.fen(false));
        Ok(())
    };
    for (game, mv) in [("1", "e2e4"), ("3", "c2c4")] {
        played(&json(&["--pgn", &folder, "--game", game, "--depth", "1"])?, mv)?;
    }
    let refused = refusal(&["--pgn", &folder, "--game", "4"])?;
    assert!(refused.contains("there are only 3 games in it"), "{refused}");
    let mut command = Command::new(binary("azimuth")?);
    command.args(["explain", "--pgn", "-", "--game", "2", "--depth", "1", "--json"]);
    let output = run_with_input(&mut command, games[1])?;
    played(&serde_json::from_str(&printed(output)?)?, "c2c4")?;
    assert_eq!(json(&["startpos", "--depth", "1"])?["fen"], Position::default().fen(false));
    Ok(())
}

#[test]
fn the_moves_before_a_fault_are_read() -> Result<()> {
    let folder = Folder::new()?;
    folder.write("cut.pgn", "1. e4 e5 2. Ke3 *\n")?;
    let said = notices(folder.run("azimuth", "explain --pgn @cut.pgn --depth 1")?)?;
    assert!(said.contains("half-move 3: move 'Ke3' is not legal in"), "{said}");
    assert!(said.contains("only the moves before it are read"), "{said}");
    Ok(())
}

#[test]
fn dropped_castling_rights_are_told() -> Result<()> {
    let folder = Folder::new()?;
    let fen = "4k3/8/8/8/8/8/8/4K2R w KQkq - 0 1";
    folder.write("game.pgn", format!("[FEN \"{fen}\"]\n\n1. O-O *\n"))?;
    let of_game = folder.run("azimuth", "explain --pgn @game.pgn --depth 1")?;
    for output in [explain(&["--depth", "1", fen])?, of_game] {
        let said = notices(output)?;
        assert!(said.contains("the castling rights 'Qkq' are dropped"), "{said}");
    }
    Ok(())
}

#[test]
fn what_cannot_be_explained_is_refused_in_one_line() -> Result<()> {
    let folder = Folder::new()?;
    folder.write("empty.pgn", "")?;
    folder.write("broken.pgn", "[White \"a\"]\n\n1. Ke3 *\n")?;
    folder.write("mated.pgn", "1. f3 e5 2. g4 Qh4# 0-1\n")?;
    let [empty, broken, mated] =
        ["empty.pgn", "broken.pgn", "mated.pgn"].map(|name| text(&folder.at(name)));
    let said = json(&["--pgn", &mated, "--ply", "0", "--depth", "1"])?;
    assert!(said["fen"].as_str().is_some_and(|fen| fen.ends_with(" 0 1")), "{said}");
    for (arguments, expected) in [
        (&["8/8/8/8/8/8/8/8 w - - 0 1"][..], "not a legal board"),
        (&["hello"], "not a legal board"),
        (&["7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"], "no legal move to explain, stalemate"),
        (&["7k/6Q1/6K1/8/8/8/8/8 b - - 0 1"], "no legal move to explain, checkmate"),
        (&["--moves", "e5"], "--moves: move 'e5' is not legal in"),
        (&["--weights", "missing.safetensors"], "weights file 'missing.safetensors'"),
        (&["--pgn", &empty], "there is no game in it"),
        (&["--pgn", concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")], "game 1 of"),
        (&["--pgn", concat!(env!("CARGO_MANIFEST_DIR"), "/tests")], "no *.pgn or *.pgn.zst"),
        (&["--pgn", &broken], "half-move 1: move 'Ke3' is not legal in"),
        (&["--pgn", "missing.pgn"], "game 1 of 'missing.pgn'"),
        (&["--syzygy", "missing"], "--syzygy: Syzygy folder 'missing'"),
    ] {
        let said = refusal(arguments)?;
        assert!(said.contains(expected), "{arguments:?}: {said}");
    }
    Ok(())
}
