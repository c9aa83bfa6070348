//! Adjudication: ends games early if both players agree on the evaluation. Off by default: it saves
//! time but trusts the players' scores.

use std::str::FromStr;

use anyhow::{Context, Result, anyhow, bail, ensure};
use azimuth_chess::pgn::Outcome;
use azimuth_chess::position::Position;
use cozy_chess::Color;

use crate::games::evaluation::Evaluation;

/// The rules that end a game early; a rule that is `None` is off.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Adjudication {
    pub draw: Option<DrawRule>,
    pub resign: Option<ResignRule>,
}

/// A draw if every score of both players for `moves` moves was within `score` centipawns, from full
/// move `from` on.
#[derive(Clone, Debug, PartialEq)]
pub struct DrawRule {
    pub moves: usize,
    pub score: i32,
    pub from: u16,
}

/// A win if every score of both players for `moves` moves was beyond `score` centipawns for the
/// same side.
#[derive(Clone, Debug, PartialEq)]
pub struct ResignRule {
    pub moves: usize,
    pub score: i32,
}

impl FromStr for DrawRule {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        let [moves, score, from] = numbers(text, ["moves", "score", "from"])?;
        Ok(Self { moves: moves as usize, score: score as i32, from })
    }
}

impl FromStr for ResignRule {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        let [moves, score] = numbers(text, ["moves", "score"])?;
        Ok(Self { moves: moves as usize, score: score as i32 })
    }
}

/// The numbers of `name=number,...`, in the order of `names`; every name is required.
fn numbers<const N: usize>(text: &str, names: [&str; N]) -> Result<[u16; N]> {
    let mut found = [None; N];
    for part in text.split(',') {
        let (name, value) =
            part.split_once('=').with_context(|| format!("'{part}': expected name=number"))?;
        let Some(place) = names.iter().position(|&known| known == name) else {
            bail!("unknown '{name}', expected {}", names.join(", "));
        };
        let number = value.parse::<u16>().map_err(|_| anyhow!("{name} '{value}': not a number"))?;
        found[place] = Some(number);
    }
    let missing = names.iter().zip(found).find(|(_, found)| found.is_none());
    ensure!(missing.is_none(), "'{}' is missing", missing.map_or("", |(name, _)| name));
    Ok(found.map(Option::unwrap_or_default))
}

/// Adjudicates one game.
pub struct Adjudicator<'a> {
    rules: &'a Adjudication,
    /// Number of consecutive plies with a score within the draw margin.
    equal: usize,
    /// Number of consecutive plies with a score beyond the win margin for one side, and that side.
    decided: (usize, Color),
}

impl<'a> Adjudicator<'a> {
    pub fn new(rules: &'a Adjudication) -> Self {
        Self { rules, equal: 0, decided: (0, Color::White) }
    }

    /// Records a score from White's view after a move, and returns the outcome if a rule now
    /// applies.
    pub fn decide(
        &mut self,
        evaluation: Option<Evaluation>,
        position: &Position,
    ) -> Option<Outcome> {
        let centipawns = match evaluation? {
            Evaluation::Centipawns(value) => value,
            Evaluation::Mate(moves) => i32::MAX * moves.signum(),
        };
        if let Some(rule) = &self.rules.draw {
            self.equal = if centipawns.abs() <= rule.score { self.equal + 1 } else { 0 };
            let late = position.board().fullmove_number() >= rule.from;
            if late && self.equal >= 2 * rule.moves {
                return Some(Outcome::Draw);
            }
        }
        if let Some(rule) = &self.rules.resign {
            let winner = if centipawns > 0 { Color::White } else { Color::Black };
            let (plies, before) = self.decided;
            self.decided = match centipawns.saturating_abs() >= rule.score {
                true if before == winner => (plies + 1, winner),
                true => (1, winner),
                false => (0, winner),
            };
            if self.decided.0 >= 2 * rule.moves {
                return Some(Outcome::win_of(winner));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decisions(rules: &Adjudication, scores: &[i32]) -> Vec<Option<Outcome>> {
        let mut adjudicator = Adjudicator::new(rules);
        let position = Position::default();
        let decide =
            |&score: &i32| adjudicator.decide(Some(Evaluation::Centipawns(score)), &position);
        scores.iter().map(decide).collect()
    }

    #[test]
    fn a_rule_holds_only_in_a_row() -> Result<()> {
        let draw = Some("moves=1,score=8,from=1".parse()?);
        let resign = Some("moves=1,score=500".parse()?);
        let rules = Adjudication { draw, resign };
        let (draw, black) = (Some(Outcome::Draw), Some(Outcome::BlackWins));
        assert_eq!(decisions(&rules, &[0, 9, 8, -8]), [None, None, None, draw]);
        assert_eq!(decisions(&rules, &[600, -600, -500]), [None, None, black]);
        let late = Adjudication { draw: Some("moves=1,score=8,from=2".parse()?), resign: None };
        assert_eq!(decisions(&late, &[0, 0, 0]), [None; 3]);
        Ok(())
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, part) in [
            ("moves=3", "'score' is missing"),
            ("moves=x,score=1", "moves 'x': not a number"),
            ("move=1", "unknown 'move'"),
            ("moves", "expected name=number"),
        ] {
            let error = text.parse::<ResignRule>().expect_err(text).to_string();
            assert!(error.contains(part), "{error}");
        }
    }
}
