//! Writes the reason for the chosen move in a few sentences. It uses only numbers and best lines.

use std::cmp::Ordering;

use azimuth_chess::position::{Position, board_after};
use azimuth_chess::san::{san_of_line, san_of_move};
use azimuth_search::Value;
use cozy_chess::Move;

use super::chess_terms::{
    draw_of, mate_threat, name, numbered, outcome, side_name, surplus, wrong_corner,
};
use super::sentences::{self, Choice, INACCURACY, percent, result};
use super::study::{StudiedMove, Study, Taken, Threat};
use super::tactics::{removes_guard, tactic};

/// Maximum number of plies after which a threat, or the answer to a capture, is carried out.
const LONGEST_THREAT: usize = 5;

/// Maximum number of moves of a mate that is quoted.
const LONGEST_MATE: i32 = 5;

/// Compares the chosen move with the runner-up, describes their best lines, and adds the moves that
/// the user asked for.
pub fn reason(study: &Study) -> String {
    if study.moves.len() == 1 {
        return format!("{} is the only legal move.", san(study, study.chosen()));
    }
    let chosen = study.chosen();
    let runner_up = study.runner_up().filter(|it| !study.compared.contains(&it.explained.mv));
    let mut sentences = vec![verdict(study)];
    sentences.extend(choice(study, chosen).shown("It"));
    sentences.extend(points(study, chosen));
    if let Some((missed, value)) = study.missed() {
        let name = san(study, missed);
        sentences.push(format!(
            "But {name} is better: searched by itself it {}, and the first search missed it.",
            worth_after(study, missed, value)
        ));
        sentences.extend(choice(study, missed).shown(&name));
        sentences.extend(points(study, missed));
    } else if let Some(runner_up) = runner_up {
        let [best, other] = [chosen, runner_up].map(|studied| choice(study, studied));
        let phrase = |choice: &Choice| choice.outcome().map(|found| found.phrase);
        // Equal material explains nothing, and a mate needs no further reason.
        if phrase(&other).is_some() && phrase(&other) != phrase(&best) && !best.is_mate() {
            sentences.extend(other.material(&san(study, runner_up)));
        }
    }
    sentences.extend(study.compared.iter().filter_map(|&mv| asked_for(study, mv)).flatten());
    sentences.join(" ")
}

/// The ranks and values of the chosen move and of the runner-up unless the search missed that.
fn verdict(study: &Study) -> String {
    let chosen = study.chosen();
    let name = san(study, chosen);
    let value = study.value_of_chosen();
    let is_worth = worth(study, value);
    let missed = study.missed().is_some();
    let runner_up = study.runner_up().filter(|_| !missed);
    let runner_up = runner_up.and_then(|other| Some((other, other.value()?)));
    let beside = |other: &StudiedMove, value: Value| {
        format!(", and the runner-up {} {}.", san(study, other), worth(study, value))
    };
    if let Some(moves) = value.moves_to_mate() {
        return match runner_up.filter(|&(_, other)| other > value) {
            _ if moves > 0 || missed => format!("{name} {is_worth}."),
            Some((runner_up, better)) => format!("{name} {is_worth}{}", beside(runner_up, better)),
            None => format!("Every move is mated: {name} holds out for {} moves.", -moves),
        };
    }
    if study.in_tables {
        return by_tables(study, &name, value);
    }
    let said = format!(
        "{name} ranks {} of {} at first sight; after {} it {is_worth}",
        ordinal(chosen.rank_before),
        study.moves.len(),
        plies(study.depth_of_chosen())
    );
    let Some((runner_up, other)) = runner_up else { return format!("{said}.") };
    let is_better = other > value && worth(study, other) != is_worth;
    if is_better || other.moves_to_mate().is_some() {
        return format!("{said}{}", beside(runner_up, other));
    }
    format!(
        "{said}, {} the runner-up {}, which ranks {} at first sight.",
        compared(study, value, other),
        san(study, runner_up),
        ordinal(runner_up.rank_before)
    )
}

/// The verdict on the chosen move of a position in the tablebases.
fn by_tables(study: &Study, name: &str, value: Value) -> String {
    let says = match value.partial_cmp(&Value::DRAW) {
        Some(Ordering::Greater) => format!("{name} wins"),
        Some(Ordering::Less) => format!("Every move loses; {name} holds out longest"),
        _ => format!("{name} draws"),
    };
    let surplus = surplus(study.root.board()).filter(|_| value == Value::DRAW);
    let because = wrong_corner(study.root.board())
        .map_or(String::new(), |corner| format!(": the bishop does not control {corner}"));
    let although =
        surplus.map_or(String::new(), |surplus| format!(", although {surplus}{because}"));
    format!("{says}, as the endgame tables show{although}.")
}

/// Describes a move that the user asked for, unless the text already does.
fn asked_for(study: &Study, mv: Move) -> Option<Vec<String>> {
    // The chosen move and a better one, which come first, are described.
    let described = if study.missed().is_some() { 2 } else { 1 };
    let mut others = study.moves.iter().skip(described);
    let asked = others.find(|studied| studied.explained.mv == mv)?;
    let (name, value) = (san(study, asked), asked.value()?);
    let chosen = study.value_of_chosen();
    let worth = worth_after(study, asked, value);
    let worth = match value.moves_to_mate().or(chosen.moves_to_mate()) {
        Some(_) => format!("{name} {worth}."),
        None => {
            let than = format!("{} {}", compared(study, value, chosen), san(study, study.chosen()));
            format!("{name} {worth}, {than}.")
        }
    };
    let shown = choice(study, asked).refuted("It");
    Some([vec![worth], shown, points(study, asked)].concat())
}

/// Says of a move what its line does not show: a threat, the answer to one, the point of an offer,
/// and a zugzwang.
fn points(study: &Study, studied: &StudiedMove) -> Vec<String> {
    if choice(study, studied).value.is_none_or(|value| value.plies_to_mate() == Some(1)) {
        return Vec::new();
    }
    let them = side_name(!study.root.board().side_to_move());
    let points = [
        mating_threat(study, studied),
        answered_threat(study, studied),
        if_taken(study, studied),
        studied.zugzwang.then(|| format!("It puts {them} in zugzwang.")),
    ];
    points.into_iter().flatten().collect()
}

/// Says that a move threatens to mate at once.
fn mating_threat(study: &Study, studied: &StudiedMove) -> Option<String> {
    let (board, mv) = (study.root.board(), studied.explained.mv);
    let after = Position::from(board_after(board, mv));
    let passed = after.has_legal_move().then(|| after.board().null_move())??;
    let threat = mate_threat(&passed)?;
    let name = san_of_move(&passed, threat);
    Some(match removes_guard(board, mv, threat) {
        true => format!("It removes the defender of {} and threatens {name}.", threat.to),
        false => format!("It threatens {name}."),
    })
}

/// Says that a move parries a threat, or overlooks it: a mate, or material that the opponent would
/// soon win if the side to move passed, at a clear loss.
fn answered_threat(study: &Study, studied: &StudiedMove) -> Option<String> {
    let Threat { position, value, line } = study.threat.as_ref()?;
    let (&first, own) = (line.first()?, choice(study, studied).value?);
    if own.moves_to_mate().is_some_and(|moves| moves > 0) {
        return None;
    }
    let name = san_of_move(position.board(), first);
    let won = outcome(position.board(), line, LONGEST_THREAT).filter(|won| won.gain > 0);
    let threat = match (value.moves_to_mate(), won) {
        (Some(1), _) => name,
        (Some(moves @ 2..=LONGEST_MATE), _) => format!("{name} and mate in {moves}"),
        (None, Some(won)) if !choice(study, studied).wins() => {
            format!("{name}, which {}", won.phrase)
        }
        _ => return None,
    };
    let is_played = studied.line.get(1) == Some(&first);
    if is_played && choice(study, studied).is_clearly_worse() {
        return Some(format!("It overlooks the threat of {threat}."));
    }
    let is_parried = match value.moves_to_mate() {
        Some(_) => own.moves_to_mate().is_none(),
        None => study.expected_score(own) + study.expected_score(*value) >= 1.0 + INACCURACY,
    };
    (is_parried && !is_played).then(|| format!("It parries the threat of {threat}."))
}

/// Says why the opponent should not make the capture that wins most material at once.
fn if_taken(study: &Study, studied: &StudiedMove) -> Option<String> {
    let Taken { line, value } = studied.if_taken.as_ref()?;
    let [mv, capture, rest @ ..] = line.as_slice() else { return None };
    let is_main_line = *line == studied.line;
    let choice = choice(study, studied);
    // The description of the main line says it.
    if choice.is_mate() || is_main_line && choice.outcome().is_some() {
        return None;
    }
    let (root, side) = (study.root.board(), study.root.board().side_to_move());
    let offered = board_after(root, *mv);
    let taken = board_after(&offered, *capture);
    let piece = offered.piece_on(capture.to).map_or("pawn", name);
    let (us, them) = (side_name(side), side_name(!side));
    let until = |plies: usize| numbered(&offered, &line[1..][..=plies]);
    let hunt = Choice { line, value: Some(*value), ..choice }.drawn_out();
    let says = if let Some(moves @ 1..=LONGEST_MATE) = value.moves_to_mate() {
        format!("{us} mates in {moves}: {}", until(rest.len()))
    } else if !is_main_line && draw_of(&study.root, line) == Some("by stalemate") {
        "it is stalemate".to_owned()
    } else if !is_main_line && let Some((_, square, plies)) = hunt {
        format!("{us} can draw the king out to {square}: {}", numbered(&offered, &line[1..plies]))
    } else if let Some(won) = outcome(&taken, rest, rest.len()).filter(|won| won.gain > 0)
        && let Some(found) = tactic(&taken, &rest[..won.plies.min(LONGEST_THREAT)], side)
        && outcome(root, line, line.len()).is_none_or(|net| net.gain > 0)
    {
        let name = &san_of_line(&taken, rest)[found.ply];
        format!("{name} {}: {}", found.phrase, until(won.plies.min(found.ply + 3)))
    } else if !is_main_line
        && tactic(root, &studied.line, side).is_none_or(|main| main.ply > 0)
        && let Some(won) = outcome(root, line, LONGEST_THREAT).filter(|won| won.gain > 0)
        && let Some(found) = tactic(root, &line[..won.plies], side).filter(|it| it.ply == 0)
    {
        let quote = numbered(root, &line[..won.plies]);
        return Some(format!("It {}: {quote}.", found.phrase));
    } else {
        return None;
    };
    Some(format!("If {them} takes the {piece}, {says}."))
}

fn choice<'a>(study: &'a Study, studied: &'a StudiedMove) -> Choice<'a> {
    let best = study.missed().map_or(study.value_of_chosen(), |(_, value)| value);
    let (line, value) = (&studied.line, studied.value());
    Choice { root: &study.root, wdl: study.wdl, line, value, best }
}

/// `is worth 53.2% after 9 plies`, `mates in 3`.
fn worth_after(study: &Study, studied: &StudiedMove, value: Value) -> String {
    let worth = worth(study, value);
    match studied.found().filter(|_| !study.in_tables && value.moves_to_mate().is_none()) {
        Some(found) => format!("{worth} after {}", plies(found.depth)),
        None => worth,
    }
}

fn worth(study: &Study, value: Value) -> String {
    sentences::worth(&study.wdl, value, study.root.board())
}

/// `2.1 points more than`.
fn compared(study: &Study, value: Value, other: Value) -> String {
    let known = result(value);
    if known.is_some() && known == result(other) {
        return "as does".to_owned();
    }
    let [value, other] = [value, other].map(|value| percent(&study.wdl, value, study.root.board()));
    match format!("{:.1}", value - other).as_str() {
        "0.0" => "as much as".to_owned(),
        less if less.starts_with('-') => format!("{} points less than", &less[1..]),
        more => format!("{more} points more than"),
    }
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
