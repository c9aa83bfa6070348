//! The judge: an engine that searches a position, and the position after the chosen move. A
//! player's figures by its verdicts.

use std::collections::{BTreeMap, HashMap};

use anyhow::{Context, Result};
use azimuth_chess::position::{Ending, Position};
use azimuth_chess::win_probability::win_probability_of_centipawns;
use cozy_chess::{Color, Move};

use super::decisions::{Decision, ask, in_shares};
use super::{Figures, PlayerAccuracy};
use crate::elo::player::Player;
use crate::elo::roster::Roster;
use crate::games::Evaluation;

/// The judge's verdict on a decision, as win probabilities of the side that moved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Judgement {
    /// Win probability lost against the judge's best move.
    pub loss: f64,
    /// Value of the position after the move.
    pub value: f64,
}

/// Judges all decisions with the one player of `judges`, several at a time, and returns the
/// verdicts in their order.
pub fn judge(
    judges: &Roster,
    decisions: &[Decision],
    concurrency: usize,
) -> Result<Vec<Judgement>> {
    // Each pair of position and move is judged once, even if several players chose it.
    let mut places: HashMap<String, Vec<usize>> = HashMap::new();
    for (index, decision) in decisions.iter().enumerate() {
        places.entry(decision.position.fen(true)).or_default().push(index);
    }
    let mut places: Vec<Vec<usize>> = places.into_values().collect();
    places.sort_unstable();
    let judge =
        |judge: &mut dyn Player, places: &Vec<usize>| judge_position(judge, decisions, places);
    let mut found = in_shares(judges, 0, &places, concurrency, judge)?;
    found.sort_unstable_by_key(|&(place, _)| place);
    Ok(found.into_iter().map(|(_, judgement)| judgement).collect())
}

/// Judges the decisions at `places`, all in one position.
fn judge_position(
    judge: &mut dyn Player,
    decisions: &[Decision],
    places: &[usize],
) -> Result<Vec<(usize, Judgement)>> {
    let position = &decisions[places[0]].position;
    let side = position.board().side_to_move();
    let choice = ask(judge, position)?;
    let own_move = position.parse_move(&choice.mv).context("the judge's move is illegal")?;
    let best = win_probability(choice.evaluation.context("the judge names no score")?, side);
    let mut values: HashMap<Move, f64> = HashMap::new();
    let mut found = Vec::new();
    for &place in places {
        let mv = decisions[place].mv;
        let value = match values.get(&mv) {
            Some(&value) => value,
            None => value_after(judge, position, mv)?,
        };
        values.insert(mv, value);
        let loss = if mv == own_move { 0.0 } else { (best - value).max(0.0) };
        found.push((place, Judgement { loss, value }));
    }
    Ok(found)
}

/// The judge's value of the position after a move, for the side that moved.
fn value_after(judge: &mut dyn Player, position: &Position, mv: Move) -> Result<f64> {
    let side = position.board().side_to_move();
    let after = position.after(mv);
    match after.ending() {
        Some(Ending::Checkmate { .. }) => return Ok(1.0),
        Some(Ending::Stalemate | Ending::InsufficientMaterial) => return Ok(0.5),
        _ => {}
    }
    let evaluation = ask(judge, &after)?.evaluation.context("the judge names no score")?;
    Ok(win_probability(evaluation, side))
}

/// A score from White's view as the win probability of `side`.
fn win_probability(evaluation: Evaluation, side: Color) -> f64 {
    match evaluation.seen_by(side) {
        Evaluation::Centipawns(value) => win_probability_of_centipawns(value.into()),
        Evaluation::Mate(moves) => f64::from(u8::from(moves > 0)),
    }
}

/// Minimum number of pieces, kings included, of each phase.
const PHASES: [(&str, u32); 3] = [("opening", 26), ("middlegame", 14), ("endgame", 0)];

/// The figures of each player, in the order of their names.
pub fn by_player(decisions: &[Decision], judged: &[Judgement]) -> Vec<PlayerAccuracy> {
    let mut own: BTreeMap<&str, Vec<(&Decision, &Judgement)>> = BTreeMap::new();
    for judged in decisions.iter().zip(judged) {
        own.entry(&judged.0.player).or_default().push(judged);
    }
    own.into_iter().map(|(name, judged)| summary(name, &judged)).collect()
}

fn summary(name: &str, all: &[(&Decision, &Judgement)]) -> PlayerAccuracy {
    let phase = |decision: &Decision| {
        let pieces = decision.position.board().occupied().len();
        PHASES.iter().position(|&(_, least)| pieces >= least)
    };
    let of_phase = |(number, &(phase_name, _)): (usize, &(&str, u32))| {
        let own = all.iter().filter(|(decision, _)| phase(decision) == Some(number));
        (phase_name.to_owned(), figures(own.copied()))
    };
    PlayerAccuracy {
        player: name.to_owned(),
        all: figures(all.iter().copied()),
        phases: PHASES.iter().enumerate().map(of_phase).collect(),
    }
}

fn figures<'a>(decisions: impl Iterator<Item = (&'a Decision, &'a Judgement)>) -> Figures {
    let (mut losses, mut errors, mut depths) = (Vec::new(), Vec::new(), Vec::new());
    for (decision, judgement) in decisions {
        losses.push(judgement.loss);
        let side = decision.position.board().side_to_move();
        let own = decision.evaluation.map(|evaluation| win_probability(evaluation, side));
        errors.extend(own.map(|own| own - judgement.value));
        depths.extend(decision.depth.map(f64::from));
    }
    let above = |loss: f64| mean(losses.iter().map(|&found| f64::from(u8::from(found > loss))));
    Figures {
        moves: losses.len(),
        loss: mean(losses.iter().copied()),
        loss_error: standard_error(&losses),
        above_005: above(0.05),
        above_015: above(0.15),
        score_error: mean(errors.iter().copied()),
        score_rms: mean(errors.iter().map(|error| error * error)).sqrt(),
        depth: mean(depths.into_iter()),
    }
}

/// The mean, or 0 if there are no values.
fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0), |(sum, count), value| (sum + value, count + 1));
    sum / f64::from(count.max(1))
}

fn standard_error(values: &[f64]) -> f64 {
    let middle = mean(values.iter().copied());
    let variance = mean(values.iter().map(|value| (value - middle).powi(2)));
    (variance / values.len().max(1) as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_those_of_the_side_that_moved() -> anyhow::Result<()> {
        let position = Position::from_fen("4k3/8/8/8/8/8/4P3/4K3 b - - 0 1")?;
        let mv = position.parse_move("e8e7")?;
        let decision = |evaluation| Decision {
            player: "a".to_owned(),
            position: position.clone(),
            mv,
            evaluation,
            depth: Some(4),
        };
        let decisions = [decision(Some(Evaluation::Mate(-3))), decision(None)];
        let judgements = [Judgement { loss: 0.2, value: 0.9 }, Judgement { loss: 0.0, value: 0.5 }];
        let found = by_player(&decisions, &judgements).remove(0);
        let figures = &found.all;
        // Black announces mate, and its score is off by a tenth.
        assert!((figures.score_error - 0.1).abs() < 1e-9 && (figures.score_rms - 0.1).abs() < 1e-9);
        assert!((figures.loss - 0.1).abs() < 1e-9 && (figures.loss_error - 0.0707).abs() < 1e-3);
        assert_eq!((figures.above_005, figures.above_015, figures.depth), (0.5, 0.5, 4.0));
        let moves: Vec<usize> = found.phases.iter().map(|(_, figures)| figures.moves).collect();
        assert_eq!(moves, [0, 0, 2]);
        Ok(())
    }
}
