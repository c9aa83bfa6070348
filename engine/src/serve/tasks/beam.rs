//! Shows how the beam's tree grows, ply by ply.

use anyhow::Result;
use azimuth_chess::position::{board_after, castles_as_in_chess960, uci_move};
use azimuth_chess::san::san_of_move;
use cozy_chess::Board;

use super::Job;
use crate::search::{BeamSettings, Control, ExplainedMove, Limits};
use crate::serve::protocol::{Branch, Dropped, Event};
use crate::serve::seat::Role;

/// Plies of the tree that the page gets; deeper ones are searched, but there are too many to show.
const SHOWN_PLIES: u32 = 4;

/// Most dropped replies of a position that the page gets.
const SHOWN_DROPPED: usize = 5;

/// Searches with the beam to its depth, and sends the tree after each iteration.
pub fn beam(job: &mut Job<'_>) -> Result<()> {
    job.ensure_goes_on()?;
    let root = &job.line.last;
    let planner = job.seat.planner(Role::Beam, job.page)?;
    for depth in 1..=BeamSettings::default().depth {
        let limits = Limits { depth: Some(depth), ..Limits::default() };
        let control = &mut Control::without_signals(limits).stopped_by(&job.outlet.switch);
        let report = planner.search(root, control, &mut |_| ())?;
        let explanation = planner.explain(depth.min(SHOWN_PLIES))?;
        if job.outlet.switch.is_stopped() {
            break;
        }
        if let Some(explanation) = explanation {
            let (moves, _) = branches(root.board(), &explanation.moves);
            job.outlet.send(Event::Tree { id: job.id, depth, moves });
        }
        if report.depth < depth {
            break;
        }
    }
    Ok(())
}

/// The moves that the beam kept in a position, and the best of those that it dropped.
fn branches(board: &Board, moves: &[ExplainedMove]) -> (Vec<Branch>, Vec<Dropped>) {
    let chess960 = castles_as_in_chess960(board);
    let kept = moves.iter().filter_map(|explained| {
        let searched = explained.searched?.value.win_probability();
        let (kept, dropped) = branches(&board_after(board, explained.mv), &explained.replies);
        Some(Branch {
            uci: uci_move(board, explained.mv, chess960),
            san: san_of_move(board, explained.mv),
            first_sight: explained.static_value.win_probability(),
            verified: explained.verified.as_ref().map(|it| it.value.win_probability()),
            searched,
            kept,
            dropped,
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
    dropped.truncate(SHOWN_DROPPED);
    (kept.collect(), dropped)
}
