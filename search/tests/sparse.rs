//! The integer sparse encoder against its definition in f32, on every instruction set, and the
//! features of given positions.

use anyhow::Result;
use azimuth_chess::placement::Placement;
use azimuth_chess::position::legal_moves;
use azimuth_network::axis::{Axis, Direction};
use azimuth_network::parameters::{Init, Parameters};
use azimuth_network::sparse::features::{FeatureBatch, FeatureSet, PIECE_SQUARES};
use azimuth_network::sparse::{SparseConfig, SparseNetwork};
use azimuth_network::weights::Weights;
use azimuth_network::{Architecture, Inputs};
use azimuth_search::DefaultWeights;
use azimuth_search::encoder::Encoder;
use azimuth_search::encoder::sparse::{Kernels, QuantisedEncoder, largest_playable_value};
use candle_core::{Device, Tensor};
use cozy_chess::Board;

/// Feature sets that together contain every kind of feature.
const SETS: [&str; 4] = [
    "piece-square",
    "exchange-states-16+king-mirror+threats",
    "exchange-states-16+king-buckets-4",
    "piece-square+king-buckets-10+attackers",
];

/// Positions of games that play every n-th legal move.
fn positions() -> Vec<Board> {
    let mut boards = Vec::new();
    for stride in [1, 2, 3, 5, 7, 11, 13] {
        let mut board = Board::startpos();
        for ply in 0..80 {
            let moves = legal_moves(&board);
            let Some(&mv) = moves.get((ply * stride + stride) % moves.len().max(1)) else { break };
            board.play(mv);
            boards.push(board.clone());
        }
    }
    boards
}

fn sparse_weights() -> Result<(Weights, SparseConfig)> {
    let weights = DefaultWeights::Beam.weights()?;
    let Architecture::Sparse(config) = weights.metadata.architecture.clone() else {
        anyhow::bail!("the default encoder is sparse");
    };
    Ok((weights, config))
}

#[test]
fn all_instruction_sets_give_the_same_embeddings() -> Result<()> {
    let (weights, config) = sparse_weights()?;
    // Wider than any trained weights: more groups of activations than a kernel tests together.
    let wide = SparseConfig { accumulator: 768, ..config.clone() };
    let made_up = made_up(&wide)?;
    for (config, parameters) in [(config, &weights.parameters), (wide, &made_up)] {
        let inputs = Inputs::Features(FeatureBatch::of(config.features, &positions()));
        let encode = |kernels: Kernels| -> Result<Vec<f32>> {
            let encoder = QuantisedEncoder::new(&config, parameters, &weights.axis)?;
            Ok(encoder.with_kernels(kernels).encode(&inputs)?)
        };
        let expected = encode(Kernels::Portable)?;
        for kernels in Kernels::available() {
            assert_eq!(encode(kernels)?, expected, "{kernels:?}");
        }
    }
    Ok(())
}

/// Embeddings of a batch by the definition in f32, and by the integer encoder.
fn defined_and_played(
    config: &SparseConfig,
    parameters: &Parameters,
    axis: &Axis,
    boards: &[Board],
) -> Result<[Vec<f32>; 2]> {
    let features = FeatureBatch::of(config.features, boards);
    let defined = SparseNetwork::new(config, parameters)?.forward(&features, None)?;
    let mut encoder = QuantisedEncoder::new(config, parameters, axis)?;
    let played = encoder.encode(&Inputs::Features(features))?;
    Ok([defined.flatten_all()?.to_vec1()?, played])
}

fn mean_error([exact, rounded]: &[Vec<f32>; 2]) -> f32 {
    let errors = exact.iter().zip(rounded).map(|(a, b)| (a - b).abs());
    errors.sum::<f32>() / exact.len() as f32
}

#[test]
fn integers_stay_close_to_the_definition() -> Result<()> {
    let (Weights { parameters, axis, .. }, config) = sparse_weights()?;
    let embeddings = defined_and_played(&config, &parameters, &axis, &positions())?;
    let mean = mean_error(&embeddings.map(|embeddings| axis.cosines(&embeddings)));
    assert!(mean < 0.01, "cosines differ by {mean} on average");
    Ok(())
}

/// An arbitrary axis.
fn axis(dim: usize) -> Result<Axis> {
    let mean = (0..dim).map(|index| index as f32 - 3.0).collect();
    Axis::new(mean, vec![0.0; dim], None, Direction::Mates)
}

/// Pseudorandom parameters, which differ from one another as trained ones do.
fn made_up(config: &SparseConfig) -> Result<Parameters> {
    let mut state = 1u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 23) as f32 - 1.0
    };
    let tensors = config.parameters().into_iter().map(|spec| {
        let scale = match spec.init {
            Init::Constant(value) | Init::Normal(value) | Init::Uniform(value) => value,
        };
        let count: usize = spec.shape.iter().product();
        let values: Vec<f32> = (0..count).map(|_| scale * next()).collect();
        Ok((spec.name, Tensor::from_vec(values, spec.shape.as_slice(), &Device::Cpu)?))
    });
    Ok(Parameters::new(tensors.collect::<Result<Vec<_>>>()?))
}

/// A small encoder of one head without middle layers.
fn small(features: FeatureSet) -> SparseConfig {
    SparseConfig { features, accumulator: 128, embedding_dim: 16, heads: 1, middle_layers: 0 }
}

#[test]
fn every_set_and_every_head_plays_as_it_is_defined() -> Result<()> {
    for (number, (set, heads)) in SETS.iter().zip([1, 8, 3, 32]).enumerate() {
        let middle_layers = number % 3;
        let config = SparseConfig { heads, middle_layers, ..small(set.parse()?) };
        config.check()?;
        let axis = axis(config.embedding_dim)?;
        let mean =
            mean_error(&defined_and_played(&config, &made_up(&config)?, &axis, &positions())?);
        assert!(mean < 0.01, "{set}, {heads} heads: coordinates differ by {mean} on average");
    }
    Ok(())
}

#[test]
fn a_cosine_is_that_of_the_embedding_whatever_came_before() -> Result<()> {
    for set in SETS {
        let features = set.parse()?;
        let config = SparseConfig { heads: 8, middle_layers: 1, ..small(features) };
        let axis = axis(config.embedding_dim)?;
        let mut encoder = QuantisedEncoder::new(&config, &made_up(&config)?, &axis)?;
        let boards = positions();
        let inputs = Inputs::Features(FeatureBatch::of(features, &boards));
        let embeddings = axis.cosines(&encoder.encode(&inputs)?);
        let cosines = encoder.begin(&inputs)?.wait()?;
        for (cosine, expected) in cosines.iter().zip(&embeddings) {
            assert!((cosine - expected).abs() < 1e-5, "{cosine}, the embedding's {expected}");
        }
        // With a step of 83 the order jumps between games, so that few rows of the last position
        // remain.
        for step in [1, 83] {
            for place in 0..boards.len() {
                let board = place * step % boards.len();
                assert_eq!(encoder.cosine(&boards[board])?, cosines[board], "{set}: {place}");
            }
        }
    }
    Ok(())
}

#[test]
fn widths_that_the_kernels_do_not_take_are_refused() -> Result<()> {
    let (weights, config) = sparse_weights()?;
    for config in [
        SparseConfig { accumulator: 100, ..config.clone() },
        SparseConfig { accumulator: 2 * config.accumulator, ..config.clone() },
        SparseConfig { heads: 2 * config.heads, ..config },
    ] {
        let encoder = QuantisedEncoder::new(&config, &weights.parameters, &weights.axis);
        assert!(encoder.is_err(), "{config:?}");
    }
    Ok(())
}

#[test]
fn sums_of_the_largest_rows_do_not_wrap() -> Result<()> {
    for features in ["piece-square+threats", "exchange-states-16+threats", "piece-square+attackers"]
    {
        let features: FeatureSet = features.parse()?;
        let config = small(features);
        // Every row has the largest allowed value; larger values are refused.
        let filled = |share: f32| -> Result<Parameters> {
            let parameters = made_up(&config)?;
            let tensors = parameters.iter().map(|(name, tensor)| {
                let (width, count) = (config.accumulator, tensor.elem_count());
                let value = |index| share * largest_playable_value(features, index / width);
                let filled = Tensor::from_iter((0..count).map(value), &Device::Cpu)?;
                let is_summed = name.starts_with("features.");
                let filled = filled.reshape(tensor.shape())?;
                Ok((name.clone(), if is_summed { filled } else { tensor.clone() }))
            });
            Ok(Parameters::new(tensors.collect::<Result<Vec<_>>>()?))
        };
        let axis = axis(config.embedding_dim)?;
        let error = QuantisedEncoder::new(&config, &filled(1.05)?, &axis).err();
        let error = error.expect("too large").to_string();
        assert!(error.contains("too large for"), "{error}");
        for value in [1.0, -1.0] {
            let boards = [Board::startpos()];
            let [exact, played] = defined_and_played(&config, &filled(value)?, &axis, &boards)?;
            for (exact, played) in exact.iter().zip(&played) {
                assert!((exact - played).abs() < 0.02, "{features}: {exact} becomes {played}");
            }
        }
    }
    Ok(())
}

/// The rows of one position, seen by the side to move and by the other side, in increasing order.
fn rows(set: FeatureSet, placement: &Placement) -> [Vec<usize>; 2] {
    let mut batch = FeatureBatch::new(set);
    batch.push(placement);
    let features = batch.iter().next().expect("one position");
    [features.own, features.other].map(|rows| {
        let mut rows: Vec<usize> = rows.iter().map(|&row| row.into()).collect();
        rows.sort_unstable();
        rows
    })
}

#[test]
fn rows_lie_in_the_table_and_both_sides_have_as_many() -> Result<()> {
    for set in SETS {
        let set: FeatureSet = set.parse()?;
        for board in positions() {
            let [own, other] = rows(set, &Placement::of(&board));
            assert_eq!(own.len(), other.len());
            assert!(own.iter().chain(&other).all(|&row| row < set.rows()), "{set}: {board}");
            let pieces = own.iter().filter(|&&row| set.piece_square(row).is_some()).count();
            assert_eq!(pieces, board.occupied().len() as usize);
        }
    }
    Ok(())
}

#[test]
fn colours_are_symmetric_and_mirroring_keeps_states() -> Result<()> {
    let pairs = [
        ("4k3/8/8/3q4/4P3/8/8/4K3 w - - 0 1", "4k3/8/8/4p3/3Q4/8/8/4K3 b - - 0 1"),
        ("r3k3/2p5/8/8/8/8/5N2/4K2R w - - 0 1", "4k2r/5n2/8/8/8/8/2P5/R3K3 b - - 0 1"),
    ];
    for set in SETS {
        let set: FeatureSet = set.parse()?;
        for (white, black) in pairs {
            let [white, black] =
                [white, black].map(|fen| Placement::of(&fen.parse().expect("a legal position")));
            assert_eq!(rows(set, &white), rows(set, &black), "{set}");
            assert_eq!(white.mirrored().mirrored(), white);
        }
    }
    // With a mirrored king, a position and its mirror image have the same rows.
    let mirror: FeatureSet = "exchange-states-16+king-mirror".parse()?;
    for board in positions() {
        let placement = Placement::of(&board);
        assert_eq!(rows(mirror, &placement), rows(mirror, &placement.mirrored()), "{board}");
    }
    Ok(())
}

#[test]
fn states_say_what_hangs() -> Result<()> {
    // White to move. The pawn on e4 attacks the queen on d5, which nothing defends; the queen
    // attacks the pawn, which the king on e3 defends.
    let board: Board = "4k3/8/8/3q4/4P3/4K3/8/8 w - - 0 1".parse().expect("valid");
    let state_of = |set: FeatureSet, board: &Board, piece_square: usize| {
        let [own, _] = rows(set, &Placement::of(board));
        let found = own.iter().find(|&&row| set.piece_square(row) == Some(piece_square));
        found.map(|row| row / PIECE_SQUARES)
    };
    let (queen, pawn) = ((6 + 4) * 64 + 35, 28);
    let exchanges: FeatureSet = "exchange-states-16".parse()?;
    assert_eq!(state_of(exchanges, &board, queen), Some(10));
    // The pawn is passed, with the king in its way: capturing it loses material.
    assert_eq!(state_of(exchanges, &board, pawn), Some(7));
    // A second attacker outnumbers the one defender.
    let board: Board = "4k3/8/5n2/3q4/4P3/4K3/8/8 w - - 0 1".parse().expect("valid");
    assert_eq!(state_of(exchanges, &board, pawn), Some(9));
    Ok(())
}
