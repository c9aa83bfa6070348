//! Kendall's tau (seed document 004, section 4.1) between labels and the values of a rival, or the
//! cosines of Azimuth's encoder. For a rival that predicts only moves, the label of the position
//! after its move replaces the value.

use std::collections::HashMap;
use std::iter;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use azimuth_chess::position::{Position, board_after, legal_moves, repetition_key};
use azimuth_cli::{print_line, say};
use azimuth_search::inference::{ModelClient, Worker};
use azimuth_search::names::name_of;
use azimuth_search::{
    BeamSettings, Control, DefaultWeights, Limits, Planner, PlannerKind, PlannerSettings,
    Resources, TimeLimit, terminal_value,
};
use azimuth_train::data::dataset;
use azimuth_train::data::family::{Family, FamilyLabels, Split};
use azimuth_train::metrics::kendall_tau_b;
use candle_core::Device;
use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};
use cozy_chess::{Board, Move};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Serialize;

use crate::board::for_side;
use crate::rival::Rival;
use crate::weights::RivalWeights;

/// Measure Kendall's tau of a rival, or of Azimuth's encoder, on labelled positions, and its search
/// speed.
#[derive(Args)]
pub struct TauOptions {
    /// Rival to measure, or `azimuth`.
    #[arg(value_enum)]
    subject: Subject,
    /// Labelled positions, each file measured separately; a rival that predicts only moves also
    /// needs the labels of all their moves.
    #[arg(long, required = true, num_args = 1..)]
    data: Vec<PathBuf>,
    /// Weights file [default: the shipped weights; for `azimuth`, those of the beam].
    #[arg(long)]
    weights: Option<PathBuf>,
    /// Print the results as one line of JSON at the end.
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Measured {
    /// Name of the rival; for Azimuth, with the name of the weights file.
    rival: String,
    taus: Vec<Tau>,
    per_second: f64,
    #[serde(flatten)]
    training: Training,
}

/// Kendall's tau-b on the positions of a file.
#[derive(Serialize)]
struct Tau {
    /// Name of the file without its extensions.
    data: String,
    positions: usize,
    tau: f64,
    /// The 95% interval.
    low: f64,
    high: f64,
}

/// Number of positions for measuring speed, and the search time for each.
const SPEED_POSITIONS: usize = 30;
const SPEED_TIME: Duration = Duration::from_millis(100);

pub fn run(options: &TauOptions) -> Result<()> {
    let mut subject = options.subject.load(options.weights.as_deref())?;
    let mut taus = Vec::new();
    let mut speed_positions = Vec::new();
    for path in &options.data {
        let positions = read_labelled(path)?;
        let labels: Vec<f32> = positions.iter().map(|position| position.label).collect();
        let values: Result<Vec<f32>> = positions.iter().map(|p| subject.value(p)).collect();
        let (tau, [low, high]) = tau_with_interval(&values?, &labels);
        print_line(format_args!("{}", path.display()))?;
        print_line(format_args!("  positions         {:>10}", positions.len()))?;
        print_line(format_args!("  Kendall tau-b     {tau:>10.4}   95%: {low:.4} to {high:.4}"))?;
        taus.push(Tau { data: stem(path), positions: positions.len(), tau, low, high });
        let missing = SPEED_POSITIONS.saturating_sub(speed_positions.len());
        speed_positions.extend(positions.into_iter().take(missing));
    }
    let per_second = speed(&mut *subject.planner, &speed_positions)?;
    print_line(format_args!("positions a second  {per_second:>10.0}"))?;
    if options.json {
        let LoadedSubject { name: rival, training, .. } = subject;
        let measured = Measured { rival, taus, per_second, training };
        print_line(serde_json::to_string(&measured)?)?;
    }
    Ok(())
}

fn stem(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.split('.').next().unwrap_or_default().to_owned()
}

fn speed(planner: &mut dyn Planner, positions: &[Labelled]) -> Result<f64> {
    let (mut nodes, mut seconds) = (0, 0.0);
    for labelled in positions {
        let time = Some(TimeLimit::exactly(SPEED_TIME));
        let mut control = Control::without_signals(Limits { time, ..Limits::default() });
        let report = planner.search(&labelled.position, &mut control, &mut |_| ())?;
        nodes += report.nodes;
        seconds += control.elapsed().as_secs_f64();
    }
    Ok(nodes as f64 / seconds)
}

/// A system that values or chooses moves.
#[derive(Clone, Copy)]
enum Subject {
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

/// Score cache of Azimuth's beam.
const RESOURCES: Resources = Resources { hash_mb: 16, threads: 1 };

impl Subject {
    fn load(self, weights: Option<&Path>) -> Result<LoadedSubject> {
        Ok(match self {
            Self::Azimuth => {
                let name = format!("azimuth-{}", weights.map_or("beam".to_owned(), stem));
                let weights = DefaultWeights::Beam.or_read(weights)?;
                let parameters = weights.parameters.iter();
                let parameters = parameters.map(|(_, tensor)| tensor.elem_count()).sum();
                let training = Training { parameters, ..Training::default() };
                let worker = Worker::on_cpu(weights, |notice| say(notice))?;
                let settings = PlannerSettings { beam: BeamSettings::PAPER, ..Default::default() };
                let planner = settings.build(PlannerKind::Beam, &worker, RESOURCES, None)?;
                let value = Value::Cosine(Box::new(worker.model()?));
                LoadedSubject { name, planner, value, training }
            }
            Self::Rival(rival) => {
                let value = match rival {
                    // They predict only a move.
                    Rival::Policy | Rival::Diffusion => Value::LabelOfChosenMove,
                    _ => Value::Evaluation,
                };
                let planner = rival.planner(weights, &Device::Cpu, 0)?;
                let training = rival.weights(weights)?.as_ref().map(Training::of);
                let training = training.unwrap_or_default();
                LoadedSubject { name: name_of(&rival), planner, value, training }
            }
        })
    }
}

/// The size of the weights and of their training; 0 where there is none or it is not recorded.
#[derive(Default, Serialize)]
struct Training {
    parameters: usize,
    /// Number of training examples, counted with repetition.
    examples: u64,
    seconds: f64,
}

impl Training {
    fn of(weights: &RivalWeights) -> Self {
        let training = &weights.metadata.training;
        let number = |key: &str| training[key].as_f64().unwrap_or(0.0);
        Self {
            parameters: weights.tensors.values().map(|tensor| tensor.elem_count()).sum(),
            examples: (number("batch") * number("steps")) as u64,
            seconds: number("seconds"),
        }
    }
}

struct LoadedSubject {
    /// The name in results; that of Azimuth has the name of the weights file.
    name: String,
    planner: Box<dyn Planner>,
    value: Value,
    training: Training,
}

/// The number that is compared with the label.
enum Value {
    /// The evaluation from White's view.
    Evaluation,
    /// The cosine from White's view.
    Cosine(Box<ModelClient>),
    /// The label of the move that a policy chooses.
    LabelOfChosenMove,
}

impl LoadedSubject {
    /// The value of a position, larger if it is better for White.
    fn value(&mut self, labelled: &Labelled) -> Result<f32> {
        let position = &labelled.position;
        let board = position.board();
        let side = board.side_to_move();
        match &mut self.value {
            Value::Evaluation => {
                let p = self.planner.evaluate(position)?.win_probability();
                Ok(for_side(side, 2.0 * p - 1.0))
            }
            Value::Cosine(model) => {
                let cosines = model.cosines(std::slice::from_ref(board))?;
                let own = *cosines.first().context("no cosine")?;
                Ok(for_side(side, own))
            }
            Value::LabelOfChosenMove => {
                let mut control = Control::without_signals(Limits::default());
                let report = self.planner.search(position, &mut control, &mut |_| ())?;
                let chosen = report.pv.first().context("no move")?;
                let label = labelled.moves.iter().find(|(mv, _)| mv == chosen);
                label.map(|&(_, label)| label).with_context(|| {
                    let name = &self.name;
                    format!("{name}: needs labels of all moves; '{board}' has none of {chosen}")
                })
            }
        }
    }
}

/// A position with its label and the labels of its moves, as White's win probabilities.
struct Labelled {
    position: Position,
    label: f32,
    moves: Vec<(Move, f32)>,
}

/// The labelled positions of a file, with the labels of their moves if there are any.
fn read_labelled(path: &Path) -> Result<Vec<Labelled>> {
    let (data, _) = dataset::open(&[path.to_owned()])?;
    let mut own: Vec<(Board, f32)> = Vec::new();
    // The data keep one copy of each position, so the label after a move can be that of another
    // position.
    let mut known: HashMap<u64, f32> = HashMap::new();
    for split in Split::ALL {
        data.families(split, 1, |family| {
            let Family { board, labels } = family.decode()?;
            match labels {
                FamilyLabels::Own(label) => {
                    known.insert(repetition_key(&board), label.win_probability());
                    own.push((board, label.win_probability()));
                }
                FamilyLabels::Children(children) => {
                    known.extend(children.into_iter().map(|(mv, label)| {
                        (repetition_key(&board_after(&board, mv)), label.win_probability())
                    }));
                }
            }
            Ok(())
        })?;
    }
    ensure!(
        !own.is_empty(),
        "'{}': no position has a label; labels of moves alone are not enough",
        path.display()
    );
    let label_after = |board: &Board, mv: Move| {
        let after = board_after(board, mv);
        // The data have no positions in which the game is over.
        let score_of_end = || {
            let own = 2.0 * terminal_value(&after, 1, &[])?.win_probability() - 1.0;
            Some((1.0 + for_side(after.side_to_move(), own)) / 2.0)
        };
        known.get(&repetition_key(&after)).copied().or_else(score_of_end)
    };
    let labelled = own.into_iter().map(|(board, label)| {
        let moves = legal_moves(&board).into_iter();
        let moves = moves.filter_map(|mv| Some((mv, label_after(&board, mv)?))).collect();
        Labelled { position: Position::from(board), label, moves }
    });
    Ok(labelled.filter(|labelled| labelled.position.has_legal_move()).collect())
}

const BOOTSTRAP_SAMPLES: usize = 1_000;

/// Kendall's tau-b of `values` and `labels`, and its 95% interval: the percentiles 2.5 and 97.5 of
/// samples of as many pairs, drawn with replacement (Efron 1979). The same data give the same
/// interval.
fn tau_with_interval(values: &[f32], labels: &[f32]) -> (f64, [f64; 2]) {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut tau_of_sample = |_| {
        let drawn = (0..labels.len()).map(|_| rng.random_range(0..labels.len()));
        let (values, labels): (Vec<f32>, Vec<f32>) = drawn.map(|i| (values[i], labels[i])).unzip();
        kendall_tau_b(&values, &labels)
    };
    let mut taus: Vec<f64> = (0..BOOTSTRAP_SAMPLES).map(&mut tau_of_sample).collect();
    taus.sort_by(f64::total_cmp);
    let percentile = |share: f64| taus[(share * (BOOTSTRAP_SAMPLES - 1) as f64).round() as usize];
    (kendall_tau_b(values, labels), [0.025, 0.975].map(percentile))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_contains_tau_and_shrinks_with_more_positions() {
        let noisy = |count: u32| {
            let labels: Vec<f32> = (0..count).map(|i| i as f32).collect();
            let noise = |i: u32| (i.wrapping_mul(2_654_435_761) >> 8) as f32 / (1 << 24) as f32;
            let values: Vec<f32> = (0..count).map(|i| i as f32 + 300.0 * noise(i)).collect();
            tau_with_interval(&values, &labels)
        };
        let (few, wide) = noisy(100);
        let (many, narrow) = noisy(1_000);
        assert!(wide[0] < few && few < wide[1], "{few} {wide:?}");
        assert!(narrow[0] < many && many < narrow[1], "{many} {narrow:?}");
        assert!(narrow[1] - narrow[0] < (wide[1] - wide[0]) / 2.0, "{narrow:?} {wide:?}");
    }
}
