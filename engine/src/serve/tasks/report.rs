//! Analyses every position of a game.

use std::time::Duration;

use anyhow::Result;

use super::Job;
use crate::embedded_weights::EmbeddedWeights;
use crate::report::{Analyst, Judged, Stop};
use crate::search::{Limits, TimeLimit};
use crate::serve::protocol::Event;
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
    let send = |ply, stop: &Stop| {
        // The result of an interrupted search is shallow, and may show a false blunder.
        if !job.outlet.switch.is_stopped() {
            job.outlet.send(Event::Judged { id: job.id, judged: Box::new(Judged::new(ply, stop)) });
        }
    };
    send(0, &stop);
    for (ply, &mv) in (1..).zip(&job.line.moves) {
        if job.outlet.switch.is_stopped() {
            break;
        }
        stop = analyst.next_stop(&stop, mv)?;
        send(ply, &stop);
    }
    Ok(())
}
