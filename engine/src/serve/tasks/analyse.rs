//! Searches a position, and shows the lines while the search goes on.

use std::time::{Duration, Instant};

use anyhow::Result;
use azimuth_chess::position::{Position, castles_as_in_chess960, legal_moves};

use super::Job;
use crate::explain::{line, score};
use crate::search::{Control, Limits, Report, TimeLimit, WdlModel};
use crate::serve::protocol::{Event, Info, Line};
use crate::serve::seat::Role;

/// Most lines.
const MOST_LINES: usize = 10;

/// Shortest time between two events: a person sees no more.
const PAUSE: Duration = Duration::from_millis(60);

/// Searches with `lines` lines, for `milliseconds` or until it is stopped.
pub fn analyse(job: &mut Job<'_>, lines: usize, milliseconds: Option<u64>) -> Result<()> {
    job.ensure_goes_on()?;
    let root = &job.line.last;
    let lines = lines.clamp(1, MOST_LINES);
    let planner = job.seat.planner(Role::Analyst, job.page)?;
    // The limit of nodes keeps a search without `milliseconds` open-ended. A clock would end the
    // search of a forced move at once.
    let time = milliseconds.map(Duration::from_millis);
    let time = time.map(|time| TimeLimit { soft: time, hard: time });
    let limits = Limits { nodes: Some(u64::MAX), time, multipv: lines, ..Limits::default() };
    let mut control = Control::without_signals(limits).stopped_by(&job.outlet.switch);
    let mut shown = Shown::new(job.id, root, lines, planner.wdl_model());
    let outlet = job.outlet;
    planner.search(root, &mut control, &mut |report| {
        if let Some(info) = shown.add(report) {
            outlet.show(Event::Info(info));
        }
    })?;
    if let Some(info) = shown.last {
        outlet.send(Event::Info(info));
    }
    Ok(())
}

/// The lines of the current iteration.
struct Shown<'a> {
    id: u32,
    root: &'a Position,
    chess960: bool,
    /// Number of lines that an iteration reports.
    count: usize,
    lines: Vec<Line>,
    wdl: WdlModel,
    /// When the last event was sent.
    sent: Option<Instant>,
    /// The last event, if it was not sent.
    last: Option<Info>,
}

impl<'a> Shown<'a> {
    fn new(id: u32, root: &'a Position, lines: usize, wdl: WdlModel) -> Self {
        let chess960 = castles_as_in_chess960(root.board());
        let count = lines.min(legal_moves(root.board()).len());
        Self { id, root, chess960, count, lines: Vec::new(), wdl, sent: None, last: None }
    }

    /// Adds a line. Returns an event if the lines are complete and it is time for it.
    fn add(&mut self, report: &Report) -> Option<Info> {
        let board = self.root.board();
        let shown = Line {
            score: score(report.value),
            wdl: self.wdl.permille(report.value, board),
            depth: report.depth,
            pv: line(board, self.chess960, &report.pv),
        };
        let place = report.multipv.max(1) - 1;
        match self.lines.get_mut(place) {
            Some(known) => *known = shown,
            None => self.lines.push(shown),
        }
        let milliseconds = report.time.as_millis() as u64;
        let info = Info {
            id: self.id,
            depth: report.depth,
            seldepth: report.seldepth,
            nodes: report.nodes,
            nps: (report.nodes as f64 / report.time.as_secs_f64().max(1e-3)) as u64,
            time: milliseconds,
            lines: self.lines.clone(),
        };
        let is_time = self.sent.is_none_or(|sent| sent.elapsed() >= PAUSE);
        if place + 1 == self.count && is_time {
            self.sent = Some(Instant::now());
            self.last = None;
            return Some(info);
        }
        self.last = Some(info);
        None
    }
}
