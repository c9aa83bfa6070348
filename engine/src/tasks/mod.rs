//! The tasks of the page's [`protocol`], on the planner of a [`Seat`]. `serve` runs them behind a
//! web server, and WebAssembly inside the page.

pub mod games;
pub mod protocol;

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use azimuth_chess::position::{
    Position, board_after, castles_as_in_chess960, legal_moves, uci_move,
};
use azimuth_chess::san::{parse_move, san_of_move};
use azimuth_chess::text::{printable, shortened};
use azimuth_search::host::Instant;
use azimuth_search::{
    BeamSettings, Control, DefaultWeights, ExplainedMove, Limits, PlannerKind, PlannerSettings,
    Resources, StopSwitch, TimeLimit,
};
use cozy_chess::{Board, Color};
use protocol::{
    Branch, Candidate, Dropped, Event, Info, Line, PlayTime, Request, Space, TableMove, Task, Tree,
};

use crate::explain::{self, Study, boards_along, document, line, score};
use crate::limited_strength::{Level, WEAKEST_TO_STRONGEST, book_moves};
use crate::report::{Analyst, CLOSER_LOOK, Judged, LONGEST_GAME, Stop};
use crate::session::{Plan, Seat};
use crate::uci::{Go, budget, time_for_choice};

/// The way of a task's events to the page.
pub trait Outlet {
    /// Sends an event, or drops it if the page is slow: for events that the next one of the same
    /// kind replaces.
    fn show(&self, event: Event);

    /// Sends an event, and waits while the page is slow.
    fn send(&self, event: Event);

    /// Stops the task's searches.
    fn switch(&self) -> &StopSwitch;
}

/// Does a task on a seat.
pub fn perform(seat: &mut Seat, line: &PlayedLine, task: Task, outlet: &dyn Outlet) -> Result<()> {
    let job = &mut Job { seat, line, outlet };
    match task {
        Task::Analyse { lines, milliseconds, threads, hash } => {
            let resources = job.seat.allowance.grant(threads, hash);
            analyse(job, lines, milliseconds, resources)
        }
        Task::SecondEngine { .. } => {
            bail!("there is no second engine; azimuth serve --engine PATH names one")
        }
        Task::Play { elo, seed, time } => play(job, elo, seed, time),
        Task::Why { compared } => why(job, &compared),
        Task::Beam {} => beam(job),
        Task::Tablebase {} => tablebase(job),
        Task::Book {} => book(job),
        Task::Space { sample } => space(job, sample),
        Task::Report { milliseconds } => report(job, milliseconds),
    }
}

/// A task in progress.
struct Job<'a> {
    seat: &'a mut Seat,
    line: &'a PlayedLine,
    outlet: &'a dyn Outlet,
}

/// Maximum length of a move that an error quotes.
const LONGEST_QUOTE: usize = 20;

/// Reads a legal move of a request. The error is one line, however the text looks.
fn read_move(position: &Position, text: &str) -> Result<cozy_chess::Move> {
    parse_move(position, &printable(&shortened(text, LONGEST_QUOTE)))
}

/// A game up to the position of a task.
pub struct PlayedLine {
    pub start: Position,
    pub moves: Vec<cozy_chess::Move>,
    /// With its history.
    pub last: Position,
}

impl PlayedLine {
    /// Reads the first position and the moves of a request.
    pub fn of(request: &Request) -> Result<Self> {
        let start = match request.fen.as_str() {
            "startpos" => Position::default(),
            fen => Position::from_fen(fen)?,
        };
        let count = request.moves.len();
        ensure!(
            count <= LONGEST_GAME as usize,
            "the game has {count} half-moves, more than {LONGEST_GAME}"
        );
        let (mut last, mut moves) = (start.clone(), Vec::with_capacity(count));
        for (number, text) in (1..).zip(&request.moves) {
            let mv = read_move(&last, text).with_context(|| format!("half-move {number}"))?;
            last.play(mv);
            moves.push(mv);
        }
        Ok(Self { start, moves, last })
    }

    /// Fails if the position has no legal move.
    pub fn ensure_goes_on(&self) -> Result<()> {
        ensure!(self.last.has_legal_move(), "the game is over");
        Ok(())
    }
}

/// Maximum number of lines of an analysis.
pub const MOST_LINES: usize = 10;

/// Shortest time between two events: a person sees no more.
const EVENT_INTERVAL: Duration = Duration::from_millis(60);

/// Searches with `lines` lines, for `milliseconds` or until it is stopped.
fn analyse(
    job: &mut Job<'_>,
    lines: usize,
    milliseconds: Option<u64>,
    resources: Resources,
) -> Result<()> {
    job.line.ensure_goes_on()?;
    let root = &job.line.last;
    let lines = lines.clamp(1, MOST_LINES);
    let planner = job.seat.planner_with(Plan::analyst(), resources)?;
    // The limit of nodes keeps a search without `milliseconds` open-ended. A clock would end the
    // search of a forced move at once.
    let time = milliseconds.map(|time| TimeLimit::exactly(Duration::from_millis(time)));
    let limits = Limits { nodes: Some(u64::MAX), time, multipv: lines, ..Limits::default() };
    let mut control = Control::without_signals(limits).stopped_by(job.outlet.switch());
    let (board, wdl) = (root.board(), planner.wdl_model());
    let chess960 = castles_as_in_chess960(board);
    let shown = lines.min(legal_moves(board).len());
    let mut progress = Progress::new(job.outlet);
    planner.search(root, &mut control, &mut |report| {
        let place = report.multipv.max(1);
        let found = Line {
            score: score(report.value),
            wdl: Some(wdl.permille(report.value, board)),
            depth: report.depth,
            pv: line(board, chess960, &report.pv),
        };
        progress.add(place, found, report.seldepth, report.nodes, report.time);
        // The lines of an iteration are complete.
        if place == shown {
            progress.show();
        }
    })?;
    progress.finish();
    Ok(())
}

/// The state of a search, which the page gets at most every [`EVENT_INTERVAL`].
pub struct Progress<'a> {
    outlet: &'a dyn Outlet,
    /// By their places, from 1.
    lines: BTreeMap<usize, Line>,
    /// The state that the page does not know yet.
    latest: Option<Info>,
    /// When the last event was sent.
    sent: Option<Instant>,
}

impl<'a> Progress<'a> {
    pub fn new(outlet: &'a dyn Outlet) -> Self {
        Self { outlet, lines: BTreeMap::new(), latest: None, sent: None }
    }

    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Adds a line, found after `nodes` positions and `time`.
    pub fn add(&mut self, place: usize, line: Line, seldepth: u32, nodes: u64, time: Duration) {
        let depth = line.depth;
        self.lines.insert(place, line);
        self.latest = Some(Info {
            depth,
            seldepth,
            nodes,
            nps: (nodes as f64 / time.as_secs_f64().max(1e-3)) as u64,
            time: time.as_millis() as u64,
            lines: self.lines.values().cloned().collect(),
        });
    }

    /// Shows the page the state, if it does not know it and it is time for it.
    pub fn show(&mut self) {
        if self.sent.is_none_or(|sent| sent.elapsed() >= EVENT_INTERVAL)
            && let Some(info) = self.latest.take()
        {
            self.outlet.show(Event::Info(info));
            self.sent = Some(Instant::now());
        }
    }

    /// Sends the last state, if the page does not know it.
    pub fn finish(self) {
        if let Some(info) = self.latest {
            self.outlet.send(Event::Info(info));
        }
    }
}

/// Most dropped moves of a position that the page gets by name.
const NAMED_DROPPED: usize = 5;

/// Searches with the beam to its depth, and sends the tree after each iteration.
fn beam(job: &mut Job<'_>) -> Result<()> {
    job.line.ensure_goes_on()?;
    let root = &job.line.last;
    let plan = Plan::of(PlannerKind::Beam, PlannerSettings::default());
    let planner = job.seat.planner(plan)?;
    for depth in 1..=BeamSettings::default().depth {
        let limits = Limits { depth: Some(depth), ..Limits::default() };
        let control = &mut Control::without_signals(limits).stopped_by(job.outlet.switch());
        let report = planner.search(root, control, &mut |_| ())?;
        let explanation = planner.explain(depth)?;
        if job.outlet.switch().is_stopped() {
            break;
        }
        if let Some(explanation) = explanation {
            let tree = branches(root.board(), &explanation.moves);
            job.outlet.send(Event::Tree { depth, tree });
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
    let others = dropped.len().saturating_sub(NAMED_DROPPED);
    dropped.truncate(NAMED_DROPPED);
    Tree { kept: kept.collect(), dropped, others }
}

/// Sends the legal moves with their distances in the tablebases.
fn tablebase(job: &mut Job<'_>) -> Result<()> {
    let tablebases = &job.seat.models.tablebases;
    let board = job.line.last.board();
    let chess960 = castles_as_in_chess960(board);
    let known = |&mv: &cozy_chess::Move| {
        let after = board_after(board, mv);
        // The tablebases do not tell that a game is over.
        let goes_on = after.generate_moves(|_| true);
        let distance = if goes_on { tablebases.distance_to_zeroing(&after)? } else { 0 };
        Some(TableMove { uci: uci_move(board, mv, chess960), dtz: -distance })
    };
    let moves = legal_moves(board).iter().map(known).collect::<Option<Vec<_>>>();
    job.outlet.send(Event::Tablebase { moves: moves.unwrap_or_default() });
    Ok(())
}

/// Sends the moves of the opening book.
fn book(job: &mut Job<'_>) -> Result<()> {
    let position = &job.line.last;
    let board = position.board();
    let mut known = book_moves(position);
    known.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    let name = |(mv, share)| (uci_move(board, mv, castles_as_in_chess960(board)), share);
    job.outlet.send(Event::Book { moves: known.into_iter().map(name).collect() });
    Ok(())
}

/// Time of a move that is reserved for the messages to and from the page.
const MESSAGE_TIME: Duration = Duration::from_millis(100);

/// Longest time for a move of the engine.
const LONGEST_MOVE: Duration = Duration::from_secs(60);

/// Plays at the rating `elo`, or at full strength.
fn play(job: &mut Job<'_>, elo: Option<u32>, seed: u32, time: PlayTime) -> Result<()> {
    job.line.ensure_goes_on()?;
    let root = &job.line.last;
    let board = root.board();
    let mut limits = Limits { time: time_limit(time, board.side_to_move()), ..Limits::default() };
    let level = elo.map(|elo| {
        let range = WEAKEST_TO_STRONGEST;
        let (least, most) = (range.start(), range.end());
        ensure!(range.contains(&elo), "the rating {elo} is not in {least} to {most}");
        Ok(Level::of(elo))
    });
    let level = level.transpose()?;
    if let Some(level) = level {
        level.limit(&mut limits, root, seed.into());
    }
    let clock = limits.time.filter(|_| elo.is_some() && matches!(time, PlayTime::Clock { .. }));
    job.seat.game = Some(seed);
    let planner = job.seat.planner(Plan::player(level))?;
    let control = &mut Control::without_signals(limits).stopped_by(job.outlet.switch());
    let report = planner.search(root, control, &mut |_| ())?;
    let mv = report.pv.first().copied().context("the search found no move")?;
    let uci = uci_move(board, mv, castles_as_in_chess960(board));
    let time = clock.map_or(Duration::ZERO, |clock| time_for_choice(planner, clock));
    let pause = time.saturating_sub(control.elapsed()).as_millis() as u64;
    job.outlet.send(Event::Move { uci, score: score(report.value), pause });
    Ok(())
}

/// The limits of a move, at most [`LONGEST_MOVE`].
fn time_limit(time: PlayTime, side: Color) -> Option<TimeLimit> {
    let TimeLimit { soft, hard } = match time {
        PlayTime::Move { milliseconds } => TimeLimit::exactly(Duration::from_millis(milliseconds)),
        PlayTime::Clock { left, increment } => {
            let time = left.map(|left| Some(Duration::from_millis(left)));
            let increment = [Duration::from_millis(increment); 2];
            budget(&Go { time, increment, ..Go::default() }, side, MESSAGE_TIME)?
        }
    };
    Some(TimeLimit { soft: soft.min(LONGEST_MOVE), hard: hard.min(LONGEST_MOVE) })
}

/// Longest time for a position of a report.
const LONGEST_POSITION: Duration = Duration::from_secs(10);

/// Analyses every position of the game, each for `milliseconds`.
fn report(job: &mut Job<'_>, milliseconds: u64) -> Result<()> {
    let time = Duration::from_millis(milliseconds).min(LONGEST_POSITION);
    let mut model = job.seat.models.model(DefaultWeights::Selective)?;
    let planner = job.seat.planner(Plan::analyst())?;
    let limits = Limits { time: Some(TimeLimit::exactly(time)), ..Limits::default() };
    let switch = job.outlet.switch().clone();
    let mut analyst = Analyst { planner, model: &mut model, limits, switch };
    let mut stop = analyst.stop(job.line.start.clone())?;
    let send = |ply, stop: &Stop| {
        // The result of an interrupted search is shallow, and may show a false blunder.
        if !job.outlet.switch().is_stopped() {
            job.outlet.send(Event::Judged(Box::new(Judged::new(ply, stop))));
        }
    };
    send(0, &stop);
    for (ply, &mv) in (1..).zip(&job.line.moves) {
        if job.outlet.switch().is_stopped() {
            break;
        }
        stop = analyst.next_stop(&stop, mv)?;
        send(ply, &stop);
    }
    Ok(())
}

/// Sends the places of a game's positions and of the legal moves on the map of the space, with the
/// sample if the page asks for it. The beam's weights draw the map: those of the selective search
/// leave captures to the search, so a game's path through their space jumps at each capture.
fn space(job: &mut Job<'_>, sample: bool) -> Result<()> {
    let models = &job.seat.models;
    let mut model = models.model(DefaultWeights::Beam)?;
    let map = models.map()?;
    let boards = boards_along(job.line.start.board(), &job.line.moves);
    let board = job.line.last.board();
    let moves = legal_moves(board);
    let after: Vec<Board> = moves.iter().map(|&mv| board_after(board, mv)).collect();
    let path = map.spots(&mut model, &boards)?.into_iter().map(|spot| spot.at).collect();
    let chess960 = castles_as_in_chess960(board);
    let candidates = moves.iter().zip(map.spots(&mut model, &after)?).map(|(&mv, spot)| {
        let p = if board.side_to_move() == Color::White { spot.p } else { 1.0 - spot.p };
        let (uci, san) = (uci_move(board, mv, chess960), san_of_move(board, mv));
        Candidate { uci, san, at: spot.at, p }
    });
    let space = Space {
        weights: models.map_weights(),
        path,
        candidates: candidates.collect(),
        near: map.near(&mut model, board)?,
        sample: sample.then(|| map.sample.clone()),
    };
    job.outlet.send(Event::Space(Box::new(space)));
    Ok(())
}

/// Shortest time between two tables of an explanation.
const TABLE_INTERVAL: Duration = Duration::from_millis(100);

/// Explains the choice of a move: sends the table of `azimuth explain` after every iteration and,
/// at the end, the table with the moves that are searched separately, among them `compared`, and
/// the reason.
fn why(job: &mut Job<'_>, compared: &[String]) -> Result<()> {
    job.line.ensure_goes_on()?;
    let root = &job.line.last;
    let compared: Vec<_> =
        compared.iter().map(|text| read_move(root, text)).collect::<Result<_>>()?;
    let mut model = job.seat.models.model(DefaultWeights::Selective)?;
    let planner = job.seat.planner(Plan::analyst())?;
    let show = |study: &Study, complete| {
        let expected =
            study.moves.iter().map(|studied| Some(study.expected_score(studied.found()?.value)));
        let explanation = Box::new(document(study, PlannerKind::Selective));
        Event::Why { explanation, expected: expected.collect(), complete }
    };
    let (began, mut shown) = (Instant::now(), None::<Instant>);
    // The tables are of finished iterations, so each one is a separate search. It finds the
    // iterations before it in the transposition table.
    let mut reached = 0;
    while began.elapsed() < CLOSER_LOOK && !job.outlet.switch().is_stopped() {
        let depth = reached + 1;
        let limits = Limits { depth: Some(depth), ..Limits::default() };
        let control = &mut Control::without_signals(limits).stopped_by(job.outlet.switch());
        let report = planner.search(root, control, &mut |_| ())?;
        if report.depth < depth {
            break;
        }
        reached = depth;
        if shown.is_none_or(|shown| shown.elapsed() >= TABLE_INTERVAL) {
            let study = Study::of_last_search(root.clone(), report, planner, &mut model)?;
            job.outlet.show(show(&study, false));
            shown = Some(Instant::now());
        }
    }
    let task = explain::Task {
        root: root.clone(),
        limits: Limits { depth: Some(reached.max(1)), ..Limits::default() },
        compared,
        plies: 1,
        stop: job.outlet.switch().clone(),
    };
    let study = Study::make(task, planner, &mut model)?;
    if !job.outlet.switch().is_stopped() {
        job.outlet.send(show(&study, true));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::sync::Arc;

    use azimuth_search::inference::ModelSource;

    use super::*;
    use crate::session::{Allowance, Models};

    /// Keeps the events of tasks.
    #[derive(Default)]
    struct Kept {
        events: RefCell<Vec<Event>>,
        switch: StopSwitch,
    }

    impl Outlet for Kept {
        fn show(&self, event: Event) {
            self.send(event);
        }

        fn send(&self, event: Event) {
            self.events.borrow_mut().push(event);
        }

        fn switch(&self) -> &StopSwitch {
            &self.switch
        }
    }

    /// The moves of a limited strength, and their values, in games with these seeds, which a seat
    /// plays one after the other.
    fn moves_of_games(seeds: &[u32], models: &Arc<Models>) -> Result<Vec<(String, f32)>> {
        let resources = Resources { hash_mb: 4, threads: 1 };
        let mut seat = Seat::new(models.clone(), Allowance { usual: resources, most: resources });
        let fen = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";
        let start = Position::from_fen(fen)?;
        let line = PlayedLine { start: start.clone(), moves: Vec::new(), last: start };
        let outlet = Kept::default();
        for &seed in seeds {
            let time = PlayTime::Move { milliseconds: 60_000 };
            perform(&mut seat, &line, Task::Play { elo: Some(2000), seed, time }, &outlet)?;
        }
        let moves = outlet.events.into_inner().into_iter().filter_map(|event| match event {
            Event::Move { uci, score, .. } => Some((uci, score.win_probability)),
            _ => None,
        });
        Ok(moves.collect())
    }

    #[test]
    fn a_new_game_finds_empty_tables() -> Result<()> {
        let models = Arc::new(Models::open(ModelSource::default(), None)?);
        let alone = [1, 2, 3].map(|seed| moves_of_games(&[seed], &models));
        let alone = alone.into_iter().collect::<Result<Vec<_>>>()?.concat();
        assert_eq!(moves_of_games(&[1, 2, 3], &models)?, alone);
        Ok(())
    }

    #[test]
    fn no_clock_makes_a_move_take_longer_than_a_minute() {
        let year = 365 * 24 * 3600 * 1000;
        for time in [
            PlayTime::Move { milliseconds: year },
            PlayTime::Clock { left: [year; 2], increment: year },
        ] {
            let limit = time_limit(time, Color::Black);
            assert!(limit.is_some_and(|limit| limit.hard == LONGEST_MOVE), "{time:?}");
        }
        let clock = PlayTime::Clock { left: [60_000, 1_000], increment: 0 };
        let of = |side| time_limit(clock, side).map(|limit| limit.hard);
        assert!(of(Color::Black) < Some(Duration::from_millis(500)));
        assert!(of(Color::White) > Some(Duration::from_millis(500)));
    }
}
