//! `azimuth-bench adopt`: converts games played by another program to the format of the results.

use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use azimuth_cli::print_line;
use azimuth_network::replace_file::{check_output, replace_file};
use clap::Args;

use crate::games::{GameRecord, Name, read_files};
use crate::rating;
use crate::settings::RecordedSettings;

/// A high zstd level: the file is written once and read often.
const COMPRESSION: i32 = 19;

/// Convert games of fastchess or cutechess-cli to the format of the results.
///
/// Player names and settings are kept as written, known ratings come from --known, times are kept
/// where a clock ran, and scores are dropped.
#[derive(Args)]
pub struct Adopt {
    /// PGN files, plain or .zst; games without a result are skipped.
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Known rating of a player: NAME=ELO; may be repeated.
    #[arg(long = "known", value_parser = rating::known)]
    known: Vec<(String, f64)>,
    /// PGN file to write; compressed if its name ends in .zst.
    #[arg(long)]
    out: PathBuf,
}

pub fn run(arguments: &Adopt) -> Result<()> {
    // The output may be one of the inputs, so all games are read before it is replaced.
    check_output(&arguments.out, &[])?;
    let games = read_files(&arguments.files)?.into_iter();
    let games = games.map(|game| adopted(game, &arguments.known)).collect::<Result<Vec<_>>>()?;
    for (name, _) in &arguments.known {
        let plays = |game: &GameRecord| [&game.white, &game.black].iter().any(|p| &p.name == name);
        ensure!(games.iter().any(plays), "--known {name}: no game of that player");
    }
    let text = games.iter().map(GameRecord::to_pgn).collect::<Result<Vec<_>>>()?.concat();
    let bytes = match arguments.out.extension().is_some_and(|extension| extension == "zst") {
        true => zstd::encode_all(text.as_slice(), COMPRESSION).context("zstd")?,
        false => text,
    };
    replace_file(&arguments.out, &bytes)?;
    print_line(format_args!("{} games in '{}'", games.len(), arguments.out.display()))?;
    Ok(())
}

fn adopted(game: GameRecord, known: &[(String, f64)]) -> Result<GameRecord> {
    let player = |player: Name| {
        let elo = known.iter().find(|(name, _)| *name == player.name).map(|&(_, elo)| elo);
        Name { elo: elo.or(player.elo), ..player }
    };
    let has_clock = |player: &Name| -> Result<bool> {
        Ok(RecordedSettings::read(&player.settings)?.limit.clock.is_some())
    };
    let timed = has_clock(&game.white)? || has_clock(&game.black)?;
    let moves = game.moves.into_iter().map(|mut mv| {
        mv.evaluation = None;
        mv.time = mv.time.filter(|_| timed);
        mv
    });
    Ok(GameRecord {
        white: player(game.white),
        black: player(game.black),
        moves: moves.collect(),
        ..game
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn games_are_kept_with_what_is_asked_of_them() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let played = |control: &str| {
            format!(
                "[White \"Azimuth, as shipped\"]\n[Black \"Stockfish 16 at 3000\"]\n[Result \"1-0\"]\n\
                 [TimeControl \"{control}\"]\n\n1. e4 {{+0.30/6 0.052s}} e5 {{-0.1/5 0.01s, Black resigns}} 1-0\n\n"
            )
        };
        let (file, out) = (folder.path().join("played.pgn"), folder.path().join("kept.pgn.zst"));
        std::fs::write(&file, played("0.05/move") + &played("8+0.08"))?;
        let mut arguments = Adopt {
            files: vec![file],
            known: vec![("Stockfish 16 at 3000".to_owned(), 3000.0)],
            out: out.clone(),
        };
        run(&arguments)?;
        let kept = read_files(&[out])?;
        let settings = kept.iter().map(|game| game.white.settings.as_str());
        assert_eq!(settings.collect::<Vec<_>>(), ["movetime=50", "tc=8+0.08"]);
        let times = kept.iter().map(|game| game.moves[0].time.map(|time| time.as_millis()));
        assert_eq!(times.collect::<Vec<_>>(), [None, Some(52)]);
        assert!(kept.iter().all(|game| game.black.elo == Some(3000.0) && game.white.elo.is_none()));
        assert!(kept.iter().all(|game| game.moves[0].evaluation.is_none()));

        arguments.known[0].0 = "nobody".to_owned();
        assert!(run(&arguments).is_err());
        Ok(())
    }
}
