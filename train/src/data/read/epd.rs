//! EPD: a position in four fields, and operations that each end with a semicolon. `ce` is
//! centipawns and `dm` the number of moves to a forced mate, both from the side to move's point of
//! view (Portable Game Notation Specification, section 16.2).

use anyhow::{Context, Result, bail};
use azimuth_chess::position::Position;

use super::position_lines::{LineFormat, ParsedLine};
use crate::data::family::Family;
use crate::data::label::Label;

/// The EPD format.
pub struct Epd;

impl LineFormat for Epd {
    fn read(&mut self, line: &str) -> Result<ParsedLine> {
        let (position, label) = parse(line)?;
        let Some(label) = label else { return Ok(ParsedLine::Skipped("without ce or dm")) };
        Ok(ParsedLine::Families(vec![Family::own(position.board().clone(), label)]))
    }
}

/// A record's position and its label, from White's point of view, if it has one.
pub fn parse(line: &str) -> Result<(Position, Option<Label>)> {
    // Comments are operations such as `c0` and `id`; EPD has no comment lines.
    let fields: Vec<&str> = line.splitn(5, char::is_whitespace).collect();
    let [placement, side, castling, en_passant, operations @ ..] = fields.as_slice() else {
        bail!("'{line:.80}': expected four fields and operations");
    };
    let operations = operations.first().copied().unwrap_or_default();
    let operations = operations.split(';').map(str::trim);
    let mut counters = ["0", "1"];
    let mut label = None;
    for (code, operand) in operations.filter_map(|operation| operation.split_once(' ')) {
        match code {
            "ce" => label = Some(Label::Centipawns(number(code, operand)?)),
            "dm" => label = Some(Label::Mate(number(code, operand)? > 0)),
            "hmvc" => counters[0] = operand,
            "fmvn" => counters[1] = operand,
            _ => {}
        }
    }
    let [halfmove_clock, fullmove_number] = counters;
    let fen =
        format!("{placement} {side} {castling} {en_passant} {halfmove_clock} {fullmove_number}");
    let position = Position::from_fen(&fen)?;
    let label = label.map(|label| label.seen_by(position.board().side_to_move()));
    Ok((position, label))
}

fn number(code: &str, operand: &str) -> Result<i32> {
    operand.trim().parse().with_context(|| format!("{code} '{operand:.80}': not a whole number"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Option<Label>> {
        Ok(match Epd.read(line)? {
            ParsedLine::Families(families) => {
                families[0].positions().next().map(|(_, label)| label)
            }
            ParsedLine::Skipped(_) => None,
        })
    }

    #[test]
    fn operations_are_the_side_to_moves() -> Result<()> {
        let black = "4k3/8/8/8/8/8/4P3/4K3 b - -";
        assert_eq!(read(&format!("{black} ce -70; id \"a\";"))?, Some(Label::Centipawns(70)));
        assert_eq!(read(&format!("{black} hmvc 3; fmvn 9; dm 2;"))?, Some(Label::Mate(false)));
        assert_eq!(read(&format!("{black} bm Kd7;"))?, None);
        assert_eq!(read(black)?, None);
        for bad in ["ce much;", "hmvc x; ce 1;"] {
            assert!(read(&format!("{black} {bad}")).is_err(), "{bad}");
        }
        assert!(read("8/8/8/8/8/8/8/8 w - - ce 1;").is_err());
        assert!(read("nonsense").is_err());
        Ok(())
    }
}
