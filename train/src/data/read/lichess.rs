//! lichess's evaluation database: a JSON object on each line, with `fen` (four fields) and `evals`.
//! Each evaluation has a `depth` and its principal variations (`pvs`): `cp` or `mate` from White's
//! point of view, and the moves of the `line` in UCI notation.
//!
//! Other programs write a line for each variation, with `fen`, `depth`, `line` and `cp` or `mate`;
//! consecutive lines of one position are its evaluations. pandas, and with it the datasets of
//! Hugging Face, writes whole numbers as `50.0` in a column that has gaps.
//!
//! The deepest evaluation labels the position. If it has several variations, their first moves
//! label siblings.

use anyhow::{Context, Result};
use azimuth_chess::position::Position;
use cozy_chess::Move;
use serde::Deserialize;

use super::position_lines::LineFormat;
use super::{Skipped, skip};
use crate::data::family::{Family, FamilyLabels};
use crate::data::packed::Label;

#[derive(Deserialize)]
struct Record {
    fen: String,
    evals: Vec<Evaluation>,
}

/// A line for one variation.
#[derive(Deserialize)]
struct FlatRecord {
    fen: String,
    #[serde(default)]
    depth: u32,
    #[serde(flatten)]
    variation: Variation,
}

#[derive(Deserialize)]
struct Evaluation {
    depth: u32,
    pvs: Vec<Variation>,
}

#[derive(Deserialize)]
struct Variation {
    cp: Option<f64>,
    mate: Option<f64>,
    line: Option<String>,
}

pub struct Lichess;

impl LineFormat for Lichess {
    fn position(&self, record: &str) -> Option<String> {
        let record: FlatRecord = is_flat(record).then(|| serde_json::from_str(record).ok())??;
        Some(record.fen)
    }

    fn read(&self, records: &[String], skipped: &mut Skipped) -> Result<Vec<Family>> {
        if !is_flat(&records[0]) {
            return families(&serde_json::from_str(&records[0])?, skipped);
        }
        let mut evals: Vec<Evaluation> = Vec::new();
        let mut fen = String::new();
        for record in records {
            let FlatRecord { fen: own, depth, variation } = serde_json::from_str(record)?;
            fen = own;
            match evals.iter_mut().find(|known| known.depth == depth) {
                Some(known) => known.pvs.push(variation),
                None => evals.push(Evaluation { depth, pvs: vec![variation] }),
            }
        }
        families(&Record { fen, evals }, skipped)
    }
}

/// Whether a record is a [`FlatRecord`].
fn is_flat(record: &str) -> bool {
    !record.contains("\"evals\"")
}

/// The families of a position's evaluations.
fn families(record: &Record, skipped: &mut Skipped) -> Result<Vec<Family>> {
    let position = Position::from_fen(&record.fen)?;
    // The first of equally deep evaluations: they are sorted by the number of variations.
    let deepest = record.evals.iter().rev().max_by_key(|evaluation| evaluation.depth);
    let variations = deepest.map_or(&[][..], |evaluation| &evaluation.pvs);
    let Some(label) = variations.first().and_then(Variation::label) else {
        skip(skipped, "without an evaluation");
        return Ok(Vec::new());
    };
    let mut families = vec![Family::own(position.board().clone(), label)];
    let mut children: Vec<(Move, Label)> = Vec::new();
    for variation in variations {
        let first = variation.line.as_deref().and_then(|line| line.split_whitespace().next());
        if let Some((text, label)) = first.zip(variation.label()) {
            let mv = position.parse_move(text).context("evals.pvs.line")?;
            if !children.iter().any(|(other, _)| *other == mv) {
                children.push((mv, label));
            }
        }
    }
    if children.len() > 1 {
        let labels = FamilyLabels::Children(children);
        families.push(Family { board: position.board().clone(), labels });
    }
    Ok(families)
}

impl Variation {
    fn label(&self) -> Option<Label> {
        // Some programs fill the gaps of a column with 0.
        let mate = self.mate.filter(|moves| *moves != 0.0 || self.cp.is_none());
        let mate = mate.map(|moves| Label::Mate(moves > 0.0));
        mate.or(self.cp.map(|cp| Label::Centipawns(cp.round() as i32)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(records: &[String]) -> Result<Vec<Label>> {
        let families = Lichess.read(records, &mut Skipped::new())?;
        Ok(families.iter().flat_map(Family::positions).map(|(_, label)| label).collect())
    }

    #[test]
    fn lines_for_one_variation_are_read_together() -> Result<()> {
        let fen = "4k3/8/8/8/8/8/4P3/4K3 w - -";
        let line = |rest: &str| format!("{{\"fen\":\"{fen}\",{rest}}}");
        let records = [
            line("\"depth\":20,\"cp\":50,\"line\":\"e2e4 e8e7\""),
            line("\"depth\":30,\"cp\":null,\"mate\":9.0,\"line\":\"e2e4\""),
            line("\"depth\":30,\"cp\":60.0,\"mate\":null,\"line\":\"e2e3\""),
        ];
        assert_eq!(Lichess.position(&records[0]).as_deref(), Some(fen));
        let expected = [Label::Mate(true), Label::Mate(true), Label::Centipawns(60)];
        assert_eq!(labels(&records)?, expected);
        assert_eq!(labels(&[line("\"cp\":60,\"mate\":0")])?, [Label::Centipawns(60)]);
        Ok(())
    }

    #[test]
    fn the_deepest_evaluation_counts() -> Result<()> {
        let labels = |line: &str| labels(&[line.to_owned()]);
        // The example from the database's web page.
        let line = r#"{"fen":"2bq1rk1/pr3ppn/1p2p3/7P/2pP1B1P/2P5/PPQ2PB1/R3R1K1 w - -","evals":[
            {"pvs":[{"cp":311,"line":"g2e4 f7f5 e4b7"}],"knodes":206765,"depth":36},
            {"pvs":[{"cp":292,"line":"g2e4 f7f5"},{"cp":277,"line":"f4g3 f7f5"}],"knodes":92958,"depth":34}]}"#;
        assert_eq!(labels(line)?, [Label::Centipawns(311)]);
        let deeper =
            line.replace("\"depth\":34", "\"depth\":44").replace("\"cp\":277", "\"mate\":-3");
        let (own, second) = (Label::Centipawns(292), Label::Mate(false));
        assert_eq!(labels(&deeper)?, [own, own, second]);
        assert_eq!(labels(r#"{"fen":"4k3/8/8/8/8/8/4P3/4K3 w - -","evals":[]}"#)?, []);
        let illegal = line.replace("g2e4 f7f5 e4b7", "g2g8");
        for bad in ["{\"fen\":3}", &illegal] {
            assert!(labels(bad).is_err(), "{bad}");
        }
        Ok(())
    }
}
