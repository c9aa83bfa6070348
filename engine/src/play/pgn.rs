//! Writing a game as PGN.

use azimuth_chess::position::{STARTPOS, castles_as_in_chess960};
use azimuth_chess::san::san_of_line;
use cozy_chess::Color;

use super::game::{End, Game};
use super::time::Clock;

/// Maximum length of a line of moves, in characters.
const LINE: usize = 80;

/// The game in PGN format, with its tags.
pub fn pgn(game: &Game, players: [&str; 2], date: &str, clock: Option<&Clock>) -> String {
    let [white, black] = players.map(|name| name.replace(['"', '\\'], ""));
    let result = game.end().map_or("*", |end| end.result());
    let start = game.start();
    let chess960 = castles_as_in_chess960(start.board());
    let fen = start.fen(chess960);
    let mut tags = vec![
        ("Event", "Casual game".to_owned()),
        ("Site", "?".to_owned()),
        ("Date", date.to_owned()),
        ("Round", "-".to_owned()),
        ("White", white),
        ("Black", black),
        ("Result", result.to_owned()),
    ];
    if let Some(clock) = clock {
        tags.push(("TimeControl", clock.as_pgn()));
    }
    if let Some(End::Time(_) | End::TimeAgainstKing(_)) = game.end() {
        tags.push(("Termination", "time forfeit".to_owned()));
    }
    if chess960 {
        tags.push(("Variant", "Chess960".to_owned()));
    }
    if fen != STARTPOS {
        tags.extend([("SetUp", "1".to_owned()), ("FEN", fen)]);
    }
    let tags: String = tags.iter().map(|(name, value)| format!("[{name} \"{value}\"]\n")).collect();
    format!("{tags}\n{}\n", wrapped(&movetext(game), result))
}

/// The moves as `1. e4 e5 2. Nf3`, one word for each number and move.
pub fn movetext(game: &Game) -> Vec<String> {
    let board = game.start().board();
    let first = usize::from(board.fullmove_number());
    let black_first = usize::from(board.side_to_move() == Color::Black);
    let mut words = Vec::new();
    for (ply, san) in san_of_line(board, game.moves()).into_iter().enumerate() {
        let half_moves = ply + black_first;
        let number = first + half_moves / 2;
        match half_moves % 2 {
            0 => words.push(format!("{number}.")),
            _ if ply == 0 => words.push(format!("{number}...")),
            _ => {}
        }
        words.push(san);
    }
    words
}

fn wrapped(words: &[String], result: &str) -> String {
    let mut lines = vec![String::new()];
    for word in words.iter().map(String::as_str).chain([result]) {
        let line = &mut lines[0];
        match line.len() {
            0 => line.push_str(word),
            length if length + 1 + word.len() <= LINE => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.insert(0, word.to_owned()),
        }
    }
    lines.reverse();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use anyhow::Result;
    use azimuth_chess::position::Position;
    use azimuth_chess::san::parse_move;

    use super::*;

    #[test]
    fn a_game_from_a_position_has_its_fen_and_numbers() -> Result<()> {
        let fen = "r1bqkb1r/pppp1ppp/2n2n2/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR b KQkq - 5 4";
        let mut game = Game::new(Position::from_fen(fen)?);
        for san in ["d6", "Qxf7"] {
            game.play(parse_move(game.position(), san)?);
        }
        let text = pgn(&game, ["You", "Azimuth \"x\""], "2026.01.31", None);
        assert!(text.contains(&format!("[FEN \"{fen}\"]\n")), "{text}");
        assert!(text.contains("[Black \"Azimuth x\"]\n"), "{text}");
        assert!(text.ends_with("\n\n4... d6 5. Qxf7# 1-0\n"), "{text}");
        Ok(())
    }

    #[test]
    fn lines_of_moves_are_short() -> Result<()> {
        let mut game = Game::new(Position::default());
        for san in ["Nf3", "Nf6", "Ng1", "Ng8"].into_iter().cycle().take(60) {
            game.play(parse_move(game.position(), san)?);
        }
        let text = pgn(&game, ["You", "Azimuth"], "????.??.??", None);
        assert!(text.lines().all(|line| line.len() <= LINE), "{text}");
        assert!(!text.contains("FEN") && text.contains("30. Ng1 Ng8"), "{text}");
        Ok(())
    }
}
