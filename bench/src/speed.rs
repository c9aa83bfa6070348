//! `azimuth-bench speed`: speed of the encoder alone and in the search, relative to the machine's
//! limit, which is measured, too.
//!
//! The measured encoder: from a weights file, or one of the paper's sizes with random parameters,
//! which are as fast as trained ones.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use azimuth_chess::bench_positions::BENCH_POSITIONS;
use azimuth_chess::position::{Position, board_after, legal_moves};
use azimuth_chess::tokens;
use azimuth_cli::print_line;
use azimuth_network::parameters::{Init, ParameterSpec, Parameters};
use azimuth_network::sparse::features::FeatureBatch;
use azimuth_network::sparse::{HIDDEN, SparseConfig};
use azimuth_network::transformer::TransformerConfig;
use azimuth_network::weights::Weights;
use azimuth_network::{Architecture, Inputs};
use azimuth_search::encoder::Scores;
use azimuth_search::inference::{Worker, device_name};
use azimuth_search::model::Model;
use azimuth_search::{
    Beam, BeamSettings, Control, DefaultWeights, Limits, Planner, PlannerSettings, Resources,
};
use candle_core::{DType, Device, Tensor};
use clap::Args;
use cozy_chess::{Board, Move};
use serde::{Deserialize, Serialize};

use crate::arguments::{DeviceArguments, JsonFile, start_worker};

/// Measure the speed of encoders (positions per second by batch size), the time per move by depth,
/// and the share of the machine's limit that each reaches.
///
/// On a CPU, set RAYON_NUM_THREADS=1 to measure a single core.
#[derive(Args)]
pub struct Speed {
    /// Encoder: beam (its default weights), mini, small or base (random parameters), or a
    /// weights file; may be repeated.
    #[arg(long = "encoder", default_values_t = ["beam".to_owned(), "mini".to_owned()])]
    encoders: Vec<String>,
    /// Batch sizes in positions, separated by commas.
    #[arg(long, value_delimiter = ',', default_values_t = [1, 16, 64, 256, 1024])]
    batch: Vec<usize>,
    /// Maximum search depth, in plies.
    #[arg(long, default_value_t = 6)]
    depth: u32,
    /// Number of rounds of every measurement; the median is reported.
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    #[command(flatten)]
    json: JsonFile,
    #[command(flatten)]
    device: DeviceArguments,
}

#[derive(Debug, Serialize, Deserialize)]
pub struct SpeedResults {
    pub machine: Machine,
    pub encoders: Vec<EncoderSpeed>,
    pub searches: Vec<SearchSpeed>,
}

/// The machine and its measured limit.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Machine {
    pub processor: String,
    pub threads: usize,
    pub device: String,
    pub precision: String,
    /// Operations per second (a multiplication and an addition count as two) of a large product of
    /// square matrices through candle.
    pub limit: f64,
    /// Number of rows of those matrices.
    pub limit_size: usize,
}

/// Positions per second from board to score, at one batch size.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct EncoderSpeed {
    pub encoder: String,
    pub batch: usize,
    pub positions_per_second: f64,
    /// Operations per position.
    pub operations: f64,
    /// Operations per second as a share of the machine's limit.
    pub of_limit: f64,
}

/// Searches with one encoder.
#[derive(Debug, Serialize, Deserialize)]
pub struct SearchSpeed {
    pub encoder: String,
    /// Searches of the positions, each with an empty cache.
    pub depths: Vec<DepthSpeed>,
    /// Moves of a game of the search against itself; the cache is kept between moves.
    pub game: Option<GameSpeed>,
}

/// Means per move at one depth.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DepthSpeed {
    pub depth: u32,
    pub milliseconds: f64,
    pub scored: f64,
    pub scored_per_second: f64,
    /// `scored_per_second` relative to the encoder alone in the same rounds.
    pub of_encoder: f64,
}

/// Means per move in a game.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct GameSpeed {
    pub depth: u32,
    pub milliseconds: f64,
    pub scored: f64,
    /// Share of the visited positions that did not have to be scored.
    pub hits: f64,
}

pub fn run(arguments: &Speed) -> Result<()> {
    let (device, dtype) = arguments.device.open()?;
    arguments.json.check(&arguments.encoders)?;
    let subjects: Vec<Subject> =
        arguments.encoders.iter().map(|name| Subject::named(name)).collect::<Result<_>>()?;
    let size = if device.is_cpu() { 1536 } else { 8192 };
    let rounds = 0..arguments.rounds.max(1);
    let limits = rounds.map(|_| machine_limit(size, &device, dtype)).collect::<Result<_>>()?;
    let machine = Machine {
        processor: processor(),
        threads: candle_core::utils::get_num_threads(),
        device: device_name(&device),
        precision: dtype.as_str().to_owned(),
        limit: median(limits),
        limit_size: size,
    };
    let Machine { processor, threads, precision, .. } = &machine;
    print_line(format_args!(
        "{} {precision} on {processor}, {threads} threads: product of {size} x {size} matrices \
         {:.1} GFLOP/s",
        machine.device,
        machine.limit / 1e9
    ))?;
    let (mut encoders, mut searches) = (Vec::new(), Vec::new());
    for subject in &subjects {
        let bench = Bench { arguments, subject, device: &device, dtype, limit: machine.limit };
        encoders.extend(bench.encoder()?);
        searches.push(bench.search()?);
    }
    arguments.json.write(&SpeedResults { machine, encoders, searches })
}

/// The processor's name, if the system reports it.
fn processor() -> String {
    let known = std::fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| {
        let line = text.lines().find(|line| line.starts_with("model name"))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    });
    known.unwrap_or_else(|| std::env::consts::ARCH.to_owned())
}

const LIMIT_TIME: Duration = Duration::from_millis(400);

/// Operations per second of a product of two `size` x `size` matrices.
fn machine_limit(size: usize, device: &Device, dtype: DType) -> Result<f64> {
    let matrix = || Tensor::randn(0f32, 1f32, (size, size), device)?.to_dtype(dtype);
    let (one, other) = (matrix()?, matrix()?);
    one.matmul(&other)?;
    device.synchronize()?;
    let began = Instant::now();
    let mut products = 0;
    while began.elapsed() < LIMIT_TIME {
        one.matmul(&other)?;
        device.synchronize()?;
        products += 1;
    }
    let operations = 2.0 * (size as f64).powi(3);
    Ok(operations * f64::from(products) / began.elapsed().as_secs_f64())
}

struct Bench<'a> {
    arguments: &'a Speed,
    subject: &'a Subject,
    device: &'a Device,
    dtype: DType,
    limit: f64,
}

/// The score cache of the measured searches, and their threads.
const RESOURCES: Resources = Resources { hash_mb: 16, threads: 1 };

/// A depth whose round takes longer than this is measured once, and no deeper one is measured.
const LONGEST_ROUND: Duration = Duration::from_secs(20);

impl Bench<'_> {
    fn encoder(&self) -> Result<Vec<EncoderSpeed>> {
        let boards = leaves(&roots()?);
        let operations = self.subject.operations(&boards);
        let mut model = Model::new(&self.subject.weights, self.device, self.dtype)?;
        let largest = model.attributes().maximum_batch;
        let mut speeds = Vec::new();
        for &batch in self.arguments.batch.iter().filter(|&&batch| 0 < batch && batch <= largest) {
            let mut rounds = Vec::new();
            for _ in 0..self.arguments.rounds.max(1) {
                rounds.extend(encoder_throughput(&mut model, &boards, batch)?);
            }
            if rounds.is_empty() {
                print_line(format_args!("{}, batch {batch}: takes too long", self.subject.name))?;
                continue;
            }
            let positions_per_second = median(rounds);
            let of_limit = positions_per_second * operations / self.limit;
            print_line(format_args!(
                "{}, batch {batch}: {positions_per_second:.0} positions/s of {:.3} MFLOP, {:.1}% of \
                 the limit",
                self.subject.name,
                operations / 1e6,
                of_limit * 100.0
            ))?;
            speeds.push(EncoderSpeed {
                encoder: self.subject.name.clone(),
                batch,
                positions_per_second,
                operations,
                of_limit,
            });
        }
        Ok(speeds)
    }

    fn search(&self) -> Result<SearchSpeed> {
        let mut depths: Vec<DepthSpeed> = Vec::new();
        let mut game = None;
        for depth in 1..=self.arguments.depth {
            let (speed, last) = self.depth(depth)?;
            depths.push(speed);
            if last {
                break;
            }
            if depth == self.arguments.depth {
                let (_worker, mut beam) = self.beam(depth)?;
                let speed = play_game(&mut beam, depth)?;
                print_line(format_args!(
                    "{} in a game, depth {depth}: {:.2} ms a move, {:.0} scored, {:.1}% not scored \
                     again",
                    self.subject.name,
                    speed.milliseconds,
                    speed.scored,
                    speed.hits * 100.0
                ))?;
                game = Some(speed);
            }
        }
        Ok(SearchSpeed { encoder: self.subject.name.clone(), depths, game })
    }

    /// A beam that searches to `depth`, and the worker that serves it.
    fn beam(&self, depth: u32) -> Result<(Worker, Beam)> {
        let worker = start_worker(self.subject.weights.clone(), self.device, self.dtype)?;
        let beam = BeamSettings { depth, ..BeamSettings::PAPER };
        let settings = PlannerSettings { beam, ..PlannerSettings::default() };
        let beam = Beam::new(&worker, &settings, RESOURCES)?;
        Ok((worker, beam))
    }

    /// The median round at a depth, and whether greater depths would take too long.
    fn depth(&self, depth: u32) -> Result<(DepthSpeed, bool)> {
        let roots = roots()?;
        let boards = leaves(&roots);
        let mut model = Model::new(&self.subject.weights, self.device, self.dtype)?;
        let batch = model.attributes().recommended_batch;
        let (mut rounds, mut alone) = (Vec::new(), Vec::new());
        let mut last = false;
        for _ in 0..self.arguments.rounds.max(1) {
            alone.push(measured_throughput(&mut model, &boards, batch)?);
            let (_worker, mut beam) = self.beam(depth)?;
            let mut round = Round::default();
            for root in &roots {
                beam.new_game();
                round.search(&mut beam, root)?;
            }
            last |= round.time > LONGEST_ROUND;
            rounds.push(round);
            if last {
                break;
            }
        }
        rounds.sort_by_key(|round| round.time);
        let round = rounds[rounds.len() / 2];
        let moves = roots.len() as f64;
        let scored_per_second = round.scored as f64 / round.time.as_secs_f64();
        let speed = DepthSpeed {
            depth,
            milliseconds: round.time.as_secs_f64() * 1e3 / moves,
            scored: round.scored as f64 / moves,
            scored_per_second,
            of_encoder: scored_per_second / median(alone),
        };
        print_line(format_args!(
            "{}, depth {depth}: {:.2} ms a move, {:.0} scored, {scored_per_second:.0} scored/s, \
             {:.0}% of the encoder alone",
            self.subject.name,
            speed.milliseconds,
            speed.scored,
            speed.of_encoder * 100.0
        ))?;
        Ok((speed, last))
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// The positions that are searched.
fn roots() -> Result<Vec<Position>> {
    BENCH_POSITIONS.iter().map(|fen| Position::from_fen(fen)).collect()
}

/// Grandchildren of the roots, as in a search: neighbours in the tree are adjacent, and few
/// positions occur twice.
fn leaves(roots: &[Position]) -> Vec<Board> {
    roots
        .iter()
        .flat_map(|root| children(root.board()))
        .flat_map(|child| children(&child))
        .collect()
}

fn children(board: &Board) -> Vec<Board> {
    legal_moves(board).into_iter().map(|mv| board_after(board, mv)).collect()
}

/// The totals of one search from every root, run one after another.
#[derive(Clone, Copy, Debug, Default)]
struct Round {
    time: Duration,
    looked_at: u64,
    scored: u64,
}

impl Round {
    /// Searches a position, and returns the move.
    fn search(&mut self, beam: &mut Beam, root: &Position) -> Result<Move> {
        let mut control = Control::without_signals(Limits::default());
        let began = Instant::now();
        let report = beam.search(root, &mut control, &mut |_| ())?;
        self.time += began.elapsed();
        self.looked_at += report.nodes;
        self.scored += report.scored;
        report.pv.first().copied().context("the search found no move")
    }
}

const GAME_PLIES: usize = 60;

/// Plays a game from the starting position; the cache is kept between moves.
fn play_game(beam: &mut Beam, depth: u32) -> Result<GameSpeed> {
    let mut position = Position::default();
    let (mut total, mut moves) = (Round::default(), 0);
    while moves < GAME_PLIES && position.has_legal_move() {
        position.play(total.search(beam, &position)?);
        moves += 1;
    }
    Ok(GameSpeed {
        depth,
        milliseconds: total.time.as_secs_f64() * 1e3 / moves as f64,
        scored: total.scored as f64 / moves as f64,
        hits: 1.0 - total.scored as f64 / total.looked_at as f64,
    })
}

/// A batch that takes longer than this is too large to measure.
const LONGEST_BATCH: Duration = Duration::from_secs(8);

/// Positions per second of the encoder, including the preparation of the inputs and the calibration
/// of the scores. A device has two batches in flight, as in play. `None` if one batch would take
/// too long.
fn encoder_throughput(model: &mut Model, boards: &[Board], batch: usize) -> Result<Option<f64>> {
    // A part of the batch predicts the time of the whole batch.
    let began = Instant::now();
    evaluate(model, boards.iter().cycle().take(batch.div_ceil(16)))?;
    if began.elapsed() * 16 > LONGEST_BATCH {
        return Ok(None);
    }
    measured_throughput(model, boards, batch).map(Some)
}

const ENCODER_TIME: Duration = Duration::from_millis(150);

/// Positions per second of the encoder, however long one batch takes.
fn measured_throughput(model: &mut Model, boards: &[Board], batch: usize) -> Result<f64> {
    let mut boards = boards.iter().cycle();
    evaluate(model, boards.by_ref().take(batch))?;
    let (began, mut positions) = (Instant::now(), 0);
    let mut last = begin(model, boards.by_ref().take(batch))?;
    while positions == 0 || began.elapsed() < ENCODER_TIME {
        let next = begin(model, boards.by_ref().take(batch))?;
        finish(model, std::mem::replace(&mut last, next))?;
        positions += batch;
    }
    finish(model, last)?;
    positions += batch;
    Ok(positions as f64 / began.elapsed().as_secs_f64())
}

fn evaluate<'a>(model: &mut Model, boards: impl Iterator<Item = &'a Board>) -> Result<()> {
    let scores = begin(model, boards)?;
    finish(model, scores)
}

fn begin<'a>(model: &mut Model, boards: impl Iterator<Item = &'a Board>) -> Result<Scores> {
    let inputs = Inputs::of(model.attributes().input, boards);
    Ok(model.begin(&inputs)?)
}

fn finish(model: &Model, scores: Scores) -> Result<()> {
    let (cosines, calibration) = (scores.wait()?, &model.space().calibration);
    let scores = cosines.iter().map(|&cosine| calibration.win_probability(cosine));
    // The scores are used, so that the compiler cannot remove the work.
    std::hint::black_box(scores.sum::<f32>());
    Ok(())
}

struct Subject {
    name: String,
    weights: Arc<Weights>,
}

impl Subject {
    /// `beam` for its default weights, `mini`, `small`, `base`, or the path of a weights file.
    fn named(name: &str) -> Result<Self> {
        let transformer = |config| random(Architecture::Transformer(config));
        let weights = match name {
            "beam" => DefaultWeights::Beam.weights(),
            "mini" => transformer(TransformerConfig::mini()),
            "small" => transformer(TransformerConfig::small()),
            "base" => transformer(TransformerConfig::base()),
            path => Weights::read(Path::new(path))
                .context("--encoder: not beam, mini, small or base, so the path of a file"),
        }?;
        let name = weights.metadata.architecture.to_string();
        Ok(Self { name, weights: Arc::new(weights) })
    }

    /// Number of multiplications and additions per position, averaged over `boards`.
    fn operations(&self, boards: &[Board]) -> f64 {
        match &self.weights.metadata.architecture {
            Architecture::Sparse(config) => {
                let batch = FeatureBatch::of(config.features, boards);
                sparse_operations(config, batch.rows().len() as f64 / boards.len() as f64)
            }
            Architecture::Transformer(config) => transformer_operations(config),
        }
    }
}

/// Counts the sum of both sides' active rows and the dense layers.
fn sparse_operations(config: &SparseConfig, rows: f64) -> f64 {
    let sums = rows * config.accumulator as f64;
    let inputs = 2 * config.accumulator + config.middle_layers * HIDDEN;
    let dense = 2 * (inputs * HIDDEN + HIDDEN * config.embedding_dim);
    sums + dense as f64
}

/// Counts the matrix products of all layers over the tokens and CLS. After its attention the last
/// layer processes CLS alone.
fn transformer_operations(config: &TransformerConfig) -> f64 {
    let (length, hidden) = (tokens::LEN + 1, config.hidden);
    let attention = 3 * hidden * hidden + 2 * length * hidden;
    let after = hidden * hidden + 2 * hidden * config.mlp;
    let rows_after = (config.layers - 1) * length + 1;
    let layers = config.layers * length * attention + rows_after * after;
    (2 * (layers + hidden * config.embedding_dim)) as f64
}

fn random(architecture: Architecture) -> Result<Weights> {
    let tensor = |spec: &ParameterSpec| -> Result<Tensor> {
        let (shape, device) = (spec.shape.as_slice(), &Device::Cpu);
        Ok(match spec.init {
            Init::Constant(value) => Tensor::full(value, shape, device)?,
            Init::Normal(deviation) => Tensor::randn(0.0, deviation, shape, device)?,
            Init::Uniform(bound) => Tensor::rand(-bound, bound, shape, device)?,
        })
    };
    let specs = architecture.parameters();
    let named = specs.iter().map(|spec| Ok((spec.name.clone(), tensor(spec)?)));
    let parameters = Parameters::new(named.collect::<Result<Vec<_>>>()?);
    Weights::without_space(architecture, parameters)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The paper's table: about 10 and 39 million parameters; each is used once per token.
    #[test]
    fn operations_follow_the_parameters() {
        for config in [TransformerConfig::small(), TransformerConfig::base()] {
            let dense: usize = config
                .parameters()
                .iter()
                .filter(|spec| spec.name.starts_with("transformer") && spec.shape.len() == 2)
                .map(|spec| spec.shape.iter().product::<usize>())
                .sum();
            let length = tokens::LEN + 1;
            let attention = 4 * config.layers * length * length * config.hidden;
            let projection = 2 * config.hidden * config.embedding_dim;
            let spared = config.hidden * (config.hidden + 2 * config.mlp) * (length - 1);
            let expected = 2 * (dense * length - spared) + attention + projection;
            assert_eq!(transformer_operations(&config), expected as f64);
        }
        let config = SparseConfig {
            features: "piece-square".parse().expect("a set"),
            accumulator: 256,
            embedding_dim: 64,
            heads: 1,
            middle_layers: 1,
        };
        assert_eq!(
            sparse_operations(&config, 64.0),
            (2 * 32 * 256 + 2 * (512 * 32 + 32 * 32 + 32 * 64)) as f64
        );
    }

    #[test]
    fn names_and_paths_are_told_apart() {
        assert_eq!(Subject::named("mini").expect("random").name, "mini");
        let error = format!("{:#}", Subject::named("/no/such/file").err().expect("missing"));
        assert!(error.contains("--encoder") && error.contains("/no/such/file"), "{error}");
    }
}
