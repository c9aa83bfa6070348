//! Explains the choice of a move: sends the table of `azimuth explain` after every iteration and,
//! at the end, the table with the moves that are searched separately and the reason.

use std::time::{Duration, Instant};

use anyhow::Result;
use azimuth_chess::position::castles_as_in_chess960;
use azimuth_chess::san::parse_move;

use super::Job;
use crate::embedded_weights::EmbeddedWeights;
use crate::explain::{Study, Task, document};
use crate::search::{Control, Limits, PlannerKind};
use crate::serve::protocol::Event;
use crate::serve::seat::Role;

/// Time until the moves are compared.
const TIME: Duration = Duration::from_secs(1);

/// Shortest time between two tables.
const PAUSE: Duration = Duration::from_millis(100);

/// Explains, and compares the chosen move with the moves `compared`.
pub fn why(job: &mut Job<'_>, compared: &[String]) -> Result<()> {
    job.ensure_goes_on()?;
    let root = &job.line.last;
    let compared: Vec<_> =
        compared.iter().map(|text| parse_move(root, text)).collect::<Result<_>>()?;
    let chess960 = castles_as_in_chess960(root.board());
    let mut model = job.seat.models().model(EmbeddedWeights::Selective)?;
    let planner = job.seat.planner(Role::Analyst, job.page)?;
    let show = |study: &Study, complete| Event::Why {
        id: job.id,
        explanation: Box::new(document(study, PlannerKind::Selective, chess960)),
        complete,
    };
    let (began, mut shown) = (Instant::now(), None::<Instant>);
    // The tables are of finished iterations, so each one is a separate search. It finds the
    // iterations before it in the transposition table.
    let mut reached = 0;
    while began.elapsed() < TIME && !job.outlet.switch.is_stopped() {
        let depth = reached + 1;
        let limits = Limits { depth: Some(depth), ..Limits::default() };
        let control = &mut Control::without_signals(limits).stopped_by(&job.outlet.switch);
        let report = planner.search(root, control, &mut |_| ())?;
        if report.depth < depth {
            break;
        }
        reached = depth;
        if shown.is_none_or(|shown| shown.elapsed() >= PAUSE) {
            let study = Study::of_last_search(root.clone(), report, 1, planner, &mut model)?;
            job.outlet.show(show(&study, false));
            shown = Some(Instant::now());
        }
    }
    let task = Task {
        root: root.clone(),
        limits: Limits { depth: Some(reached.max(1)), ..Limits::default() },
        compared,
        plies: 1,
        stop: job.outlet.switch.clone(),
    };
    let study = Study::make(task, planner, &mut model)?;
    if !job.outlet.switch.is_stopped() {
        job.outlet.send(show(&study, true));
    }
    Ok(())
}
