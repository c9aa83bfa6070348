//! `azimuth-bench clock`: time usage of the players of a match.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Result, ensure};
use azimuth_chess::pgn::Outcome;
use azimuth_cli::print_line;
use azimuth_network::replace_file::{check_output, replace_file};
use clap::Args;
use plotters::prelude::SeriesLabelPosition;

use crate::games::{GameRecord, read_files, termination};
use crate::plot::{Axes, Series, draw};
use crate::settings::{RecordedSettings, TimeControl};

/// Number of moves plotted per game, and number of moves between two intervals.
const DRAWN_MOVES: usize = 80;
const BETWEEN_INTERVALS: u32 = 8;

/// Print how players used their time in timed matches, and plot the time left after each move.
#[derive(Args)]
pub struct Clock {
    /// PGN files written by `elo`, plain or .zst.
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// SVG file to write.
    #[arg(long)]
    out: Option<PathBuf>,
}

/// One player's clock data in one time control.
#[derive(Default)]
struct Used {
    base: Duration,
    games: usize,
    forfeits: usize,
    used: Duration,
    given: Duration,
    least_left: Option<Duration>,
    longest: Duration,
    /// Time left after each move: one list per move number.
    left: Vec<Vec<Duration>>,
}

pub fn run(arguments: &Clock) -> Result<()> {
    if let Some(out) = &arguments.out {
        let inputs: Vec<&Path> = arguments.files.iter().map(PathBuf::as_path).collect();
        check_output(out, &inputs)?;
    }
    let mut clocks: BTreeMap<String, Used> = BTreeMap::new();
    for game in read_files(&arguments.files)? {
        for (player, is_white) in [(&game.white, true), (&game.black, false)] {
            if let Some(control) = RecordedSettings::read(&player.settings)?.limit.clock {
                let key = format!("{} {control}", player.name);
                clocks.entry(key).or_default().add(&game, is_white, control);
            }
        }
    }
    ensure!(!clocks.is_empty(), "no player of these games had a clock (tc=)");
    for (player, clock) in &clocks {
        print_line(format_args!(
            "{player}: {} games, {:.1}% of the time used, at least {} ms left, longest move {} ms, {} lost on time",
            clock.games,
            100.0 * clock.used.as_secs_f64() / clock.given.as_secs_f64(),
            clock.least_left.unwrap_or_default().as_millis(),
            clock.longest.as_millis(),
            clock.forfeits
        ))?;
    }
    let Some(out) = &arguments.out else { return Ok(()) };
    let axes = Axes {
        title: "Time left on the clock: mean, minimum and maximum",
        x: "move",
        y: "% of the time at the start of the game",
        logarithmic: false,
        legend: SeriesLabelPosition::UpperRight,
    };
    let series: Vec<Series> = clocks.iter().map(|(player, clock)| clock.series(player)).collect();
    replace_file(out, draw(&axes, &series)?.as_bytes())
}

impl Used {
    fn add(&mut self, game: &GameRecord, is_white: bool, control: TimeControl) {
        self.base = control.base;
        self.games += 1;
        let black_first = game.opening.split(' ').nth(1) == Some("b");
        let own = usize::from(is_white == black_first);
        let times = game.moves.iter().skip(own).step_by(2).filter_map(|mv| mv.time);
        let mut left = control.base;
        self.given += control.base;
        for (place, time) in times.enumerate() {
            self.used += time;
            self.longest = self.longest.max(time);
            let before = left.saturating_sub(time);
            self.least_left = Some(self.least_left.map_or(before, |least| least.min(before)));
            left = control.after(left, time, place + 1);
            self.given += control.added(place + 1);
            if self.left.len() <= place {
                self.left.push(Vec::new());
            }
            self.left[place].push(left);
        }
        let lost = if is_white { Outcome::BlackWins } else { Outcome::WhiteWins };
        let on_time = game.termination == termination::TIME_FORFEIT;
        self.forfeits += usize::from(on_time && game.outcome == lost);
    }

    fn series(&self, name: &str) -> Series {
        let percent = |left: f64| 100.0 * left / self.base.as_secs_f64();
        let mut series = Series::new(name, Vec::new());
        for (number, left) in (1u32..).zip(&self.left).take(DRAWN_MOVES) {
            let seconds = left.iter().map(Duration::as_secs_f64);
            let mean = seconds.clone().sum::<f64>() / left.len() as f64;
            series.points.push((f64::from(number), percent(mean)));
            if number.is_multiple_of(BETWEEN_INTERVALS) {
                let ends = [seconds.clone().fold(f64::MAX, f64::min), seconds.fold(0.0, f64::max)];
                series.intervals.push((f64::from(number), ends.map(percent)));
            }
        }
        series
    }
}

#[cfg(test)]
mod tests {
    use cozy_chess::{Move, Square};

    use super::*;
    use crate::games::{Name, PlayedMove};

    #[test]
    fn clocks_run_by_move_and_gain_their_increments() -> Result<()> {
        let mv = Move { from: Square::A1, to: Square::A2, promotion: None };
        let ms = Duration::from_millis;
        let mv = |time| PlayedMove { time: Some(ms(time)), ..PlayedMove::of(mv) };
        let game = GameRecord {
            opening: "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1".to_owned(),
            moves: [300, 600, 200, 50].map(mv).into(),
            termination: termination::TIME_FORFEIT.to_owned(),
            ..GameRecord::between(Name::default(), Name::default(), Outcome::BlackWins)
        };
        let mut white = Used::default();
        white.add(&game, true, TimeControl::parse("1+0.1")?);
        // Black moves first: White's are the second and the fourth.
        assert_eq!((white.used, white.longest), (ms(650), ms(600)));
        assert_eq!((white.least_left, white.forfeits), (Some(ms(400)), 1));
        assert_eq!(white.left, [[ms(500)], [ms(550)]]);
        assert_eq!(white.given, ms(1200));
        let points = white.series("w").points.into_iter();
        let rounded: Vec<(f64, f64)> = points.map(|(mv, left)| (mv, left.round())).collect();
        assert_eq!(rounded, [(1.0, 50.0), (2.0, 55.0)]);
        Ok(())
    }
}
