//! Iterative deepening: one ply more each time, one or several lines (MultiPV), until a limit comes; and the
//! helper threads that search along (Lazy SMP).

use std::sync::atomic::Ordering::Relaxed;

use anyhow::{Context, Result};

use super::score::{Score, to_value};
use super::stack::MAX_PLY;
use super::thread::{RootLine, SearchThread};
use crate::search::control::Control;
use crate::search::explanation::{SearchedMove, record_searched};
use crate::search::report::Report;
use crate::search::root_moves::RootMoves;

/// Deepens ply by ply until a limit comes, and reports. Returns the best line of the last finished iteration,
/// and what became of the root moves.
pub(super) fn deepen(
    mut thread: SearchThread<'_>,
    root_moves: &RootMoves,
    default_depth: u32,
    report: &mut dyn FnMut(&Report),
) -> Result<(Report, Vec<SearchedMove>)> {
    let mut best: Option<Report> = None;
    let mut searched = Vec::new();
    let mut expected: Vec<Score> = Vec::new();
    for depth in 1..=MAX_PLY as u32 {
        // The first iteration is not interrupted, so that there is a move.
        thread.interruptible = best.is_some();
        let control = thread.control.as_deref().context("the main thread has the limits")?;
        if best.is_some() && !control.may_begin(depth, default_depth) {
            break;
        }
        let forced = root_moves.is_forced() && control.on_the_clock();
        let multipv = control.limits().multipv.max(1);
        let lines = search_lines(&mut thread, depth, multipv, root_moves, &expected)?;
        expected = lines.iter().map(|line| line.score).collect();
        let mut reports: Vec<Report> =
            lines.into_iter().map(|line| report_of(&mut thread, depth, line)).collect();
        if thread.stopped && reports.len() < multipv.min(root_moves.moves.len()) {
            // The lines of one iteration belong together: only what the others cost is said.
            if let Some(best) = &mut best {
                add_costs(&mut thread, best);
                report(best);
            }
            break;
        }
        thread.searched.iter().for_each(|&found| record_searched(&mut searched, found));
        root_moves.present(&mut reports, report);
        let settled = reports
            .iter()
            .all(|line| line.value.plies_to_mate().is_some_and(|plies| plies <= depth));
        best = reports.into_iter().next();
        if settled || forced || thread.stopped {
            break;
        }
    }
    Ok((best.context("no iteration finished")?, searched))
}

/// The best `multipv` lines of one depth, each with a root move of its own; fewer where a limit comes.
fn search_lines(
    thread: &mut SearchThread<'_>,
    depth: u32,
    multipv: usize,
    root_moves: &RootMoves,
    expected: &[Score],
) -> Result<Vec<RootLine>> {
    let mut lines: Vec<RootLine> = Vec::new();
    thread.root_moves.clone_from(&root_moves.moves);
    thread.searched.clear();
    for index in 0..multipv.min(root_moves.moves.len()) {
        thread.aspiration_search(depth as i32, expected.get(index).copied())?;
        let Some(best) = thread.best.take() else { break };
        thread.root_moves.retain(|mv| best.pv.first() != Some(mv));
        lines.push(best);
        if thread.stopped {
            break;
        }
    }
    lines.sort_by_key(|line| -line.score);
    Ok(lines)
}

/// Searches along until the main thread has enough: what helpers find is in the transposition table.
pub(super) fn help(mut thread: SearchThread<'_>) {
    let mut expected = None;
    for depth in 1..=MAX_PLY as i32 {
        // A broken encoder is the main thread's to report.
        if thread.aspiration_search(depth, expected).is_err() || thread.stopped {
            break;
        }
        expected = thread.best.as_ref().map(|best| best.score);
    }
    thread.publish_nodes();
}

fn report_of(thread: &mut SearchThread<'_>, depth: u32, line: RootLine) -> Report {
    let mut report = Report { depth, ..Report::of(to_value(line.score), line.pv) };
    add_costs(thread, &mut report);
    report
}

/// Puts into a report what the search has cost so far.
fn add_costs(thread: &mut SearchThread<'_>, report: &mut Report) {
    thread.publish_nodes();
    let (shared, evaluator) = (thread.shared, &thread.data.evaluator);
    report.nodes = shared.nodes.load(Relaxed);
    report.tbhits = report.tbhits.max(shared.tbhits.load(Relaxed));
    report.seldepth = thread.seldepth as u32;
    report.scored = evaluator.scored() - thread.scored_before;
    report.waited = evaluator.waited() - thread.waited_before;
    report.time = thread.control.as_deref().map_or(report.time, Control::elapsed);
    report.hashfull = shared.table.permille_full();
}
