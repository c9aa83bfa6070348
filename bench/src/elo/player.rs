//! Players: each gets the game so far and returns a move. Azimuth in this process, and UCI engines
//! in other processes. The players of a match, checked and named before the first game.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use azimuth::uci::{Go, budget};
use azimuth_chess::position::{Position, uci_move};
use azimuth_client::{Engine, PATIENCE, UciScore, number_after, score};
use azimuth_network::checksum::hex;
use azimuth_network::weights::Weights;
use azimuth_nnue::StockfishNetwork;
use azimuth_search::inference::Worker;
use azimuth_search::names::name_of;
use azimuth_search::{BeamVerify, Control, Handicap, Limits, Planner, PlannerKind, Value};
use candle_core::{DType, Device};
use cozy_chess::Move;
use sha2::{Digest, Sha256};

use crate::arguments::{notice, start_worker};
use crate::games::{Evaluation, Name};
use crate::plot::grouped;
use crate::settings::{InProcessPlayer, Limit, PlayerProgram, PlayerSettings, UciPlayer};

/// The game so far, as passed to a player.
pub struct Situation<'a> {
    /// FEN of the starting position.
    pub start: &'a str,
    /// The moves played since `start`.
    pub moves: &'a [Move],
    /// The position after `moves`.
    pub position: &'a Position,
    /// The clocks, if the players have them, and the moves until the side to move gets more time.
    pub go: Go,
}

#[derive(Clone, Debug)]
pub struct Choice {
    /// In UCI notation; it may be illegal.
    pub mv: String,
    /// From White's view; `None` if the player reports no score.
    pub evaluation: Option<Evaluation>,
    /// Depth in plies; `None` if the player reports none.
    pub depth: Option<u32>,
    pub time: Duration,
    /// The part of `time` that the search waited for an encoder on another thread; `None` if the
    /// player uses none.
    pub waited: Option<Duration>,
}

pub trait Player: Send {
    /// The limits of its moves.
    fn limit(&self) -> &Limit;

    /// Clears the state of the previous game.
    fn new_game(&mut self) -> Result<()>;

    /// Chooses a move in a position that has one. An error means a broken player and ends the
    /// match: a crash is not a game result.
    fn choose(&mut self, situation: &Situation<'_>) -> Result<Choice>;
}

/// Azimuth in this process, on a shared worker.
struct InProcess {
    planner: Box<dyn Planner>,
    limit: Limit,
    handicap: Option<Handicap>,
    /// Whether its encoder runs on another thread.
    shares_encoder: bool,
}

impl InProcess {
    fn new(worker: &Worker, settings: &InProcessPlayer, limit: Limit) -> Result<Self> {
        let handicap =
            Handicap { deviation: settings.noise, seed: rand::random(), ..Handicap::default() };
        let handicap = (settings.noise > 0.0).then_some(handicap);
        let InProcessPlayer { planner, planners, resources, .. } = settings;
        let planner = planners.build(*planner, worker, *resources, None)?;
        Ok(Self { planner, limit, handicap, shares_encoder: !worker.runs_in_searches() })
    }
}

impl Player for InProcess {
    fn limit(&self) -> &Limit {
        &self.limit
    }

    fn new_game(&mut self) -> Result<()> {
        self.planner.new_game();
        if let Some(handicap) = &mut self.handicap {
            handicap.seed = rand::random();
        }
        Ok(())
    }

    fn choose(&mut self, situation: &Situation<'_>) -> Result<Choice> {
        let board = situation.position.board();
        let go = Go { move_time: self.limit.move_time, ..situation.go.clone() };
        let limits = Limits {
            depth: self.limit.depth,
            nodes: self.limit.nodes,
            time: budget(&go, board.side_to_move(), Duration::ZERO),
            handicap: self.handicap,
            ..Limits::default()
        };
        let mut control = Control::without_signals(limits);
        let report = self.planner.search(situation.position, &mut control, &mut |_| ())?;
        let time = control.elapsed();
        let mv = report.pv.first().context("the search found no move")?;
        let evaluation = evaluation(report.value).seen_by(board.side_to_move());
        Ok(Choice {
            mv: mv.to_string(),
            evaluation: Some(evaluation),
            depth: Some(report.depth),
            time,
            waited: self.shares_encoder.then_some(report.waited),
        })
    }
}

fn evaluation(value: Value) -> Evaluation {
    match value.moves_to_mate() {
        Some(moves) => Evaluation::Mate(moves),
        None => Evaluation::Centipawns(value.centipawns()),
    }
}

/// An engine that exceeds its limit by this much counts as hanging.
const HANGING: Duration = Duration::from_secs(10);

struct Process {
    engine: Engine,
    limit: Limit,
}

/// Starts an engine and sets its options. Fails if it does not start, does not answer, or lacks an
/// option.
fn start(settings: &UciPlayer) -> Result<Engine> {
    let options = settings.options.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    Engine::start(&settings.command, &settings.arguments, options)
}

impl Process {
    /// Time after which the engine counts as hanging.
    fn patience(&self, situation: &Situation<'_>) -> Duration {
        let side = situation.position.board().side_to_move() as usize;
        match (self.limit.move_time, situation.go.time[side]) {
            (Some(time), _) | (None, Some(time)) => time + self.limit.margin + HANGING,
            (None, None) => PATIENCE,
        }
    }

    fn go(&self, situation: &Situation<'_>) -> String {
        let mut go = "go".to_owned();
        let Go { time: [white, black], increment: [white_increment, black_increment], .. } =
            situation.go;
        let mut add = |name: &str, value: Option<u128>| {
            if let Some(value) = value {
                go.push_str(&format!(" {name} {value}"));
            }
        };
        if self.limit.clock.is_some() {
            // UCI has both clocks in one command; a side without a clock gets the opponent's time.
            add("wtime", Some(white.or(black).unwrap_or_default().as_millis()));
            add("btime", Some(black.or(white).unwrap_or_default().as_millis()));
            add("winc", Some(white_increment.as_millis()));
            add("binc", Some(black_increment.as_millis()));
            add("movestogo", situation.go.moves_to_go.map(u128::from));
        }
        add("depth", self.limit.depth.map(u128::from));
        add("nodes", self.limit.nodes.map(u128::from));
        add("movetime", self.limit.move_time.map(|time| time.as_millis()));
        go
    }
}

impl Player for Process {
    fn limit(&self) -> &Limit {
        &self.limit
    }

    fn new_game(&mut self) -> Result<()> {
        self.engine.new_game()
    }

    fn choose(&mut self, situation: &Situation<'_>) -> Result<Choice> {
        let mut board = Position::from_fen(situation.start)?.board().clone();
        let mut position = format!("position fen {}", situation.start);
        for (number, &mv) in situation.moves.iter().enumerate() {
            position.push_str(if number == 0 { " moves " } else { " " });
            position.push_str(&uci_move(&board, mv, false));
            board.play_unchecked(mv);
        }
        self.engine.send(&position)?;
        let (mut evaluation, mut depth) = (None, None);
        let went = Instant::now();
        self.engine.send(&self.go(situation))?;
        let patience = self.patience(situation);
        loop {
            let line = self.engine.read_within(patience.saturating_sub(went.elapsed()))?;
            let line = line.with_context(|| {
                let waited = went.elapsed().as_secs_f64();
                format!("{}: no answer in {waited:.1} s", self.engine)
            })?;
            let words: Vec<&str> = line.text.split_whitespace().collect();
            match words.as_slice() {
                ["bestmove", mv, ..] => {
                    let evaluation = evaluation.map(|evaluation: Evaluation| {
                        evaluation.seen_by(situation.position.board().side_to_move())
                    });
                    let time = line.read.saturating_duration_since(went);
                    let mv = (*mv).to_owned();
                    return Ok(Choice { mv, evaluation, depth, time, waited: None });
                }
                ["bestmove"] => bail!("{}: bestmove without a move", self.engine),
                ["info", facts @ ..] => {
                    evaluation = read_score(facts).or(evaluation);
                    depth = number_after(facts, "depth").or(depth);
                }
                _ => {}
            }
        }
    }
}

/// The score of the principal line in the words after `info`; other MultiPV lines are ignored.
fn read_score(facts: &[&str]) -> Option<Evaluation> {
    if number_after::<u32>(facts, "multipv").is_some_and(|line| line > 1) {
        return None;
    }
    score(facts).map(|score| match score {
        UciScore::Centipawns(value) => Evaluation::Centipawns(value),
        UciScore::Mate(moves) => Evaluation::Mate(moves),
    })
}

/// Number of bytes of a weights file's hash in a game's record.
const FINGERPRINT: usize = 4;

/// The file of a player's weights, or of its Stockfish network.
fn source(player: &InProcessPlayer) -> PathBuf {
    let usual = || player.planners.default_weights(player.planner).path();
    player.weights.clone().unwrap_or_else(usual)
}

/// A worker with the weights or the Stockfish network in a file.
fn worker(path: &Path, device: &Device, dtype: DType) -> Result<Worker> {
    if path.extension().is_some_and(|extension| extension == "nnue") {
        let network = StockfishNetwork::read(path)?;
        return Ok(Worker::with_evaluator(move || network.clone(), notice));
    }
    start_worker(Arc::new(Weights::read(path)?), device, dtype)
}

/// A player with the name that its games carry.
pub struct Participant {
    pub settings: PlayerSettings,
    pub name: Name,
}

/// Participants, and the workers shared by those that play in this process: one per weights file.
pub struct Roster {
    pub participants: Vec<Participant>,
    /// By weights file, with the hash of the file.
    workers: BTreeMap<PathBuf, (Worker, String)>,
}

impl Roster {
    /// Loads every weights file once, starts every engine once to learn its name and options, and
    /// checks that names differ.
    pub fn assemble(players: Vec<PlayerSettings>, device: &Device, dtype: DType) -> Result<Self> {
        let mut workers = BTreeMap::new();
        let mut participants: Vec<Participant> = Vec::new();
        for settings in players {
            let version = match &settings.program {
                PlayerProgram::InProcess(player) => {
                    let source = source(player);
                    if !workers.contains_key(&source) {
                        let worker = worker(&source, device, dtype)?;
                        workers.insert(source.clone(), (worker, fingerprint(&source)?));
                    }
                    let (_, hash) = &workers[&source];
                    format!("Azimuth {} weights {hash}", env!("CARGO_PKG_VERSION"))
                }
                PlayerProgram::Uci(engine) => start(engine)?.name().to_owned(),
            };
            let name = Name {
                name: settings.name.clone().unwrap_or_else(|| default_name(&settings, &version)),
                settings: settings.describe(&version),
                elo: settings.elo,
            };
            ensure!(
                participants.iter().all(|other| other.name.name != name.name),
                "two players are called '{}'; tell them apart with name=",
                name.name
            );
            participants.push(Participant { settings, name });
        }
        Ok(Self { participants, workers })
    }

    /// A player for this participant; it plays one game at a time.
    pub fn player(&self, participant: usize) -> Result<Box<dyn Player>> {
        let Participant { settings, name } = &self.participants[participant];
        let context = || format!("player '{}'", name.name);
        let limit = settings.limit.clone();
        Ok(match &settings.program {
            PlayerProgram::InProcess(azimuth) => {
                let (worker, _) = &self.workers[&source(azimuth)];
                Box::new(InProcess::new(worker, azimuth, limit).with_context(context)?)
            }
            PlayerProgram::Uci(engine) => {
                Box::new(Process { engine: start(engine).with_context(context)?, limit })
            }
        })
    }
}

/// The first [`FINGERPRINT`] bytes of the SHA-256 of a weights file, in hexadecimal.
fn fingerprint(path: &Path) -> Result<String> {
    let bytes = std::fs::read(path).with_context(|| format!("weights '{}'", path.display()))?;
    Ok(hex(&Sha256::digest(bytes)[..FINGERPRINT]))
}

/// `Azimuth w3 d6`, or the name that the engine reports, with its known or limited rating if any.
fn default_name(settings: &PlayerSettings, version: &str) -> String {
    match &settings.program {
        PlayerProgram::InProcess(azimuth) => {
            let InProcessPlayer { weights, planner, planners, resources, noise } = &**azimuth;
            let beam = planners.beam;
            let is_beam = *planner == PlannerKind::Beam;
            let is_verified = is_beam && beam.verify != BeamVerify::None;
            let left_out = planners.selective.parts.to_string();
            let file = weights.as_deref().and_then(Path::file_stem);
            let parts = [
                Some(match planner {
                    PlannerKind::Beam => format!("Azimuth w{}", beam.width),
                    PlannerKind::Selective => "Azimuth selective".to_owned(),
                }),
                Some(match settings.limit {
                    Limit { move_time: Some(time), .. } => format!("{} ms", time.as_millis()),
                    Limit { clock: Some(clock), .. } => clock.to_string(),
                    Limit { nodes: Some(nodes), .. } => format!("{} nodes", grouped(nodes)),
                    _ => format!("d{}", beam.depth),
                }),
                is_verified.then(|| format!("verify {}", name_of(&beam.verify))),
                (is_beam && beam.policy).then(|| "policy".to_owned()),
                (resources.threads > 1).then(|| format!("{} threads", resources.threads)),
                (!left_out.is_empty()).then(|| format!("without {left_out}")),
                (*noise > 0.0).then(|| format!("noise {noise}")),
                file.map(|stem| stem.to_string_lossy().into_owned()),
            ];
            parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
        }
        PlayerProgram::Uci(_) => match settings.elo {
            Some(elo) => format!("{version} at {elo}"),
            None => version.to_owned(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_read_from_the_first_line() {
        let read = |text: &str| read_score(&text.split_whitespace().collect::<Vec<_>>());
        assert_eq!(read("depth 9 multipv 1 score mate 3 pv e2e4"), Some(Evaluation::Mate(3)));
        assert_eq!(read("depth 9 multipv 2 score cp 5 pv e2e4"), None);
    }

    #[test]
    fn players_with_the_same_weights_share_a_worker() -> Result<()> {
        let players = ["name=a verify=none", "name=b verify=none depth=4", "planner=selective"];
        let players = players.map(PlayerSettings::parse).into_iter().collect::<Result<Vec<_>>>()?;
        let roster = Roster::assemble(players, &Device::Cpu, DType::F32)?;
        assert_eq!(roster.workers.len(), 2);
        Ok(())
    }

    #[test]
    fn players_go_by_what_ends_their_thought() -> Result<()> {
        for (settings, expected) in [
            ("width=5 verify=none", "Azimuth w5 d6"),
            ("width=5 verify=none policy=true", "Azimuth w5 d6 policy"),
            ("width=5 verify=quiescence", "Azimuth w5 d6 verify quiescence"),
            ("planner=selective nodes=10000", "Azimuth selective 10,000 nodes"),
            ("planner=selective nodes=10000 movetime=50", "Azimuth selective 50 ms"),
            ("depth=4 tc=10+0.1 verify=none", "Azimuth w3 10+0.1"),
        ] {
            let player = PlayerSettings::parse(settings)?;
            assert_eq!(default_name(&player, "azimuth"), expected, "{settings}");
        }
        Ok(())
    }
}
