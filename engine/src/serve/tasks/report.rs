//! Analyses every position of a game.

use std::time::Duration;

use anyhow::Result;
use azimuth_chess::position::castles_as_in_chess960;

use super::Job;
use crate::embedded_weights::EmbeddedWeights;
use crate::explain::{line, score};
use crate::report::{Analyst, Stop};
use crate::search::{Limits, TimeLimit};
use crate::serve::protocol::{Event, Judged};
use crate::serve::seat::Role;

/// Longest time for a position.
const LONGEST: Duration = Duration::from_secs(10);

/// Searches each position for `milliseconds`.
pub fn report(job: &mut Job<'_>, milliseconds: u64) -> Result<()> {
    let time = Duration::from_millis(milliseconds).min(LONGEST);
    let mut model = job.seat.models().model(EmbeddedWeights::Selective)?;
    let planner = job.seat.planner(Role::Analyst, job.page)?;
    let limits = Limits { time: Some(TimeLimit { soft: time, hard: time }), ..Limits::default() };
    let switch = job.outlet.switch.clone();
    let mut analyst = Analyst { planner, model: &mut model, limits, switch };
    let mut stop = analyst.stop(job.line.start.clone())?;
    job.outlet.send(judged(job.id, 0, &stop));
    for (ply, &mv) in (1..).zip(&job.line.moves) {
        if job.outlet.switch.is_stopped() {
            break;
        }
        stop = analyst.next_stop(&stop, mv)?;
        job.outlet.send(judged(job.id, ply, &stop));
    }
    Ok(())
}

fn judged(id: u32, ply: usize, stop: &Stop) -> Event {
    let board = stop.position.board();
    let arrival = stop.arrival.as_ref();
    Event::Judged(Box::new(Judged {
        id,
        ply,
        score: score(stop.value),
        wdl: stop.wdl,
        pv: line(board, castles_as_in_chess960(board), &stop.line),
        loss: arrival.map(|arrival| arrival.loss),
        judgement: arrival.and_then(|arrival| arrival.judgement),
        rank: arrival.map(|arrival| arrival.rank),
    }))
}
