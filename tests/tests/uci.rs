//! The engine in a UCI session: commands in, lines out.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use azimuth_chess::position::{Position, STARTPOS, legal_moves, uci_move};
use azimuth_tests::{
    Folder, KIWIPETE, Session, binary, last_number, printed, refusal, run, run_with_input, wait,
    word_after,
};

const MINI: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../weights/mini.safetensors");

fn session() -> Result<Session> {
    let mut session = Session::start()?;
    session.ask("uci", "uciok")?;
    session.ask("isready", "readyok")?;
    Ok(session)
}

/// The last report of a search.
fn last_info(lines: &[String]) -> Result<&str> {
    let info = lines.iter().rfind(|line| line.starts_with("info depth"));
    info.map(String::as_str).context("no info")
}

#[test]
fn the_start_position_gets_a_legal_line() -> Result<()> {
    let mut session = session()?;
    let lines = session.search("startpos moves e2e4", "go")?;
    assert_eq!(lines.iter().filter(|line| line.starts_with("info depth")).count(), 6, "{lines:?}");
    let (info, answer) = (last_info(&lines)?, lines.last().context("no answer")?);
    assert!(info.starts_with("info depth 6 "), "{info}");
    assert_eq!(word_after(answer, "bestmove"), word_after(info, "pv"), "{lines:?}");
    let (_, pv) = info.split_once(" pv ").context("no pv")?;
    let mut position = Position::default();
    for text in std::iter::once("e2e4").chain(pv.split(' ')) {
        let mv = position.parse_move(text)?;
        assert_eq!(uci_move(position.board(), mv, false), text);
        position.play(mv);
    }
    session.end()
}

#[test]
fn mates_are_found_announced_and_played() -> Result<()> {
    let mut session = session()?;
    for (fen, best, score) in [
        ("6k1/5ppp/8/8/8/8/8/K2R4 w - - 0 1", "bestmove d1d8", "score mate 1"),
        ("k7/8/8/8/8/8/5PPP/2r3K1 w - - 0 1", "bestmove (none)", "score mate 0"),
        ("7k/5Q2/5K2/8/8/8/8/8 b - - 0 1", "bestmove (none)", "score cp 0"),
    ] {
        let lines = session.search(&format!("fen {fen}"), "go depth 3")?;
        assert!(lines.last().is_some_and(|line| line.starts_with(best)), "{lines:?}");
        let scored = |line: &&String| line.starts_with("info depth") && line.contains(score);
        assert!(lines.iter().any(|line| scored(&line)), "{lines:?}");
    }
    session.end()
}

#[test]
fn castling_is_written_as_the_gui_asks() -> Result<()> {
    let mut session = session()?;
    let position = "position fen 4k3/8/8/8/8/8/5PPP/4K2R w K - 0 1";
    for (chess960, castling) in [("false", "e1g1"), ("true", "e1h1")] {
        session.set("UCI_Chess960", chess960)?;
        session.send(position)?;
        let answer = session.answer(&format!("go depth 1 searchmoves {castling}"), "bestmove")?;
        assert_eq!(answer.split(' ').nth(1), Some(castling));
    }
    session.set("UCI_Chess960", true)?;
    session.send("position fen 1rk3r1/8/8/8/8/8/8/1RK3R1 w BGbg - 0 1 moves c1g1 c8b8")?;
    assert!(session.answer("go depth 2", "bestmove")?.starts_with("bestmove"));
    session.end()
}

#[test]
fn stop_and_ponderhit_end_a_search_and_nothing_else_does() -> Result<()> {
    let mut session = session()?;
    session.send("position startpos")?;
    session.send("go infinite")?;
    session.read_until("info depth 7")?;
    let meanwhile = session.ask("isready", "readyok")?;
    assert!(meanwhile.iter().all(|line| !line.starts_with("bestmove")), "{meanwhile:?}");
    for command in ["go depth 1", "setoption name Hash value 1", "ucinewgame"] {
        let busy = session.answer(command, "info string")?;
        assert!(busy.contains("a search is running"), "{busy}");
    }
    // A new position is for the next search.
    session.send("position fen k7/8/8/8/8/8/5PPP/2r3K1 w - - 0 1")?;
    let best = session.answer("stop", "bestmove")?;
    assert!(!best.contains("none"), "{best}");
    assert_eq!(session.answer("go depth 1", "bestmove")?, "bestmove (none)");
    session.send("position startpos")?;
    session.send("go ponder wtime 1000 btime 1000")?;
    session.read_until("info depth 7")?;
    session.ask("ponderhit", "bestmove")?;
    for command in ["stop", "ponderhit"] {
        let idle = session.answer(command, "info string")?;
        assert!(idle.contains("no search is running"), "{idle}");
    }
    // The end of the input is `quit`: a search is stopped and answered.
    session.send("go infinite")?;
    session.read_until("info depth 3")?;
    session.close();
    session.read_until("bestmove")?;
    session.end()
}

#[test]
fn a_finished_game_is_answered_when_the_search_may_end() -> Result<()> {
    let mut session = session()?;
    session.send("position fen k7/8/8/8/8/8/5PPP/2r3K1 w - - 0 1")?;
    for (go, end) in [
        ("go infinite", "stop"),
        ("go ponder wtime 1000 btime 1000", "stop"),
        ("go ponder wtime 1000 btime 1000", "ponderhit"),
    ] {
        let early = session.said(go)?;
        assert!(early.iter().all(|line| !line.starts_with("bestmove")), "{go}: {early:?}");
        assert_eq!(session.answer(end, "bestmove")?, "bestmove (none)", "{go}");
    }
    // The engine is mated after its only move: there is nothing to ponder on.
    session.send("position fen 5rQk/6pp/7N/8/8/8/6PP/6K1 b - - 0 1")?;
    assert_eq!(session.answer("go depth 4", "bestmove")?, "bestmove f8g8");
    session.end()
}

#[test]
fn a_forced_move_is_searched_for_the_time_of_movetime() -> Result<()> {
    let mut session = session()?;
    session.send("position fen 5rQk/6pp/7N/8/8/8/6PP/6K1 b - - 0 1")?;
    assert!(last_info(&session.ask("go movetime 500", "bestmove")?)?.contains("score mate -1"));
    session.send("ucinewgame")?;
    let lines = session.ask("go wtime 60000 btime 60000", "bestmove")?;
    assert!(last_info(&lines)?.starts_with("info depth 1 "));
    session.end()
}

#[test]
fn a_mate_is_announced_only_where_it_is_certain() -> Result<()> {
    let mut session = session()?;
    session.set("Planner", "selective")?;
    for (lines, position, go, mate) in [
        // The worst of White's moves allows mate.
        (256, "startpos moves f2f3 e7e5", "go depth 8", Some("score mate -1 ")),
        (1, "startpos moves f2f3", "go depth 8", None),
        // The 50-move rule comes before the second of these mates.
        (1, "fen 8/8/5k2/8/8/8/R7/1R2K3 w - - 0 1", "go depth 13", Some("score mate 5")),
        (1, "fen 8/8/5k2/8/8/8/R7/1R2K3 w - - 96 60", "go depth 2", None),
    ] {
        session.set("MultiPV", lines)?;
        let said = session.search(position, go)?;
        let is_said = said.iter().any(|line| line.contains(mate.unwrap_or("score mate")));
        assert_eq!(is_said, mate.is_some(), "{position}: {said:?}");
    }
    session.end()
}

#[test]
fn a_mate_that_is_played_on_is_explained() -> Result<()> {
    let mut session = session()?;
    session.set("Planner", "beam")?;
    let mate = "position fen 6k1/5ppp/8/8/8/8/8/K2R4 w - - 0 1";
    for position in [mate, "position startpos", mate] {
        session.send(position)?;
        session.ask("go depth 3", "bestmove")?;
    }
    let lines = session.said("explain")?;
    assert!(lines.iter().any(|line| line.contains("d1d8")), "{lines:?}");
    session.end()
}

#[test]
fn what_follows_a_stop_waits_for_the_answer() -> Result<()> {
    let mut session = session()?;
    session.send("go infinite")?;
    session.send("stop")?;
    let lines = session.search("startpos moves e2e4", "go depth 1")?;
    assert!(lines.iter().all(|line| !line.starts_with("info string")), "{lines:?}");
    let best = session.read_until("bestmove")?.pop().context("no answer")?;
    let mut position = Position::default();
    position.play(position.parse_move("e2e4")?);
    position.parse_move(best.split(' ').nth(1).context("no move")?)?;
    session.end()
}

#[test]
fn a_clock_is_kept_and_used() -> Result<()> {
    let mut session = session()?;
    for planner in ["selective", "beam"] {
        session.set("Planner", planner)?;
        for (go, least, most) in [
            ("go movetime 300", 270, 320),
            ("go wtime 9000 btime 9000", 50, 1_200),
            ("go wtime 40 btime 40", 0, 39),
        ] {
            session.ask("ucinewgame\nisready", "readyok")?;
            // On a busy machine some answers are late, but not all of them.
            let latest = Duration::from_millis(most);
            let mut times = Vec::new();
            while times.len() < 5 && times.last().is_none_or(|&time| time > latest) {
                let began = Instant::now();
                session.ask(go, "bestmove")?;
                times.push(began.elapsed());
            }
            let allowed = Duration::from_millis(least)..=latest;
            assert!(
                times.last().is_some_and(|time| allowed.contains(time)),
                "{planner}, {go}: {times:?}"
            );
        }
    }
    session.end()
}

#[test]
fn lines_are_as_many_as_asked_for() -> Result<()> {
    let mut session = session()?;
    session.set("MultiPV", 5)?;
    // A position with one legal move, then one with many.
    for (fen, expected) in [("7k/8/8/8/8/8/1r6/K7 w - - 0 1", 1), (STARTPOS, 5)] {
        let lines = session.search(&format!("fen {fen}"), "go depth 4")?;
        let last: Vec<&String> =
            lines.iter().filter(|line| line.starts_with("info depth 4 ")).collect();
        let mut moves: Vec<&str> = last.iter().filter_map(|line| word_after(line, "pv")).collect();
        moves.sort_unstable();
        moves.dedup();
        assert_eq!((last.len(), moves.len()), (expected, expected), "{lines:?}");
        for (place, line) in (1..).zip(&last) {
            assert_eq!(word_after(line, "multipv"), Some(place.to_string().as_str()));
        }
    }
    session.end()
}

#[test]
fn an_announced_mate_is_played_to_its_end() -> Result<()> {
    let mut session = session()?;
    let fens = [
        "4k3/8/8/8/8/8/1Q6/R3K3 w - - 0 1",
        "7k/8/5K2/8/8/8/8/6R1 w - - 0 1",
        "8/8/8/8/8/2k5/1q6/4K3 b - - 0 1",
        "k7/8/2K5/8/8/8/8/7R w - - 0 1",
    ];
    for (planner, depth) in [("beam", 9), ("selective", 14)] {
        session.set("Planner", planner)?;
        for (number, fen) in fens.into_iter().enumerate() {
            let mut position = Position::from_fen(fen)?;
            let mut line = format!("fen {fen} moves");
            let lines = session.search(&format!("fen {fen}"), &format!("go depth {depth}"))?;
            let announced: usize = last_number(&lines, "mate").context(fen)?;
            let mut answer = lines.last().context("no answer")?.clone();
            for left in (0..announced).rev() {
                let mv =
                    position.parse_move(word_after(&answer, "bestmove").context("no move")?)?;
                line.push_str(&format!(" {mv}"));
                position.play(mv);
                // Any reply will do, as long as replies vary.
                let replies = legal_moves(position.board());
                if replies.is_empty() {
                    assert!(!position.board().checkers().is_empty(), "{line}: stalemate");
                    break;
                }
                assert!(left > 0, "{planner}: {line}: later than announced");
                let reply = replies[(number + left) % replies.len()];
                line.push_str(&format!(" {reply}"));
                position.play(reply);
                // Too few nodes to find the mate again.
                answer = session.search(&line, "go nodes 1")?.pop().context("no answer")?;
            }
        }
    }
    session.end()
}

#[test]
fn a_rating_and_a_skill_level_limit_the_depth_at_any_clock() -> Result<()> {
    let mut session = session()?;
    session.set("UCI_LimitStrength", true)?;
    session.set("UCI_Elo", 1346)?;
    let deepest = |session: &mut Session, go: &str| -> Result<u32> {
        last_number(&session.ask(go, "bestmove")?, "depth")
    };
    assert_eq!(deepest(&mut session, "go movetime 2000")?, 2);
    session.set("UCI_AnalyseMode", true)?;
    assert_eq!(deepest(&mut session, "go depth 7")?, 7);
    session.set("UCI_AnalyseMode", false)?;
    session.set("UCI_LimitStrength", false)?;
    session.set("Skill Level", 0)?;
    assert!((1..=2).contains(&deepest(&mut session, "go movetime 2000")?));
    let said = session.answer("setoption name Skill Level value 15", "info string")?;
    assert!(said.contains("3070 Elo in Stockfish; a limited strength ends at"), "{said}");
    session.end()
}

#[test]
fn a_limited_selective_search_is_as_large_at_any_limit_and_on_any_number_of_threads() -> Result<()>
{
    let mut session = session()?;
    session.set("UCI_LimitStrength", true)?;
    session.set("UCI_Elo", 2300)?;
    let mut counts: Vec<u64> = Vec::new();
    for threads in ["1", "4"] {
        session.set("Threads", threads)?;
        for go in ["go movetime 2000", "go movetime 9000", "go", "go depth 60"] {
            counts.push(last_number(&session.ask(go, "bestmove")?, "nodes")?);
        }
        // Neither waiting for a signal nor searching on the opponent's time makes the search
        // larger.
        for (go, end) in [("go infinite", "stop"), ("go ponder wtime 90 btime 90", "ponderhit")] {
            session.send(go)?;
            std::thread::sleep(Duration::from_millis(300));
            counts.push(last_number(&session.ask(end, "bestmove")?, "nodes")?);
        }
    }
    counts.sort_unstable();
    let (least, most) = (counts[0], counts[counts.len() - 1]);
    assert!(least > 1_000 && most < 4_000 && most - least <= 64, "{counts:?}");
    session.end()
}

#[test]
fn a_limited_strength_thinks_on_a_clock_and_only_there() -> Result<()> {
    let mut session = session()?;
    session.set("UCI_LimitStrength", true)?;
    let time = |session: &mut Session, go: &str| -> Result<Duration> {
        let began = Instant::now();
        session.ask(go, "bestmove")?;
        Ok(began.elapsed())
    };
    for elo in ["1200", "1900"] {
        session.said(&format!("setoption name UCI_Elo value {elo}"))?;
        // The soft limit is 60% of 4.8 s, and at least a fifth of it is used.
        let clock = time(&mut session, "go wtime 120000 btime 120000 winc 1000 binc 1000")?;
        assert!(clock >= Duration::from_millis(450), "{elo}: {clock:?}");
        let fixed = [
            time(&mut session, "go movetime 60000")?,
            time(&mut session, "go wtime 120000 btime 120000 nodes 100")?,
            time(&mut session, "go wtime 200 btime 200")?,
        ];
        assert!(fixed.iter().max() < Some(&Duration::from_secs(5)), "{elo}: {fixed:?}");
    }
    session.send("go wtime 9000000 btime 9000000 winc 60000 binc 60000")?;
    let began = Instant::now();
    session.ask("stop", "bestmove")?;
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    session.end()
}

#[test]
fn a_malformed_go_starts_nothing_and_every_other_is_answered() -> Result<()> {
    let mut session = session()?;
    session.send("position startpos")?;
    for (go, part) in [
        ("go depth abc", "'depth' needs a number, found 'abc'"),
        ("go depth", "'depth' needs a number"),
        ("go movetime depth 3", "'movetime' needs a number"),
        ("go nodes -5", "'nodes' needs a number from 0 on, found '-5'"),
        ("go wtime 1000 btime soon", "'btime' needs a number, found 'soon'"),
        ("go foo", "unknown argument 'foo'"),
        ("go perft", "'perft' needs a depth from 1 to 128, found ''"),
        ("go perft 0", "'perft' needs a depth from 1 to 128, found '0'"),
        ("go perft 129", "'perft' needs a depth from 1 to 128, found '129'"),
        ("go perft 3 now", "'perft' needs a depth from 1 to 128, found '3 now'"),
    ] {
        let lines = session.said(go)?;
        let [refusal, answer @ .., _] = lines.as_slice() else { bail!("{go}: {lines:?}") };
        // The client waits for a move.
        let asks_for_a_move = !go.contains("perft");
        assert_eq!(answer.len(), usize::from(asks_for_a_move), "{go}: {lines:?}");
        assert!(answer.iter().all(|line| line.starts_with("bestmove ")), "{go}: {lines:?}");
        assert!(refusal.starts_with("info string go: no search begins: "), "{refusal}");
        assert!(refusal.contains(part), "{refusal}");
    }
    for (go, part) in [
        ("go quickly wtime 100 btime 100", Some("unknown argument 'quickly', passed over")),
        ("go searchmoves e2e5 depth 2", Some("move 'e2e5' is not legal")),
        ("go movetime -5", None),
        ("go wtime -5 btime 100 winc -1 movestogo 0", None),
        ("go depth 2.9 movetime 99999999999999999999", None),
    ] {
        let lines = session.ask(go, "bestmove")?;
        let said: Vec<&String> =
            lines.iter().filter(|line| line.starts_with("info string")).collect();
        assert_eq!(said.len(), usize::from(part.is_some()), "{go}: {said:?}");
        assert!(said.iter().zip(part).all(|(said, part)| said.contains(part)), "{said:?}");
    }
    let answer = session.answer("go searchmoves a2a3 h2h3 depth 3", "bestmove")?;
    assert!(["a2a3", "h2h3"].contains(&word_after(&answer, "bestmove").unwrap_or_default()));
    session.end()
}

#[test]
fn perft_counts_in_under_a_second_and_can_be_stopped() -> Result<()> {
    let mut session = session()?;
    session.send("position startpos")?;
    let began = Instant::now();
    let lines = session.ask("go perft 5", "Nodes searched")?;
    assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
    let [counts @ .., empty, sum] = lines.as_slice() else { bail!("{lines:?}") };
    assert_eq!((counts.len(), empty.as_str(), sum.as_str()), (20, "", "Nodes searched: 4865609"));
    assert!(counts.contains(&"e2e4: 405385".to_owned()), "{counts:?}");
    session.set("UCI_Chess960", true)?;
    session.send("position fen 4k3/8/8/8/8/8/8/4K2R w K - 0 1")?;
    let lines = session.ask("go perft 1", "Nodes searched")?;
    assert!(lines.contains(&"e1h1: 1".to_owned()), "{lines:?}");
    // Another command may follow at once.
    session.send("position startpos")?;
    session.send("go perft 12")?;
    let busy = session.answer("go depth 1", "info string")?;
    assert!(busy.contains("a search is running"), "{busy}");
    let busy = session.answer("ponderhit", "info string")?;
    assert!(busy.contains("no search is running"), "{busy}");
    let stopped = session.answer("stop", "info string")?;
    assert_eq!(stopped, "info string go perft: stopped");
    session.end()
}

#[test]
fn the_end_of_the_input_lets_perft_finish() -> Result<()> {
    for (end, answer) in [
        ("", "Nodes searched: 4865609"),
        ("quit\n", "Nodes searched: 4865609"),
        ("stop\nquit\n", "info string go perft: stopped"),
    ] {
        let mut engine = Command::new(binary("azimuth")?);
        let input = format!("position startpos\ngo perft 5\n{end}");
        let said = printed(run_with_input(&mut engine, &input)?)?;
        assert_eq!(said.lines().last(), Some(answer), "{end:?}: {said}");
    }
    Ok(())
}

#[test]
fn a_long_search_names_its_root_moves() -> Result<()> {
    let mut session = session()?;
    let root = Position::from_fen(KIWIPETE)?;
    session.set("MultiPV", 2)?;
    session.send(&format!("position fen {KIWIPETE}"))?;
    let began = Instant::now();
    session.send("go infinite")?;
    let mut numbers: Vec<usize> = Vec::new();
    while numbers.len() < 40 {
        let lines = session.read_until("info depth")?;
        let line = lines.last().context("no line")?;
        let Some(mv) = word_after(line, "currmove") else { continue };
        assert!(began.elapsed() >= Duration::from_secs(3), "{line}");
        root.parse_move(mv)?;
        numbers.push(word_after(line, "currmovenumber").context("no number")?.parse()?);
    }
    // The second line leaves the best move out and begins with number 2.
    let follows = |pair: &[usize]| pair[1] == pair[0] + 1 || [1, 2].contains(&pair[1]);
    assert!(numbers.windows(2).all(follows), "{numbers:?}");
    let most = numbers.iter().max().copied().unwrap_or_default();
    assert!((3..=legal_moves(root.board()).len()).contains(&most), "{numbers:?}");
    session.ask("stop", "bestmove")?;
    session.end()
}

#[test]
fn a_search_that_ends_before_its_depth_says_why() -> Result<()> {
    let mut session = session()?;
    let early = |session: &mut Session, go: &str| -> Result<Vec<String>> {
        let mut lines = session.ask(go, "bestmove")?;
        lines.retain(|line| line.contains(" reached: "));
        Ok(lines)
    };
    session.send("position fen 6k1/5ppp/8/8/8/8/8/K2R4 w - - 0 1")?;
    for go in ["go depth 5", "go depth 15"] {
        let said = early(&mut session, go)?;
        let [line] = said.as_slice() else { bail!("{go}: {said:?}") };
        assert!(line.ends_with("reached: checkmate is forced"), "{line}");
    }
    assert_eq!(early(&mut session, "go depth 15 nodes 1")?, [""; 0]);
    session.set("UCI_LimitStrength", true)?;
    session.set("UCI_Elo", 1688)?;
    session.send("position startpos")?;
    let said = early(&mut session, "go depth 9")?;
    assert_eq!(said, ["info string depth 4 of 9 reached: a limited strength searches no deeper"]);
    session.end()
}

#[test]
fn time_is_counted_in_nodes_where_it_is_asked_for() -> Result<()> {
    let mut session = session()?;
    session.set("nodestime", 100)?;
    let nodes = |session: &mut Session, go: &str| -> Result<u64> {
        session.send("ucinewgame")?;
        last_number(&session.ask(go, "bestmove")?, "nodes")
    };
    for (go, most) in [("go movetime 100", 10_000), ("go wtime 3000 btime 3000", 75_000)] {
        let counts = [nodes(&mut session, go)?, nodes(&mut session, go)?];
        assert_eq!(counts[0], counts[1], "{go}");
        assert!(counts[0] > 1000 && counts[0] <= most + 32, "{go}: {counts:?}");
    }
    // The engine's own clock runs down independently of the GUI's; later moves get parts of the
    // remaining time.
    session.send("ucinewgame")?;
    let mut spent = 0;
    for _ in 0..30 {
        let lines = session.ask("go wtime 3000 btime 3000 movestogo 1", "bestmove")?;
        spent += last_number::<u64>(&lines, "nodes")?;
    }
    assert!(spent < 330_000, "{spent}");
    // A search without a clock takes no time from it.
    let depth = |session: &mut Session| -> Result<u32> {
        last_number(&session.ask("go wtime 3000 btime 3000", "bestmove")?, "depth")
    };
    session.set("nodestime", 10)?;
    for go in ["go infinite", "go ponder wtime 3000 btime 3000"] {
        session.send("ucinewgame")?;
        depth(&mut session)?;
        session.send(go)?;
        // These are more nodes than the clock has left.
        session.read_until("info depth 11")?;
        session.ask("stop", "bestmove")?;
        assert!(depth(&mut session)? > 2, "{go}");
    }
    session.end()
}

#[test]
fn what_guis_and_bots_set_is_listed() -> Result<()> {
    let mut session = session()?;
    let options = session.ask("uci", "uciok")?;
    for name in [
        "Debug Log File type string",
        "UCI_EngineAbout type string default Azimuth ",
        "UCI_Opponent type string",
        "SyzygyProbeDepth type spin default 1 min 1 max 100",
        "SyzygyProbeLimit type spin default 7 min 0 max 7",
        "Syzygy50MoveRule type check default true",
        "Threads type spin default 1 min 1 max 1024",
        "nodestime type spin default 0 min 0 max 10000",
        "Skill Level type spin default 20 min 0 max 20",
    ] {
        let found = options.iter().any(|line| line.starts_with(&format!("option name {name}")));
        assert!(found, "{name}: {options:?}");
    }
    session.end()
}

#[test]
fn tables_are_probed_as_the_options_say() -> Result<()> {
    let tables = concat!(env!("CARGO_MANIFEST_DIR"), "/../syzygy");
    let mut session = session()?;
    session.answer(&format!("setoption name SyzygyPath value {tables}"), "info string Syzygy")?;
    let found = |session: &mut Session, name: &str| -> Result<i64> {
        last_number(&session.ask("go nodes 2000", "bestmove")?, name)
    };
    // A win that the 50-move rule turns into a draw.
    session.send("position fen 8/8/8/3k4/8/8/8/R3K3 w - - 95 100")?;
    assert_eq!(found(&mut session, "cp")?, 0);
    session.set("Syzygy50MoveRule", false)?;
    assert_eq!(found(&mut session, "cp")?, 20_000);
    session.set("SyzygyProbeLimit", 2)?;
    assert_eq!(found(&mut session, "tbhits")?, 0);
    session.set("SyzygyProbeLimit", 3)?;
    // Captures lead to positions that the tables contain.
    session.send("position fen 8/5p2/8/3k4/8/8/8/R3K3 w - - 0 1")?;
    let everywhere = found(&mut session, "tbhits")?;
    session.set("SyzygyProbeDepth", 100)?;
    let nowhere = found(&mut session, "tbhits")?;
    assert!(everywhere > 0 && nowhere == 0, "{everywhere} {nowhere}");
    session.end()
}

#[test]
fn bench_takes_stockfishs_arguments() -> Result<()> {
    let mut session = session()?;
    let folder = Folder::new()?;
    let path = folder.at("fens.epd");
    let record = KIWIPETE.replace(" 0 1", " bm e2a6; id \"2\";");
    folder.write("fens.epd", format!("# a FEN and a record of EPD\n{STARTPOS}\n\n{record}\n"))?;
    for (arguments, positions, cost) in [
        ("16 1 3 current depth".to_owned(), 1, None),
        ("1 2 500 default nodes".to_owned(), 16, None),
        (format!("16 1 3 {} perft", path.display()), 2, Some("106764 nodes ")),
        ("16 1 20 current movetime".to_owned(), 1, None),
    ] {
        let lines = session.said(&format!("bench {arguments}"))?;
        let of_positions = lines.iter().filter(|line| line.contains(", position ")).count();
        assert_eq!(of_positions, positions, "{lines:?}");
        let last = &lines[lines.len() - 2];
        assert!(last.ends_with(" nps") && last.contains(" nodes "), "{last}");
        assert!(cost.is_none_or(|cost| last.starts_with(cost)), "{last}");
    }
    session.end()
}

#[test]
fn people_see_the_board_the_scores_and_the_build() -> Result<()> {
    let mut session = session()?;
    session.send("position startpos moves e2e4 c7c5 g1f3")?;
    let lines = session.ask("d", "Checkers:")?;
    let fen = "Fen: rnbqkbnr/pp1ppppp/8/2p5/4P3/5N2/PPPP1PPP/RNBQKB1R b KQkq - 1 2";
    assert!(lines.contains(&fen.to_owned()), "{lines:?}");
    // 22 moves, the position itself, and the answer to `isready`.
    let lines = session.said("eval")?;
    assert_eq!(lines.len(), 24, "{lines:?}");
    session.send("position startpos moves e2e4")?;
    session.send("flip")?;
    let lines = session.ask("d", "Checkers:")?;
    let fen = "Fen: rnbqkbnr/pppp1ppp/8/4p3/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
    assert!(lines.contains(&fen.to_owned()), "{lines:?}");
    let lines = session.ask("compiler", "Instruction set: ")?;
    assert!(lines.iter().any(|line| line.starts_with("Compiler: rustc 1.")), "{lines:?}");
    assert!(lines[0].starts_with("Azimuth "), "{lines:?}");
    session.end()
}

#[test]
fn a_log_holds_both_sides_of_the_conversation() -> Result<()> {
    let mut session = session()?;
    let folder = Folder::new()?;
    let path = folder.at("a log.txt");
    session.set("UCI_Opponent", "GM 2800 human Gary Kasparov")?;
    session.set("UCI_EngineAbout", "Azimuth")?;
    let lines = session.said(&format!("setoption name LogFile value {}", path.display()))?;
    assert_eq!(lines.len(), 1, "{lines:?}");
    session.ask("go depth 1", "bestmove")?;
    session.said("setoption name LogFile value <empty>")?;
    let log = folder.read("a log.txt")?;
    assert!(log.contains(" > go depth 1\n") && log.contains(" < bestmove "), "{log}");
    assert!(log.contains(" # the opponent is GM 2800 human Gary Kasparov\n"), "{log}");
    assert_eq!(log.matches("readyok").count(), 1, "{log}");
    session.end()
}

/// Compares `depth` with `seldepth`: without the beam's verification, only the selective search
/// resolves captures beyond the last ply.
fn is_selective(session: &mut Session, planner: &str, go: &str) -> Result<bool> {
    session.set("Planner", planner)?;
    let lines = session.search(&format!("fen {KIWIPETE}"), go)?;
    let mut words = last_info(&lines)?.split(' ').skip(2).step_by(2);
    Ok(words.next() != words.next())
}

#[test]
fn the_kind_of_search_chooses_the_planner_unless_the_user_does() -> Result<()> {
    let mut session = session()?;
    session.set("BeamVerify", "none")?;
    // A depth beyond the beam is reached by the selective search.
    assert!(!is_selective(&mut session, "auto", "go depth 6")?);
    assert!(is_selective(&mut session, "auto", "go depth 7")?);
    session.set("SearchDepth", 3)?;
    assert!(is_selective(&mut session, "auto", "go depth 4")?);
    session.set("SearchDepth", 6)?;
    let lines = session.ask("go depth 10", "bestmove")?;
    assert!(lines.iter().any(|line| line.starts_with("info depth 10 ")), "{lines:?}");
    assert!(lines.iter().all(|line| !line.starts_with("info string")), "{lines:?}");
    assert!(!is_selective(&mut session, "auto", "go depth 4")?);
    assert!(is_selective(&mut session, "auto", "go movetime 60")?);
    assert!(is_selective(&mut session, "auto", "go nodes 3000")?);
    assert!(is_selective(&mut session, "selective", "go depth 4")?);
    assert!(!is_selective(&mut session, "beam", "go movetime 60")?);
    // For an encoder that needs large batches, `auto` chooses the beam.
    session.set("WeightsFile", MINI)?;
    assert!(!is_selective(&mut session, "auto", "go nodes 100")?);
    assert!(is_selective(&mut session, "selective", "go nodes 100")?);
    session.set("WeightsFile", "<embedded>")?;
    // The rating chooses the search, whatever `Planner` is.
    session.set("UCI_LimitStrength", true)?;
    for (elo, selective) in [(1000, false), (1704, false), (1705, true), (2500, true)] {
        session.set("UCI_Elo", elo)?;
        for planner in ["auto", "beam", "selective"] {
            assert_eq!(is_selective(&mut session, planner, "go movetime 500")?, selective, "{elo}");
        }
    }
    session.end()
}

#[test]
fn many_threads_are_ready_and_move_in_time() -> Result<()> {
    let mut session = session()?;
    let began = Instant::now();
    let said = session.said("setoption name Threads value 1024")?;
    let threads = 8 * std::thread::available_parallelism()?.get();
    let notice = format!("info string Threads 1024: {threads} search, 8 for each processor");
    assert_eq!(said.contains(&notice), threads < 1024, "{said:?}");
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    session.send(&format!("position fen {KIWIPETE}"))?;
    let began = Instant::now();
    session.ask("go movetime 500", "bestmove")?;
    assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
    session.end()
}

#[test]
fn bad_input_gets_one_line_and_changes_nothing() -> Result<()> {
    let mut session = session()?;
    let folder = Folder::new()?;
    folder.write("broken.safetensors", [0xff; 64])?;
    folder.write("huge-header.safetensors", 10_000_000_000u64.to_le_bytes())?;
    folder.write("empty.epd", "# nothing\n")?;
    folder.write("bad.epd", "\n4k3/8/8/8 w - -\n")?;
    let path = |name: &str| folder.at(name).display().to_string();
    let (itself, long) = (folder.path().display(), "x".repeat(2_000_000));
    session.send("position startpos moves e2e4 e7e5")?;
    for (line, part) in [
        ("position fen 8/8/8/8/8/8/8/8 w - - 0 1", "not a legal board"),
        ("position fen 4k3/8/8/8/8/8/4R3/4K3 w - - 0 1", "not a legal board"),
        ("hello", "unknown command 'hello'"),
        ("header", "'help' lists them"),
        ("e4", "a move goes into 'position startpos moves e2e4', then 'go' answers"),
        ("Nbxd7+", "a move goes into"),
        ("e7e8q", "a move goes into"),
        ("O-O", "a move goes into"),
        ("debug", "'on' or 'off'"),
        (&format!("position fen {}", "x ".repeat(100_000)), "expected 1 to 6 fields"),
        ("position", "expected 'startpos' or 'fen'"),
        ("position e2e4", "expected 'startpos' or 'fen'"),
        ("position startpos e2e4", "expected 'moves', found 'e2e4'"),
        ("bench 16 1 2 current", "bench: there is no position: expected 'moves', found 'e2e4'"),
        ("setoption Hash 3", "expected 'name'"),
        ("setoption name Hash value 0", "option Hash: expected 1 to 65536"),
        ("setoption name Nonsense value 1", "unknown option 'Nonsense'"),
        ("setoption name Backend value abacus", "expected auto, cpu, cuda"),
        ("setoption name Planner value minimax", "expected auto, beam, selective"),
        ("setoption name Skill Level value 21", "option Skill Level: expected 0 to 20"),
        ("bench x", "'x' is no depth"),
        ("bench 0 1", "expected a hash from 1 on, found '0'"),
        ("bench 16 x", "expected threads from 1 on, found 'x'"),
        ("bench 1 1 129 current perft", "perft needs a limit from 1 to 128, found 129"),
        ("bench 16 1 9 default plies", "expected depth, nodes, movetime or perft"),
        ("bench 16 1 9 current depth now", "unknown argument 'now'"),
        ("bench 16 5000", "option Threads: expected 1 to 1024"),
        ("bench 16 1 9 /no/such/file", "bench: '/no/such/file'"),
        ("bench 16 1 9 /dev/zero", "bench: '/dev/zero': not a regular file"),
        (&format!("bench 16 1 9 {}", path("empty.epd")), "': there is no position in it"),
        (&format!("bench 16 1 9 {}", path("bad.epd")), "bad.epd', line 2: FEN"),
        (&format!("setoption name WeightsFile value {}", path("broken.safetensors")), "broken"),
        (&format!("setoption name WeightsFile value {}", path("huge-header.safetensors")), "huge"),
        (&format!("setoption name WeightsFile value {}", path("missing")), "missing"),
        (&format!("setoption name WeightsFile value {itself}"), "not a regular file"),
        ("setoption name WeightsFile value /dev/zero", "not a regular file"),
        (&format!("setoption name LogFile value {itself}"), "not a regular file"),
        (&format!("setoption name LogFile value {}", path("no/such.log")), "no/such.log"),
        (&format!("setoption name SyzygyPath value {itself}"), "no Syzygy tables"),
        ("setoption name SyzygyPath value /no/such", "Syzygy folder '/no/such'"),
        ("setoption name Slow Mover value 5", "option Slow Mover: expected 10 to 1000"),
        ("stop", "no search is running"),
        ("\u{0}\u{1}", "unknown command"),
        (&long, "line too long"),
    ] {
        let answers = session.said(line)?;
        let [answer, _] = answers.as_slice() else { bail!("{answers:?}") };
        assert!(answer.starts_with("info string") && answer.contains(part), "{answer}");
    }
    let lines = session.ask("d", "Checkers:")?;
    let fen = "Fen: rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2";
    assert!(lines.iter().any(|line| line == fen), "{lines:?}");
    // The last position was refused, and no other position is searched in its place.
    let lines = session.ask("go depth 2", "bestmove")?;
    let [reason, answer] = lines.as_slice() else { bail!("{lines:?}") };
    assert!(reason.contains("there is no position: expected 'moves', found 'e2e4'"), "{reason}");
    assert_eq!(answer, "bestmove 0000");
    session.send("position startpos")?;
    assert_ne!(session.answer("go depth 2", "bestmove")?, "bestmove 0000");
    session.end()
}

#[test]
fn positions_are_set_up_as_guis_write_them() -> Result<()> {
    let mut session = session()?;
    for (position, fen, part) in [
        (
            "fen rnbqkbnr/pppppppp/8/8/8/5BN1/PPPPPPPP/RNBQ1RK1 b HQkq - 0 1",
            "rnbqkbnr/pppppppp/8/8/8/5BN1/PPPPPPPP/RNBQ1RK1 b kq - 0 1",
            "the castling rights 'HQ' are dropped",
        ),
        ("fen 4k3/8/8/8/8/8/8/4K2R w K - bm Kh1; id \"x\";", "4k3/8/8/8/8/8/8/4K2R w K - 0 1", ""),
        ("fen k7/4P3/8/8/8/8/8/4K3 w - - 0 1 moves e7e8Q", "k3Q3/8/8/8/8/8/8/4K3 b - - 0 1", ""),
        (
            "startpos moves e2e4 e7e5 e1e3 d7d5",
            "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2",
            "move 'e1e3' is not legal",
        ),
        (
            "startpos moves e2e4 Nf6",
            "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1",
            "UCI writes it as g8f6; this move and those after it are left out",
        ),
    ] {
        session.send(&format!("position {position}"))?;
        let lines = session.ask("d", "Checkers:")?;
        assert!(lines.contains(&format!("Fen: {fen}")), "{position}: {lines:?}");
        let said: Vec<_> = lines.iter().filter(|line| line.starts_with("info string")).collect();
        assert_eq!(said.len(), usize::from(!part.is_empty()), "{position}: {said:?}");
        assert!(said.iter().all(|line| line.contains(part)), "{position}: {said:?}");
    }
    session.end()
}

#[test]
fn a_command_of_uci_runs_from_the_command_line() -> Result<()> {
    for (arguments, part) in [
        (&["go depth 2"][..], "bestmove "),
        (&["compiler"], "Instruction set: "),
        (&["bench", "16", "1", "2", "default", "depth"], " nps"),
    ] {
        let said = printed(run("azimuth", arguments)?)?;
        assert!(said.contains(part), "{arguments:?}: {said}");
    }
    // An infinite search goes on until the process is killed.
    let mut endless = Command::new(binary("azimuth")?);
    let mut endless = endless.args(["go", "infinite"]).stdout(Stdio::null()).spawn()?;
    assert_eq!(wait(&mut endless, Duration::from_secs(2))?, None);
    refusal("azimuth", &["go", "depth", "x"]).map(drop)
}

#[test]
fn threads_search_and_stop_together() -> Result<()> {
    let mut session = session()?;
    for threads in [2, 8, 1] {
        session.set("Threads", threads)?;
        session.send(&format!("position fen {KIWIPETE}"))?;
        for go in ["go depth 6", "go movetime 50", "go wtime 500 btime 500"] {
            assert!(session.answer(go, "bestmove")?.starts_with("bestmove "));
        }
        session.send("go infinite")?;
        session.read_until("info depth 5")?;
        session.ask("stop", "bestmove")?;
    }
    session.end()
}

#[test]
fn chances_are_reported_for_even_scores_and_for_mates() -> Result<()> {
    let mut session = session()?;
    session.set("UCI_ShowWDL", true)?;
    session.send("position fen 6k1/5ppp/8/8/8/8/8/K2R4 w - - 0 1")?;
    assert_eq!(chances(last_info(&session.ask("go depth 3", "bestmove")?)?)?, [1000, 0, 0]);
    for planner in ["beam", "selective"] {
        session.set("Planner", planner)?;
        session.send("position startpos")?;
        let [win, draw, loss] = chances(last_info(&session.ask("go depth 6", "bestmove")?)?)?;
        assert!(win > loss && draw > 100 && draw < 900, "{planner}: {win} {draw} {loss}");
    }
    session.end()
}

/// The chances of an `info` line, in permille.
fn chances(line: &str) -> Result<[u32; 3]> {
    let words = line.split(' ').skip_while(|&word| word != "wdl").skip(1).take(3);
    let chances: Vec<u32> = words.map(str::parse).collect::<Result<_, _>>()?;
    chances.try_into().ok().with_context(|| format!("no chances: {line}"))
}
