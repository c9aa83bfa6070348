//! The coach's set: `azimuth explain` names the idea of each move of `tests/data/coach.epd`, and
//! claims nothing that the endgame tables or a deep search deny.

use anyhow::{Context, Result, anyhow, bail, ensure};
use azimuth_chess::position::split_operations;
use azimuth_tests::{Folder, printed, root, run};
use serde_json::Value;

/// A move to explain.
struct Lesson {
    fen: String,
    /// The move in SAN: a good one (`bm`) or one that is asked about (`am`).
    mv: String,
    /// The idea in a word.
    idea: String,
    /// The result after the move, for the side that makes it, if it is certain.
    result: Option<String>,
}

/// Reads lines such as `8/8/1KP5/3r4/8/8/8/k7 w - - am Kb7; c0 "draw"; c1 "drawn";`.
fn lessons() -> Result<Vec<Lesson>> {
    let set = std::fs::read_to_string(root().join("tests/data/coach.epd"))?;
    let read = |line: &str| {
        let (fen, operations) = split_operations(line);
        let operand = |code: &str| {
            let found = operations.split(';').find_map(|it| it.trim().strip_prefix(code));
            found.map(|operand| operand.trim().trim_matches('"').to_owned())
        };
        let mv = operand("bm ").or_else(|| operand("am ")).with_context(|| line.to_owned())?;
        let idea = operand("c0 ").with_context(|| line.to_owned())?;
        Ok(Lesson { fen: format!("{fen} 0 1"), mv, idea, result: operand("c1 ") })
    };
    set.lines().map(read).collect()
}

/// The phrases that name an idea.
fn names(idea: &str) -> Result<&'static [&'static str]> {
    Ok(match idea {
        "back rank" => &["back-rank mate"],
        "discovered attack" => &["discovers an attack", "discovered check"],
        "draw" => &[" draws"],
        "fork" => &[" forks "],
        "fortress" => &[" draws, as the endgame tables show, although "],
        "gain of a pawn" => &["wins a pawn"],
        "gain of a piece" => &["wins a knight", "wins a bishop"],
        "gain of the exchange" => &["wins the exchange"],
        "king hunt" => &["draw the king out"],
        "loss of material" => &["loses a", "It overlooks the threat of "],
        "mate" => &["mates in", "is mated in"],
        "parried threat" => &["It parries the threat of "],
        "perpetual check" => &["by perpetual check"],
        "pin" => &["pins the ", "the pinned ", "uses the pin"],
        "promotion" => &["promotes a pawn"],
        "removed defender" => &["removes the defender"],
        "sacrifice" => &["sacrifices the queen", "takes the queen, White mates in 2"],
        "skewer" => &["skewers the "],
        "smothered mate" => &["smothered mate"],
        "stalemate" => &["by stalemate", "it is stalemate"],
        "trapped piece" => &[" traps the "],
        "underpromotion" => &["promotes a pawn to a knight"],
        "win" => &[" wins", " mates in"],
        "zugzwang" => &["in zugzwang"],
        unknown => bail!("unknown idea '{unknown}'"),
    })
}

/// The part of a reason that is about a move: from the last sentence that begins with it and says
/// what it is worth.
fn part_about<'a>(reason: &'a str, mv: &str) -> Option<&'a str> {
    let says = ["ranks", "is worth", "is mated", "mates", "wins", "draws", "loses"];
    let begins = says.iter().filter_map(|says| reason.rfind(&format!("{mv} {says}")));
    let begin = begins.max().or_else(|| reason.find(&format!("But {mv} is better")))?;
    Some(&reason[begin..])
}

/// The first claim about the move that its result denies.
fn false_claim(about: &str, mv: &str, result: &str) -> Option<String> {
    let (denied, worth): (&[&str], _) = match result {
        "won" => (&["draws", "loses", "is mated"], 50.0..=100.0),
        "drawn" => (&["wins", "mates", "loses", "is mated", "promotes"], 30.0..=70.0),
        _ => (&["wins", "mates", "draws", "promotes"], 0.0..=50.0),
    };
    let claims = denied
        .iter()
        .flat_map(|claim| [mv, "It", "it"].map(|subject| format!("{subject} {claim}")));
    let percent = about.split_once(" is worth ").and_then(|(_, rest)| rest.split_once('%'));
    let percent = percent.and_then(|(percent, _)| percent.parse::<f64>().ok());
    let wrong = percent.filter(|percent| !worth.contains(percent));
    let wrong = wrong.map(|percent| format!("is worth {percent}%"));
    claims.into_iter().find(|claim| about.contains(claim)).or(wrong)
}

/// Whether the explanation names the idea. Fails if it claims something false.
fn judge(lesson: &Lesson) -> Result<bool> {
    let Lesson { fen, mv, idea, result } = lesson;
    let limits = ["--nodes", "20000", "--hash", "16"];
    let command = [&["explain", "--json", "--moves", mv, fen][..], &limits].concat();
    let said: Value = serde_json::from_str(&printed(run("azimuth", &command)?)?)?;
    let reason = said["reason"].as_str().context("a reason")?;
    let about = part_about(reason, mv).with_context(|| format!("not described: {reason}"))?;
    let denied = result.as_deref().and_then(|result| false_claim(about, mv, result));
    ensure!(denied.is_none(), "{mv} in {fen}: false: {denied:?} in {about}");
    let is_named = names(idea)?.iter().any(|name| reason.contains(name));
    if !is_named {
        println!("{idea}: {mv} in {fen}: not named: {reason}");
    }
    Ok(is_named)
}

#[test]
fn explanations_name_ideas_and_claim_nothing_false() -> Result<()> {
    let lessons = lessons()?;
    ensure!(lessons.len() == 68, "{} positions", lessons.len());
    let judged = |lessons: &[Lesson]| lessons.iter().map(judge).collect::<Result<Vec<bool>>>();
    let (first, second) = lessons.split_at(lessons.len() / 2);
    let (first, second) = std::thread::scope(|scope| {
        let other = scope.spawn(|| judged(second));
        (judged(first), other.join())
    });
    let second = second.map_err(|_| anyhow!("a panic"))??;
    let named = [first?, second].concat().into_iter().filter(|&is_named| is_named).count();
    ensure!(named >= 63, "{named} of 68 ideas are named");
    Ok(())
}

/// A mistake in a report and the same move in an explanation are described alike.
#[test]
fn a_report_says_of_a_mistake_what_an_explanation_says() -> Result<()> {
    let folder = Folder::new()?;
    folder.write("game.pgn", "1. e4 e5 2. Qh5 Nc6 3. Bc4 Nf6 4. Qxf7# 1-0\n")?;
    printed(folder.run("azimuth", "report @game.pgn --nodes 3000")?)?;
    let page = folder.read("game.html")?;
    ensure!(page.contains("Nf6 is mated in 1: 3... Nf6 4. Qxf7#."), "no sentence on 3...Nf6");
    let explain = "explain --pgn @game.pgn --move 3b --moves Nf6 --nodes 3000";
    let said = printed(folder.run("azimuth", explain)?)?;
    ensure!(said.contains("Nf6 is mated in 1."), "{said}");
    Ok(())
}
