//! Stored measurements of the rivals (the other systems of the documents), and their table.

use std::fmt::Write;

use serde::Deserialize;

use super::sources::Players;
use super::strength::Strength;
use super::tables::header;
use crate::plot::grouped;

/// The output of `azimuth-rivals tau --json`.
#[derive(Deserialize)]
pub struct RivalResults {
    /// The rival's name, or `azimuth-` with the name of the weights.
    rival: String,
    /// Kendall's tau-b on each set of positions.
    taus: Vec<Tau>,
    /// Positions per second in a search.
    per_second: f64,
    /// Number of parameters.
    parameters: u64,
    /// Number of training examples, counting repetitions.
    examples: u64,
    /// Training time in seconds.
    seconds: f64,
}

/// Kendall's tau-b on a set of positions, with its 95% interval.
#[derive(Deserialize)]
struct Tau {
    /// Name of the set.
    data: String,
    tau: f64,
    low: f64,
    high: f64,
}

/// Kendall's tau as reported in the document (004, section 4.2).
const REPORTED: [(&str, f64); 4] =
    [("policy", 0.508), ("twohead", 0.476), ("value", 0.7435), ("nnue", 0.0273)];

/// The sets of labelled positions in `rivals/positions`, in the order of their columns.
const POSITIONS: [&str; 2] = ["depth-10", "human-depth-10"];

/// Number of columns about a rival's rating.
const RATED: usize = 3;

/// Training, size, tau, speed and strength of each rival, strongest first.
pub fn rivals_table(rivals: &[RivalResults], strength: &Strength<'_>, players: &Players) -> String {
    let opponents = &players.rivals_opponents;
    let against: String = opponents.iter().map(|name| format!(" | against {name}")).collect();
    let mut text = header(&format!(
        "rival | learned from | in | numbers | tau, played on | tau, human games | document's tau \
         | positions/s | Elo | 95% interval | games{against}"
    ));
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
        let [played_on, human] = POSITIONS.map(|data| {
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
        let _ = write!(text, " {} |", strength.rating_cells(player));
        for opponent in opponents {
            let score = strength.player(opponent).map(|other| strength.score(player, other));
            let score = score.map_or(String::new(), |score| format!("{:.1}%", score * 100.0));
            let _ = write!(text, " {score} |");
        }
        text.push('\n');
    }
    text
}
