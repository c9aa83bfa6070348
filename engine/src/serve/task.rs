//! Runs one task of a page: waits for a seat, runs the task on it, and ends it when its time is
//! over or another page has waited long enough.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, ensure};
use azimuth_chess::position::Position;
use azimuth_chess::san::parse_move;
use azimuth_chess::text::shortened;
use tokio::task::spawn_blocking;
use tokio::time::{MissedTickBehavior, interval};

use super::outlet::Outlet;
use super::protocol::{Event, Reason, Request, Task};
use super::queue::Queue;
use super::seat::Seat;
use super::tasks;

/// Longest time of a task, except of a report: the number of its positions limits its time.
const LONGEST: Duration = Duration::from_secs(600);

/// A task ends after this time if a page waits.
const TURN: Duration = Duration::from_secs(15);

/// How often the times are checked.
const TICK: Duration = Duration::from_millis(250);

/// Most half-moves of a game.
const MOST_MOVES: usize = 2_000;

/// Maximum length of a move that an error quotes.
const LONGEST_QUOTE: usize = 20;

/// A game up to the position of a task: its first position, and every later one with its move.
pub struct Line {
    /// The first position.
    pub start: Position,
    /// The moves.
    pub moves: Vec<cozy_chess::Move>,
    /// The last position, with its history.
    pub last: Position,
}

impl Line {
    /// Reads the first position and the moves of a request.
    fn of(request: &Request) -> Result<Self> {
        let start = match request.fen.as_str() {
            "startpos" => Position::default(),
            fen => Position::from_fen(fen)?,
        };
        let count = request.moves.len();
        ensure!(count <= MOST_MOVES, "the game has {count} half-moves, more than {MOST_MOVES}");
        let (mut last, mut moves) = (start.clone(), Vec::with_capacity(count));
        for (number, text) in (1..).zip(&request.moves) {
            let text = shortened(text, LONGEST_QUOTE);
            let mv = parse_move(&last, &text).with_context(|| format!("half-move {number}"))?;
            last.play(mv);
            moves.push(mv);
        }
        Ok(Self { start, moves, last })
    }
}

/// Runs a task to its end. `page` is the page's number.
pub async fn run(request: Request, page: u64, queue: Arc<Queue<Seat>>, outlet: Outlet) {
    let id = request.id;
    let event = match finish(request, page, queue, &outlet).await {
        Ok(reason) => Event::Ended { id, reason },
        Err(error) => Event::Error { id: Some(id), message: format!("{error:#}") },
    };
    outlet.send_soon(event).await;
}

async fn finish(
    request: Request,
    page: u64,
    queue: Arc<Queue<Seat>>,
    outlet: &Outlet,
) -> Result<Reason> {
    let Request { id, .. } = request;
    let longest = match request.task {
        Task::Report { .. } => Duration::MAX,
        _ => LONGEST,
    };
    let line = Line::of(&request)?;
    let mut ticket = queue.enter();
    let seat = tokio::select! {
        () = outlet.stopped.notified() => return Ok(Reason::Stopped),
        seat = ticket.wait(|place| outlet.show(Event::Queued { id, place })) => seat,
    };
    let mut seat = seat.context("the server ends")?;
    let working = outlet.clone();
    let mut work = spawn_blocking(move || {
        working.send(Event::Begun { id });
        // Unwind safety: the planner of a task that panics is dropped.
        let work = || perform(&mut seat, page, id, &line, request.task, &working);
        let done = catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
            seat.forget();
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

fn perform(
    seat: &mut Seat,
    page: u64,
    id: u32,
    line: &Line,
    task: Task,
    outlet: &Outlet,
) -> Result<()> {
    let job = &mut tasks::Job { seat, page, id, line, outlet };
    match task {
        Task::Analyse { lines, milliseconds } => tasks::analyse(job, lines, milliseconds),
        Task::Play { elo, seed, time } => tasks::play(job, elo, seed, time),
        Task::Why { compared } => tasks::why(job, &compared),
        Task::Beam {} => tasks::beam(job),
        Task::Space { sample } => tasks::space(job, sample),
        Task::Report { milliseconds } => tasks::report(job, milliseconds),
    }
}
