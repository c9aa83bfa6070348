//! Reads the games of a text that the page sends, with the reader of all other commands.

use std::fmt::Display;
use std::io::{Cursor, Read, Write as _};
use std::path::Path;

use anyhow::{Context, Result, ensure};
use azimuth_chess::pgn::{GameBuilder, Reader, Tags, decompressed, lines_of};
use azimuth_chess::position::{Position, split_operations};
use azimuth_chess::text::printable;
use serde::ser::{SerializeSeq, Serializer};
use serde_json::json;

use crate::report::Game;

/// Largest text, in bytes, compressed or not.
pub const LARGEST_TEXT: usize = 5_000_000;

/// Maximum number of games or positions of a text: the page lists them.
const MOST_GAMES: u64 = 5_000;

/// The games in the bytes of the file `name`, as a JSON object: `games`, with [`Game`]s and, in the
/// place of those that cannot be read, objects with the `fault`; and `more`, whether the text has
/// more than [`MOST_GAMES`]. A text that begins with a FEN has a position on each line, which
/// becomes a game without moves.
pub fn read_games(name: &str, bytes: impl AsRef<[u8]> + Send + 'static) -> Result<Vec<u8>> {
    let read = read_text(name, bytes).and_then(|text| games_of(&text));
    read.or_else(|error| {
        let games = [json!({"fault": format!("{error:#}")})];
        Ok(serde_json::to_vec(&json!({"games": games, "more": false}))?)
    })
}

/// The unpacked text. Fails if it is larger than [`LARGEST_TEXT`].
fn read_text(name: &str, bytes: impl AsRef<[u8]> + Send + 'static) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    decompressed(Path::new(name), Cursor::new(bytes))
        .and_then(|unpacked| unpacked.take(LARGEST_TEXT as u64 + 1).read_to_end(&mut text))
        .with_context(|| format!("cannot unpack '{}'", printable(name)))?;
    ensure!(
        text.len() <= LARGEST_TEXT,
        "the text has more than {} MB; azimuth report reads larger files of games",
        LARGEST_TEXT / 1_000_000
    );
    Ok(text)
}

fn games_of(text: &[u8]) -> Result<Vec<u8>> {
    let mut json = br#"{"games":"#.to_vec();
    let mut serializer = serde_json::Serializer::new(&mut json);
    let mut games = serializer.serialize_seq(None)?;
    let mut lines = lines_of(text).peekable();
    let is_more = if lines.peek().is_some_and(|(_, line)| is_placement(line)) {
        for (number, line) in lines.by_ref().take(MOST_GAMES as usize) {
            let read = position(&line).map_err(|error| format!("line {number}: {error:#}"));
            add(&mut games, read)?;
        }
        lines.peek().is_some()
    } else {
        let mut reader = Reader::new(text);
        while reader.taken() < MOST_GAMES
            && let Some(game) = reader.read_game::<Game>()?
        {
            add(&mut games, game.map_err(|bad| bad.fault))?;
        }
        reader.skip_game()?
    };
    games.end()?;
    write!(json, r#","more":{is_more}}}"#)?;
    Ok(json)
}

fn add<S: SerializeSeq>(games: &mut S, read: Result<Game, impl Display>) -> Result<(), S::Error> {
    match read {
        Ok(game) => games.serialize_element(&game),
        Err(fault) => games.serialize_element(&json!({"fault": fault.to_string()})),
    }
}

/// Whether a line begins with the first field of a FEN. A result such as `1/2` is none.
fn is_placement(line: &str) -> bool {
    let field = line.split_whitespace().next().unwrap_or_default();
    field.chars().all(|character| "12345678pnbrqkPNBRQK/".contains(character))
        && field.matches('/').count() > 2
}

/// The game without moves of a line of FEN or EPD. The operations are its comment.
fn position(line: &str) -> Result<Game> {
    let (fen, operations) = split_operations(line);
    let (start, dropped) = Position::read_fen(&fen)?;
    let mut game = Game::begin(Tags::default(), start);
    game.dropped_rights = dropped;
    game.comments.extend(Some(operations).filter(|operations| !operations.is_empty()));
    Ok(game)
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::report::LONGEST_GAME;

    fn read(text: impl Into<Vec<u8>>) -> Result<Value> {
        let mut read: Value = serde_json::from_slice(&read_games("games.pgn", text.into())?)?;
        assert_eq!(read["more"], false);
        Ok(read["games"].take())
    }

    #[test]
    fn a_game_has_everything_that_the_page_shows() -> Result<()> {
        let text = "[White \"a\"]\n\n{start} 1. e4! {[%clk 0:05:00]} (1. d4 {two} d5 Ke4) \
                    1... e5 $2 2. Ke3 1-0\n";
        let games = read(text)?;
        assert_eq!(games.as_array().map(Vec::len), Some(1), "{games}");
        let game = &games[0];
        assert_eq!(
            game["nodes"],
            json!([
                {"parent": 0, "uci": "e2e4", "comments": ["[%clk 0:05:00]"], "glyphs": [1]},
                {"parent": 0, "uci": "d2d4", "comments": ["two"]},
                {"parent": 2, "uci": "d7d5"},
                {"parent": 1, "uci": "e7e5", "glyphs": [2]},
            ])
        );
        assert_eq!(
            (&game["tags"], &game["comments"]),
            (&json!([["White", "a"]]), &json!(["start"]))
        );
        for (name, mv) in [("fault", "Ke3"), ("variation_fault", "Ke4")] {
            let fault = format!("half-move 3: move '{mv}' is not legal in 'rnbqkbnr/");
            assert!(game[name].as_str().is_some_and(|it| it.starts_with(&fault)), "{game}");
        }
        assert_eq!(read("1. e4 1-0\n\n[Result \"0-1\"]\n1. d4 1-0")?[0]["result"], "1-0");
        assert_eq!(read("1. e4 1-0\n\n[Result \"0-1\"]\n1. d4 1-0")?[1]["result"], "0-1");
        let castling = "[FEN \"1k6/8/8/8/8/8/8/5KR1 w G - 0 1\"]\n\n1. O-O *\n";
        let game = &read(castling)?[0];
        assert_eq!(
            (&game["fen"], &game["nodes"][0]["uci"]),
            (&json!("1k6/8/8/8/8/8/8/5KR1 w G - 0 1"), &json!("f1g1"))
        );
        assert_eq!(read(" \n")?, json!([]));
        Ok(())
    }

    #[test]
    fn a_list_of_positions_is_read() -> Result<()> {
        let list = "\u{feff}# a list\n4k3/8/8/8/8/8/8/4K2R w K - bm O-O; id \"one\";\n\n\
                    4k3/8/8/8/8/8/8/8 w - -\n8/8/8/4k3/8/8/8/4K3 b\n";
        let games = read(list)?;
        assert_eq!(games[0]["fen"], "4k3/8/8/8/8/8/8/4K2R w K - 0 1");
        assert_eq!(games[0]["comments"], json!(["bm O-O; id \"one\";"]));
        let fault = "line 4: FEN '4k3/8/8/8/8/8/8/8 w - -': not a legal board";
        assert!(games[1]["fault"].as_str().is_some_and(|it| it.starts_with(fault)), "{games}");
        assert_eq!(games[2]["fen"], "8/8/8/4k3/8/8/8/4K3 b - - 0 1");
        assert_eq!(games.as_array().map(Vec::len), Some(3));
        assert_eq!(read("4k3/8/8/8/8/8/8/4K3 w - -\r\n\u{1a}")?.as_array().map(Vec::len), Some(1));
        let list = b"# M\xfcller\r\r4k3/8/8/8/8/8/8/4K3 w - - id \"M\xfcller\";\r8/8/8/4k3/8 b\r\n";
        let games = read(*list)?;
        assert_eq!(games[0]["comments"], json!(["id \"Müller\";"]));
        assert!(games[1]["fault"].as_str().is_some_and(|it| it.starts_with("line 4: ")), "{games}");
        Ok(())
    }

    #[test]
    fn a_text_has_limits() -> Result<()> {
        for one in ["1. e4 *\n", "4k3/8/8/8/8/8/8/4K3 w - -\n"] {
            let many = read_games("a.pgn", one.repeat(MOST_GAMES as usize + 1))?;
            let many: Value = serde_json::from_slice(&many)?;
            let count = many["games"].as_array().map(Vec::len);
            assert_eq!((count, &many["more"]), (Some(MOST_GAMES as usize), &json!(true)));
        }
        let shuffle = "Nf3 Nf6 Ng1 Ng8 ".repeat(LONGEST_GAME as usize / 4);
        let games = read(format!("{shuffle}*\n{shuffle} e4 *\ne4 ({shuffle} e4) e5 *\n"))?;
        assert_eq!(games[0]["nodes"].as_array().map(Vec::len), Some(LONGEST_GAME as usize));
        for game in [&games[1], &games[2]] {
            assert_eq!(game, &json!({"fault": "more than 2000 half-moves in one game"}));
        }
        for (name, text, part) in [
            ("a.pgn.gz", "1. e4".to_owned(), "cannot unpack 'a.pgn.gz': "),
            ("a.pgn", " ".repeat(LARGEST_TEXT + 1), "more than 5 MB"),
        ] {
            let games: Value = serde_json::from_slice(&read_games(name, text)?)?;
            let fault = games["games"][0]["fault"].as_str();
            assert!(fault.is_some_and(|it| it.contains(part)), "{games}");
        }
        Ok(())
    }
}
