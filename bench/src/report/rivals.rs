//! The table of the rivals.

use std::fmt::Write;

use super::rival_results::{RivalResults, Tau};
use super::sources::Players;
use super::strength::Strength;
use super::tables::header;
use crate::plot::grouped;

/// Kendall's tau as reported in the document (004, section 4.2).
const REPORTED: [(&str, f64); 4] =
    [("policy", 0.508), ("twohead", 0.476), ("value", 0.7435), ("nnue", 0.0273)];

/// The sets of labelled positions in `rivals/positions`, with their columns.
const POSITIONS: [(&str, &str); 2] =
    [("depth-10", "tau, played on"), ("human-depth-10", "tau, human games")];

/// Number of columns about a rival's rating.
const RATED: usize = 3;

/// Training, size, tau, speed and strength of each rival, strongest first.
pub fn rivals_table(rivals: &[RivalResults], strength: &Strength<'_>, players: &Players) -> String {
    let opponents = &players.rivals_opponents;
    let against: Vec<String> = opponents.iter().map(|name| format!("against {name}")).collect();
    let columns = [
        "rival",
        "learned from",
        "in",
        "numbers",
        POSITIONS[0].1,
        POSITIONS[1].1,
        "document's tau",
        "positions/s",
        "Elo",
        "95% interval",
        "games",
    ];
    let columns = columns.into_iter().chain(against.iter().map(String::as_str));
    let mut text = header(&columns.collect::<Vec<_>>());
    let elo = |rival: &RivalResults| {
        strength.player(&rival.rival).map_or(f64::MIN, |player| strength.rating(player).elo)
    };
    let mut rivals: Vec<&RivalResults> = rivals.iter().collect();
    rivals.sort_by(|a, b| elo(b).total_cmp(&elo(a)));
    for rival in rivals {
        let RivalResults { rival: name, taus, per_second, parameters, examples, seconds } = rival;
        let reported = REPORTED.iter().find(|(known, _)| known == name);
        let reported = reported.map_or(String::new(), |(_, tau)| format!("{tau}"));
        let learned = match examples {
            0 => [String::new(), String::new()],
            _ => [format!("{} examples", grouped(*examples)), format!("{:.0} min", seconds / 60.0)],
        };
        let numbers = if *parameters == 0 { String::new() } else { grouped(*parameters) };
        let [played_on, human] = POSITIONS.map(|(data, _)| {
            let tau = taus.iter().find(|tau| tau.data == data);
            tau.map_or(String::new(), |Tau { tau, low, high, .. }| {
                format!("{tau:.3} ({low:.3} to {high:.3})")
            })
        });
        let _ = write!(
            text,
            "| {name} | {} | {numbers} | {played_on} | {human} | {reported} | {} |",
            learned.join(" | "),
            grouped(per_second.round() as u64)
        );
        let Some(player) = strength.player(name) else {
            text.push_str(&" |".repeat(RATED + opponents.len()));
            text.push('\n');
            continue;
        };
        let rating = strength.rating(player);
        let games = strength.games(player);
        let _ = write!(
            text,
            " {:.0} | {:.0} to {:.0} | {games} |",
            rating.elo, rating.low, rating.high
        );
        for opponent in opponents {
            let score = strength.player(opponent).map(|other| strength.score(player, other));
            let score = score.map_or(String::new(), |score| format!("{:.1}%", score * 100.0));
            let _ = write!(text, " {score} |");
        }
        text.push('\n');
    }
    text
}
