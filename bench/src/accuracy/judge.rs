//! The judge: an engine that searches a position, and the position after the chosen move.

use std::collections::HashMap;

use anyhow::{Context, Result};
use azimuth_chess::position::{Position, insufficient_material};
use azimuth_chess::win_probability::win_probability_of_centipawns;
use cozy_chess::{Color, Move};

use super::decisions::{Decision, ask, in_shares};
use crate::elo::player::Player;
use crate::elo::roster::Roster;
use crate::games::evaluation::Evaluation;

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
    let mut after = position.clone();
    after.play(mv);
    let board = after.board();
    if !after.has_legal_move() {
        return Ok(if board.checkers().is_empty() { 0.5 } else { 1.0 });
    }
    if insufficient_material(board) {
        return Ok(0.5);
    }
    let evaluation = ask(judge, &after)?.evaluation.context("the judge names no score")?;
    Ok(win_probability(evaluation, side))
}

/// A score from White's view as the win probability of `side`.
pub fn win_probability(evaluation: Evaluation, side: Color) -> f64 {
    match evaluation.seen_by(side) {
        Evaluation::Centipawns(value) => win_probability_of_centipawns(value.into()),
        Evaluation::Mate(moves) => f64::from(u8::from(moves > 0)),
    }
}
