//! The systems that are measured: the rivals, and Azimuth itself.

use std::iter;
use std::path::Path;
use std::sync::LazyLock;

use anyhow::{Context, Result};
use azimuth::embedded_weights::EmbeddedWeights;
use azimuth::inference::{ModelClient, Worker};
use azimuth::names::name_of;
use azimuth::search::{
    BeamSettings, Control, Limits, Planner, PlannerKind, PlannerSettings, Resources,
};
use clap::ValueEnum;
use clap::builder::PossibleValue;
use cozy_chess::Color;

use super::labelled::Labelled;
use super::stem;
use crate::play::Play;
use crate::rival::Rival;
use crate::weights::RivalWeights;

/// Score cache of Azimuth's beam.
const RESOURCES: Resources = Resources { hash_mb: 16, threads: 1 };

/// A system that values or chooses moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// Azimuth's encoder; its speed is that of the beam without verification.
    Azimuth,
    Rival(Rival),
}

/// `azimuth`, then the names of the rivals.
impl ValueEnum for Subject {
    fn value_variants<'a>() -> &'a [Self] {
        static ALL: LazyLock<Vec<Subject>> = LazyLock::new(|| {
            let rivals = Rival::value_variants().iter().copied().map(Subject::Rival);
            iter::once(Subject::Azimuth).chain(rivals).collect()
        });
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        match self {
            Self::Azimuth => Some(PossibleValue::new("azimuth").help("Azimuth's encoder")),
            Self::Rival(rival) => rival.to_possible_value(),
        }
    }
}

/// The size of the weights and of their training; 0 where there is none or it is not recorded.
#[derive(Default)]
pub struct Training {
    pub parameters: usize,
    pub examples: u64,
    pub seconds: f64,
}

impl Subject {
    /// The name in results; that of Azimuth has the name of the weights file.
    pub fn name(self, weights: Option<&Path>) -> String {
        match self {
            Self::Azimuth => format!("azimuth-{}", weights.map_or("default".to_owned(), stem)),
            Self::Rival(rival) => name_of(&rival),
        }
    }

    /// Reads the weights and builds the system.
    pub fn measure(self, weights: Option<&Path>) -> Result<Measure> {
        let (planner, value) = match self {
            Self::Azimuth => {
                let weights = EmbeddedWeights::Beam.or_read(weights)?;
                let worker = Worker::on_cpu(weights, |notice| eprintln!("{notice}"))?;
                let settings = PlannerSettings { beam: BeamSettings::PAPER, ..Default::default() };
                let planner = settings.build(PlannerKind::Beam, &worker, RESOURCES, None)?;
                (planner, Value::Cosine(Box::new(worker.model()?)))
            }
            Self::Rival(rival) => {
                let value = match rival.is_policy() {
                    true => Value::LabelOfChosenMove(name_of(&rival)),
                    false => Value::Evaluation,
                };
                (rival.planner(weights, &Play::default())?, value)
            }
        };
        Ok(Measure { planner, value })
    }

    /// Reads the sizes of the weights and of their training.
    pub fn training(self, weights: Option<&Path>) -> Result<Training> {
        Ok(match self {
            Self::Azimuth => {
                let weights = EmbeddedWeights::Beam.or_read(weights)?;
                let parameters = weights.parameters.iter();
                let parameters = parameters.map(|(_, tensor)| tensor.elem_count()).sum();
                Training { parameters, ..Training::default() }
            }
            Self::Rival(rival) => {
                let weights = rival.weights(weights)?;
                weights.map_or_else(Training::default, |weights| Training::of(&weights))
            }
        })
    }
}

impl Training {
    fn of(weights: &RivalWeights) -> Self {
        let training = &weights.metadata.training;
        let number = |key: &str| training[key].as_f64().unwrap_or(0.0);
        Self {
            parameters: weights.parameter_count(),
            examples: (number("batch") * number("steps")) as u64,
            seconds: number("seconds"),
        }
    }
}

/// A system with its weights.
pub struct Measure {
    pub planner: Box<dyn Planner>,
    value: Value,
}

/// The number that is compared with the label.
enum Value {
    /// White's win probability by the evaluation.
    Evaluation,
    /// The cosine from White's view.
    Cosine(Box<ModelClient>),
    /// The label of the move that this rival, a policy, chooses.
    LabelOfChosenMove(String),
}

impl Measure {
    /// The value of a position, larger if it is better for White.
    pub fn value(&mut self, labelled: &Labelled) -> Result<f32> {
        let position = &labelled.position;
        let board = position.board();
        let white = board.side_to_move() == Color::White;
        match &mut self.value {
            Value::Evaluation => {
                let own = self.planner.evaluate(position)?.win_probability();
                Ok(if white { own } else { 1.0 - own })
            }
            Value::Cosine(model) => {
                let cosines = model.cosines(std::slice::from_ref(board))?;
                let own = *cosines.first().context("no cosine")?;
                Ok(if white { own } else { -own })
            }
            Value::LabelOfChosenMove(rival) => {
                let mut control = Control::without_signals(Limits::default());
                let report = self.planner.search(position, &mut control, &mut |_| ())?;
                let chosen = report.pv.first().context("no move")?;
                let label = labelled.moves.iter().find(|(mv, _)| mv == chosen);
                label.map(|&(_, label)| label).with_context(|| {
                    format!("{rival}: needs labels of all moves; '{board}' has none of {chosen}")
                })
            }
        }
    }
}
