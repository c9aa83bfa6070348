//! Programs run side by side: two engines play games, pages come and go at `azimuth serve`, and runs
//! of `azimuth-train` are killed or find the disk full. Engines and server must not grow, and the
//! outputs must have the same bytes as those of runs without interruptions.
//!
//! `AZIMUTH_SOAK=3600 cargo test --release -p azimuth-tests --test soak -- --nocapture` runs for an
//! hour instead of 20 seconds, and prints what happened.

#![cfg(target_os = "linux")]

use std::fmt::{self, Display};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use azimuth_chess::bench_positions::BENCH_POSITIONS;
use azimuth_chess::position::Position;
use azimuth_tests::kills::Run;
use azimuth_tests::server::{Server, analysis};
use azimuth_tests::{Session, memory_and_handles};
use serde_json::json;

/// Default duration in seconds.
const SECONDS: u64 = 20;

/// Least number of kills of each command. On a slow machine they may take longer than the run.
const KILLS: usize = 4;

/// Length at which a game ends.
const PLIES: usize = 200;

/// How much larger a process may be in the second half of the run than in the first, in kB and in
/// handles: its tables fill up slowly.
const GROWTH: (u64, usize) = (8_000, 2);

/// The time of the run.
#[derive(Clone, Copy)]
struct Time {
    half: Instant,
    end: Instant,
}

/// Memory in kB and open handles of a process: at the beginning, and the most in each half of the
/// run.
struct Watch {
    process: u32,
    half: Instant,
    first: (u64, usize),
    most: [(u64, usize); 2],
    looks: u32,
}

impl Watch {
    fn new(process: u32, time: Time) -> Result<Self> {
        let first = memory_and_handles(process)?;
        Ok(Self { process, half: time.half, first, most: [first; 2], looks: 0 })
    }

    fn look(&mut self) -> Result<()> {
        let (memory, handles) = memory_and_handles(self.process)?;
        // On a slow machine the first look may be late. The process has done some work by then.
        let late = self.looks > 0 && Instant::now() > self.half;
        self.looks += 1;
        let most = &mut self.most[usize::from(late)];
        *most = (most.0.max(memory), most.1.max(handles));
        let [early, late] = self.most;
        let grows = late.0 > early.0 + GROWTH.0 || late.1 > early.1 + GROWTH.1;
        ensure!(!grows, "it grows: {self}");
        Ok(())
    }
}

impl Display for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ((memory, handles), [early, late]) = (self.first, self.most);
        write!(f, "memory {memory} kB, at most {} and {} kB in the halves; ", early.0, late.0)?;
        write!(f, "handles {handles}, at most {} and {}", early.1, late.1)
    }
}

/// The selective search and the beam play each other from the positions of `bench`.
fn games(time: Time) -> Result<String> {
    let mut engines = [Session::start()?, Session::start()?];
    for (engine, planner) in engines.iter_mut().zip(["selective", "beam"]) {
        engine.send(&format!("setoption name Planner value {planner}"))?;
        engine.send("setoption name Hash value 1")?;
        engine.ask("isready", "readyok")?;
    }
    let [first, second] = &engines;
    let mut watches = [Watch::new(first.id(), time)?, Watch::new(second.id(), time)?];
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
            engine.send(&format!("position {line}"))?;
            let answer = engine.answer("go movetime 20", "bestmove ")?;
            let best = answer.split(' ').nth(1).context("no move")?;
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
    let [selective, beam] = watches;
    Ok(format!("{games} games, {moves} moves\n  selective: {selective}\n  beam: {beam}"))
}

/// Four pages at a time: one waits for the end of its search, one stops it, one leaves during it, and
/// one asks for a move.
fn pages(time: Time) -> Result<String> {
    let mut server = Server::start(&["--searches", "2", "--hash", "1"])?;
    let mut watch = Watch::new(server.id(), time)?;
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
    let number = rounds * 4;
    Ok(format!("{number} connections, {number} searches\n  serve: {watch}"))
}

fn interruptions(run: &Run, time: Time) -> Result<String> {
    let counts = run.interrupt(true, |kills| kills < KILLS || Instant::now() < time.end)?;
    ensure!(counts.full_disks > 0 && counts.continued > 0, "no run continued after a full disk");
    Ok(format!(
        "{} kills, {} full disks, {} runs continued, {} outputs with the same bytes",
        counts.kills, counts.full_disks, counts.continued, counts.outputs
    ))
}

#[test]
fn programs_run_side_by_side_without_growing() -> Result<()> {
    let seconds = std::env::var("AZIMUTH_SOAK").map_or(Ok(SECONDS), |number| number.parse())?;
    let (now, duration) = (Instant::now(), Duration::from_secs(seconds));
    let time = Time { half: now + duration / 2, end: now + duration };
    let inputs = tempfile::tempdir()?;
    let (data, label) = (Run::data(inputs.path())?, Run::label(inputs.path())?);
    let train = Run::train();
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
