//! Writes the reason for the chosen move in a few sentences. It uses only numbers and best lines.

use std::cmp::Ordering;

use azimuth_chess::position::{Ending, board_after};
use azimuth_chess::san::san_of_move;
use azimuth_search::Value;
use cozy_chess::Move;

use super::chess_terms::{
    Outcome, draw_of, is_threat, mate_threat, mates, new_passed_pawn, outcome, still_pays,
};
use super::html::numbered;
use super::study::{StudiedMove, Study};

/// Maximum number of plies that a sentence quotes.
const LONGEST_QUOTE: usize = 12;

/// Number of plies that show where a move leads if nothing else is said of it.
const SHORT_QUOTE: usize = 6;

/// Compares the chosen move with the runner-up, describes their best lines, and adds the moves that
/// the user asked for.
pub fn reason(study: &Study) -> String {
    if study.moves.len() == 1 {
        return format!("{} is the only legal move.", san(study, study.chosen()));
    }
    let mut sentences = vec![verdict(study)];
    sentences.extend(shown_by(study, study.chosen(), "It"));
    sentences.extend(answered_threat(study));
    if let Some((missed, value)) = study.missed() {
        let name = san(study, missed);
        sentences.push(format!(
            "But {name} is better: searched by itself it {}, and the first search missed it.",
            worth_after(missed, value)
        ));
        sentences.extend(shown_by(study, missed, &name));
    } else if let Some(runner_up) = study.runner_up() {
        let phrase = |studied| outcome_of(study, studied).map(|found| found.phrase);
        // Equal material explains nothing, and a mate needs no further reason.
        if phrase(runner_up) != phrase(study.chosen()) && !is_mate(study, study.chosen()) {
            sentences.extend(material(study, runner_up, &san(study, runner_up)));
        }
    }
    sentences.extend(study.compared.iter().filter_map(|&mv| asked_for(study, mv)).flatten());
    sentences.join(" ")
}

/// The ranks and values of the chosen move, compared with the runner-up unless that is better.
fn verdict(study: &Study) -> String {
    let chosen = study.chosen();
    let (name, plies) = (san(study, chosen), plies(study.depth_of_chosen()));
    let value = study.value_of_chosen();
    let better = study.missed().is_some();
    match value.moves_to_mate() {
        Some(moves) if moves > 0 => return format!("{name} mates in {moves}."),
        Some(moves) if !better => {
            return format!("Every move is mated: {name} holds out for {} moves.", -moves);
        }
        Some(moves) => return format!("{name} is mated in {}.", -moves),
        None => {}
    }
    if study.in_tables {
        return by_tables(study, &name, value);
    }
    let first = format!(
        "{name} ranks {} of {} at first sight ({})",
        ordinal(chosen.rank_before),
        study.moves.len(),
        first_sight(chosen)
    );
    let worth = format!("{first}; after {plies} it {}", worth(value));
    let runner_up = study.runner_up().filter(|_| !better);
    let Some((runner_up, other)) = runner_up.and_then(|other| Some((other, other.value()?))) else {
        return format!("{worth}.");
    };
    if other.moves_to_mate().is_some() {
        return format!("{worth}; the runner-up {} {}.", san(study, runner_up), self::worth(other));
    }
    format!(
        "{worth}, {} the runner-up {}, which ranks {} at first sight ({}).",
        compared(value, other),
        san(study, runner_up),
        ordinal(runner_up.rank_before),
        first_sight(runner_up)
    )
}

/// The verdict on the chosen move of a position in the tablebases.
fn by_tables(study: &Study, name: &str, value: Value) -> String {
    let line = &study.chosen().line;
    let mate = match study.root.after_line(line).ending() {
        Some(Ending::Checkmate { .. }) => format!(" and mates in {}", line.len().div_ceil(2)),
        _ => String::new(),
    };
    let says = match value.partial_cmp(&Value::DRAW) {
        Some(Ordering::Greater) => format!("{name} wins{mate}"),
        Some(Ordering::Less) => format!("Every move loses; {name} holds out longest"),
        _ => format!("{name} draws"),
    };
    format!("{says}, as the endgame tables show.")
}

/// Describes a move that the user asked for, unless the text already names it.
fn asked_for(study: &Study, mv: Move) -> Option<Vec<String>> {
    // The verdict compares a move that mates, or one of the tables, with no other.
    let compares = !is_mate(study, study.chosen()) && !study.in_tables;
    let named = [Some(study.chosen()), study.runner_up().filter(|_| compares)];
    if named.into_iter().flatten().any(|named| named.explained.mv == mv) {
        return None;
    }
    let asked = study.moves.iter().find(|studied| studied.explained.mv == mv)?;
    let (name, value) = (san(study, asked), asked.value()?);
    let chosen = study.value_of_chosen();
    let worth = worth_after(asked, value);
    let mut said = vec![match value.moves_to_mate().or(chosen.moves_to_mate()) {
        Some(_) => format!("{name} {worth}."),
        None => {
            format!("{name} {worth}, {} {}.", compared(value, chosen), san(study, study.chosen()))
        }
    }];
    let shown = shown_by(study, asked, "It");
    if shown.is_empty() && !asked.line.is_empty() {
        let line = &asked.line[..asked.line.len().min(SHORT_QUOTE)];
        said.push(format!("The best play is {}.", numbered(study.root.board(), line)));
    }
    said.extend(shown);
    Some(said)
}

/// Describes a move's best line: how it draws, the material that it wins or loses, or a new passed
/// pawn if it wins none. Material that is won in a draw is worth nothing.
fn shown_by(study: &Study, studied: &StudiedMove, subject: &str) -> Vec<String> {
    let wins = outcome_of(study, studied).is_some_and(|found| found.gain > 0);
    if known_value(study, studied) == Some(Value::DRAW) {
        let lost = if wins { None } else { material(study, studied, subject) };
        return draw(study, studied, subject).into_iter().chain(lost).collect();
    }
    let pawn = if wins { None } else { passed_pawn(study, studied, subject) };
    material(study, studied, subject).into_iter().chain(pawn).collect()
}

fn draw(study: &Study, studied: &StudiedMove, subject: &str) -> Option<String> {
    let line = &studied.line;
    let how = draw_of(&study.root, line)?;
    let quote = match line.len() {
        1..=LONGEST_QUOTE => format!(": {}", numbered(study.root.board(), line)),
        _ => String::new(),
    };
    Some(format!("{subject} draws {how}{quote}."))
}

fn material(study: &Study, studied: &StudiedMove, subject: &str) -> Option<String> {
    let Outcome { mut phrase, plies, .. } = outcome_of(study, studied)?;
    // The best move's material loss is a sacrifice for compensation.
    let is_good = studied.rank_after == Some(1)
        && known_value(study, studied).is_some_and(|value| value >= Value::DRAW);
    if let Some(lost) = phrase.strip_prefix("loses").filter(|_| is_good) {
        phrase = format!("gives up{lost}");
    }
    let line = numbered(study.root.board(), &studied.line[..plies]);
    Some(format!("{subject} {phrase}: {line}."))
}

fn passed_pawn(study: &Study, studied: &StudiedMove, subject: &str) -> Option<String> {
    let board = study.root.board();
    let (pawn, plies) = new_passed_pawn(board, &studied.line, board.side_to_move())?;
    let line = numbered(board, studied.line.get(..plies).filter(|line| !line.is_empty())?);
    let quoted = plies <= LONGEST_QUOTE && !is_mate(study, studied);
    quoted.then(|| format!("{subject} gets a passed pawn on {pawn}: {line}."))
}

/// Says that the chosen move meets a threat: a mate in one, or a capture that would pay if the
/// opponent were to move now, that another move allows at a loss, and that no longer pays after the
/// chosen move.
fn answered_threat(study: &Study) -> Option<String> {
    let (board, chosen) = (study.root.board(), study.chosen());
    let passed = board.null_move()?;
    if let Some(threat) = mate_threat(&passed) {
        let parried = !mates(&board_after(board, chosen.explained.mv), threat);
        let said = || format!("It parries the threat of {}.", san_of_move(&passed, threat));
        return parried.then(said);
    }
    let loses = outcome_of(study, chosen).is_some_and(|found| found.gain < 0);
    if loses || is_mate(study, chosen) {
        return None;
    }
    let after = board_after(board, chosen.explained.mv);
    let met = study.moves.iter().skip(1).find_map(|other| {
        let &reply = other.line.get(1)?;
        let suffers = outcome_of(study, other).is_some_and(|found| found.gain < 0);
        let met = suffers && is_threat(board, reply) && !still_pays(&after, reply);
        met.then_some((reply, other))
    });
    let (reply, other) = met?;
    let reply = san_of_move(&passed, reply);
    Some(format!("It meets a threat: {} allows {reply}.", san(study, other)))
}

/// The material that a move's best line wins or loses. `None` if the line mates or needs more than
/// [`LONGEST_QUOTE`] plies.
fn outcome_of(study: &Study, studied: &StudiedMove) -> Option<Outcome> {
    let found = outcome(study.root.board(), &studied.line)?;
    (found.plies <= LONGEST_QUOTE && !is_mate(study, studied)).then_some(found)
}

fn is_mate(study: &Study, studied: &StudiedMove) -> bool {
    known_value(study, studied).is_some_and(|value| value.moves_to_mate().is_some())
}

fn known_value(study: &Study, studied: &StudiedMove) -> Option<Value> {
    match std::ptr::eq(studied, study.chosen()) {
        true => Some(study.value_of_chosen()),
        false => studied.value(),
    }
}

/// `is worth 53.2% after 9 plies`, `mates in 3`.
fn worth_after(studied: &StudiedMove, value: Value) -> String {
    match studied.found().filter(|_| value.moves_to_mate().is_none()) {
        Some(found) => format!("{} after {}", worth(value), plies(found.depth)),
        None => worth(value),
    }
}

/// `is worth 53.2%`, `mates in 3`.
pub fn worth(value: Value) -> String {
    match value.moves_to_mate() {
        Some(moves) if moves > 0 => format!("mates in {moves}"),
        Some(moves) => format!("is mated in {}", -moves),
        None if value == Value::DRAW => "draws".to_owned(),
        None if value.plies_to_tablebase().is_some() => {
            if value > Value::DRAW { "wins" } else { "loses" }.to_owned()
        }
        None => format!("is worth {:.1}%", 100.0 * value.win_probability()),
    }
}

/// `2.1 points more than`.
fn compared(value: Value, other: Value) -> String {
    let is_known = |value: Value| value == Value::DRAW || value.plies_to_tablebase().is_some();
    if is_known(value) && worth(value) == worth(other) {
        return "as does".to_owned();
    }
    let points = 100.0 * (value.win_probability() - other.win_probability());
    match format!("{points:.1}").as_str() {
        "0.0" | "-0.0" => "as much as".to_owned(),
        less if less.starts_with('-') => format!("{} points less than", &less[1..]),
        more => format!("{more} points more than"),
    }
}

fn first_sight(studied: &StudiedMove) -> String {
    format!("{:.1}%", 100.0 * studied.explained.static_value.win_probability())
}

fn san(study: &Study, studied: &StudiedMove) -> String {
    san_of_move(study.root.board(), studied.explained.mv)
}

fn plies(depth: u32) -> String {
    if depth == 1 { "1 ply".to_owned() } else { format!("{depth} plies") }
}

fn ordinal(number: usize) -> String {
    let ending = match (number % 10, number % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{number}{ending}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinals_are_english() {
        let all: Vec<String> = [1, 2, 3, 4, 11, 12, 13, 21, 22, 103, 111].map(ordinal).into();
        assert_eq!(
            all,
            ["1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "22nd", "103rd", "111th"]
        );
    }
}
