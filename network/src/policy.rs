//! The policy head: gives each legal move of a position a logit. The softmax of the logits is the
//! probability that a move is best.
//!
//! Its first layer is that of a sparse encoder: a feature sum of width H in each side's view,
//! activated by `clamp(x, 0, 1)²`. A move has a row of 2H weights and a bias; its logit is the bias
//! plus the product of the row with the activations, those of the side to move first.

use std::sync::LazyLock;

use anyhow::{Result, ensure};
use azimuth_chess::placement::Placement;
use azimuth_chess::see::StaticExchange;
use candle_core::{DType, Device, Tensor};
use cozy_chess::{Board, Move, Piece};
use multiversion::multiversion;
use serde::{Deserialize, Serialize};

use crate::parameters::{Init, ParameterSpec, Parameters};
use crate::sparse::ACCUMULATOR_BLOCK;
use crate::sparse::features::{FeatureBatch, FeatureSet, View};

/// Number of pairs of squares between which a queen or a knight moves on an empty board.
const PAIRS: usize = 1792;

/// Number of pairs of a file that a promoting pawn leaves and a file that it reaches.
const FILES: usize = 8 * 8;

/// Number of rows of move weights, see [`move_rows`].
pub const MOVE_ROWS: usize = 2 * PAIRS + 3 * FILES;

/// The parameters: the feature table (rows x H), its bias (H), and the weights ([`MOVE_ROWS`] x 2H)
/// and biases of moves.
pub const PARAMETERS: [&str; 4] =
    ["features.weight", "features.bias", "moves.weight", "moves.bias"];

/// Sizes of a policy head.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PolicyConfig {
    /// The feature set.
    pub features: FeatureSet,
    /// Width of one side's feature sum (H).
    pub accumulator: usize,
}

impl PolicyConfig {
    fn check(&self) -> Result<()> {
        let width = self.accumulator;
        ensure!(
            (1..=1 << 16).contains(&width) && width.is_multiple_of(ACCUMULATOR_BLOCK),
            "accumulator width {width} is not a multiple of {ACCUMULATOR_BLOCK} up to 65536"
        );
        Ok(())
    }

    /// The parameters with their shapes. Those of moves are 0 before training.
    pub fn parameters(&self) -> [ParameterSpec; 4] {
        let shapes: [&[usize]; 4] = [
            &[self.features.rows(), self.accumulator],
            &[self.accumulator],
            &[MOVE_ROWS, 2 * self.accumulator],
            &[MOVE_ROWS],
        ];
        std::array::from_fn(|index| {
            ParameterSpec::new(PARAMETERS[index], shapes[index], Init::Constant(0.0))
        })
    }
}

/// Numbers the pairs of squares between which a piece can move. The index is `64 * from + to`. All
/// other entries are 0.
static PAIR: LazyLock<[u16; 64 * 64]> = LazyLock::new(|| {
    let (mut numbers, mut next) = ([0; 64 * 64], 0);
    for (index, number) in numbers.iter_mut().enumerate() {
        let (from, to) = (index / 64, index % 64);
        let files = (from % 8).abs_diff(to % 8);
        let ranks = (from / 8).abs_diff(to / 8);
        let is_line = files == 0 || ranks == 0 || files == ranks;
        if from != to && (is_line || files * ranks == 2) {
            *number = next;
            next += 1;
        }
    }
    numbers
});

/// Adds the row of each of the legal `moves` of a position to `rows`. It depends on both squares, in
/// the side to move's view, and on whether the move loses material by captures on its target square.
/// Promotions to other pieces than a queen have rows by piece and files instead.
pub fn move_rows(set: FeatureSet, placement: &Placement, moves: &[Move], rows: &mut Vec<u16>) {
    let view = View::new(set, placement, placement.side_to_move);
    let exchange = StaticExchange::new(placement);
    rows.extend(moves.iter().map(|&mv| {
        let [from, to] = [mv.from, mv.to].map(|square| view.square(square as usize));
        match mv.promotion {
            None | Some(Piece::Queen) => {
                2 * PAIR[64 * from + to] + u16::from(exchange.see_of_move(mv) >= 0)
            }
            Some(piece) => {
                let piece = piece as usize - Piece::Knight as usize;
                (2 * PAIRS + piece * FILES + from % 8 * 8 + to % 8) as u16
            }
        }
    }));
}

/// A policy head for play. Its matrices have 8 bits.
#[derive(Clone, Debug)]
pub struct Policy {
    config: PolicyConfig,
    table: Matrix,
    bias: Vec<f32>,
    moves: Matrix,
    move_bias: Vec<f32>,
}

impl Policy {
    /// A policy head with these parameters, rounded to 8 bits.
    pub fn new(config: PolicyConfig, parameters: &Parameters) -> Result<Self> {
        config.check()?;
        let specs = config.parameters();
        parameters.check(&specs)?;
        let matrix = |spec: &ParameterSpec| -> Result<Matrix> {
            Ok(Matrix::rounded(&parameters.values(&spec.name)?, spec.shape[1]))
        };
        let [table, bias, moves, move_bias] = &specs;
        Ok(Self {
            table: matrix(table)?,
            bias: parameters.values(&bias.name)?,
            moves: matrix(moves)?,
            move_bias: parameters.values(&move_bias.name)?,
            config,
        })
    }

    /// Its sizes.
    pub fn config(&self) -> &PolicyConfig {
        &self.config
    }

    /// Reads a policy head from the tensors of a file, see [`Self::stored`]. Fails if a tensor is
    /// missing, or if its shape, type or values are not those of a policy head of these sizes.
    pub fn from_stored(
        config: PolicyConfig,
        tensor: impl Fn(&str) -> Result<Tensor>,
    ) -> Result<Self> {
        config.check()?;
        let floats = |name: &str, count: usize| -> Result<Vec<f32>> {
            let values = of_shape(tensor(name)?, name, DType::F32, &[count])?.to_vec1()?;
            let finite = values.iter().all(|value: &f32| value.abs() <= LARGEST);
            ensure!(finite, "tensor '{name}' holds a value that is not finite or above {LARGEST}");
            Ok(values)
        };
        let matrix = |spec: &ParameterSpec| -> Result<Matrix> {
            let values = of_shape(tensor(&spec.name)?, &spec.name, DType::U8, &spec.shape)?;
            let values: Vec<u8> = values.flatten_all()?.to_vec1()?;
            let values = values.into_iter().map(|value| (value ^ SIGN) as i8).collect();
            let scales = floats(&scales_of(&spec.name), spec.shape[0])?;
            Ok(Matrix { width: spec.shape[1], values, scales })
        };
        let [table, bias, moves, move_bias] = config.parameters();
        Ok(Self {
            table: matrix(&table)?,
            bias: floats(&bias.name, bias.shape[0])?,
            moves: matrix(&moves)?,
            move_bias: floats(&move_bias.name, move_bias.shape[0])?,
            config,
        })
    }

    /// The tensors of a file: of each matrix the values plus 128 (U8) and the scales of its rows
    /// (F32), and the biases (F32).
    pub fn stored(&self) -> Result<Vec<(String, Tensor)>> {
        let [table, bias, moves, move_bias] = PARAMETERS;
        let mut tensors = Vec::new();
        for (name, matrix) in [(table, &self.table), (moves, &self.moves)] {
            let values = matrix.values.iter().map(|&value| value as u8 ^ SIGN).collect();
            let shape = (matrix.scales.len(), matrix.width);
            tensors.push((name.to_owned(), Tensor::from_vec(values, shape, &Device::Cpu)?));
            tensors.push((scales_of(name), Tensor::new(&*matrix.scales, &Device::Cpu)?));
        }
        for (name, bias) in [(bias, &self.bias), (move_bias, &self.move_bias)] {
            tensors.push((name.to_owned(), Tensor::new(&**bias, &Device::Cpu)?));
        }
        Ok(tensors)
    }

    /// Its parameters in f32.
    pub fn parameters(&self) -> Result<Parameters> {
        let (table, moves) = (self.table.to_f32(), self.moves.to_f32());
        let values = [&table, &self.bias, &moves, &self.move_bias];
        let tensors = self.config.parameters().into_iter().zip(values).map(|(spec, values)| {
            Ok((spec.name, Tensor::from_slice(values, spec.shape.as_slice(), &Device::Cpu)?))
        });
        Ok(Parameters::new(tensors.collect::<Result<Vec<_>>>()?))
    }

    /// The logits of the legal `moves` of a position, in their order.
    pub fn logits(&self, board: &Board, moves: &[Move]) -> Vec<f32> {
        let placement = Placement::of(board);
        let mut features = FeatureBatch::new(self.config.features);
        features.push(&placement);
        let mut active = Vec::with_capacity(2 * self.config.accumulator);
        for position in features.iter() {
            for rows in [position.own, position.other] {
                let mut sum = self.bias.clone();
                rows.iter().for_each(|&row| self.table.add_row(row.into(), &mut sum));
                active.extend(sum.into_iter().map(|x| x.clamp(0.0, 1.0).powi(2)));
            }
        }
        let mut rows = Vec::with_capacity(moves.len());
        move_rows(self.config.features, &placement, moves, &mut rows);
        let rows = rows.into_iter().map(usize::from);
        rows.map(|row| self.move_bias[row] + self.moves.product(row, &active)).collect()
    }
}

/// A tensor of a file. Fails if it has another type or shape.
fn of_shape(tensor: Tensor, name: &str, dtype: DType, shape: &[usize]) -> Result<Tensor> {
    let (found, dims) = (tensor.dtype(), tensor.dims());
    ensure!(found == dtype, "tensor '{name}' has dtype {found:?}, expected {dtype:?}");
    ensure!(dims == shape, "tensor '{name}' has shape {dims:?}, expected {shape:?}");
    Ok(tensor)
}

/// The name of the scales of a matrix's rows.
fn scales_of(name: &str) -> String {
    name.replace(".weight", ".scale")
}

/// The largest magnitude of a scale or a bias in a file; those of trained heads are below 10.
const LARGEST: f32 = 1e6;

/// The bit that differs between a signed byte and the same byte plus 128.
const SIGN: u8 = 0x80;

/// A matrix in 8 bits, row by row.
#[derive(Clone, Debug)]
struct Matrix {
    width: usize,
    values: Vec<i8>,
    /// The value of 1 in each row.
    scales: Vec<f32>,
}

impl Matrix {
    fn rounded(values: &[f32], width: usize) -> Self {
        let mut matrix = Self { width, values: Vec::new(), scales: Vec::new() };
        for row in values.chunks_exact(width) {
            let largest = row.iter().fold(0.0, |largest: f32, value| largest.max(value.abs()));
            let scale = largest / f32::from(i8::MAX);
            let unit = scale.max(f32::MIN_POSITIVE);
            matrix.values.extend(row.iter().map(|value| (value / unit).round() as i8));
            matrix.scales.push(scale);
        }
        matrix
    }

    fn to_f32(&self) -> Vec<f32> {
        let rows = self.values.chunks_exact(self.width).zip(&self.scales);
        let values =
            rows.flat_map(|(row, scale)| row.iter().map(move |&value| scale * f32::from(value)));
        values.collect()
    }

    fn row(&self, row: usize) -> (&[i8], f32) {
        (&self.values[row * self.width..][..self.width], self.scales[row])
    }

    fn add_row(&self, row: usize, sum: &mut [f32]) {
        let (row, scale) = self.row(row);
        add_scaled(row, scale, sum);
    }

    fn product(&self, row: usize, vector: &[f32]) -> f32 {
        let (row, scale) = self.row(row);
        scale * product(row, vector)
    }
}

#[multiversion(targets("x86_64+avx512f+avx512vl+avx512bw", "x86_64+avx2+fma"))]
fn add_scaled(row: &[i8], scale: f32, sum: &mut [f32]) {
    sum.iter_mut().zip(row).for_each(|(sum, &value)| *sum += scale * f32::from(value));
}

/// The product of two vectors, whose length is a multiple of 32.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512bw", "x86_64+avx2+fma"))]
fn product(row: &[i8], vector: &[f32]) -> f32 {
    const LANES: usize = 32;
    let mut sums = [0.0; LANES];
    for (row, vector) in row.chunks_exact(LANES).zip(vector.chunks_exact(LANES)) {
        for lane in 0..LANES {
            sums[lane] += f32::from(row[lane]) * vector[lane];
        }
    }
    sums.iter().sum()
}

#[cfg(test)]
mod tests {
    use anyhow::Context;
    use azimuth_chess::position::legal_moves;

    use super::*;

    const FENS: [&str; 4] = [
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
        "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1",
        "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
        "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10",
    ];

    fn board(fen: &str) -> Result<Board> {
        fen.parse().map_err(|error| anyhow::anyhow!("{fen}: {error}"))
    }

    fn config() -> Result<PolicyConfig> {
        let features = "exchange-states-16+king-mirror+threats".parse()?;
        Ok(PolicyConfig { features, accumulator: 128 })
    }

    fn example() -> Result<Policy> {
        let config = config()?;
        let random = config.parameters().map(|spec| -> Result<_> {
            Ok((spec.name, Tensor::randn(0f32, 0.1, spec.shape.as_slice(), &Device::Cpu)?))
        });
        let parameters = Parameters::new(random.into_iter().collect::<Result<Vec<_>>>()?);
        Policy::new(config, &parameters)
    }

    #[test]
    fn the_moves_of_a_position_have_different_rows() -> Result<()> {
        assert_eq!(usize::from(PAIR.iter().copied().max().unwrap_or(0)), PAIRS - 1);
        for fen in FENS {
            let board = board(fen)?;
            let mut rows = Vec::new();
            move_rows(config()?.features, &Placement::of(&board), &legal_moves(&board), &mut rows);
            assert!(rows.iter().all(|&row| usize::from(row) < MOVE_ROWS));
            let count = rows.len();
            rows.sort_unstable();
            rows.dedup();
            assert_eq!(rows.len(), count, "{fen}");
        }
        Ok(())
    }

    #[test]
    fn black_and_the_mirrored_board_have_the_same_logits() -> Result<()> {
        let policy = example()?;
        let white = board("6k1/1p3ppp/2n5/3q4/8/4RN2/1P3PPP/6K1 w - - 0 1")?;
        let black = board("1k6/ppp3p1/2nr4/8/4Q3/5N2/PPP3P1/1K6 b - - 0 1")?;
        let sorted = |board: &Board| {
            let mut logits = policy.logits(board, &legal_moves(board));
            logits.sort_by(f32::total_cmp);
            logits
        };
        let [one, other] = [sorted(&white), sorted(&black)];
        assert_eq!(one.len(), other.len());
        for (one, other) in one.into_iter().zip(other) {
            assert!((one - other).abs() < 1e-4, "{one} {other}");
        }
        Ok(())
    }

    #[test]
    fn a_stored_head_is_read_as_it_was() -> Result<()> {
        let policy = example()?;
        let read = read(&policy.stored()?)?;
        for fen in FENS {
            let board = board(fen)?;
            let moves = legal_moves(&board);
            assert_eq!(policy.logits(&board, &moves), read.logits(&board, &moves));
        }
        let again = Policy::new(config()?, &policy.parameters()?)?;
        assert_eq!(again.table.values, policy.table.values);
        assert_eq!(again.moves.values, policy.moves.values);
        Ok(())
    }

    fn read(stored: &[(String, Tensor)]) -> Result<Policy> {
        Policy::from_stored(config()?, |name| {
            let found = stored.iter().find(|(key, _)| key == name);
            Ok(found.with_context(|| format!("tensor '{name}' is missing"))?.1.clone())
        })
    }

    #[test]
    fn other_tensors_are_refused() -> Result<()> {
        let stored = example()?.stored()?;
        let device = &Device::Cpu;
        for (name, other, part) in [
            ("moves.scale", None, "tensor 'moves.scale' is missing"),
            ("moves.scale", Some(Tensor::zeros(1, DType::F32, device)?), "has shape [1], expected"),
            ("moves.bias", Some(Tensor::zeros(MOVE_ROWS, DType::F16, device)?), "has dtype F16"),
            ("moves.bias", Some(Tensor::full(f32::NAN, MOVE_ROWS, device)?), "is not finite"),
            ("features.weight", Some(Tensor::zeros((1, 128), DType::U8, device)?), "has shape"),
        ] {
            let mut tensors = stored.clone();
            tensors.retain(|(key, _)| key != name);
            tensors.extend(other.map(|tensor| (name.to_owned(), tensor)));
            let error = read(&tensors).expect_err(name).to_string();
            assert!(error.contains(name) && error.contains(part), "{error}");
        }
        let narrow = PolicyConfig { accumulator: 8, ..config()? };
        let error = Policy::from_stored(narrow, |_| unreachable!()).expect_err("too narrow");
        assert!(error.to_string().contains("width 8 is not a multiple of 128"), "{error}");
        Ok(())
    }
}
