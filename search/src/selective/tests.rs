use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use azimuth_chess::position::Position;
use clap::ValueEnum;
use cozy_chess::{Board, Move};
use crossbeam_channel::unbounded;

use super::score::to_value;
use super::{Part, Parts, Selective, SelectiveSettings};
use crate::DefaultWeights;
use crate::control::{Control, Limits, Signal, TimeLimit};
use crate::inference::{Evaluator, Worker};
use crate::planner::{Planner, Resources};
use crate::test_support::{
    DRAWS, FENS, assert_legal, fail_and_go_on, local, plain_score, refuse_in_turn, search,
    to_depth, value_of_move,
};
use crate::value::Value;

/// Reading the weights takes longer than most of the searches: a test does it once.
fn worker() -> Result<Worker> {
    local(DefaultWeights::Selective)
}

fn planner(worker: &Worker, parts: Parts, threads: usize) -> Result<Selective> {
    let settings = SelectiveSettings { parts, ..SelectiveSettings::default() };
    Selective::new(worker, settings, Resources { hash_mb: 4, threads })
}

#[test]
fn techniques_that_only_order_and_cut_change_no_score() -> Result<()> {
    let worker = worker()?;
    let mut evaluator = Evaluator::new(&worker, 4)?;
    for fen in FENS {
        let root = Position::from_fen(fen)?;
        let expected = plain_score(&mut evaluator, root.board(), &[], 0, 3, false)?;
        for parts in [&[][..], &[Part::History, Part::AspirationWindows]] {
            let mut planner = planner(&worker, Parts::only(parts), 1)?;
            let report = search(&mut planner, &root, to_depth(3))?;
            assert_eq!(report.value, to_value(expected), "{fen} with {parts:?}");
        }
    }
    Ok(())
}

#[test]
fn without_a_table_a_stopped_iteration_prefers_no_worse_move() -> Result<()> {
    let root = Position::from_fen(FENS[2])?;
    let mut planner = planner(&worker()?, Parts::only(&[]), 1)?;
    let before = search(&mut planner, &root, to_depth(3))?;
    let only_best = Limits { search_moves: vec![before.pv[0]], ..to_depth(4) };
    let known = search(&mut planner, &root, only_best)?.value;
    for more in (50..4000).step_by(150) {
        let nodes = Some(before.nodes + more);
        let found = search(&mut planner, &root, Limits { nodes, ..Limits::default() })?;
        assert!(found.depth != 4 || found.value >= known, "{more}: {:?}", found.value);
    }
    Ok(())
}

#[test]
fn mates_are_found_and_exact_whatever_is_left_out() -> Result<()> {
    let worker = worker()?;
    for (fen, mate) in [
        ("6k1/5ppp/8/8/8/8/8/K2R4 w - - 99 80", 1),
        ("7k/8/8/8/8/8/R7/1R5K w - - 0 1", 2),
        ("r5rk/5p1p/5R2/4B3/8/8/7P/7K w - - 0 1", 3),
    ] {
        let root = Position::from_fen(fen)?;
        let all = Part::value_variants();
        let without = |out: &Part| all.iter().copied().filter(|part| part != out).collect();
        let mut sets: Vec<Vec<Part>> = all.iter().map(without).collect();
        sets.push(all.to_vec());
        for parts in sets {
            let mut planner = planner(&worker, Parts::only(&parts), 1)?;
            let report = search(&mut planner, &root, to_depth(12))?;
            assert_eq!(report.value.moves_to_mate(), Some(mate), "{fen} with {parts:?}");
        }
    }
    Ok(())
}

#[test]
fn draws_are_exact() -> Result<()> {
    let mut planner = planner(&worker()?, Parts::default(), 1)?;
    for draw in DRAWS {
        assert_eq!(value_of_move(&mut planner, draw, 4)?, Value::DRAW, "{draw:?}");
    }
    Ok(())
}

#[test]
fn a_search_repeats_itself_and_its_lines_are_legal() -> Result<()> {
    let worker = worker()?;
    for fen in FENS {
        let root = Position::from_fen(fen)?;
        let mut lines = Vec::new();
        let mut planner = planner(&worker, Parts::default(), 1)?;
        for _ in 0..2 {
            planner.new_game();
            planner.search(&root, &mut Control::without_signals(to_depth(7)), &mut |line| {
                lines.push((line.depth, line.value, line.pv.clone(), line.nodes));
            })?;
        }
        let (first, second) = lines.split_at(lines.len() / 2);
        assert_eq!(first, second, "{fen}");
        for (_, _, pv, _) in first {
            assert_legal(&root, pv);
            assert!(!pv.is_empty());
        }
    }
    Ok(())
}

#[test]
fn every_line_has_a_root_move_of_its_own_among_those_asked_for() -> Result<()> {
    let root = Position::default();
    let moves: Vec<Move> =
        ["e2e4", "d2d4", "g1f3"].iter().map(|mv| root.parse_move(mv)).collect::<Result<_>>()?;
    let limits = Limits { multipv: 5, search_moves: moves.clone(), ..to_depth(6) };
    let mut planner = planner(&worker()?, Parts::default(), 1)?;
    let mut lines = Vec::new();
    planner.search(&root, &mut Control::without_signals(limits), &mut |line| {
        if line.depth == 6 {
            lines.push((line.multipv, line.value, line.pv[0]));
        }
    })?;
    let mut found: Vec<Move> = lines.iter().map(|line| line.2).collect();
    assert!(lines.iter().map(|line| line.0).eq(1..=3) && lines.is_sorted_by(|a, b| a.1 >= b.1));
    found.sort_by_key(ToString::to_string);
    let mut asked = moves;
    asked.sort_by_key(ToString::to_string);
    assert_eq!(found, asked);
    let explanation = planner.explain(1)?.context("it has searched")?;
    let searched = explanation.moves.iter().filter(|mv| mv.searched.is_some()).count();
    assert_eq!((searched, explanation.moves.len()), (3, 20));
    Ok(())
}

#[test]
fn limits_and_signals_end_a_search_on_any_number_of_threads() -> Result<()> {
    let root = Position::from_fen(FENS[1])?;
    let worker = worker()?;
    for threads in [1, 3] {
        let mut planner = planner(&worker, Parts::default(), threads)?;
        let report =
            search(&mut planner, &root, Limits { nodes: Some(5000), ..Limits::default() })?;
        // The main thread may be scheduled late, while the others search.
        assert!(report.nodes >= 5000 && (threads > 1 || report.nodes < 5100), "{}", report.nodes);
        let time = Some(TimeLimit::exactly(Duration::from_millis(30)));
        let report = search(&mut planner, &root, Limits { time, ..Limits::default() })?;
        assert!(report.depth > 2 && root.board().is_legal(report.pv[0]));
        let (stop, signals) = unbounded();
        let limits = Limits { infinite: true, ..Limits::default() };
        let mut control = Control::new(limits, signals);
        let stopped = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(50));
            stop.send(Signal::Stop).map(|()| Instant::now())
        });
        planner.search(&root, &mut control, &mut |_| ())?;
        let asked = stopped.join().expect("it only sends")?;
        assert!(asked.elapsed() < Duration::from_secs(2));
    }
    Ok(())
}

#[test]
fn leaves_are_taken_where_quiescence_stands_pat() -> Result<()> {
    let mut planner = planner(&worker()?, Parts::default(), 1)?;
    let root = Position::from_fen(FENS[1])?;
    search(&mut planner, &root, to_depth(4))?;
    assert!(planner.take_leaves().is_empty(), "nobody asked for any");
    let mut taken = Vec::new();
    for every in [1, 8] {
        planner.new_game();
        planner.sample_leaves(every);
        search(&mut planner, &root, to_depth(4))?;
        let leaves = planner.take_leaves();
        assert!(leaves.iter().all(|leaf| leaf.checkers().is_empty()));
        assert!(planner.take_leaves().is_empty());
        taken.push(leaves);
    }
    let [all, some] = taken.as_slice() else { unreachable!("two searches") };
    assert!(all.len() > 100 && some.len() == all.len() / 8, "{} and {}", all.len(), some.len());
    let eighth: Vec<&Board> = all.iter().skip(7).step_by(8).collect();
    assert!(eighth.into_iter().eq(some));
    Ok(())
}

#[test]
fn an_error_of_the_evaluator_ends_the_search_and_not_the_planner() -> Result<()> {
    let root = Position::from_fen(FENS[1])?;
    for threads in [1, 2] {
        fail_and_go_on(&root, 8, |worker| planner(worker, Parts::default(), threads))?;
    }
    Ok(())
}

#[test]
fn refused_memory_and_threads_cost_threads_and_not_the_search() -> Result<()> {
    let root = Position::from_fen(FENS[1])?;
    let found = refuse_in_turn(&root, |worker| {
        search(&mut planner(worker, Parts::default(), 3)?, &root, to_depth(3))
    })?;
    // Two tables and the first thread's seven blocks are required; the other threads' fourteen and
    // two threads are not.
    assert_eq!(found, (9, 16));
    Ok(())
}
