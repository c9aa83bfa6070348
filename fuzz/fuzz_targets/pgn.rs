//! A file of games in PGN: its main lines, and its variations.

#![no_main]

use azimuth_chess::pgn::{BadGame, Game, GameBuilder, Line, Reader, Tags};
use azimuth_chess::position::Position;
use libfuzzer_sys::fuzz_target;

/// Counts the moves of all variations, and checks that each follows its parent.
struct Variations(usize);

impl GameBuilder for Variations {
    type Game = usize;

    const VARIATIONS: bool = true;

    const NULL_MOVES: bool = true;

    fn begin(_: Tags, _: Position) -> Self {
        Self(0)
    }

    fn play(&mut self, line: &Line) -> anyhow::Result<()> {
        match line.after.mv {
            Some(mv) => assert!(line.before.board.is_legal(mv), "{mv}"),
            None => assert!(line.before.board.null_move().is_some()),
        }
        assert_eq!(line.after.ply, line.before.ply + 1);
        self.0 += 1;
        Ok(())
    }

    fn comment(&mut self, _: &Line, text: &str) -> anyhow::Result<()> {
        assert!(!text.contains(['\n', '\r']));
        Ok(())
    }

    fn end(self) -> usize {
        self.0
    }
}

fuzz_target!(|bytes: &[u8]| {
    let games = read::<Game>(bytes);
    for game in games.iter().flatten() {
        let line: Vec<_> = game.moves.iter().map(|played| played.mv).collect();
        game.start.after_line(&line);
        game.result();
    }
    let variations = read::<Variations>(bytes);
    assert_eq!(games.len(), variations.len());
    for (game, moves) in games.iter().zip(&variations) {
        match (game, moves) {
            (Ok(game), Ok(moves)) => assert!(game.moves.len() <= *moves),
            (Err(error), Ok(_)) => panic!("{error}"),
            (_, Err(error)) => assert!(!error.to_string().contains('\n')),
        }
    }
    let mut skipping = Reader::new(bytes);
    while skipping.skip_game().is_ok_and(|skipped| skipped) {}
    assert!(skipping.taken() >= games.len() as u64);
});

fn read<B: GameBuilder>(bytes: &[u8]) -> Vec<Result<B::Game, BadGame>> {
    let mut reader = Reader::new(bytes);
    let mut games = Vec::new();
    while let Ok(Some(game)) = reader.read_game::<B>() {
        games.push(game);
    }
    games
}
