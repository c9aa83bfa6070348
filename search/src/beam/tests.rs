use std::sync::Arc;

use anyhow::{Context, Result};
use azimuth_chess::placement::Placement;
use azimuth_chess::position::{Position, board_after, legal_moves, repetition_key};
use azimuth_network::parameters::Parameters;
use azimuth_network::policy::{Policy, PolicyConfig, move_rows};
use azimuth_network::weights::Weights;
use candle_core::{Device, Tensor};
use cozy_chess::{Board, Move};

use super::{Beam, BeamSettings, BeamVerify};
use crate::DefaultWeights;
use crate::control::{Control, Limits};
use crate::inference::{Evaluator, Worker};
use crate::planner::{Planner, PlannerSettings, Resources};
use crate::test_support::{DRAWS, FENS, local, remote, search, value_of_move};
use crate::value::{self, Value};

fn evaluator() -> Result<Evaluator> {
    Evaluator::new(&local(DefaultWeights::Beam)?, 16)
}

/// A beam with the default selective search.
pub fn beam(worker: &Worker, beam: BeamSettings, threads: usize) -> Result<Beam> {
    let settings = PlannerSettings { beam, ..PlannerSettings::default() };
    Beam::new(worker, &settings, Resources { hash_mb: 16, threads })
}

fn paper(settings: BeamSettings) -> Result<Beam> {
    beam(&local(DefaultWeights::Beam)?, settings, 1)
}

/// A child's value for its side to move, whether the value is final, the move, and the position.
pub type PlainChild = (Value, bool, Move, Board);

/// The beam by definition: every kept node is expanded, and nothing is pruned. `children` returns the
/// children of a position, given the keys before them and their plies from the root: those to keep
/// first.
pub fn plain_beam<F: FnMut(&Board, &[u64], u32) -> Result<Vec<PlainChild>>>(
    board: &Board,
    keys: &[u64],
    ply: u32,
    (width, depth): (usize, u32),
    children: &mut F,
) -> Result<(Value, Option<Move>)> {
    let keys = [keys, &[repetition_key(board)]].concat();
    let (mut best, mut choice) = (Value::MIN, None);
    let all = children(board, &keys, ply + 1)?.into_iter();
    for (place, (value, is_final, mv, child)) in all.enumerate() {
        // Moves beyond the width count only if all moves before them are mated.
        if place >= width && !best.is_mated() {
            break;
        }
        let value = match is_final || depth == 1 {
            true => value,
            false => plain_beam(&child, &keys, ply + 1, (width, depth - 1), children)?.0,
        };
        if -value > best {
            (best, choice) = (-value, Some(mv));
        }
    }
    Ok((best, choice))
}

/// The children by their static values.
fn static_children(
    evaluator: &mut Evaluator,
    board: &Board,
    keys: &[u64],
    ply: u32,
) -> Result<Vec<PlainChild>> {
    let mut children = Vec::new();
    for mv in legal_moves(board) {
        let child = board_after(board, mv);
        let exact = value::terminal_value(&child, ply, keys);
        let value = match exact {
            Some(value) => value,
            None => Value::estimate(evaluator.value(&child)?),
        };
        children.push((value, exact.is_some(), mv, child));
    }
    children.sort_by(|a, b| a.0.order(b.0));
    Ok(children)
}

#[test]
fn pruning_changes_no_choice() -> Result<()> {
    for fen in &FENS[..5] {
        let root = Position::from_fen(fen)?;
        for (width, depth) in [(3, 4), (2, 6), (5, 3)] {
            let mut evaluator = evaluator()?;
            let mut children = |board: &Board, keys: &[u64], ply| {
                static_children(&mut evaluator, board, keys, ply)
            };
            let expected = plain_beam(root.board(), &[], 0, (width, depth), &mut children)?;
            let mut beam = paper(BeamSettings { width, depth, ..BeamSettings::PAPER })?;
            let report = search(&mut beam, &root, Limits::default())?;
            assert_eq!((report.value, report.pv.first().copied()), expected, "{fen}");
        }
    }
    Ok(())
}

#[test]
fn batches_for_a_device_change_no_choice() -> Result<()> {
    let remote = remote(DefaultWeights::Beam)?;
    for fen in &FENS[..5] {
        let root = Position::from_fen(fen)?;
        let limits = Limits { multipv: 2, ..Limits::default() };
        let searched = |worker: &Worker| -> Result<Vec<_>> {
            let mut lines = Vec::new();
            beam(worker, BeamSettings::PAPER, 1)?.search(
                &root,
                &mut Control::without_signals(limits.clone()),
                &mut |line| lines.push((line.depth, line.value, line.pv.first().copied())),
            )?;
            Ok(lines)
        };
        let here = searched(&local(DefaultWeights::Beam)?)?;
        assert!(!Evaluator::new(&remote, 16)?.answers_at_once());
        assert_eq!(searched(&remote)?, here, "{fen}");
    }
    Ok(())
}

#[test]
fn a_policy_chooses_the_moves_that_an_unverified_beam_keeps() -> Result<()> {
    // All logits are 0 but that of 1. a3.
    let root = Position::from_fen(FENS[0])?;
    let config = PolicyConfig { features: "piece-square".parse()?, accumulator: 128 };
    let (wanted, mut rows) = (root.parse_move("a2a3")?, Vec::new());
    move_rows(config.features, &Placement::of(root.board()), &[wanted], &mut rows);
    let parameters = config.parameters().map(|spec| -> Result<_> {
        let mut values = vec![0f32; spec.shape.iter().product()];
        if spec.name == "moves.bias" {
            values[usize::from(rows[0])] = 1e6;
        }
        Ok((spec.name, Tensor::from_vec(values, spec.shape, &Device::Cpu)?))
    });
    let parameters = parameters.into_iter().collect::<Result<Vec<_>>>()?;
    let policy = Policy::new(config, &Parameters::new(parameters))?;
    let policy = Some(Arc::new(policy));
    let weights = Weights { policy, ..DefaultWeights::Selective.weights()? };
    let worker = Worker::on_cpu(weights, |_| ())?;
    let paper = BeamSettings { width: 1, depth: 1, ..BeamSettings::PAPER };
    for (settings, expected) in [
        (BeamSettings { policy: true, ..paper }, true),
        (paper, false),
        (BeamSettings { policy: true, verify: BeamVerify::Plies(1), ..paper }, false),
    ] {
        let report = search(&mut beam(&worker, settings, 1)?, &root, Limits::default())?;
        assert_eq!(report.pv.first() == Some(&wanted), expected, "{settings:?}");
    }
    Ok(())
}

#[test]
fn more_threads_change_no_choice() -> Result<()> {
    let worker = local(DefaultWeights::Beam)?;
    for fen in &FENS[..5] {
        let root = Position::from_fen(fen)?;
        let mut choices = Vec::new();
        for threads in [1, 3] {
            let mut beam = beam(&worker, BeamSettings::PAPER, threads)?;
            let report = search(&mut beam, &root, Limits::default())?;
            choices.push((report.value, report.pv.first().copied()));
            let explanation = beam.explain(1)?.context("it has searched")?;
            let kept = explanation.moves.iter().filter(|mv| mv.searched.is_some()).count();
            assert!(kept >= 3.min(explanation.moves.len()), "{fen}");
            assert_eq!(Some(explanation.moves[0].mv), report.pv.first().copied(), "{fen}");
        }
        assert_eq!(choices[0], choices[1], "{fen}");
    }
    Ok(())
}

#[test]
fn a_second_search_scores_nothing_again() -> Result<()> {
    let mut beam = paper(BeamSettings::PAPER)?;
    let root = Position::default();
    let first = search(&mut beam, &root, Limits::default())?;
    let second = search(&mut beam, &root, Limits::default())?;
    assert_eq!((first.value, &first.pv), (second.value, &second.pv));
    assert!(first.scored > 1000, "{}", first.scored);
    assert!(second.scored * 50 < first.scored, "{}", second.scored);
    Ok(())
}

#[test]
fn draws_are_exact() -> Result<()> {
    let mut beam = paper(BeamSettings::PAPER)?;
    for draw in DRAWS {
        assert_eq!(value_of_move(&mut beam, draw, 1)?, Value::DRAW, "{draw:?}");
    }
    let second = ("7k/8/8/8/8/8/Q7/K7 w - - 0 1", "a2b2 h8g8 b2a2", "g8h8");
    assert_ne!(value_of_move(&mut beam, second, 1)?, Value::DRAW);
    Ok(())
}

#[test]
fn mate_comes_before_the_fifty_move_rule_and_in_the_fewest_moves() -> Result<()> {
    let mut beam = paper(BeamSettings::PAPER)?;
    let root = Position::from_fen("6k1/5ppp/8/8/8/8/8/K2R4 w - - 99 80")?;
    let report = search(&mut beam, &root, Limits::default())?;
    assert_eq!(report.value.moves_to_mate(), Some(1));
    assert_eq!(report.pv, vec![root.parse_move("d1d8")?]);
    Ok(())
}
