//! Standings and ratings as text to print.

use std::fmt::Write;

use super::model::Ratings;
use super::pentanomial::WithError;
use super::standings::Standings;

/// Ratings, if the games determine them, and pairings, as text.
pub fn table(standings: &Standings) -> String {
    let mut text = match Ratings::of(standings) {
        Ok(ratings) => rating_table(standings, &ratings),
        Err(error) => format!("{error}\n"),
    };
    for (one, other) in standings.pairings() {
        let results = standings.between(one, other);
        let names = [one, other].map(|player| standings.players[player].name.as_str());
        let pairs = standings.pairs(names);
        let elo = |elo: Option<WithError>| {
            elo.map_or("-".to_owned(), |elo| format!("{:+.2} +/- {:.2}", elo.value, elo.error))
        };
        let _ = writeln!(
            text,
            "{} against {}: +{} -{} ={} ({:.1}%), Elo {}, normalized {}, pairs {:?}",
            names[0],
            names[1],
            results.wins,
            results.losses,
            results.draws,
            results.score() * 100.0,
            elo(pairs.logistic_elo()),
            elo(pairs.normalized_elo()),
            pairs.0
        );
    }
    text
}

/// Players by rating, best first.
fn rating_table(standings: &Standings, ratings: &Ratings) -> String {
    let names = standings.players.iter().map(|player| player.name.chars().count());
    let width = names.chain(["player".len()]).max().unwrap_or(0);
    let mut text =
        format!("{:<width$}    Elo       95% interval  games   score  draws\n", "player");
    let mut order: Vec<usize> = (0..standings.players.len()).collect();
    order.sort_by(|&a, &b| ratings.players[b].elo.total_cmp(&ratings.players[a].elo));
    for player in order {
        let (rating, total) = (ratings.players[player], standings.total(player));
        let interval = match rating.known {
            true => "known".to_owned(),
            false => format!("{:.0} to {:.0}", rating.low, rating.high),
        };
        let _ = writeln!(
            text,
            "{:<width$} {:>6.0} {interval:>18} {:>6} {:>6.1}% {:>5.1}%",
            standings.players[player].name,
            rating.elo,
            total.games(),
            total.score() * 100.0,
            total.draws as f64 * 100.0 / total.games() as f64
        );
    }
    let _ = writeln!(
        text,
        "first move {:+.0} Elo, draw parameter {:.0} Elo",
        ratings.advantage, ratings.draw
    );
    text
}
