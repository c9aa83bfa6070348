//! `azimuth-bench elo`: matches against any UCI engine, and between settings of Azimuth.

pub mod book;
mod game;
pub mod player;

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use azimuth_cli::{print_line, say};
use azimuth_network::replace_file::check_different;
use clap::Args;
use crossbeam_channel::{bounded, unbounded};
use game::{Adjudication, DrawRule, ResignRule};
use player::{Participant, Player, Roster};
use serde::Serialize;

use crate::arguments::{DeviceArguments, JsonFile};
use crate::games::{GameFile, GameRecord};
use crate::rating::{Sprt, Standings, Verdict, table};
use crate::settings::PlayerSettings;

const PROGRESS: Duration = Duration::from_secs(30);

/// Play a match: every --player against every --against, each opening with both colours.
///
/// A player is a list of `key=value` words, quoted as in a shell.
///
/// Azimuth, which plays in this process: `planner` (`beam` or `selective`, default `beam`),
/// `weights` (a weights file, or a Stockfish network, .nnue, that replaces the encoder; default:
/// the default weights), `hash` (score cache in MB, default 16), `threads` (default 1) and `noise`
/// (standard deviation of the Gaussian noise added to each score, in logits, 0 to 100, default 0;
/// excludes verification).
///
/// The beam: `width` (moves kept at each node, default 3), `verify` (how children are scored:
/// `none` by their embeddings, `quiescence` by a search to the beam's last ply, 1 to 4 by a search
/// that many plies beyond it; default 1, or `none` with noise) and `policy` (`true` or `false`,
/// default `false`: with `verify=none`, the policy head of the weights helps to choose the moves that
/// are kept).
///
/// The selective search: `without` (techniques to switch off, separated by commas) and `set`
/// (parameters, such as `set=lmr-base:80,delta-margin:150`).
///
/// Another engine: `cmd=PATH`, `args` (its command-line arguments) and `option.NAME=VALUE` (a UCI
/// option).
///
/// All players: `name`, `elo` (known rating), and the limits `depth` (plies), `nodes`, `movetime`
/// (ms), `tc` (seconds: `tc=60`, `tc=10+0.1` with an increment, `tc=40/10` for 10 seconds every 40
/// moves) and `margin` (ms by which a move may exceed its limit, default 500). Limits can be
/// combined. Another engine needs at least one; Azimuth searches to depth 6 without one.
#[derive(Args)]
pub struct Elo {
    /// Player to measure, as `key=value` words; may be repeated.
    #[arg(long = "player", required = true, value_parser = PlayerSettings::parse)]
    players: Vec<PlayerSettings>,
    /// Opponent, as `key=value` words; may be repeated.
    #[arg(long = "against", required = true, value_parser = PlayerSettings::parse)]
    opponents: Vec<PlayerSettings>,
    /// Opening book: one EPD or FEN per line, plain or .zip.
    #[arg(long)]
    book: PathBuf,
    /// Number of games per pairing; must be even.
    #[arg(long, default_value_t = 200)]
    games: usize,
    /// Number of games played at a time. More games than idle cores weaken an opponent whose limit
    /// is time.
    #[arg(long, default_value_t = 1)]
    concurrency: usize,
    /// Seed that selects and orders the openings.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// PGN file for the games; an interrupted match continues from it.
    #[arg(long)]
    pgn: PathBuf,
    /// Adjudicate draws: moves=8,score=10,from=40.
    #[arg(long)]
    draw: Option<DrawRule>,
    /// Adjudicate wins: moves=4,score=800.
    #[arg(long)]
    resign: Option<ResignRule>,
    /// Stop the match with a sequential probability ratio test:
    /// `elo0=0,elo1=5[,alpha=0.05][,beta=0.05][,model=normalized|logistic]`.
    #[arg(long)]
    sprt: Option<Sprt>,
    #[command(flatten)]
    json: JsonFile,
    #[command(flatten)]
    device: DeviceArguments,
}

/// Plays the remaining games and prints the standings over all games in the file.
pub fn run(arguments: Elo) -> Result<()> {
    let Elo { players, opponents, book, games, concurrency, seed, pgn, json, .. } = arguments;
    ensure!(games > 0 && games.is_multiple_of(2), "--games {games}: expected an even number");
    ensure!(concurrency > 0, "--concurrency 0: expected at least 1");
    let (measured, others) = (players.len(), opponents.len());
    ensure!(
        arguments.sprt.is_none() || (measured == 1 && others == 1),
        "--sprt compares one --player with one --against"
    );
    let openings = book::openings(&book, games / 2, seed)?;
    if let Some(path) = &json.json {
        check_different(&[&pgn, path])?;
    }
    json.check(&[&book])?;
    let (device, dtype) = arguments.device.open()?;
    let roster = Roster::assemble(players.into_iter().chain(opponents).collect(), &device, dtype)?;
    let pairings = (0..measured)
        .flat_map(|player| (measured..measured + others).map(move |other| [player, other]))
        .collect();
    let adjudication = Adjudication { draw: arguments.draw, resign: arguments.resign };
    let tournament = Tournament {
        participants: &roster.participants,
        pairings,
        openings,
        adjudication,
        concurrency,
    };
    let (mut file, before) = GameFile::open(&pgn)?;
    let left = tournament.left(&before)?;
    let mut standings = Standings::of(&before);
    let names = [0, measured].map(|player| roster.participants[player].name.name.as_str());
    let decided = |standings: &Standings| {
        let test = arguments.sprt.as_ref();
        test.is_some_and(|sprt| sprt.verdict(&standings.pairs(names)) != Verdict::Undecided)
    };
    let (began, total, mut new) = (Instant::now(), left.len(), 0);
    let minutes = || began.elapsed().as_secs_f64() / 60.0;
    let mut told = began;
    let mut all_waits: Vec<Duration> = Vec::new();
    if !decided(&standings) {
        tournament.play(&roster, left, |(record, waits)| {
            file.add(&record)?;
            standings.add(&record);
            all_waits.extend(waits);
            new += 1;
            if told.elapsed() > PROGRESS {
                told = Instant::now();
                say(format_args!("{new} of {total} games, {:.1} minutes", minutes()));
            }
            let decided = decided(&standings);
            Ok(if decided { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })?;
    }
    json.write(&PairingResult::of_all(&tournament, &standings))?;
    print_line(table(&standings).trim_end())?;
    if let Some(sprt) = &arguments.sprt {
        print_line(sprt.summary(&standings.pairs(names)))?;
    }
    if !all_waits.is_empty() {
        let all: Duration = all_waits.iter().sum();
        let milliseconds = all.as_secs_f64() * 1e3 / all_waits.len() as f64;
        print_line(format_args!("waiting for the encoder: {milliseconds:.1} ms a move"))?;
    }
    print_line(format_args!("{new} games played in {:.1} minutes", minutes()))
}

#[derive(Debug, Serialize)]
struct PairingResult {
    player: String,
    against: String,
    wins: u64,
    losses: u64,
    draws: u64,
    /// Logistic Elo difference with its 95% error margin; `None` if it is unbounded.
    elo: Option<[f64; 2]>,
}

impl PairingResult {
    /// All pairings of a match that have games.
    fn of_all(tournament: &Tournament<'_>, standings: &Standings) -> Vec<Self> {
        let name = |player: usize| tournament.participants[player].name.name.as_str();
        let results = tournament.pairings.iter().filter_map(|&[one, other]| {
            let names = [one, other].map(name);
            let between = standings.between(standings.find(names[0])?, standings.find(names[1])?);
            let elo = standings.pairs(names).logistic_elo();
            Some(Self {
                player: names[0].to_owned(),
                against: names[1].to_owned(),
                wins: between.wins,
                losses: between.losses,
                draws: between.draws,
                elo: elo.map(|elo| [elo.value, elo.error]),
            })
        });
        results.collect()
    }
}

/// A match: every pairing plays every opening with both colours, several games at a time.
struct Tournament<'a> {
    participants: &'a [Participant],
    /// Indices of the participants of each pairing.
    pairings: Vec<[usize; 2]>,
    /// FENs; every pairing plays each of them twice.
    openings: Vec<String>,
    adjudication: Adjudication,
    concurrency: usize,
}

/// A game to play.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Fixture {
    white: usize,
    black: usize,
    opening: usize,
    /// Whether it is the second game of the pair.
    second: bool,
}

/// A game that was played, and the waits of its searches that use an encoder on another thread.
type Played = (GameRecord, Vec<Duration>);

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
    fn left(&self, games: &[GameRecord]) -> Result<Vec<Fixture>> {
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
    fn play(
        &self,
        roster: &Roster,
        left: Vec<Fixture>,
        mut report: impl FnMut(Played) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        let threads = self.concurrency.min(left.len());
        let all = 0..self.participants.len();
        let mut players: Vec<Vec<Box<dyn Player>>> = (0..threads)
            .map(|_| all.clone().map(|player| roster.player(player)).collect())
            .collect::<Result<_>>()?;
        let (fixtures, queue) = unbounded();
        left.into_iter().try_for_each(|fixture| fixtures.send(fixture))?;
        drop(fixtures);
        let (sender, finished) = bounded(threads);
        thread::scope(|scope| {
            for own in &mut players {
                let (sender, queue) = (sender.clone(), queue.clone());
                scope.spawn(move || {
                    for fixture in queue {
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
                let next = game.and_then(&mut report);
                if !matches!(next, Ok(ControlFlow::Continue(()))) {
                    queue.try_iter().for_each(drop);
                }
                outcome = outcome.and(next.map(|_| ()));
            }
            outcome
        })
    }

    fn play_one(&self, players: &mut [Box<dyn Player>], fixture: Fixture) -> Result<Played> {
        let (white, black, round) = self.label(fixture);
        let context = || format!("round {round}, '{white}' against '{black}'");
        let opening = &self.openings[fixture.opening];
        let Fixture { white: one, black: other, .. } = fixture;
        let [first, second] = players.get_disjoint_mut([one, other]).with_context(context)?;
        let now = jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC);
        let started = (now.strftime("%Y.%m.%d").to_string(), now.strftime("%H:%M:%S").to_string());
        let game = game::play(opening, [&mut **first, &mut **second], &self.adjudication)
            .with_context(context)?;
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
