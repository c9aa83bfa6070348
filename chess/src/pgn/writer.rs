//! Games as PGN text.

use std::io::{self, Write};
use std::mem::take;

use cozy_chess::{Board, Color, Move};

use super::game::Outcome;
use crate::position::{Position, STARTPOS, castles_as_in_chess960};
use crate::san::san_of_move;

/// Maximum length of a line of moves, with a space at its end, in characters. A longer comment is a
/// line by itself.
const COLUMNS: usize = 80;

/// Writes games as python-chess exports them, with `\` before quotation marks and backslashes in
/// tags.
///
/// ```
/// use azimuth_chess::pgn::{Outcome, Writer};
/// use azimuth_chess::position::Position;
///
/// let mut text = Vec::new();
/// let mut position = Position::default();
/// let mut writer = Writer::new(&mut text);
/// writer.begin([("White", "Gioachino Greco"), ("Result", "0-1")], &position)?;
/// for uci in ["f2f3", "e7e5", "g2g4", "d8h4"] {
///     let mv = position.parse_move(uci)?;
///     writer.play(position.board(), mv)?;
///     position.play(mv);
/// }
/// writer.comment("the fool's mate")?;
/// writer.end(Some(Outcome::BlackWins))?;
/// let tags = "[White \"Gioachino Greco\"]\n[Result \"0-1\"]\n\n";
/// let moves = "1. f3 e5 2. g4 Qh4# { the fool's mate } 0-1\n\n";
/// assert_eq!(String::from_utf8(text)?, format!("{tags}{moves}"));
/// # Ok::<(), anyhow::Error>(())
/// ```
pub struct Writer<W> {
    sink: W,
    /// The unfinished line of moves.
    line: String,
    /// Whether a move of Black gets a number, as it does after anything but White's move.
    numbers_black: bool,
}

impl<W: Write> Writer<W> {
    /// A writer before its first game.
    pub fn new(sink: W) -> Self {
        Self { sink, line: String::new(), numbers_black: true }
    }

    /// Begins a game with its tags. The tags of the starting position, `Variant`, `SetUp` and
    /// `FEN`, are added.
    pub fn begin<'a>(
        &mut self,
        tags: impl IntoIterator<Item = (&'a str, &'a str)>,
        start: &Position,
    ) -> io::Result<()> {
        for (name, value) in tags {
            self.tag(name, value)?;
        }
        let is_chess960 = castles_as_in_chess960(start.board());
        if is_chess960 {
            self.tag("Variant", "Chess960")?;
        }
        let fen = start.fen(is_chess960);
        if fen != STARTPOS {
            self.tag("SetUp", "1")?;
            self.tag("FEN", &fen)?;
        }
        self.numbers_black = true;
        writeln!(self.sink)
    }

    /// Writes a tag. Its value ends with the line, so line breaks become spaces.
    fn tag(&mut self, name: &str, value: &str) -> io::Result<()> {
        let value = value.replace('\\', "\\\\").replace('"', "\\\"").replace(['\r', '\n'], " ");
        writeln!(self.sink, "[{name} \"{value}\"]")
    }

    /// Writes a move that is legal on `board`.
    pub fn play(&mut self, board: &Board, mv: Move) -> io::Result<()> {
        let number = board.fullmove_number();
        match board.side_to_move() {
            Color::White => self.word(&format!("{number}."))?,
            Color::Black if self.numbers_black => self.word(&format!("{number}..."))?,
            Color::Black => {}
        }
        self.numbers_black = false;
        self.word(&san_of_move(board, mv))
    }

    /// Writes a comment on the last move, or on the starting position. A closing brace would end
    /// it, so these are left out.
    pub fn comment(&mut self, text: &str) -> io::Result<()> {
        self.numbers_black = true;
        self.word(&format!("{{ {} }}", text.replace('}', "").trim()))
    }

    /// Begins a variation, which replaces the last move.
    pub fn begin_variation(&mut self) -> io::Result<()> {
        self.numbers_black = true;
        self.word("(")
    }

    /// Ends a variation.
    pub fn end_variation(&mut self) -> io::Result<()> {
        self.numbers_black = true;
        self.word(")")
    }

    /// Ends the game; `None` if it is not finished.
    pub fn end(&mut self, outcome: Option<Outcome>) -> io::Result<()> {
        self.word(outcome.map_or("*", Outcome::as_pgn))?;
        self.end_line()?;
        writeln!(self.sink)
    }

    fn word(&mut self, word: &str) -> io::Result<()> {
        if self.line.chars().count() + word.chars().count() + 1 > COLUMNS {
            self.end_line()?;
        }
        self.line.push_str(word);
        self.line.push(' ');
        Ok(())
    }

    fn end_line(&mut self) -> io::Result<()> {
        let line = take(&mut self.line);
        if line.is_empty() { Ok(()) } else { writeln!(self.sink, "{}", line.trim_end()) }
    }
}

#[cfg(test)]
mod tests {
    use anyhow::{Context, Result};

    use super::super::{Game, Reader};
    use super::*;
    use crate::san::parse_move;

    /// A game of moves, `(`, `)`, and comments that begin with `{`.
    fn written(tags: &[(&str, &str)], start: Position, steps: &[&str]) -> Result<String> {
        let mut text = Vec::new();
        let mut writer = Writer::new(&mut text);
        writer.begin(tags.iter().copied(), &start)?;
        let (mut before, mut after) = (start.clone(), start);
        let mut outer = Vec::new();
        for step in steps {
            match *step {
                "(" => {
                    writer.begin_variation()?;
                    outer.push((before.clone(), after));
                    after = before.clone();
                }
                ")" => {
                    writer.end_variation()?;
                    (before, after) = outer.pop().context("no variation")?;
                }
                step if step.starts_with('{') => writer.comment(&step[1..])?,
                san => {
                    let mv = parse_move(&after, san)?;
                    writer.play(after.board(), mv)?;
                    before = after;
                    after = before.after(mv);
                }
            }
        }
        writer.end(Some(Outcome::WhiteWins))?;
        Ok(String::from_utf8(text)?)
    }

    #[test]
    fn a_game_is_written_as_by_python_chess() -> Result<()> {
        let fen = "1k6/pp6/8/8/8/8/PP6/5KR1 b G - 0 9";
        let (wide, long) = (format!("{{{}", "ü".repeat(30)), format!("{{{}", "y ".repeat(50)));
        let steps = [
            &["{ before", "a6", "(", "b6", "{{ü}", "O-O", "(", "Ke2", ")", "Ka8", ")"][..],
            &["O-O", "b6", "a3", "Ka7", &wide, "b3", &long, "Kb7", "Kg2", "Kc6", "Kg3", "Kd5"],
            &["Kg4", "Ke5", "Kg5", "Kd5", "Kg6"],
        ]
        .concat();
        let text = written(&[("White", "Zoë")], Position::from_fen(fen)?, &steps)?;
        let expected = format!(
            "[White \"Zoë\"]\n[Variant \"Chess960\"]\n[SetUp \"1\"]\n[FEN \"{fen}\"]\n\n\
             {{ before }} 9... a6 ( 9... b6 {{ {{ü }} 10. O-O ( 10. Ke2 ) 10... Ka8 ) 10. O-O b6\n\
             11. a3 Ka7 {{ {} }} 12. b3\n\
             {{ {} }}\n\
             12... Kb7 13. Kg2 Kc6 14. Kg3 Kd5 15. Kg4 Ke5 16. Kg5 Kd5 17. Kg6 1-0\n\n",
            "ü".repeat(30),
            "y ".repeat(50).trim_end()
        );
        assert_eq!(text, expected);
        Ok(())
    }

    #[test]
    fn what_is_written_is_read() -> Result<()> {
        let tags = [("White", "a \"b\" \\ c"), ("Black", "two\nlines"), ("Result", "1-0")];
        let text = written(&tags, Position::default(), &["e4", "{one}", "e5", "{two\nlines"])?;
        let game = Reader::new(text.as_bytes()).read_game::<Game>()?.context("no game")??;
        let read: Vec<_> = game.tags.iter().collect();
        assert_eq!(read, [tags[0], ("Black", "two lines"), tags[2]]);
        let comments: Vec<_> = game.moves.iter().map(|played| played.comments.as_slice()).collect();
        assert_eq!(comments, [[" one "], [" two lines "]]);
        assert_eq!(game.result(), Some(Outcome::WhiteWins));
        Ok(())
    }
}
