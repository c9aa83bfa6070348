//! A match: every pairing plays every opening with both colours, several games at a time. The
//! batches of its encoders.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use azimuth_search::inference::BatchSecond;
use crossbeam_channel::bounded;

use super::game::{self, Adjudication, Seat};
use super::player::Player;
use super::roster::{Participant, Roster};
use crate::games::GameRecord;

pub struct Tournament<'a> {
    pub participants: &'a [Participant],
    /// Indices of the participants of each pairing.
    pub pairings: Vec<[usize; 2]>,
    /// FENs; every pairing plays each of them twice.
    pub openings: Vec<String>,
    pub adjudication: Adjudication,
    pub concurrency: usize,
}

/// A game to play.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fixture {
    white: usize,
    black: usize,
    opening: usize,
    /// Whether it is the second game of the pair.
    second: bool,
}

/// A game that was played, and the waits of its searches that use an encoder on another thread.
pub type Played = (GameRecord, Vec<Duration>);

impl Tournament<'_> {
    /// Ordered by opening, so that all pairings have played about equally many games at any time.
    fn fixtures(&self) -> Vec<Fixture> {
        let pairs = (0..self.openings.len())
            .flat_map(|opening| self.pairings.iter().map(move |&pairing| (opening, pairing)));
        pairs
            .flat_map(|(opening, [one, other])| {
                [
                    Fixture { white: one, black: other, opening, second: false },
                    Fixture { white: other, black: one, opening, second: true },
                ]
            })
            .collect()
    }

    /// The fixtures that `games` do not contain yet. Fails if a game of the same players has other
    /// settings, another known rating or another opening.
    pub fn left(&self, games: &[GameRecord]) -> Result<Vec<Fixture>> {
        let by_label: HashMap<_, _> =
            self.fixtures().into_iter().map(|fixture| (self.label(fixture), fixture)).collect();
        let mut settled = HashSet::new();
        for game in games {
            let label = (game.white.name.clone(), game.black.name.clone(), game.round.clone());
            // Games of other players, or beyond this match's number of games, are ignored.
            let Some(&fixture) = by_label.get(&label) else { continue };
            let what = || format!("round {} of '{}' against '{}'", label.2, label.0, label.1);
            for (found, player) in [(&game.white, fixture.white), (&game.black, fixture.black)] {
                let expected = &self.participants[player].name.settings;
                ensure!(
                    &found.settings == expected,
                    "{} was played with '{}', now it is '{expected}'; use another --pgn or name=",
                    what(),
                    found.settings
                );
                let now = self.participants[player].name.elo;
                let words =
                    |elo: Option<f64>| elo.map_or("no elo=".into(), |it| format!("elo={it}"));
                ensure!(
                    found.elo == now,
                    "{} was played with {} for '{}', now it has {}; use another --pgn or name=",
                    what(),
                    words(found.elo),
                    found.name,
                    words(now)
                );
            }
            ensure!(
                game.opening == self.openings[fixture.opening],
                "{} was played from another opening; use the same --book and --seed, or another \
                 --pgn",
                what()
            );
            settled.insert(fixture);
        }
        Ok(self.fixtures().into_iter().filter(|fixture| !settled.contains(fixture)).collect())
    }

    /// Names of White and Black, and the round.
    fn label(&self, fixture: Fixture) -> (String, String, String) {
        let name = |player: usize| self.participants[player].name.name.clone();
        let round = format!("{}.{}", fixture.opening + 1, if fixture.second { 2 } else { 1 });
        (name(fixture.white), name(fixture.black), round)
    }

    /// Plays the fixtures `left` with players of `roster`. `report` gets every finished game and
    /// may end the match. A broken player ends the match with an error.
    pub fn play(
        &self,
        roster: &Roster,
        left: Vec<Fixture>,
        mut report: impl FnMut(Played) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        let threads = self.concurrency.min(left.len());
        let mut players: Vec<ThreadPlayers> =
            (0..threads).map(|_| self.players(roster)).collect::<Result<_>>()?;
        let left = Mutex::new(left.into_iter());
        let over = AtomicBool::new(false);
        let (sender, finished) = bounded(threads);
        thread::scope(|scope| {
            for own in &mut players {
                let (sender, left, over) = (sender.clone(), &left, &over);
                scope.spawn(move || {
                    while !over.load(Ordering::Relaxed) {
                        let next = left.lock().ok().and_then(|mut left| left.next());
                        let Some(fixture) = next else { break };
                        if sender.send(self.play_one(own, fixture)).is_err() {
                            break;
                        }
                    }
                });
            }
            drop(sender);
            let mut outcome = Ok(());
            for game in finished {
                // Games in progress when the match is stopped still count; failed ones do not.
                match game.and_then(&mut report) {
                    Ok(ControlFlow::Continue(())) => {}
                    Ok(ControlFlow::Break(())) => over.store(true, Ordering::Relaxed),
                    Err(error) => {
                        over.store(true, Ordering::Relaxed);
                        outcome = outcome.and(Err(error));
                    }
                }
            }
            outcome
        })
    }

    fn players(&self, roster: &Roster) -> Result<ThreadPlayers> {
        let players: HashSet<usize> = self.pairings.iter().flatten().copied().collect();
        players.into_iter().map(|player| Ok((player, roster.player(player)?))).collect()
    }

    fn play_one(&self, players: &mut ThreadPlayers, fixture: Fixture) -> Result<Played> {
        let (white, black, round) = self.label(fixture);
        let context = || format!("round {round}, '{white}' against '{black}'");
        let opening = &self.openings[fixture.opening];
        let Fixture { white: one, black: other, .. } = fixture;
        let [Some(first), Some(second)] = players.get_disjoint_mut([&one, &other]) else {
            bail!("{}: a player cannot meet itself", context());
        };
        let limit = |player: usize| &self.participants[player].settings.limit;
        let seats = [
            Seat { player: first.as_mut(), limit: limit(one) },
            Seat { player: second.as_mut(), limit: limit(other) },
        ];
        let now = jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC);
        let started = (now.strftime("%Y.%m.%d").to_string(), now.strftime("%H:%M:%S").to_string());
        let game = game::play(opening, seats, &self.adjudication).with_context(context)?;
        let record = GameRecord {
            white: self.participants[one].name.clone(),
            black: self.participants[other].name.clone(),
            opening: opening.clone(),
            round: round.clone(),
            moves: game.moves,
            outcome: game.outcome,
            termination: game.termination.to_owned(),
            reason: game.reason,
            started: Some(started),
            duration: Some(game.duration),
        };
        Ok((record, game.waits))
    }
}

/// A thread's players by their participant index.
type ThreadPlayers = HashMap<usize, Box<dyn Player>>;

/// A line for each second in which an encoder had a batch: the batches that began in it, the mean
/// number of searches and of positions in a batch, and the positions of the largest.
pub fn batches_csv<'a>(encoders: impl Iterator<Item = (&'a str, Vec<BatchSecond>)>) -> String {
    let mut text = "weights,second,batches,searches,positions,largest\n".to_owned();
    for (name, seconds) in encoders {
        for BatchSecond { second, batches, requests, positions, largest } in seconds {
            let mean = |sum: u64| sum as f64 / batches.max(1) as f64;
            let (searches, positions) = (mean(requests), mean(positions));
            let _ =
                writeln!(text, "{name},{second},{batches},{searches:.1},{positions:.1},{largest}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_batches_has_the_means_of_its_second() {
        let second =
            BatchSecond { second: 7, batches: 4, requests: 10, positions: 30, largest: 16 };
        let text = batches_csv([("ab12", vec![second])].into_iter());
        assert_eq!(text.lines().nth(1), Some("ab12,7,4,2.5,7.5,16"));
    }
}
