//! Files and numbers that other programs write or read: games, weights, checkpoints, models and
//! tokens.

mod transformers;
mod weights;

use anyhow::{Result, ensure};
use azimuth_chess::pgn::{Game, Outcome, Reader, decompressed};
use azimuth_chess::position::{board_after, castles_as_in_chess960, uci_move};
use azimuth_tests::odd_games::{Found, OddFile, odd_files};
use azimuth_tests::{python, root, text};

#[test]
fn odd_games_are_read() -> Result<()> {
    let mut faults = Vec::new();
    for file in odd_files()? {
        faults.extend(file.check(&games(&file)?).err());
    }
    ensure!(faults.is_empty(), "{faults:#?}");
    Ok(())
}

fn games(file: &OddFile) -> Result<Vec<Found>> {
    let bytes = std::io::Cursor::new(file.bytes.clone());
    let mut reader = Reader::new(decompressed(file.name.as_ref(), bytes)?);
    let mut games = Vec::new();
    while let Some(game) = reader.read_game::<Game>()? {
        games.push(match game {
            Ok(game) => found(&game),
            Err(bad) => {
                Found { fault: Some(bad.fault.to_string()), is_refused: true, ..Found::default() }
            }
        });
    }
    Ok(games)
}

fn found(game: &Game) -> Found {
    let mut board = game.start.board().clone();
    let chess960 = castles_as_in_chess960(&board);
    let start = game.start.fen(chess960);
    let mut moves = Vec::new();
    for played in &game.moves {
        moves.push(uci_move(&board, played.mv, chess960));
        board = board_after(&board, played.mv);
    }
    Found {
        start,
        moves: moves.join(" "),
        result: game.result().map(Outcome::as_pgn).map(str::to_owned),
        fault: game.fault.as_ref().map(|bad| bad.fault.to_string()),
        is_refused: false,
    }
}

#[test]
fn python_chess_reads_the_odd_games_as_the_list_says() -> Result<()> {
    let printed = python("odd_games.py", &[&text(&root().join("tests/data/odd-games"))])?;
    ensure!(printed.contains(" games are equal, "), "{printed}");
    Ok(())
}
