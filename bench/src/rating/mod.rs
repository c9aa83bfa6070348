//! Ratings from games, as text and for the reports.

mod effects;
mod model;
mod sprt;
mod standings;

use std::fmt::Write;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use azimuth_cli::print_line;
use sprt::WithError;

use crate::games::read_files;

pub use effects::effects;
pub use model::{Rating, Ratings};
pub use sprt::{Sprt, Verdict};
use standings::Results;
pub use standings::{Player, Standings};

/// Prints the ratings of all games in `files`, with players of `known` rating, or the effect of
/// each technique that some players leave out.
pub fn run(files: &[PathBuf], known: &[(String, f64)], by_technique: bool) -> Result<()> {
    let games = read_files(files)?;
    if by_technique {
        for effect in effects(&games)? {
            print_line(format_args!(
                "{:32} {:+6.1} +/- {:.1} Elo",
                effect.name, effect.elo, effect.error
            ))?;
        }
        return Ok(());
    }
    let mut standings = Standings::of(&games);
    for (name, elo) in known {
        match standings.players.iter_mut().find(|player| &player.name == name) {
            Some(player) => player.elo = Some(*elo),
            None => bail!("--known {name}: no game of that player"),
        }
    }
    print_line(table(&standings).trim_end())?;
    Ok(())
}

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
    if standings.repeated > 0 {
        let all: u64 = standings.games.values().map(Results::games).sum();
        let _ = writeln!(
            text,
            "{} of {all} games repeat another game of their players: the intervals are too narrow; \
             play from more openings",
            standings.repeated
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

/// Reads `NAME=ELO`.
pub fn known(text: &str) -> Result<(String, f64)> {
    let (name, elo) = text.rsplit_once('=').context("expected NAME=ELO")?;
    let elo: f64 = elo.parse().ok().with_context(|| format!("'{elo}' is not a number"))?;
    Ok((name.to_owned(), elo))
}
