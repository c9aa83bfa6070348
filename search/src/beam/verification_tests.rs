//! Verification by searches, and by quiescence search in batches.

use anyhow::{Context, Result};
use azimuth_chess::bench_positions::BENCH_POSITIONS;
use azimuth_chess::placement::Placement;
use azimuth_chess::position::{Position, board_after, legal_moves, repetition_key};
use azimuth_chess::see::{StaticExchange, piece_value};
use cozy_chess::{Board, Move};
use crossbeam_channel::unbounded;

use super::batched_quiescence::{BatchedQuiescence, Resolved, Rules, Start};
use super::tests::{PlainChild, beam, plain_beam};
use super::{Beam, BeamSettings, BeamVerify};
use crate::DefaultWeights;
use crate::control::{Control, Handicap, Limits, Signal};
use crate::inference::{Evaluator, Worker};
use crate::planner::{Planner, PlannerSettings, Resources};
use crate::selective::score::{DRAW, mated_in, of_estimate, to_value};
use crate::selective::{INFINITE, Part, Parts, SearchTables, SelectiveSettings, ShallowSearch};
use crate::test_support::{
    assert_legal, fail_and_go_on, local, mini, plain_score, refuse_in_turn, remote, search,
    to_depth,
};
use crate::value::{Value, terminal_value};

const FENS: [&str; 5] = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r1bqk2r/ppp2ppp/2n2n2/2bpp3/4P3/2PP1N2/PP1NBPPP/R1BQK2R w KQkq - 0 7",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    "6k1/5ppp/8/8/8/8/r4PPP/1R4K1 w - - 0 1",
    "4r1k1/pp3ppp/2p5/8/3n4/2N3P1/PP3P1P/4R1K1 b - - 98 60",
];

/// A beam that verifies by plain searches with quiescence search.
fn plainly_verified(worker: &Worker, beam: BeamSettings) -> Result<Beam> {
    let parts = Parts::only(&[Part::Quiescence]);
    let selective = SelectiveSettings { parts, ..SelectiveSettings::default() };
    Beam::new(worker, &PlannerSettings { beam, selective }, Resources { hash_mb: 16, threads: 1 })
}

/// The children of a position by plain searches to `horizon` plies from the root. Equal children are
/// in the order in which they are tried.
fn plain_children(
    evaluator: &mut Evaluator,
    board: &Board,
    keys: &[u64],
    ply: u32,
    horizon: u32,
) -> Result<Vec<PlainChild>> {
    let placement = Placement::of(board);
    let exchange = StaticExchange::new(&placement);
    let mut children = Vec::new();
    for mv in legal_moves(board) {
        let child = board_after(board, mv);
        let (score, at_first_sight) = match terminal_value(&child, ply, keys) {
            Some(value) if value == Value::DRAW => (DRAW, DRAW),
            Some(_) => (mated_in(ply as usize), mated_in(ply as usize)),
            None => (
                plain_score(evaluator, &child, keys, ply as usize, horizon - ply, true)?,
                of_estimate(evaluator.value(&child)?),
            ),
        };
        let is_final = terminal_value(&child, ply, keys).is_some() || score.abs() > 29_000;
        let won = piece_value(board.piece_on(mv.to));
        let tried = at_first_sight - 100 * (exchange.see_of_move(mv) - won).min(0);
        children.push((tried, score, (to_value(score), is_final, mv, child)));
    }
    children.sort_by_key(|&(tried, ..)| tried);
    children.sort_by_key(|&(_, score, _)| score);
    Ok(children.into_iter().map(|(.., child)| child).collect())
}

#[test]
fn verified_values_are_those_of_plain_searches() -> Result<()> {
    let worker = local(DefaultWeights::Selective)?;
    let mut evaluator = Evaluator::new(&worker, 16)?;
    for fen in &FENS[2..] {
        let root = Position::from_fen(fen)?;
        for (width, depth, verify) in [(2, 1, BeamVerify::Plies(1)), (3, 2, BeamVerify::Quiescence)]
        {
            let beyond = verify.plies().context("it verifies")?;
            let mut children = |board: &Board, keys: &[u64], ply| {
                plain_children(&mut evaluator, board, keys, ply, depth + beyond)
            };
            let expected = plain_beam(root.board(), &[], 0, (width, depth), &mut children)?;
            let settings = BeamSettings { width, depth, verify, policy: false };
            let report =
                search(&mut plainly_verified(&worker, settings)?, &root, Limits::default())?;
            let found = (report.value, report.pv.first().copied());
            assert_eq!(found, expected, "{fen}, {settings:?}");
        }
    }
    Ok(())
}

#[test]
fn mates_and_draws_beyond_the_last_ply_are_exact() -> Result<()> {
    let worker = local(DefaultWeights::Selective)?;
    let settings = BeamSettings { depth: 1, verify: BeamVerify::Plies(2), ..BeamSettings::PAPER };
    let mut beam = plainly_verified(&worker, settings)?;
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
        let mut beam = beam(&worker, BeamSettings::default(), 3)?;
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
        let mut planner = beam(&worker, BeamSettings::default(), 1)?;
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
        let mut planner = plainly_verified(&worker, settings)?;
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
    fail_and_go_on(&root, 6, |worker| beam(worker, BeamSettings::default(), 1))
}

#[test]
fn refused_memory_and_threads_cost_threads_and_not_the_search() -> Result<()> {
    let root = Position::from_fen(FENS[0])?;
    let found = refuse_in_turn(&root, |worker| {
        let mut planner = beam(worker, BeamSettings::default(), 3)?;
        search(&mut planner, &root, to_depth(2))
    })?;
    assert_eq!(found, (9, 16));
    Ok(())
}

/// Positions with checks and mates by captures, promotions and en passant captures.
const SHARP: [&str; 6] = [
    "r1bqkb1r/pppp1ppp/2n2n2/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR b KQkq - 4 4",
    "r3k2r/1P2pp1p/6p1/8/2b5/8/p1P2PPP/1R2K2R w Kkq - 0 1",
    "rnbqkbnr/ppp2ppp/8/3pP3/3Pp3/8/PPP2PPP/RNBQKBNR b KQkq d3 0 3",
    "4r1k1/1P3ppp/8/8/8/8/r4PPP/1R2R1K1 w - - 0 1",
    "4k3/P6p/8/8/8/1p6/p6P/4K3 b - - 0 1",
    "r5k1/5ppp/8/8/2P5/8/5PPP/R5K1 w - - 0 1",
];

/// Twelve queens on each side that attack one another.
const QUEENS: &str = "kr6/rr6/2qQqQqQ/2QqQqQq/2qQqQqQ/2QqQqQq/6RR/6RK w - - 0 1";

/// Limits that no line reaches.
const UNBOUNDED: Rules = Rules { least_gain: 1, max_plies: 40, max_positions: 100_000 };

/// A position with its children in which the game is not over.
struct Parent<'p> {
    position: &'p Position,
    keys: Vec<u64>,
    children: Vec<(Move, Board)>,
}

impl<'p> Parent<'p> {
    fn new(position: &'p Position) -> Self {
        let board = position.board();
        let keys = [position.history(), &[repetition_key(board)]].concat();
        let children = legal_moves(board).into_iter().map(|mv| (mv, board_after(board, mv)));
        let goes_on = |(_, child): &(Move, Board)| terminal_value(child, 1, &keys).is_none();
        let children = children.filter(goes_on).collect();
        Self { position, keys, children }
    }

    /// The children's values by batched quiescence search.
    fn resolved(&self, evaluator: &mut Evaluator, rules: Rules) -> Result<Vec<Resolved>> {
        let mut starts = Vec::new();
        for (_, board) in &self.children {
            let value = Value::estimate(evaluator.value(board)?);
            starts.push(Start { board: board.clone(), ply: 1, value, keys: &self.keys });
        }
        let mut quiescence = BatchedQuiescence::new(rules, starts);
        while quiescence.deepen(terminal_value) > 0 {
            quiescence.score(evaluator)?;
        }
        Ok(quiescence.resolved())
    }

    /// Compares the recursive search's values, in centipawns, with those of the batched search.
    fn compare(&self, worker: &Worker) -> Result<()> {
        let parts = Parts::only(&[Part::Quiescence, Part::SeePruning]);
        let settings = SelectiveSettings { parts, ..SelectiveSettings::default() };
        let mut evaluator = Evaluator::new(worker, 16)?;
        let resolved = self.resolved(&mut evaluator, UNBOUNDED)?;
        for ((_, child), (value, line)) in self.children.iter().zip(&resolved) {
            let mut end = child.clone();
            for mv in line {
                end.play(*mv);
            }
            let ply = line.len() as u32 + 1;
            let estimate = Value::estimate(evaluator.value(&end)?);
            let reached = terminal_value(&end, ply, &[]).unwrap_or(estimate);
            assert_eq!(*value, if ply % 2 == 1 { reached } else { -reached }, "{child}");
        }
        let mut tables = SearchTables::new(vec![evaluator], settings, 1, worker.notice())?;
        let (shared, threads) = tables.begin_search(self.position, None);
        let mut search = ShallowSearch::new(threads.first_mut().context("a thread")?, &shared);
        let board = self.position.board();
        search.enter(board, 0, self.keys.clone(), &[]);
        for ((mv, child), (value, _)) in self.children.iter().zip(resolved) {
            let expected = search.score(board, *mv, child, (-INFINITE, INFINITE), 0);
            // The search rounds to whole centipawns, none of which is 0, before it compares.
            let difference = (search.score_of(value) - expected).abs();
            let tolerance = if value.is_decisive() { 0 } else { 2 };
            assert!(difference <= tolerance, "{board}, {mv}: {value}, not {expected}");
        }
        Ok(())
    }
}

fn in_batches(depth: u32) -> BeamSettings {
    BeamSettings { depth, verify: BeamVerify::Quiescence, ..BeamSettings::PAPER }
}

#[test]
fn batches_find_the_values_of_the_recursive_search() -> Result<()> {
    let worker = remote(DefaultWeights::Selective)?;
    for fen in BENCH_POSITIONS.iter().chain(&SHARP) {
        Parent::new(&Position::from_fen(fen)?).compare(&worker)?;
    }
    Ok(())
}

#[test]
fn batches_of_a_transformer_find_the_values_of_the_recursive_search() -> Result<()> {
    let worker = Worker::on_cpu(mini()?, |_| ())?;
    assert!(!worker.runs_in_searches());
    for fen in ["8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1", SHARP[4]] {
        Parent::new(&Position::from_fen(fen)?).compare(&worker)?;
    }
    Ok(())
}

#[test]
fn a_capture_that_loses_the_queen_is_not_kept() -> Result<()> {
    let worker = remote(DefaultWeights::Selective)?;
    // The other queen defends the pawn.
    let fen = "1k1r4/pp1b1R2/3q2p1/4p2p/2B5/4Q3/PPP2B2/2K5 w - - 0 2";
    let root = Position::from_fen(fen)?;
    let kept = |verify: BeamVerify| -> Result<_> {
        let mut beam = beam(&worker, BeamSettings { depth: 1, verify, ..BeamSettings::PAPER }, 1)?;
        let report = search(&mut beam, &root, Limits::default())?;
        let explanation = beam.explain(1)?.context("it has searched")?;
        let kept = explanation.moves.into_iter().filter(|mv| mv.searched.is_some());
        Ok((report.value, kept.map(|mv| mv.mv.to_string()).collect::<Vec<_>>()))
    };
    let capture = "e3e5".to_owned();
    let (_, unverified) = kept(BeamVerify::None)?;
    assert!(unverified.contains(&capture), "{unverified:?}");
    for verify in [BeamVerify::Quiescence, BeamVerify::Plies(4)] {
        let (value, verified) = kept(verify)?;
        assert!(verified.len() == 3 && !verified.contains(&capture), "{verified:?}");
        assert!(value > Value::DRAW, "{value}");
    }
    Ok(())
}

#[test]
fn mates_by_captures_are_exact_and_stand_in_the_line() -> Result<()> {
    let mut beam = beam(&remote(DefaultWeights::Selective)?, in_batches(1), 1)?;
    // Black's rook captures the undefended rook with mate.
    let root = Position::from_fen("r5k1/5ppp/8/8/2P5/8/5PPP/R5K1 w - - 0 1")?;
    let search_moves = vec![root.parse_move("c4c5")?];
    for depth in [1, 3] {
        let limits =
            Limits { depth: Some(depth), search_moves: search_moves.clone(), ..Limits::default() };
        let report = search(&mut beam, &root, limits)?;
        let line: Vec<String> = report.pv.iter().map(ToString::to_string).collect();
        assert_eq!((report.value.moves_to_mate(), line.join(" ")), (Some(-1), "c4c5 a8a1".into()));
    }
    Ok(())
}

#[test]
fn threads_and_limits_go_with_batches() -> Result<()> {
    let worker = remote(DefaultWeights::Selective)?;
    for fen in SHARP.iter().chain(&BENCH_POSITIONS[1..3]) {
        let root = Position::from_fen(fen)?;
        let mut values = Vec::new();
        for threads in [1, 3] {
            let mut beam = beam(&worker, in_batches(3), threads)?;
            for nodes in [None, Some(2_000), Some(1)] {
                let report = search(&mut beam, &root, Limits { nodes, ..Limits::default() })?;
                assert_legal(&root, &report.pv);
                if nodes.is_none() {
                    values.push(report.value);
                }
            }
        }
        assert_eq!(values[0], values[1], "{fen}");
    }
    Ok(())
}

#[test]
fn a_limited_strength_is_not_verified() -> Result<()> {
    let worker = remote(DefaultWeights::Selective)?;
    let root = Position::from_fen(BENCH_POSITIONS[1])?;
    let found = |verify: BeamVerify| -> Result<_> {
        let handicap = Some(Handicap { deviation: 0.2, seed: 7, ..Handicap::default() });
        let mut beam = beam(&worker, BeamSettings { depth: 2, verify, ..BeamSettings::PAPER }, 1)?;
        let report = search(&mut beam, &root, Limits { handicap, ..Limits::default() })?;
        Ok((report.value, report.nodes, report.pv))
    };
    assert_eq!(found(BeamVerify::Quiescence)?, found(BeamVerify::None)?);
    Ok(())
}

#[test]
fn queens_that_attack_one_another_end_soon() -> Result<()> {
    let root = Position::from_fen(QUEENS)?;
    let report = search(
        &mut beam(&remote(DefaultWeights::Selective)?, in_batches(1), 1)?,
        &root,
        Limits::default(),
    )?;
    let moves = legal_moves(root.board()).len() as u64;
    assert!(report.nodes < 200 * moves, "{} nodes behind {moves} moves", report.nodes);
    Ok(())
}
