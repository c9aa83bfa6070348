//! Formats with one position a line: what they share, EPD, and CSV.

use anyhow::{Context, Result, bail, ensure};
use azimuth_chess::position::Position;
use clap::ValueEnum;
use serde::Serialize;

use super::games::{Games, Lines, ReadError, Skipped, skip};
use crate::data::family::{Family, Game};
use crate::data::packed::Label;

/// The content of a line.
pub enum ParsedLine {
    /// Labelled positions of the same game.
    Families(Vec<Family>),
    /// No label, for this reason, which [`skip`] counts.
    Skipped(&'static str),
}

/// A format with one position a line.
pub trait LineFormat: Send {
    /// The families of a line that is not empty. Fails if the line is malformed.
    fn read(&mut self, line: &str) -> Result<ParsedLine>;
}

/// The labelled positions of a file in a [`LineFormat`].
pub struct PositionLines<F> {
    lines: Lines,
    format: F,
    /// Number of header lines.
    headings: u64,
}

impl<F: LineFormat> PositionLines<F> {
    /// Reads positions from the remaining `lines`. The lines already read are headers.
    pub fn new(lines: Lines, format: F) -> Self {
        let headings = lines.number();
        Self { lines, format, headings }
    }
}

impl<F: LineFormat> Games for PositionLines<F> {
    fn next(&mut self, skipped: &mut Skipped) -> Result<Option<Game>, ReadError> {
        loop {
            let number = self.lines.number() + 1;
            let Some(line) = self.lines.next()? else { return Ok(None) };
            if line.is_empty() {
                continue;
            }
            match self.format.read(line).map_err(ReadError::of_record(format!("line {number}")))? {
                ParsedLine::Families(families) => return Ok(Some(Game::new(families))),
                ParsedLine::Skipped(reason) => skip(skipped, reason),
            }
        }
    }

    fn record(&self) -> u64 {
        self.lines.number() - self.headings
    }

    fn skip_to(&mut self, record: u64) -> Result<()> {
        self.lines.skip_to(record + self.headings)
    }
}

/// The EPD format.
pub struct Epd;

impl LineFormat for Epd {
    fn read(&mut self, line: &str) -> Result<ParsedLine> {
        let (position, label) = parse_epd(line)?;
        let Some(label) = label else { return Ok(ParsedLine::Skipped("without ce or dm")) };
        Ok(ParsedLine::Families(vec![Family::own(position.board().clone(), label)]))
    }
}

/// A record's position and its label, from White's point of view, if it has one.
pub fn parse_epd(line: &str) -> Result<(Position, Option<Label>)> {
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
            "ce" => label = Some(Label::Centipawns(epd_number(code, operand)?)),
            "dm" => label = Some(Label::Mate(epd_number(code, operand)? > 0)),
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

fn epd_number(code: &str, operand: &str) -> Result<i32> {
    operand.trim().parse().with_context(|| format!("{code} '{operand:.80}': not a whole number"))
}

/// The point of view of labels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum View {
    /// White's point of view.
    #[default]
    White,
    /// The side to move's point of view.
    SideToMove,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Unit {
    Centipawns,
    WinProbability,
}

/// The rows below a header row.
pub struct Csv {
    fen: usize,
    label: usize,
    unit: Unit,
    view: View,
}

impl Csv {
    /// Reads the header row.
    pub fn new(lines: &mut Lines, view: View) -> Result<Self> {
        let headings = csv_fields(lines.next()?.context("it is empty")?)?;
        let find = |names: &[&str]| {
            headings
                .iter()
                .position(|heading| names.contains(&heading.trim().to_lowercase().as_str()))
        };
        let label = find(&["cp", "eval", "evaluation"]).map(|column| (column, Unit::Centipawns));
        let label = label.or_else(|| {
            find(&["p", "win_prob", "win_probability"]).map(|column| (column, Unit::WinProbability))
        });
        let found = find(&["fen"]).zip(label);
        let (fen, (label, unit)) = found.context(
            "the headings name no column 'fen', or none of 'cp', 'eval', 'evaluation', 'p', 'win_prob', \
             'win_probability'",
        )?;
        Ok(Self { fen, label, unit, view })
    }
}

impl LineFormat for Csv {
    fn read(&mut self, line: &str) -> Result<ParsedLine> {
        let fields = csv_fields(line)?;
        let field = |column: usize| {
            let missing = || format!("column {} is missing", column + 1);
            fields
                .get(column)
                .map(|field| field.trim_matches(['\u{feff}', ' ', '\t']))
                .with_context(missing)
        };
        let (fen, text) = (field(self.fen)?, field(self.label)?);
        let position = Position::from_fen(fen)?;
        if text.is_empty() {
            return Ok(ParsedLine::Skipped("without a label"));
        }
        let label = match self.unit {
            Unit::Centipawns => Label::parse_centipawns(text)
                .with_context(|| format!("'{text:.80}': not centipawns")),
            Unit::WinProbability => {
                let p = text.parse().ok().and_then(Label::of_win_probability);
                p.with_context(|| format!("'{text:.80}': not a win probability in [0, 1]"))
            }
        }?;
        let label = match self.view {
            View::White => label,
            View::SideToMove => label.seen_by(position.board().side_to_move()),
        };
        Ok(ParsedLine::Families(vec![Family::own(position.board().clone(), label)]))
    }
}

fn csv_fields(line: &str) -> Result<Vec<String>> {
    let line = line.trim_start_matches('\u{feff}');
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .buffer_capacity(line.len().max(1))
        .from_reader(line.as_bytes());
    let mut record = csv::StringRecord::new();
    ensure!(reader.read_record(&mut record)?, "no columns");
    Ok(record.iter().map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn epd_label(line: &str) -> Result<Option<Label>> {
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
        assert_eq!(epd_label(&format!("{black} ce -70; id \"a\";"))?, Some(Label::Centipawns(70)));
        assert_eq!(epd_label(&format!("{black} hmvc 3; fmvn 9; dm 2;"))?, Some(Label::Mate(false)));
        assert_eq!(epd_label(&format!("{black} bm Kd7;"))?, None);
        assert_eq!(epd_label(black)?, None);
        for bad in ["ce much;", "hmvc x; ce 1;"] {
            assert!(epd_label(&format!("{black} {bad}")).is_err(), "{bad}");
        }
        assert!(epd_label("8/8/8/8/8/8/8/8 w - - ce 1;").is_err());
        assert!(epd_label("nonsense").is_err());
        Ok(())
    }

    fn csv_labels(text: &'static str, view: View) -> Result<Vec<Label>> {
        let mut lines = Lines::new(Box::new(text.as_bytes()));
        let mut csv = Csv::new(&mut lines, view)?;
        let mut found = Vec::new();
        while let Some(line) = lines.next()? {
            if let ParsedLine::Families(families) = csv.read(line)? {
                found.extend(families[0].positions().map(|(_, label)| label));
            }
        }
        Ok(found)
    }

    #[test]
    fn columns_are_found_by_their_headings() -> Result<()> {
        const BLACK: &str = "id,FEN,Evaluation\n1,\"4k3/8/8/8/8/8/4P3/4K3 b - - 0 1\",+56\n\
                             2,4k3/8/8/8/8/8/4P3/4K3 b - - 0 1,#-3\n3,4k3/8/8/8/8/8/4P3/4K3 b - - 0 1,\n";
        assert_eq!(csv_labels(BLACK, View::White)?, [Label::Centipawns(56), Label::Mate(false)]);
        assert_eq!(
            csv_labels(BLACK, View::SideToMove)?,
            [Label::Centipawns(-56), Label::Mate(true)]
        );
        let p = "p,fen\n0.5,4k3/8/8/8/8/8/4P3/4K3 w - - 0 1\n";
        assert_eq!(csv_labels(p, View::White)?, [Label::Centipawns(0)]);
        for bad in [
            "",
            "fen,score\n",
            "fen,cp\n8/8/8/8/8/8/8/8 w - - 0 1,3\n",
            "fen,p\n4k3/8/8/8/8/8/4P3/4K3 w - - 0 1,1.5\n",
            "fen,cp\n4k3/8/8/8/8/8/4P3/4K3 w - - 0 1\n",
            "fen,cp\n4k3/8/8/8/8/8/4P3/4K3 w - - 0 1,many\n",
        ] {
            assert!(csv_labels(bad, View::White).is_err(), "{bad}");
        }
        Ok(())
    }
}
