//! The players of a match, checked and named before the first game.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use azimuth_network::checksum::hex;
use azimuth_network::weights::Weights;
use azimuth_nnue::StockfishNetwork;
use azimuth_search::inference::{BatchSecond, Worker};
use azimuth_search::names::name_of;
use azimuth_search::{BeamVerify, PlannerKind};
use candle_core::{DType, Device};
use sha2::{Digest, Sha256};

use super::player::{InProcess, Player, Process};
use crate::device::{notice, start_worker};
use crate::games::Name;
use crate::plot::grouped;
use crate::settings::{InProcessPlayer, Limit, PlayerProgram, PlayerSettings};

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
                PlayerProgram::Uci(engine) => {
                    Process::start(engine, settings.limit.clone())?.name().to_owned()
                }
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

    /// The batches of each worker, with the hash of its weights file.
    pub fn batches(&self) -> impl Iterator<Item = (&str, Vec<BatchSecond>)> {
        self.workers.values().map(|(worker, hash)| (hash.as_str(), worker.batches()))
    }

    /// The worker and settings of a participant that plays in this process; `None` for a UCI
    /// engine.
    pub fn in_process(&self, participant: usize) -> Option<(&InProcessPlayer, &Worker)> {
        match &self.participants[participant].settings.program {
            PlayerProgram::InProcess(azimuth) => Some((azimuth, &self.workers[&source(azimuth)].0)),
            PlayerProgram::Uci(_) => None,
        }
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
                Box::new(Process::start(engine, limit).with_context(context)?)
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
            let mut name = match planner {
                PlannerKind::Beam => format!("Azimuth w{}", beam.width),
                PlannerKind::Selective => "Azimuth selective".to_owned(),
            };
            name.push_str(&match settings.limit {
                Limit { move_time: Some(time), .. } => format!(" {} ms", time.as_millis()),
                Limit { clock: Some(clock), .. } => format!(" {clock}"),
                Limit { nodes: Some(nodes), .. } => format!(" {} nodes", grouped(nodes)),
                _ => format!(" d{}", beam.depth),
            });
            if *planner == PlannerKind::Beam && beam.verify != BeamVerify::None {
                name.push_str(&format!(" verify {}", name_of(&beam.verify)));
            }
            if resources.threads > 1 {
                name.push_str(&format!(" {} threads", resources.threads));
            }
            let left_out = planners.selective.parts.to_string();
            if !left_out.is_empty() {
                name.push_str(&format!(" without {left_out}"));
            }
            if *noise > 0.0 {
                name.push_str(&format!(" noise {noise}"));
            }
            if let Some(path) = weights {
                let stem = path.file_stem().unwrap_or_default().to_string_lossy();
                name.push_str(&format!(" {stem}"));
            }
            name
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
    fn players_go_by_what_ends_their_thought() -> Result<()> {
        for (settings, expected) in [
            ("width=5 verify=none", "Azimuth w5 d6"),
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
