//! Shows how the beam's tree grows, ply by ply.

use anyhow::Result;
use azimuth_chess::position::board_after;
use azimuth_chess::san::san_of_move;
use cozy_chess::Board;

use super::Job;
use crate::search::{BeamSettings, Control, ExplainedMove, Limits};
use crate::serve::protocol::{Branch, Dropped, Event, Tree};
use crate::serve::seat::Role;

/// Most dropped moves of a position that the page gets by name.
const NAMED: usize = 5;

/// Searches with the beam to its depth, and sends the tree after each iteration.
pub fn beam(job: &mut Job<'_>) -> Result<()> {
    job.ensure_goes_on()?;
    let root = &job.line.last;
    let planner = job.seat.planner(Role::Beam, job.page)?;
    for depth in 1..=BeamSettings::default().depth {
        let limits = Limits { depth: Some(depth), ..Limits::default() };
        let control = &mut Control::without_signals(limits).stopped_by(&job.outlet.switch);
        let report = planner.search(root, control, &mut |_| ())?;
        let explanation = planner.explain(depth)?;
        if job.outlet.switch.is_stopped() {
            break;
        }
        if let Some(explanation) = explanation {
            let tree = branches(root.board(), &explanation.moves);
            job.outlet.send(Event::Tree { id: job.id, depth, tree });
        }
        if report.depth < depth {
            break;
        }
    }
    Ok(())
}

/// The moves that the beam kept in a position, and the best of those that it dropped.
fn branches(board: &Board, moves: &[ExplainedMove]) -> Tree {
    let kept = moves.iter().filter_map(|explained| {
        let searched = explained.searched?.value.win_probability();
        Some(Branch {
            san: san_of_move(board, explained.mv),
            first_sight: explained.static_value.win_probability(),
            verified: explained.verified.as_ref().map(|it| it.value.win_probability()),
            searched,
            replies: branches(&board_after(board, explained.mv), &explained.replies),
        })
    });
    let dropped = moves.iter().filter(|explained| explained.searched.is_none());
    let mut dropped: Vec<Dropped> = dropped
        .map(|explained| {
            let verified = explained.verified.as_ref().map(|verified| verified.value);
            let value = verified.unwrap_or(explained.static_value).win_probability();
            Dropped { san: san_of_move(board, explained.mv), value }
        })
        .collect();
    dropped.sort_by(|a, b| b.value.total_cmp(&a.value));
    let others = dropped.len().saturating_sub(NAMED);
    dropped.truncate(NAMED);
    Tree { kept: kept.collect(), dropped, others }
}
