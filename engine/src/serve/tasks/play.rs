//! Chooses the engine's move in a game.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use azimuth_chess::position::{castles_as_in_chess960, uci_move};
use cozy_chess::Color;

use super::Job;
use crate::explain::score;
use crate::search::{Control, Limits, TimeLimit};
use crate::serve::protocol::{Event, PlayTime};
use crate::serve::seat::Role;
use crate::uci::{Go, Level, WEAKEST_TO_STRONGEST, budget};

/// Time of a move that is reserved for the messages to and from the page.
const OVERHEAD: Duration = Duration::from_millis(100);

/// Longest time for a move.
const LONGEST: Duration = Duration::from_secs(60);

/// Plays at the rating `elo`, or at full strength.
pub fn play(job: &mut Job<'_>, elo: Option<u32>, seed: u32, time: PlayTime) -> Result<()> {
    job.ensure_goes_on()?;
    let root = &job.line.last;
    let board = root.board();
    let mut limits = Limits { time: time_limit(time, board.side_to_move()), ..Limits::default() };
    let role = match elo {
        None => Role::Analyst,
        Some(elo) => {
            let range = WEAKEST_TO_STRONGEST;
            let (least, most) = (range.start(), range.end());
            ensure!(range.contains(&elo), "the rating {elo} is not in {least} to {most}");
            let level = Level::of(elo);
            level.limit(&mut limits, seed.into());
            Role::Limited(level.planner)
        }
    };
    let planner = job.seat.planner(role, job.page)?;
    let control = &mut Control::without_signals(limits).stopped_by(&job.outlet.switch);
    let report = planner.search(root, control, &mut |_| ())?;
    let mv = report.pv.first().copied().context("the search found no move")?;
    let uci = uci_move(board, mv, castles_as_in_chess960(board));
    job.outlet.send(Event::Move { id: job.id, uci, score: score(report.value) });
    Ok(())
}

/// The limits of a move, at most [`LONGEST`].
fn time_limit(time: PlayTime, side: Color) -> Option<TimeLimit> {
    let go = match time {
        PlayTime::Move { milliseconds } => {
            let time = Duration::from_millis(milliseconds);
            return Some(TimeLimit { soft: time.min(LONGEST), hard: time.min(LONGEST) });
        }
        PlayTime::Clock { left, increment } => Go {
            time: left.map(|left| Some(Duration::from_millis(left))),
            increment: [Duration::from_millis(increment); 2],
            ..Go::default()
        },
    };
    let TimeLimit { soft, hard } = budget(&go, side, OVERHEAD)?;
    Some(TimeLimit { soft: soft.min(LONGEST), hard: hard.min(LONGEST) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_clock_makes_a_move_take_longer_than_a_minute() {
        let year = 365 * 24 * 3600 * 1000;
        for time in [
            PlayTime::Move { milliseconds: year },
            PlayTime::Clock { left: [year; 2], increment: year },
        ] {
            let limit = time_limit(time, Color::Black);
            assert!(limit.is_some_and(|limit| limit.hard == LONGEST), "{time:?}");
        }
        let clock = PlayTime::Clock { left: [60_000, 1_000], increment: 0 };
        let of = |side| time_limit(clock, side).map(|limit| limit.hard);
        assert!(of(Color::Black) < Some(Duration::from_millis(500)));
        assert!(of(Color::White) > Some(Duration::from_millis(500)));
    }
}
