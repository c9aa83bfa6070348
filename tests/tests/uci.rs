//! The engine as a GUI sees it: commands in, lines out.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use azimuth::position::{Position, uci_move};
use azimuth_tests::Session;

fn session() -> Result<Session> {
    let mut session = Session::start()?;
    session.ask("uci", "uciok")?;
    session.ask("isready", "readyok")?;
    Ok(session)
}

#[test]
fn the_start_position_gets_a_legal_line() -> Result<()> {
    let mut session = session()?;
    session.send("position startpos moves e2e4")?;
    let lines = session.ask("go", "bestmove")?;
    let infos: Vec<&String> = lines.iter().filter(|line| line.starts_with("info depth")).collect();
    assert_eq!(infos.len(), 6, "{lines:?}");
    for info in infos {
        let (_, pv) = info.split_once(" pv ").context("no pv")?;
        let mut position = Position::default();
        position.play(position.parse_move("e2e4")?);
        for text in pv.split(' ') {
            let mv = position.parse_move(text)?;
            assert_eq!(uci_move(position.board(), mv, false), text);
            position.play(mv);
        }
        let best = pv.split(' ').next().context("empty pv")?;
        if info.starts_with("info depth 6") {
            let answer = lines.last().context("no answer")?;
            assert!(answer.starts_with(&format!("bestmove {best}")), "{answer} {info}");
        }
    }
    session.end()
}

#[test]
fn mates_are_found_announced_and_played() -> Result<()> {
    let mut session = session()?;
    for (fen, best, score) in [
        ("6k1/5ppp/8/8/8/8/8/K2R4 w - - 0 1", "bestmove d1d8", "score mate 1"),
        ("k7/8/8/8/8/8/5PPP/2r3K1 w - - 0 1", "bestmove (none)", ""),
        ("7k/5Q2/5K2/8/8/8/8/8 b - - 0 1", "bestmove (none)", ""),
    ] {
        session.send(&format!("position fen {fen}"))?;
        let lines = session.ask("go depth 3", "bestmove")?;
        assert!(lines.last().is_some_and(|line| line.starts_with(best)), "{lines:?}");
        assert!(lines.iter().any(|line| line.contains(score)), "{lines:?}");
    }
    session.end()
}

#[test]
fn castling_is_written_as_the_gui_asks() -> Result<()> {
    let mut session = session()?;
    let position = "position fen 4k3/8/8/8/8/8/5PPP/4K2R w K - 0 1";
    for (chess960, castling) in [("false", "e1g1"), ("true", "e1h1")] {
        session.send(&format!("setoption name UCI_Chess960 value {chess960}"))?;
        session.send(position)?;
        let answer = session.answer(&format!("go depth 1 searchmoves {castling}"), "bestmove")?;
        assert_eq!(answer.split(' ').nth(1), Some(castling));
    }
    session.send("setoption name UCI_Chess960 value true")?;
    session.send("position fen 1rk3r1/8/8/8/8/8/8/1RK3R1 w BGbg - 0 1 moves c1g1 c8b8")?;
    assert!(session.answer("go depth 2", "bestmove")?.starts_with("bestmove"));
    session.end()
}

#[test]
fn stop_and_ponderhit_end_a_search_and_nothing_else_does() -> Result<()> {
    let mut session = session()?;
    session.send("position startpos")?;
    session.send("go infinite")?;
    session.read_until("info depth 6")?;
    // The deepest iteration is done, but the answer must wait.
    assert_eq!(session.ask("isready", "readyok")?.len(), 1);
    let busy = session.answer("position startpos", "info string")?;
    assert!(busy.contains("a search is running"), "{busy}");
    session.ask("stop", "bestmove")?;
    session.send("go ponder wtime 1000 btime 1000")?;
    session.read_until("info depth 6")?;
    session.ask("ponderhit", "bestmove")?;
    session.send("go infinite")?;
    session.end()
}

#[test]
fn a_clock_is_kept_whatever_the_depth() -> Result<()> {
    let mut session = session()?;
    session.send("setoption name SearchDepth value 64")?;
    session.send("setoption name BeamWidth value 8")?;
    for go in ["go movetime 100", "go wtime 3000 btime 3000", "go wtime 40 btime 40"] {
        let began = Instant::now();
        session.ask(go, "bestmove")?;
        // Generous, for machines that are busy: without the limit it would be hours.
        assert!(began.elapsed() < Duration::from_secs(5), "{go}: {:?}", began.elapsed());
    }
    session.end()
}

#[test]
fn the_end_of_the_input_lets_a_limited_search_finish() -> Result<()> {
    let mut session = session()?;
    session.send("position startpos")?;
    session.send("go depth 5")?;
    session.close();
    let lines = session.read_until("bestmove")?;
    assert!(lines.iter().any(|line| line.starts_with("info depth 5")), "{lines:?}");
    session.end()
}

#[test]
fn a_long_fen_is_a_fen() -> Result<()> {
    let mut session = session()?;
    let fen =
        "r1b1k1nr/p1p1p1p1/1p1p1p1p/2b1q1n1/1P1P1P1P/N1B1Q1N1/P1P1P1P1/R3K2R b KQkq - 123 45678";
    assert!(fen.len() > 80);
    session.send(&format!("position fen {fen}"))?;
    let lines = session.ask("go depth 1", "bestmove")?;
    assert!(lines.iter().all(|line| !line.starts_with("info string")), "{lines:?}");
    session.end()
}

#[test]
fn bad_input_is_named_and_changes_nothing() -> Result<()> {
    let mut session = session()?;
    let folder = tempfile::tempdir()?;
    let broken = folder.path().join("broken.safetensors");
    std::fs::write(&broken, [0xff; 64])?;
    let missing = folder.path().join("missing.safetensors");
    session.send("position startpos moves e2e4 e7e5")?;
    for (line, part) in [
        ("position fen 8/8/8/8/8/8/8/8 w - - 0 1".to_owned(), "not a legal board"),
        ("position fen 4k3/8/8/8/8/8/4R3/4K3 w - - 0 1".to_owned(), "not a legal board"),
        ("position fen hello".to_owned(), "expected 4 to 6 fields, found 1"),
        ("position startpos moves e2e5".to_owned(), "move 'e2e5' is not legal"),
        ("go depth many".to_owned(), "'depth' needs a number"),
        ("setoption name Hash value 0".to_owned(), "option Hash: expected 1 to 4096"),
        ("setoption name Nonsense value 1".to_owned(), "unknown option 'Nonsense'"),
        (format!("setoption name WeightsFile value {}", broken.display()), "broken.safetensors"),
        (format!("setoption name WeightsFile value {}", missing.display()), "missing.safetensors"),
        (format!("position fen {}", "x ".repeat(100_000)), "expected 4 to 6 fields"),
        ("\u{0}\u{1}".to_owned(), "unknown command"),
        ("x".repeat(2_000_000), "line too long"),
    ] {
        let answer = session.answer(&line, "info string")?;
        assert!(answer.contains(part), "{answer}");
    }
    let lines = session.ask("go depth 2", "bestmove")?;
    let best = lines.last().and_then(|line| line.split(' ').nth(1)).context("no move")?;
    let mut position = Position::default();
    for mv in ["e2e4", "e7e5"] {
        position.play(position.parse_move(mv)?);
    }
    position.parse_move(best)?;
    session.end()
}
