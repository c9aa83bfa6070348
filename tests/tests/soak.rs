//! Programs run side by side: two engines play games, pages come and go at `azimuth serve`, and runs
//! of `azimuth-train` are killed or find the disk full. Engines and server must not grow, and the
//! outputs must have the same bytes as those of runs without interruptions.
//!
//! `AZIMUTH_SOAK=3600 cargo test --release -p azimuth-tests --test soak -- --nocapture` runs for an
//! hour instead of 10 seconds, and prints what happened.

#![cfg(target_os = "linux")]

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use azimuth_chess::bench_positions::BENCH_POSITIONS;
use azimuth_chess::position::Position;
use azimuth_tests::kills::{Counts, Run};
use azimuth_tests::server::{Server, analysis};
use azimuth_tests::{Folder, Session, memory_and_handles, word_after};
use serde_json::json;

/// Default duration in seconds.
const SECONDS: u64 = 10;

/// Least number of kills of each command. On a slow machine they may take longer than the run.
const KILLS: usize = 4;

/// How much longer commands are interrupted that were slow to continue.
const MORE_TIME: Duration = Duration::from_secs(60);

/// Length at which a game ends.
const PLIES: usize = 200;

/// How much larger a process may be in the last third of the run than in the first, in kB and in
/// handles: its tables and the allocator's arenas fill up slowly.
const GROWTH: (u64, usize) = (16_000, 2);

/// The time of the run.
#[derive(Clone, Copy)]
struct Time {
    start: Instant,
    end: Instant,
}

/// Memory in kB and open handles of a process: the most in the first third of the run, and the least
/// in the last. Searches that overlap by chance raise the most, but not the least; whatever is never
/// released raises both.
struct Watch {
    process: u32,
    time: Time,
    early: Option<(u64, usize)>,
    late: Option<(u64, usize)>,
}

impl Watch {
    fn new(process: u32, time: Time) -> Self {
        Self { process, time, early: None, late: None }
    }

    fn look(&mut self) -> Result<()> {
        let (memory, handles) = memory_and_handles(self.process)?;
        let (now, third) = (Instant::now(), (self.time.end - self.time.start) / 3);
        // On a slow machine, the first look may be late.
        let most = self.early.unwrap_or((memory, handles));
        if self.early.is_none() || now < self.time.start + third {
            self.early = Some((most.0.max(memory), most.1.max(handles)));
        } else if now > self.time.end - third {
            let least = self.late.unwrap_or((memory, handles));
            self.late = Some((least.0.min(memory), least.1.min(handles)));
        }
        Ok(())
    }

    /// The two pairs of numbers as text; fails if the process grows.
    fn end(self) -> Result<String> {
        let early = self.early.context("nobody looked at the process")?;
        let late = self.late.unwrap_or(early);
        let seen = format!(
            "at most {} kB and {} handles in the first third, at least {} kB and {} in the last",
            early.0, early.1, late.0, late.1
        );
        let grows = late.0 > early.0 + GROWTH.0 || late.1 > early.1 + GROWTH.1;
        ensure!(!grows, "it grows: {seen}");
        Ok(seen)
    }
}

/// The selective search and the beam play each other from the positions of `bench`.
fn games(time: Time) -> Result<String> {
    let mut engines = [Session::start()?, Session::start()?];
    for (engine, planner) in engines.iter_mut().zip(["selective", "beam"]) {
        engine.set("Planner", planner)?;
        engine.set("Hash", 1)?;
        engine.ask("isready", "readyok")?;
    }
    let [first, second] = &engines;
    let mut watches = [Watch::new(first.id(), time), Watch::new(second.id(), time)];
    let (mut games, mut moves) = (0, 0);
    for start in BENCH_POSITIONS.iter().cycle() {
        let (mut position, mut line) = (Position::from_fen(start)?, format!("fen {start} moves"));
        for engine in &mut engines {
            engine.send("ucinewgame")?;
        }
        for ply in 0..PLIES {
            if !position.has_legal_move() || Instant::now() > time.end {
                break;
            }
            let engine = &mut engines[(games + ply) % 2];
            let said = engine.search(&line, "go movetime 20")?;
            let answer = said.last().context("no answer")?;
            let best = word_after(answer, "bestmove").context("no move")?;
            let mv = position.parse_move(best).with_context(|| format!("{line}: {answer}"))?;
            position.play(mv);
            line = format!("{line} {best}");
            moves += 1;
        }
        for watch in &mut watches {
            watch.look()?;
        }
        games += 1;
        if Instant::now() > time.end {
            break;
        }
    }
    for engine in engines {
        engine.end()?;
    }
    let [selective, beam] = watches.map(Watch::end);
    let (selective, beam) = (selective?, beam?);
    Ok(format!("{games} games, {moves} moves\n  selective: {selective}\n  beam: {beam}"))
}

/// Four pages at a time: one waits for the end of its search, one stops it, one leaves during it, and
/// one asks for a move.
fn pages(time: Time) -> Result<String> {
    let mut server = Server::start(&["--searches", "2", "--hash", "1"])?;
    let mut watch = Watch::new(server.id(), time);
    let mut rounds = 0;
    while Instant::now() < time.end {
        let [mut ends, mut stops, mut leaves, mut plays] =
            [server.connect()?, server.connect()?, server.connect()?, server.connect()?];
        stops.run(1, &analysis())?;
        ends.run(1, &json!({"name": "analyse", "lines": 3, "milliseconds": 50}))?;
        leaves.run(1, &analysis())?;
        let clock = json!({"left": [1000, 1000], "increment": 10});
        plays.run(1, &json!({"name": "play", "elo": 1500, "seed": rounds, "time": clock}))?;
        ends.next("ended")?;
        leaves.next("begun")?;
        drop(leaves);
        plays.next("move")?;
        plays.next("ended")?;
        stops.say(&json!({"type": "stop"}))?;
        stops.next("ended")?;
        watch.look()?;
        rounds += 1;
    }
    ensure!(server.interrupt()?.0.success(), "the server failed at its end");
    let (number, seen) = (rounds * 4, watch.end()?);
    Ok(format!("{number} connections, {number} searches\n  serve: {seen}"))
}

fn interruptions(run: &Run, time: Time) -> Result<String> {
    let is_enough =
        |counts: &Counts| counts.kills >= KILLS && counts.full_disks > 0 && counts.continued > 0;
    let counts = run.interrupt(true, |counts| {
        Instant::now() < time.end || !is_enough(counts) && Instant::now() < time.end + MORE_TIME
    })?;
    ensure!(is_enough(&counts), "no run continued after a full disk");
    Ok(format!(
        "{} kills, {} full disks, {} runs continued, {} outputs with the same bytes",
        counts.kills, counts.full_disks, counts.continued, counts.outputs
    ))
}

#[test]
fn programs_run_side_by_side_without_growing() -> Result<()> {
    let seconds = std::env::var("AZIMUTH_SOAK").map_or(Ok(SECONDS), |number| number.parse())?;
    let (now, duration) = (Instant::now(), Duration::from_secs(seconds));
    let time = Time { start: now, end: now + duration };
    let inputs = Folder::new()?;
    let (data, label, train) = (Run::data(&inputs)?, Run::label(&inputs)?, Run::train(&inputs)?);
    std::thread::scope(|scope| {
        let jobs = [
            ("games", scope.spawn(|| games(time))),
            ("pages", scope.spawn(|| pages(time))),
            ("data", scope.spawn(|| interruptions(&data, time))),
            ("label", scope.spawn(|| interruptions(&label, time))),
            ("train", scope.spawn(|| interruptions(&train, time))),
        ];
        let mut failed = Vec::new();
        for (name, job) in jobs {
            match job.join().ok().context("a thread panicked").flatten() {
                Ok(summary) => println!("{name}: {summary}"),
                Err(error) => failed.push(format!("{name}: {error:#}")),
            }
        }
        ensure!(failed.is_empty(), "{failed:#?}");
        Ok(())
    })
}
