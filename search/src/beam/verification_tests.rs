use anyhow::{Context, Result};
use azimuth_chess::placement::Placement;
use azimuth_chess::position::{Position, board_after, legal_moves, repetition_key};
use azimuth_chess::see::{StaticExchange, piece_value};
use cozy_chess::{Board, Move};
use crossbeam_channel::unbounded;

use super::{Beam, BeamSettings, BeamVerify};
use crate::DefaultWeights;
use crate::control::{Control, Limits, Signal};
use crate::inference::{Evaluator, Worker};
use crate::planner::{Planner, PlannerSettings, Resources};
use crate::selective::score::{DRAW, INFINITE, Score, mated_in, of_estimate, to_value};
use crate::selective::{Part, Parts, SelectiveSettings};
use crate::test_support::{
    assert_legal, fail_and_go_on, local, plain_score, refuse_in_turn, search, to_depth,
};
use crate::value::{self, Value};

const FENS: [&str; 5] = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r1bqk2r/ppp2ppp/2n2n2/2bpp3/4P3/2PP1N2/PP1NBPPP/R1BQK2R w KQkq - 0 7",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    "6k1/5ppp/8/8/8/8/r4PPP/1R4K1 w - - 0 1",
    "4r1k1/pp3ppp/2p5/8/3n4/2N3P1/PP3P1P/4R1K1 b - - 98 60",
];

/// A beam that verifies by searches with these techniques of the selective search.
fn beam(worker: &Worker, beam: BeamSettings, parts: Parts, threads: usize) -> Result<Beam> {
    let selective = SelectiveSettings { parts, ..SelectiveSettings::default() };
    Beam::new(worker, &PlannerSettings { beam, selective }, Resources { hash_mb: 16, threads })
}

/// The children of a position by plain searches to `horizon` plies from the root, the best for its
/// side to move first. Equal children are in the order in which they are tried.
fn plain_children(
    evaluator: &mut Evaluator,
    board: &Board,
    keys: &[u64],
    ply: usize,
    horizon: u32,
) -> Result<Vec<(Score, Move, Board)>> {
    let keys = [keys, &[repetition_key(board)]].concat();
    let placement = Placement::of(board);
    let exchange = StaticExchange::new(&placement);
    let mut children = Vec::new();
    for mv in legal_moves(board) {
        let child = board_after(board, mv);
        let exact = value::terminal_value(&child, ply as u32 + 1, &keys);
        let score = match exact {
            Some(value) if value == Value::DRAW => DRAW,
            Some(_) => -mated_in(ply + 1),
            None => {
                let depth = horizon - ply as u32 - 1;
                -plain_score(evaluator, &child, &keys, ply + 1, depth, true)?
            }
        };
        let at_first_sight = match exact {
            Some(_) => score,
            None => -of_estimate(evaluator.value(&child)?),
        };
        let won = piece_value(board.piece_on(mv.to));
        let tried = at_first_sight + 100 * (exchange.see_of_move(mv) - won).min(0);
        children.push((tried, score, mv, child));
    }
    children.sort_by_key(|&(tried, ..)| -tried);
    children.sort_by_key(|&(_, score, ..)| -score);
    Ok(children.into_iter().map(|(_, score, mv, child)| (score, mv, child)).collect())
}

/// The beam by definition: the best `width` children by plain searches, to `depth` plies, and
/// minimax.
fn plain_beam(
    evaluator: &mut Evaluator,
    board: &Board,
    keys: &[u64],
    ply: usize,
    (width, depth, horizon): (usize, u32, u32),
) -> Result<(Score, Option<Move>)> {
    let (mut best, mut choice) = (-INFINITE, None);
    let children = plain_children(evaluator, board, keys, ply, horizon)?;
    let keys = [keys, &[repetition_key(board)]].concat();
    for (score, mv, child) in children.into_iter().take(width) {
        let over = value::terminal_value(&child, ply as u32 + 1, &keys).is_some();
        let is_leaf = over || depth == 1 || score.abs() > 29_000;
        let score = match is_leaf {
            true => score,
            false => {
                let shape = (width, depth - 1, horizon);
                -plain_beam(evaluator, &child, &keys, ply + 1, shape)?.0
            }
        };
        if score > best {
            (best, choice) = (score, Some(mv));
        }
    }
    Ok((best, choice))
}

#[test]
fn verified_values_are_those_of_plain_searches() -> Result<()> {
    let worker = local(DefaultWeights::Selective)?;
    let mut evaluator = Evaluator::new(&worker, 16)?;
    let parts = Parts::only(&[Part::Quiescence]);
    for fen in &FENS[2..] {
        let root = Position::from_fen(fen)?;
        for (width, depth, verify) in [(2, 1, BeamVerify::Plies(1)), (3, 2, BeamVerify::Quiescence)]
        {
            let beyond = verify.plies().context("it verifies")?;
            let shape = (width, depth, depth + beyond);
            let (score, choice) = plain_beam(&mut evaluator, root.board(), &[], 0, shape)?;
            let settings = BeamSettings { width, depth, verify, policy: false };
            let report = search(&mut beam(&worker, settings, parts, 1)?, &root, Limits::default())?;
            let found = (report.value, report.pv.first().copied());
            assert_eq!(found, (to_value(score), choice), "{fen}, {settings:?}");
        }
    }
    Ok(())
}

#[test]
fn mates_and_draws_beyond_the_last_ply_are_exact() -> Result<()> {
    let worker = local(DefaultWeights::Selective)?;
    let settings = BeamSettings { depth: 1, verify: BeamVerify::Plies(2), ..BeamSettings::PAPER };
    let mut beam = beam(&worker, settings, Parts::only(&[Part::Quiescence]), 1)?;
    // Mate in two with both rooks; the second move is beyond the beam.
    let root = Position::from_fen("7k/8/8/8/8/8/R7/1R5K w - - 0 1")?;
    let report = search(&mut beam, &root, Limits::default())?;
    assert_eq!((report.value.moves_to_mate(), report.pv.len()), (Some(2), 3));
    // The king finally captures the last pawn.
    let root = Position::from_fen("8/8/8/3k4/8/8/1p6/1K6 w - - 0 1")?;
    assert_eq!(search(&mut beam, &root, Limits::default())?.value, Value::DRAW);
    Ok(())
}

#[test]
fn threads_limits_and_several_lines_go_with_verification() -> Result<()> {
    let worker = local(DefaultWeights::Selective)?;
    for fen in FENS {
        let root = Position::from_fen(fen)?;
        let mut beam = beam(&worker, BeamSettings::default(), Parts::default(), 3)?;
        for limits in [
            Limits { depth: Some(3), multipv: 4, ..Limits::default() },
            Limits { nodes: Some(2_000), ..Limits::default() },
            Limits { nodes: Some(1), ..Limits::default() },
        ] {
            let report = search(&mut beam, &root, limits.clone())?;
            assert_legal(&root, &report.pv);
            if let Some(nodes) = limits.nodes.filter(|&nodes| nodes > 1) {
                assert!(report.nodes < 10 * nodes, "{fen}: {} nodes", report.nodes);
            }
        }
    }
    Ok(())
}

#[test]
fn the_largest_depth_is_searched_like_any_that_is_out_of_reach() -> Result<()> {
    let root = Position::from_fen(FENS[1])?;
    let worker = local(DefaultWeights::Selective)?;
    let mut found = Vec::new();
    for depth in [1_000, u32::MAX] {
        let mut planner = beam(&worker, BeamSettings::default(), Parts::default(), 1)?;
        let (stop, signals) = unbounded();
        let limits = Limits { depth: Some(depth), ..Limits::default() };
        let mut lines = Vec::new();
        planner.search(&root, &mut Control::new(limits, signals), &mut |report| {
            if lines.len() < 2 {
                lines.push((report.depth, report.seldepth, report.value, report.pv.clone()));
            } else {
                stop.send(Signal::Stop).expect("the search runs");
            }
        })?;
        found.push(lines);
    }
    assert_eq!(found[0].len(), 2);
    assert_eq!(found[0], found[1]);
    Ok(())
}

#[test]
fn a_stopped_search_is_explained_with_its_own_horizon() -> Result<()> {
    let root = Position::from_fen(FENS[2])?;
    let worker = local(DefaultWeights::Selective)?;
    let settings = BeamSettings { verify: BeamVerify::Plies(1), ..BeamSettings::default() };
    // The first iteration verifies to one ply beyond itself, the second to one beyond the third.
    for (last, plies) in [(1, 1), (2, 3)] {
        let mut planner = beam(&worker, settings, Parts::only(&[Part::Quiescence]), 1)?;
        let (stop, signals) = unbounded();
        let limits = Limits { depth: Some(3), ..Limits::default() };
        planner.search(&root, &mut Control::new(limits, signals), &mut |report| {
            if report.depth == last {
                stop.send(Signal::Stop).expect("the search runs");
            }
        })?;
        let explanation = planner.explain(last)?.context("it has searched")?;
        let best = &explanation.moves[0];
        let value = best.searched.context("it was searched")?.value;
        assert_eq!(best.verified.as_ref().map(|verified| verified.plies), Some(plies));
        let mut replies = &best.replies;
        for ply in 1..last {
            let reply = replies.first().context("it has replies")?;
            let found = reply.searched.context("it was searched")?.value;
            assert_eq!(if ply % 2 == 1 { -found } else { found }, value, "{ply} plies deep");
            replies = &reply.replies;
        }
    }
    Ok(())
}

#[test]
fn an_error_of_the_evaluator_ends_the_search_and_not_the_planner() -> Result<()> {
    let root = Position::from_fen(FENS[0])?;
    fail_and_go_on(&root, 6, |worker| beam(worker, BeamSettings::default(), Parts::default(), 1))
}

#[test]
fn refused_memory_and_threads_cost_threads_and_not_the_search() -> Result<()> {
    let root = Position::from_fen(FENS[0])?;
    let found = refuse_in_turn(&root, |worker| {
        let mut planner = beam(worker, BeamSettings::default(), Parts::default(), 3)?;
        search(&mut planner, &root, to_depth(2))
    })?;
    assert_eq!(found, (9, 16));
    Ok(())
}
