//! Formats with one position a line: what they share, EPD, and CSV.

use anyhow::{Context, Result, ensure};
use azimuth_chess::position::{Position, operations_of, split_operations};
use clap::ValueEnum;
use serde::Serialize;

use super::{Games, LONGEST_LINE, Lines, Skipped, skip};
use crate::data::family::{Family, Game};
use crate::data::packed::Label;

/// A format with one record a line.
pub trait LineFormat: Send {
    /// Whether a record goes on in the next line.
    fn goes_on(&self, _record: &str) -> bool {
        false
    }

    /// The position of a record, if consecutive records of one position are read together.
    fn position(&self, _record: &str) -> Option<String> {
        None
    }

    /// Fails if a record shows that the labels of the whole file would be misread.
    fn check(&self, _record: &str) -> Result<()> {
        Ok(())
    }

    /// The families of a record, or of several records of one position. If there is no label,
    /// returns none, and counts the reason in `skipped`. Fails if a record is malformed.
    fn read(&self, records: &[String], skipped: &mut Skipped) -> Result<Vec<Family>>;
}

/// Maximum number of lines of a record. A quotation mark without a partner must not fill the memory.
const MOST_LINES: u64 = 1_000;

/// Maximum number of records of one position.
const MOST_RECORDS: usize = 10_000;

/// The labelled positions of a file in a [`LineFormat`].
pub struct PositionLines<F> {
    lines: Lines,
    format: F,
    /// Number of header lines.
    headings: u64,
    /// The next record, if it has been read, and its number of lines.
    ahead: Option<(String, u64)>,
}

impl<F: LineFormat> PositionLines<F> {
    /// Reads positions from the remaining `lines`. The lines already read are headers.
    pub fn new(lines: Lines, format: F) -> Self {
        let headings = lines.number();
        Self { lines, format, headings, ahead: None }
    }

    /// The next record that is not empty, and its number of lines; `None` at the end.
    fn next_record(&mut self) -> Result<Option<(String, u64)>> {
        if let Some(ahead) = self.ahead.take() {
            return Ok(Some(ahead));
        }
        loop {
            let number = self.lines.number();
            let Some(line) = self.lines.next()? else { return Ok(None) };
            if line.is_empty() {
                continue;
            }
            let mut record = line.to_owned();
            while self.format.goes_on(&record) {
                // Each line more is a look at the whole record.
                let is_short = (record.len() as u64) < LONGEST_LINE;
                let fits = is_short && self.lines.number() - number < MOST_LINES;
                let line = if fits { self.lines.next()? } else { None };
                let open = || format!("line {}: a quotation mark has no end", number + 1);
                let line = line.with_context(open)?;
                record.push('\n');
                record.push_str(line);
            }
            return Ok(Some((record, self.lines.number() - number)));
        }
    }
}

impl<F: LineFormat> Games for PositionLines<F> {
    fn next(&mut self, skipped: &mut Skipped) -> Result<Option<Result<Game>>> {
        while let Some((record, lines)) = self.next_record()? {
            let name = format!("line {}", self.lines.number() + 1 - lines);
            let position = self.format.position(&record);
            let mut records = vec![record];
            while position.is_some()
                && records.len() < MOST_RECORDS
                && let Some((record, lines)) = self.next_record()?
            {
                if self.format.position(&record) != position {
                    self.ahead = Some((record, lines));
                    break;
                }
                records.push(record);
            }
            records
                .iter()
                .try_for_each(|record| self.format.check(record))
                .with_context(|| name.clone())?;
            match self.format.read(&records, skipped).context(name) {
                Ok(families) if families.is_empty() => {}
                families => return Ok(Some(families.map(Game::new))),
            }
        }
        Ok(None)
    }

    fn record(&self) -> u64 {
        let ahead = self.ahead.as_ref().map_or(0, |(_, lines)| *lines);
        self.lines.number() - self.headings - ahead
    }

    fn skip_record(&mut self) -> Result<bool> {
        Ok(self.lines.next()?.is_some())
    }
}

/// EPD, and bullet's text format: `FEN | centipawns | result`, from White's point of view.
pub struct Epd;

impl LineFormat for Epd {
    fn read(&self, records: &[String], skipped: &mut Skipped) -> Result<Vec<Family>> {
        let line = &records[0];
        // In EPD, a bar is part of a string.
        if let Some((fen, rest)) = line.split_once('|').filter(|(fen, _)| !fen.contains('"')) {
            let text = rest.split('|').next().unwrap_or_default().trim();
            // A result, `0.5`, may stand there in another order of the fields.
            let label = Label::parse_centipawns(text).filter(|_| !text.contains('.'));
            let label = label.with_context(|| format!("'{text:.80}': not centipawns"))?;
            return Ok(vec![Family::own(Position::from_fen(fen)?.board().clone(), label)]);
        }
        ensure!(line.split_whitespace().nth(3).is_some(), "'{line:.80}': expected four fields");
        let (position, label) = parse_epd(line)?;
        if label.is_none() {
            skip(skipped, "without ce or dm");
        }
        Ok(label.map(|label| Family::own(position.board().clone(), label)).into_iter().collect())
    }
}

/// By the standard of EPD, larger numbers of `ce` are forced mates.
const LARGEST_ESTIMATE: i32 = 32_000;

/// The position of a FEN or an EPD record, and its label, from White's point of view, if it has one.
pub fn parse_epd(line: &str) -> Result<(Position, Option<Label>)> {
    // Comments are operations such as `c0` and `id`; EPD has no comment lines.
    let (fen, operations) = split_operations(line);
    let position = Position::from_fen(&fen)?;
    let mut label = None;
    for (code, operand) in operations_of(&operations).filter_map(|it| it.split_once(' ')) {
        match code {
            "ce" => {
                label = Some(match epd_number(code, operand)? {
                    value if value > LARGEST_ESTIMATE => Label::Mate(true),
                    value if value < -LARGEST_ESTIMATE => Label::Mate(false),
                    value => Label::Centipawns(value),
                });
            }
            "dm" => label = Some(Label::Mate(epd_number(code, operand)? > 0)),
            _ => {}
        }
    }
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

/// The rows below a header row.
pub struct Csv {
    fen: usize,
    label: usize,
    /// Whether labels are win probabilities; otherwise they are centipawns.
    is_probability: bool,
    /// Whether the heading names no unit. A fraction then shows that the column has pawns.
    may_be_pawns: bool,
    view: View,
    /// The columns of moves to mate and of depths, if there are any.
    mate: Option<usize>,
    depth: Option<usize>,
}

impl Csv {
    /// Reads the header row.
    pub fn new(lines: &mut Lines, view: View) -> Result<Self> {
        let headings = csv_fields(lines.next()?.context("it is empty")?)?;
        let headings: Vec<String> = headings.iter().map(|it| it.trim().to_lowercase()).collect();
        let find = |names: &[&str]| headings.iter().position(|it| names.contains(&it.as_str()));
        let named = find(&["cp"]);
        let centipawns = named.or_else(|| find(&["eval", "evaluation"]));
        let label = centipawns.or_else(|| find(&["p", "win_prob", "win_probability"]));
        let (fen, label) = find(&["fen"]).zip(label).context(
            "the headings name no column 'fen', or none of 'cp', 'eval', 'evaluation', 'p', 'win_prob', \
             'win_probability'; commas separate columns",
        )?;
        let (is_probability, mate, depth) =
            (centipawns.is_none(), find(&["mate"]), find(&["depth"]));
        let may_be_pawns = named.is_none() && !is_probability;
        Ok(Self { fen, label, is_probability, may_be_pawns, view, mate, depth })
    }
}

/// Words that pandas reads as missing values.
const MISSING: [&str; 9] = ["NA", "<NA>", "N/A", "#N/A", "NaN", "nan", "NULL", "null", "None"];

impl LineFormat for Csv {
    fn goes_on(&self, record: &str) -> bool {
        // A quotation mark opens a field only at its beginning.
        let (mut quoted, mut may_open) = (false, true);
        for character in record.chars() {
            (quoted, may_open) = match character {
                '"' if quoted => (false, true),
                '"' if may_open => (true, false),
                other => (quoted, !quoted && other == ','),
            };
        }
        quoted
    }

    /// The rows of one position are evaluations at several depths.
    fn position(&self, record: &str) -> Option<String> {
        self.depth?;
        csv_fields(record).ok()?.get(self.fen).cloned()
    }

    fn check(&self, record: &str) -> Result<()> {
        if !self.may_be_pawns {
            return Ok(());
        }
        let fields = csv_fields(record).unwrap_or_default();
        let text = fields.get(self.label).map_or("", |it| it.trim());
        let is_fraction = text.parse().is_ok_and(|it: f64| it.is_finite() && it.fract() != 0.0);
        ensure!(
            !is_fraction,
            "'{text:.80}': not whole centipawns; multiply pawns by 100, or name the column 'cp'"
        );
        Ok(())
    }

    fn read(&self, records: &[String], skipped: &mut Skipped) -> Result<Vec<Family>> {
        let depth = |record: &String| {
            let fields = csv_fields(record).ok()?;
            let depth: f64 = fields.get(self.depth?)?.trim().parse().ok()?;
            (depth >= 0.0).then_some(depth as u32)
        };
        // The first of equally deep ones.
        let deepest = records.iter().rev().max_by_key(|record| depth(record));
        let fields = csv_fields(deepest.context("no row")?)?;
        let field = |column: usize| {
            let field = fields.get(column).map(|it| it.trim_matches(['\u{feff}', ' ', '\t']));
            field.with_context(|| format!("column {} is missing", column + 1))
        };
        let value =
            |column: usize| field(column).map(|it| if MISSING.contains(&it) { "" } else { it });
        let (fen, text) = (field(self.fen)?, value(self.label)?);
        let position = Position::from_fen(fen)?;
        let mate = self.mate.map(value).transpose()?.unwrap_or_default();
        // Some programs fill the gaps of this column with 0.
        let is_gap = !text.is_empty() && mate.parse().is_ok_and(|moves: f64| moves == 0.0);
        let mate = if is_gap { "" } else { mate };
        if text.is_empty() && mate.is_empty() {
            skip(skipped, "without a label");
            return Ok(Vec::new());
        }
        let label = if !mate.is_empty() {
            let label = Label::parse_centipawns(&format!("#{mate}"));
            label.with_context(|| format!("'{mate:.80}': not a number of moves"))?
        } else if self.is_probability {
            let p = text.parse().ok().and_then(Label::of_win_probability);
            p.with_context(|| format!("'{text:.80}': not a win probability in [0, 1]"))?
        } else {
            let label = Label::parse_centipawns(text);
            label.with_context(|| format!("'{text:.80}': not centipawns"))?
        };
        let label = match self.view {
            View::White => label,
            View::SideToMove => label.seen_by(position.board().side_to_move()),
        };
        Ok(vec![Family::own(position.board().clone(), label)])
    }
}

fn csv_fields(line: &str) -> Result<Vec<String>> {
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
        let families = Epd.read(&[line.to_owned()], &mut Skipped::new())?;
        Ok(families.first().and_then(|family| Some(family.positions().next()?.1)))
    }

    #[test]
    fn operations_are_the_side_to_moves() -> Result<()> {
        let black = "4k3/8/8/8/8/8/4P3/4K3 b - -";
        assert_eq!(epd_label(&format!("{black} ce -70; id \"a\";"))?, Some(Label::Centipawns(70)));
        assert_eq!(epd_label(&format!("{black} hmvc 3; fmvn 9; dm 2;"))?, Some(Label::Mate(false)));
        // Mate in one, and a mate in one by the opponent.
        assert_eq!(epd_label(&format!("{black} ce 32766;"))?, Some(Label::Mate(false)));
        assert_eq!(epd_label(&format!("{black} ce -32765;"))?, Some(Label::Mate(true)));
        let quoted = format!("{black} id \"x; ce 9\"; ce 5;");
        assert_eq!(epd_label(&quoted)?, Some(Label::Centipawns(-5)));
        let bar = format!("{black} id \"a|b\"; ce 5;");
        assert_eq!(epd_label(&bar)?, Some(Label::Centipawns(-5)));
        assert_eq!(epd_label(&format!("{black} bm Kd7;"))?, None);
        assert_eq!(epd_label(black)?, None);
        for bad in ["ce much;", "hmvc x; ce 1;"] {
            assert!(epd_label(&format!("{black} {bad}")).is_err(), "{bad}");
        }
        assert!(epd_label("nonsense").is_err());
        Ok(())
    }

    fn csv(text: &'static str, view: View) -> Result<PositionLines<Csv>> {
        let mut lines = Lines::new(Box::new(text.as_bytes()));
        let csv = Csv::new(&mut lines, view)?;
        Ok(PositionLines::new(lines, csv))
    }

    fn csv_labels(text: &'static str, view: View) -> Result<Vec<Label>> {
        labels(csv(text, view)?)
    }

    fn labels(mut records: PositionLines<impl LineFormat>) -> Result<Vec<Label>> {
        let mut found = Vec::new();
        while let Some(game) = records.next_game(&mut Skipped::new())? {
            found.extend(game.families[0].positions().map(|(_, label)| label));
        }
        Ok(found)
    }

    #[test]
    fn rows_of_one_position_are_read_together() -> Result<()> {
        let text = "fen,line,depth,knodes,cp,mate\n\
                    4k3/8/8/8/8/8/4P3/4K3 w - -,e2e4,20,3,50,\n\
                    4k3/8/8/8/8/8/4P3/4K3 w - -,e2e4,30,9,70,\n\
                    4k3/8/8/8/8/8/4P3/4K3 w - -,e2e3,25,9,60,\n\
                    4k3/8/8/8/8/8/3Q4/4K3 w - -,e2e4,20,3,,5.0\n\
                    4k3/8/8/8/8/8/4R3/4K3 b - -,e8d8,20,3,,-7\n";
        let expected = [Label::Centipawns(70), Label::Mate(true), Label::Mate(false)];
        assert_eq!(csv_labels(text, View::White)?, expected);
        Ok(())
    }

    #[test]
    fn pawns_are_refused_and_gaps_are_read_as_programs_fill_them() -> Result<()> {
        let pawns = "fen,eval\n8/8/8/k7/8/8/8/K6R w - -,1.0\n8/8/8/k7/8/8/8/K5R1 w - -,0.35\n";
        let mut records = csv(pawns, View::White)?;
        records.next_game(&mut Skipped::new())?;
        // It is an error of the file, which --skip-illegal does not leave out: rows before it were
        // read as centipawns.
        let error = records.next(&mut Skipped::new()).err().context("no error of the file")?;
        let error = format!("{error:#}");
        assert!(error.starts_with("line 3: '0.35': not whole centipawns; multiply"), "{error}");
        let text = "fen,eval,cp,mate\n8/8/8/k7/8/8/8/K6R w - -,0.07,7,0\n\
                    8/8/8/k7/8/8/8/K5R1 w - -,,8.4,NaN\n8/8/8/k7/8/8/8/K3R3 w - -,,NA,-3\n";
        let expected = [Label::Centipawns(7), Label::Centipawns(8), Label::Mate(false)];
        assert_eq!(csv_labels(text, View::White)?, expected);
        Ok(())
    }

    #[test]
    fn a_quoted_field_may_have_line_breaks() -> Result<()> {
        let text = "note,fen,cp\n\"two\nlines\",4k3/8/8/8/8/8/4P3/4K3 w - - 0 1,7\n\
                    none,4k3/8/8/8/8/8/3Q4/4K3 w - - 0 1,9\n";
        let expected = [Label::Centipawns(7), Label::Centipawns(9)];
        assert_eq!(csv_labels(text, View::White)?, expected);
        Ok(())
    }

    #[test]
    fn a_quotation_mark_without_an_end_takes_no_rows() -> Result<()> {
        let text = "fen,cp,note\n4k3/8/8/8/8/8/4P3/4K3 w - - 0 1,7,\"one\n\
                    4k3/8/8/8/8/8/3Q4/4K3 w - - 0 1,9,two\n";
        let error = csv_labels(text, View::White).expect_err("no end").to_string();
        assert_eq!(error, "line 2: a quotation mark has no end");
        // Nor is more than a megabyte looked for its end.
        let text = format!("fen,cp\n\"{}", ("x".repeat(1 << 19) + "\n").repeat(4));
        let mut lines = Lines::new(Box::new(std::io::Cursor::new(text)));
        let csv = Csv::new(&mut lines, View::White)?;
        let mut records = PositionLines::new(lines, csv);
        assert!(records.next(&mut Skipped::new()).is_err() && records.lines.number() == 3);
        Ok(())
    }

    #[test]
    fn a_file_continues_behind_the_records_that_were_read() -> Result<()> {
        let text = "fen,depth,cp\n4k3/8/8/8/8/8/4P3/4K3 w - -,9,7\n\
                    4k3/8/8/8/8/8/4P3/4K3 w - -,8,5\n4k3/8/8/8/8/8/3Q4/4K3 w - -,9,9\n";
        let mut first = csv(text, View::White)?;
        first.next_game(&mut Skipped::new())?;
        assert_eq!(first.record(), 2);
        let mut second = csv(text, View::White)?;
        second.skip_to(2)?;
        assert_eq!(labels(second)?, [Label::Centipawns(9)]);
        Ok(())
    }

    #[test]
    fn text_with_bars_is_bullets() -> Result<()> {
        let text = "\u{feff}4k3/8/8/8/8/8/4P3/4K3 b - - 0 1 | 57 | 1.0\n\
                    4k3/8/8/8/8/8/3Q4/4K3 w - - 0 1 | -3\n";
        let lines = Lines::new(Box::new(text.as_bytes()));
        let found = labels(PositionLines::new(lines, Epd))?;
        assert_eq!(found, [Label::Centipawns(57), Label::Centipawns(-3)]);
        assert!(epd_label("4k3/8/8/8/8/8/4P3/4K3 b - - 0 1 | 0.5 | 57").is_err());
        Ok(())
    }

    #[test]
    fn columns_are_found_by_their_headings() -> Result<()> {
        const BLACK: &str = "id,FEN,Evaluation\n1,\"4k3/8/8/8/8/8/4P3/4K3 b - - 0 1\",+56\n\
                             2,4k3/8/8/8/8/8/4P3/4K3 b - - 0 1,#-3\n3,4k3/8/8/8/8/8/4P3/4K3 b - - 0 1,\n";
        assert_eq!(csv_labels(BLACK, View::White)?, [Label::Centipawns(56), Label::Mate(false)]);
        let of_black = csv_labels(BLACK, View::SideToMove)?;
        assert_eq!(of_black, [Label::Centipawns(-56), Label::Mate(true)]);
        let p = "p,fen\n0.5,4k3/8/8/8/8/8/4P3/4K3 w - - 0 1\n";
        assert_eq!(csv_labels(p, View::White)?, [Label::Centipawns(0)]);
        for bad in [
            "",
            "fen,p\n4k3/8/8/8/8/8/4P3/4K3 w - - 0 1,1.5\n",
            "fen,cp\n4k3/8/8/8/8/8/4P3/4K3 w - - 0 1\n",
        ] {
            assert!(csv_labels(bad, View::White).is_err(), "{bad}");
        }
        Ok(())
    }
}
