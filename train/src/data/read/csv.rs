//! CSV with a header row: `fen`, and a label as `cp`, `eval` or `evaluation` (centipawns or `#n`),
//! or as `p`, `win_prob` or `win_probability` (in [0, 1]). Labels are from White's point of view,
//! or with `--view side-to-move` from that of the side to move.

use anyhow::{Context, Result, ensure};
use azimuth_chess::position::Position;
use clap::ValueEnum;
use serde::Serialize;

use super::lines::Lines;
use super::position_lines::{LineFormat, ParsedLine};
use crate::data::family::Family;
use crate::data::label::Label;

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
        let headings = fields(lines.next()?.context("it is empty")?)?;
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
        let fields = fields(line)?;
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

fn fields(line: &str) -> Result<Vec<String>> {
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

    fn labels(text: &'static str, view: View) -> Result<Vec<Label>> {
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
        assert_eq!(labels(BLACK, View::White)?, [Label::Centipawns(56), Label::Mate(false)]);
        assert_eq!(labels(BLACK, View::SideToMove)?, [Label::Centipawns(-56), Label::Mate(true)]);
        let p = "p,fen\n0.5,4k3/8/8/8/8/8/4P3/4K3 w - - 0 1\n";
        assert_eq!(labels(p, View::White)?, [Label::Centipawns(0)]);
        for bad in [
            "",
            "fen,score\n",
            "fen,cp\n8/8/8/8/8/8/8/8 w - - 0 1,3\n",
            "fen,p\n4k3/8/8/8/8/8/4P3/4K3 w - - 0 1,1.5\n",
            "fen,cp\n4k3/8/8/8/8/8/4P3/4K3 w - - 0 1\n",
            "fen,cp\n4k3/8/8/8/8/8/4P3/4K3 w - - 0 1,many\n",
        ] {
            assert!(labels(bad, View::White).is_err(), "{bad}");
        }
        Ok(())
    }
}
