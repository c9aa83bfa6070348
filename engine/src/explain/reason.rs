//! One sentence on why the chosen move won out, made from the figures alone.

use azimuth_chess::san::san_of_move;

use super::study::{StudiedMove, Study};

/// Why the chosen move won out over the runner-up.
pub fn reason(study: &Study) -> String {
    let chosen = study.chosen();
    let san = |studied: &StudiedMove| san_of_move(study.root.board(), studied.explained.mv);
    let (name, plies) = (san(chosen), plies(study.report.depth));
    if study.moves.len() == 1 {
        return format!("{name} is the only legal move.");
    }
    let value = study.report.value;
    match value.moves_to_mate() {
        Some(moves) if moves > 0 => return format!("{name} mates in {moves}."),
        Some(moves) => {
            return format!("Every move is mated: {name} holds out for {} moves.", -moves);
        }
        None => {}
    }
    let percent = |studied: &StudiedMove| {
        format!("{:.1}%", 100.0 * studied.explained.static_value.win_probability())
    };
    let first = format!(
        "{name} ranks {} of {} at first sight ({})",
        ordinal(chosen.rank_before),
        study.moves.len(),
        percent(chosen)
    );
    let p = 100.0 * value.win_probability();
    let Some((runner_up, found)) = study.runner_up().and_then(|r| Some((r, r.found()?))) else {
        return format!("{first}; after {plies} it is worth {p:.1}%.");
    };
    let other = 100.0 * found.value.win_probability();
    let compared = match format!("{:.1}", p - other).as_str() {
        "0.0" | "-0.0" => "as much as".to_owned(),
        less if less.starts_with('-') => format!("{} points less than", &less[1..]),
        more => format!("{more} points more than"),
    };
    format!(
        "{first}; after {plies} it is worth {p:.1}%, {compared} the runner-up {}, which ranks {} at first sight ({}).",
        san(runner_up),
        ordinal(runner_up.rank_before),
        percent(runner_up)
    )
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
