//! `azimuth play`: a game in a terminal, and its commands.

use std::process::{Command, Output};

use anyhow::Result;
use azimuth_tests::{binary, printed, python, refused, run_with_input, text};

const SHORT: &str = "30ms";

/// The output for the input `lines`, without a terminal.
fn play(time: &str, arguments: &[&str], lines: &[&str]) -> Result<Output> {
    let mut command = Command::new(binary("azimuth")?);
    command.args(["play", "--threads", "2", "--time", time]).args(arguments);
    run_with_input(&mut command, &lines.iter().map(|line| format!("{line}\n")).collect::<String>())
}

fn shown(time: &str, arguments: &[&str], lines: &[&str]) -> Result<String> {
    let output = play(time, arguments, lines)?;
    assert!(output.stderr.is_empty(), "{output:?}");
    printed(output)
}

#[test]
fn a_terminal_gets_colours_and_a_game() -> Result<()> {
    let engine = text(&binary("azimuth")?);
    let folder = tempfile::tempdir()?;
    let pgn = text(&folder.path().join("game.pgn"));
    let save = format!("save {pgn}");
    let typed = [
        "e4", "hint", "why", "undo", "g1f3", "flip", "moves", "e9", &save, &save, "resign", "quit",
    ];
    let arguments = [&[engine.as_str(), "play", "--time", "50ms", "--"][..], &typed].concat();
    let said = python("terminal.py", &arguments)?;
    // Black's king on a coloured square.
    assert!(said.contains("\u{1b}[") && said.contains(" ♚ "), "{said}");
    assert!(said.contains("You play White against Azimuth."), "{said}");
    assert!(said.contains("Azimuth plays 1... "), "{said}");
    assert!(said.contains(" is worth ") && said.contains("%: 2. "), "{said}");
    assert!(said.contains("You played 1. e4. ") && said.contains("Azimuth played 1... "), "{said}");
    assert!(said.contains("Best line: 1. ") && said.contains("Best line: 1... "), "{said}");
    assert!(said.contains("'e9' is no legal move"), "{said}");
    assert!(said.contains("  1 ") && said.contains("White resigns (0-1)"), "{said}");
    let saved = std::fs::read_to_string(pgn)?;
    assert!(saved.contains("[White \"You\"]\n[Black \"Azimuth\"]\n"), "{saved}");
    assert!(saved.contains("\n1. Nf3 ") && saved.trim_end().ends_with('*'), "{saved}");
    Ok(())
}

#[test]
fn a_game_is_played_to_its_end_from_any_position() -> Result<()> {
    // Mate in one, by either side.
    let said =
        shown(SHORT, &["6k1/5ppp/8/8/8/8/8/K2R4 w - - 0 1"], &["Rd8", "resign", "undo", "d1d8"])?;
    assert_eq!(said.matches("Checkmate: White wins (1-0)").count(), 2, "{said}");
    assert!(said.contains("resign: the game is over"), "{said}");
    assert!(!said.contains('\u{1b}'), "{said}");
    let said = shown(SHORT, &["--black", "6k1/5ppp/8/8/8/8/8/K2R4 w - - 0 1"], &["undo", "hint"])?;
    assert!(said.contains("Azimuth plays 1. Rd8#\nCheckmate: White wins (1-0)"), "{said}");
    assert!(said.contains("undo: you have played no move"), "{said}");
    let said = shown(SHORT, &["--black"], &["flip", "why"])?;
    assert!(said.contains("You play Black") && said.contains("Azimuth plays 1. "), "{said}");
    // Black is at the bottom before `flip`, White after it.
    let bottoms: Vec<&str> = said.lines().filter(|line| line.starts_with("     ")).collect();
    assert_eq!(bottoms[1].trim(), "h  g  f  e  d  c  b  a");
    assert_eq!(bottoms[2].trim(), "a  b  c  d  e  f  g  h");
    Ok(())
}

#[test]
fn a_rating_limits_the_opponent() -> Result<()> {
    let said = shown(SHORT, &["--elo", "700"], &["e4", "moves"])?;
    assert!(said.contains("against Azimuth (700)") && said.contains("1. e4 "), "{said}");
    let refused = play(SHORT, &["--elo", "100"], &[])?;
    assert!(!refused.status.success(), "{refused:?}");
    Ok(())
}

#[test]
fn the_engine_agrees_to_a_draw_if_it_is_not_better() -> Result<()> {
    let offer = |fen| shown(SHORT, &[fen], &["Kf1", "draw", "moves"]);
    // White has the queen.
    let said = offer("r3k3/8/8/8/8/8/1Q6/6K1 w - - 0 40")?;
    assert!(said.contains("Draw by agreement (1/2-1/2)") && said.contains("Game over> "), "{said}");
    let said = offer("q3k3/8/8/8/8/8/1R6/6K1 w - - 0 40")?;
    assert!(said.contains("draw: Azimuth declines\n") && !said.contains("Game over"), "{said}");
    Ok(())
}

#[test]
fn a_clock_is_shown_and_ends_the_game() -> Result<()> {
    let said = shown("5m+3s", &[], &["e4", "moves"])?;
    assert!(said.contains("White 5:00, Black 5:00. White to move> "), "{said}");
    // White has used no time and has gained its increment; Black has used some time.
    assert!(
        said.contains("White 5:03, Black 4:") || said.contains("White 5:02, Black 4:"),
        "{said}"
    );
    assert!(said.contains("Azimuth plays 1... "), "{said}");

    let folder = tempfile::tempdir()?;
    let pgn = text(&folder.path().join("late.pgn"));
    let save = format!("save {pgn}");
    // Loading the weights costs no time, but the first line comes after the clock has run out.
    let said = shown("0.000000001+0", &[], &["e4", "d4", "undo", &save, "quit"])?;
    assert_eq!(said.matches("White loses on time (0-1)").count(), 1, "{said}");
    assert!(said.contains("a move: the game is over\n"), "{said}");
    assert!(said.contains("undo: the time is over") && !said.contains("Azimuth plays"), "{said}");
    let saved = std::fs::read_to_string(&pgn)?;
    let tags = "[Result \"0-1\"]\n[TimeControl \"0.000000001+0\"]\n[Termination \"time forfeit\"]";
    assert!(saved.contains(tags), "{saved}");

    let said = shown("0.000000001+0", &["--black"], &["e5"])?;
    assert!(said.contains("White loses on time (0-1)") && !said.contains("plays"), "{said}");
    Ok(())
}

#[test]
fn what_cannot_be_done_gets_one_line_and_the_game_goes_on() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let file = text(&folder.path().join("taken.pgn"));
    std::fs::write(&file, "somebody's")?;
    let (save, long) = (format!("save {file}"), "x".repeat(100_000));
    let cases: [(&str, &str); 10] = [
        ("hello", "'hello' is no legal move (expected Nf3 or g1f3) and no command"),
        ("e5", "'e5' is no legal move"),
        ("undo now", "'undo now' is no legal move"),
        ("save", "save: the name of a file is missing"),
        (&save, "exists; choose another name"),
        ("save /no/such/folder/game.pgn", "save: '/no/such/folder/game.pgn': "),
        ("why", "why: no move has been played"),
        ("draw", "draw: Azimuth agrees to no draw before move 10"),
        ("\u{0}\u{7f}", "is no legal move"),
        (&long, "is no legal move"),
    ];
    let said = shown(SHORT, &[], &cases.map(|(line, _)| line))?;
    let answers: Vec<&str> = said.split("White to move> ").skip(1).collect();
    assert_eq!(answers.len(), cases.len() + 1, "{said}");
    for ((line, expected), answer) in cases.iter().zip(&answers) {
        assert!(answer.contains(expected) && answer.lines().count() == 1, "{line}: {answer}");
    }
    assert_eq!(std::fs::read_to_string(&file)?, "somebody's");
    refused(play(SHORT, &["8/8/8/8/8/8/8/8 w - - 0 1"], &[])?).map(drop)
}
