//! A task of a page: it waits for a seat, runs on a thread that may block, and ends when its time is
//! over or another page has waited long enough.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};
use tokio::task::spawn_blocking;
use tokio::time::{MissedTickBehavior, interval};

use super::connection::Outlet;
use super::queue::Queue;
use super::second_engine::SecondEngine;
use super::server::Shared;
use crate::tasks::protocol::{Event, Reason, Request, Task};
use crate::tasks::{Outlet as _, PlayedLine, Seat, perform};

/// Runs a task to its end. `page` is the page's number.
pub async fn run(request: Request, page: u64, shared: Arc<Shared>, outlet: Outlet) {
    let event = match run_in_queue(request, page, &shared, &outlet).await {
        Ok(reason) => Event::Ended { reason },
        Err(error) => Event::Error { message: format!("{error:#}") },
    };
    outlet.send_soon(event).await;
}

/// Longest time of a task, except of a report: the number of its positions limits its time.
const LONGEST_TASK: Duration = Duration::from_secs(600);

/// A task ends after this time if a page waits.
const TURN: Duration = Duration::from_secs(15);

/// How often the times are checked.
const TICK: Duration = Duration::from_millis(250);

/// Chooses the queue of a task: that of the second engine, or that of all others.
async fn run_in_queue(
    request: Request,
    page: u64,
    shared: &Shared,
    outlet: &Outlet,
) -> Result<Reason> {
    let line = PlayedLine::of(&request)?;
    let working = outlet.clone();
    match (request.task, &shared.second) {
        (Task::SecondEngine { lines }, Some((_, queue))) => {
            let work = move |engine: &mut SecondEngine| engine.analyse(&line, lines, &working);
            run_on_seat(queue, LONGEST_TASK, outlet, work, SecondEngine::forget).await
        }
        (task, _) => {
            let longest = match task {
                Task::Report { .. } => Duration::MAX,
                _ => LONGEST_TASK,
            };
            let work = move |seat: &mut Seat| perform(seat, page, &line, task, &working);
            run_on_seat(&shared.queue, longest, outlet, work, Seat::forget).await
        }
    }
}

/// Waits for a seat of `queue`, and does `work` on it. After a panic, `forget` drops what is in an
/// unknown state.
async fn run_on_seat<S: Send + 'static>(
    queue: &Arc<Queue<S>>,
    longest: Duration,
    outlet: &Outlet,
    work: impl FnOnce(&mut S) -> Result<()> + Send + 'static,
    forget: fn(&mut S),
) -> Result<Reason> {
    let mut ticket = queue.enter();
    let seat = tokio::select! {
        () = outlet.stopped.notified() => return Ok(Reason::Stopped),
        seat = ticket.wait(|place| outlet.show(Event::Queued { place })) => seat,
    };
    let mut seat = seat.context("the server ends")?;
    let working = outlet.clone();
    let mut work = spawn_blocking(move || {
        working.send(Event::Begun);
        // Unwind safety: `forget` drops the planner, or the engine, of a task that panics.
        let work = || work(&mut seat);
        let done = catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
            forget(&mut seat);
            Err(anyhow!("internal error"))
        });
        (seat, done)
    });
    let began = Instant::now();
    let mut reason = Reason::Done;
    let mut ticks = interval(TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let (seat, done) = loop {
        tokio::select! {
            finished = &mut work => break finished.context("internal error")?,
            () = outlet.stopped.notified() => reason = Reason::Stopped,
            _ = ticks.tick() => {
                let over = match began.elapsed() {
                    time if time >= longest => Some(Reason::Limit),
                    time if time >= TURN && queue.is_waited_for() => Some(Reason::Turn),
                    _ => None,
                };
                if let Some(over) = over {
                    outlet.switch.stop();
                    reason = over;
                }
            }
        }
    };
    queue.give_back(seat);
    done.map(|()| reason)
}
