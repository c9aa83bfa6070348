//! The conversation with one page. It runs one task at a time: a new one ends the one before. A task
//! waits for a seat, runs on a thread that may block, and ends when its time is over or another page
//! has waited long enough. An [`Outlet`] sends its events.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};
use axum::extract::ws::{CloseFrame, Message as Frame, WebSocket, close_code};
use azimuth_search::StopSwitch;
use tokio::sync::{Notify, mpsc, watch};
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::{MissedTickBehavior, interval, timeout};

use super::queue::Queue;
use super::second_engine::SecondEngine;
use crate::session::{Allowance, Seat};
use crate::tasks::protocol::{Answer, Event, Message, Reason, Request, Task};
use crate::tasks::{self, Outlet as _, PlayedLine, perform};

/// Largest message of a page, in bytes: a game of 2000 half-moves fits.
pub const LARGEST_MESSAGE: usize = 64 << 10;

/// Number of events that may wait for a slow page.
const WAITING_EVENTS: usize = 32;

/// How often the server pings a page.
const PING: Duration = Duration::from_secs(15);

/// A page that is silent for longer is gone.
const SILENCE: Duration = Duration::from_secs(45);

/// A page that takes longer to read one message is gone.
const SLOWEST: Duration = Duration::from_secs(10);

/// Number of unreadable messages after which the server closes the connection.
const MOST_FAULTS: u32 = 20;

/// The searches and the end of the server, which all pages share.
pub struct Shared {
    queue: Arc<Queue<Seat>>,
    /// The name of the second engine, and the queue for it.
    second: Option<(String, Arc<Queue<SecondEngine>>)>,
    /// The resources of each search.
    allowance: Allowance,
    /// Becomes `true` when the server ends.
    ending: watch::Sender<bool>,
}

impl Shared {
    pub fn new(seats: Vec<Seat>, second: Option<SecondEngine>, allowance: Allowance) -> Self {
        let second = second.map(|it| (it.name.clone(), Arc::new(Queue::new(vec![it]))));
        let (ending, _) = watch::channel(false);
        Self { queue: Arc::new(Queue::new(seats)), second, allowance, ending }
    }

    /// Tells the pages that the server ends.
    pub fn begin_to_end(&self) {
        self.ending.send_replace(true);
    }

    /// Waits until the server ends.
    pub async fn end(&self) {
        // `self` holds the sender, so waiting cannot fail.
        let _ = self.ending.subscribe().wait_for(|&ending| ending).await;
    }
}

/// A task in progress.
struct Work {
    outlet: Outlet,
    task: JoinHandle<()>,
}

/// Answers a page until it goes away or the server ends.
pub async fn converse(mut socket: WebSocket, page: u64, shared: &Arc<Shared>) {
    let (fill, mut events) = mpsc::channel(WAITING_EVENTS);
    let mut work: Option<Work> = None;
    let mut next: Option<Request> = None;
    let (mut heard, mut faults) = (Instant::now(), 0);
    let mut pings = interval(PING);
    pings.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let second = shared.second.as_ref().map(|(name, _)| name.clone());
    let welcome = Event::welcome(&shared.allowance, second);
    let mut alive = send(&mut socket, &Answer { id: None, event: welcome }).await;
    while alive {
        tokio::select! {
            frame = socket.recv() => {
                heard = Instant::now();
                let text = match frame {
                    Some(Ok(Frame::Text(text))) => text,
                    Some(Ok(Frame::Ping(_) | Frame::Pong(_))) => continue,
                    Some(Ok(Frame::Binary(_))) => {
                        close(&mut socket, close_code::UNSUPPORTED, "binary message").await;
                        break;
                    }
                    Some(Ok(Frame::Close(_)) | Err(_)) | None => break,
                };
                match serde_json::from_str(&text) {
                    Ok(Message::Run(request)) => next = Some(request),
                    Ok(Message::Stop {}) => next = None,
                    Err(error) => {
                        faults += 1;
                        if faults > MOST_FAULTS {
                            close(&mut socket, close_code::POLICY, "too many errors").await;
                            break;
                        }
                        let answer = Answer { id: None, event: Event::unreadable(&error) };
                        alive = send(&mut socket, &answer).await;
                        continue;
                    }
                }
                if let Some(work) = &work {
                    work.outlet.stop();
                }
            }
            Some(answer) = events.recv() => alive = send(&mut socket, &answer).await,
            () = finished(&mut work) => work = None,
            _ = pings.tick() => {
                alive = heard.elapsed() < SILENCE
                    && sent(socket.send(Frame::Ping(Default::default()))).await;
            }
            () = shared.end() => {
                close(&mut socket, close_code::AWAY, "the server ends").await;
                break;
            }
        }
        if work.is_none()
            && let Some(request) = next.take()
        {
            let outlet = Outlet::new(request.id, fill.clone());
            let running = run(request, page, shared.clone(), outlet.clone());
            work = Some(Work { outlet, task: tokio::spawn(running) });
        }
    }
    // A search that waits for room for its events must not wait for ever.
    drop(events);
    if let Some(work) = work {
        work.outlet.stop();
        // It no longer matters whether the task panicked.
        let _ = work.task.await;
    }
}

/// Waits for the end of the task; for ever if there is none.
async fn finished(work: &mut Option<Work>) {
    match work {
        // A task that panics has ended, too.
        Some(work) => drop((&mut work.task).await),
        None => std::future::pending().await,
    }
}

/// Sends an answer. Returns whether the page is still there.
async fn send(socket: &mut WebSocket, answer: &Answer) -> bool {
    match serde_json::to_string(answer) {
        Ok(text) => sent(socket.send(Frame::Text(text.into()))).await,
        Err(_) => false,
    }
}

async fn sent(sending: impl Future<Output = Result<(), axum::Error>>) -> bool {
    matches!(timeout(SLOWEST, sending).await, Ok(Ok(())))
}

async fn close(socket: &mut WebSocket, code: u16, reason: &'static str) {
    let frame = CloseFrame { code, reason: reason.into() };
    // The connection ends either way.
    sent(socket.send(Frame::Close(Some(frame)))).await;
}

/// Sends a task's events, and holds the switches that end the task.
#[derive(Clone)]
struct Outlet {
    /// The page's number for the task.
    id: u32,
    answers: mpsc::Sender<Answer>,
    /// Stops the task's searches.
    switch: StopSwitch,
    /// Wakes the task while it waits for a seat.
    stopped: Arc<Notify>,
}

impl Outlet {
    /// An outlet for the task with the number `id` that fills `answers`.
    fn new(id: u32, answers: mpsc::Sender<Answer>) -> Self {
        Self { id, answers, switch: StopSwitch::default(), stopped: Arc::default() }
    }

    fn answer(&self, event: Event) -> Answer {
        Answer { id: Some(self.id), event }
    }

    /// Ends the task.
    fn stop(&self) {
        self.switch.stop();
        self.stopped.notify_one();
    }
}

impl tasks::Outlet for Outlet {
    fn show(&self, event: Event) {
        // The next event replaces this one, and a page that is gone needs none.
        let _ = self.answers.try_send(self.answer(event));
    }

    fn send(&self, event: Event) {
        let _ = self.answers.blocking_send(self.answer(event));
    }

    fn switch(&self) -> &StopSwitch {
        &self.switch
    }
}

/// Runs a task to its end. `page` is the page's number.
async fn run(request: Request, page: u64, shared: Arc<Shared>, outlet: Outlet) {
    let done = run_in_queue(request, page, &shared, &outlet).await;
    // A page that is gone needs no answer.
    let _ = outlet.answers.send(outlet.answer(Event::end_of(done))).await;
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
            let work = move |seat: &mut Seat| {
                seat.page = page;
                perform(seat, &line, task, &working)
            };
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
    let seat = tokio::select! {
        () = outlet.stopped.notified() => return Ok(Reason::Stopped),
        seat = queue.seat(|place| outlet.show(Event::Queued { place })) => seat,
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
    let (mut reason, mut leaving) = (Reason::Done, None);
    let mut ticks = interval(TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let (seat, done) = loop {
        tokio::select! {
            // A search that the page stops ends at once, and counts as stopped.
            biased;
            () = outlet.stopped.notified() => reason = Reason::Stopped,
            finished = &mut work => break finished.context("internal error")?,
            _ = ticks.tick() => {
                let over = match began.elapsed() {
                    time if time >= longest => Some(Reason::Limit),
                    time if time >= TURN && leaving.is_none() => {
                        leaving = queue.leave();
                        leaving.as_ref().map(|_| Reason::Turn)
                    }
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
    drop(leaving);
    done.map(|()| reason)
}
