//! Ratings from games.

mod effects;
mod model;
mod sprt;
pub mod standings;

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use azimuth_cli::print_line;

use crate::games::record;

pub use effects::effects;
pub use model::{Rating, Ratings};
pub use sprt::{Sprt, Verdict};
pub use standings::table;
pub use standings::{Player, Standings};

/// Prints the ratings of all games in `files`, with players of `known` rating, or the effect of
/// each technique that some players leave out.
pub fn run(files: &[PathBuf], known: &[(String, f64)], by_technique: bool) -> Result<()> {
    let games: Vec<Vec<record::GameRecord>> =
        files.iter().map(|file| record::read_file(file)).collect::<Result<_>>()?;
    let games = games.concat();
    if by_technique {
        for effect in effects(&games.iter().collect::<Vec<_>>())? {
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

/// Reads `NAME=ELO`.
pub fn known(text: &str) -> Result<(String, f64)> {
    let (name, elo) = text.rsplit_once('=').context("expected NAME=ELO")?;
    let elo: f64 = elo.parse().ok().with_context(|| format!("'{elo}' is not a number"))?;
    Ok((name.to_owned(), elo))
}
