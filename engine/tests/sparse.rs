//! The integer sparse encoder against its definition in f32, on every instruction set.

use std::sync::Arc;

use anyhow::Result;
use azimuth::encoder::sparse::SparseNetwork;
use azimuth::encoder::sparse::features::{Features, Placement};
use azimuth::encoder::sparse::integer::{IntegerEncoder, Kernels};
use azimuth::encoder::{Architecture, Encoder, Inputs};
use azimuth::weights::Weights;
use cozy_chess::{Board, Move};

/// Positions of games that play every n-th legal move.
fn positions() -> Vec<Board> {
    let mut boards = Vec::new();
    for stride in [1, 2, 3, 5, 7, 11, 13] {
        let mut board = Board::startpos();
        for ply in 0..80 {
            let mut moves: Vec<Move> = Vec::new();
            board.generate_moves(|piece_moves| {
                moves.extend(piece_moves);
                false
            });
            let Some(&mv) = moves.get((ply * stride + stride) % moves.len().max(1)) else { break };
            board.play(mv);
            boards.push(board.clone());
        }
    }
    boards
}

fn features() -> Vec<Features> {
    positions().iter().map(|board| Features::of(&Placement::of(board))).collect()
}

fn sparse_weights() -> Result<(Weights, azimuth::encoder::sparse::SparseConfig)> {
    let weights = Weights::embedded()?;
    let Architecture::Sparse(config) = weights.metadata.architecture.clone() else {
        anyhow::bail!("the default encoder is sparse");
    };
    Ok((weights, config))
}

#[test]
fn all_instruction_sets_give_the_same_embeddings() -> Result<()> {
    let (weights, config) = sparse_weights()?;
    let inputs = Inputs::Features(features());
    let encode = |kernels: Kernels| -> Result<Vec<f32>> {
        let encoder = IntegerEncoder::new(&config, &weights.parameters)?;
        encoder.with_kernels(kernels).encode(&inputs)
    };
    let expected = encode(Kernels::Portable)?;
    for kernels in Kernels::available() {
        assert_eq!(encode(kernels)?, expected, "{kernels:?}");
    }
    Ok(())
}

#[test]
fn integers_stay_close_to_the_definition() -> Result<()> {
    let (weights, config) = sparse_weights()?;
    let features = features();
    let network = SparseNetwork::new(&weights.parameters)?;
    let exact = network.forward(&Arc::new(features.clone()), None, None)?;
    let exact = weights.axis.cosines(&exact.flatten_all()?.to_vec1()?);
    let mut encoder = IntegerEncoder::new(&config, &weights.parameters)?;
    let rounded = weights.axis.cosines(&encoder.encode(&Inputs::Features(features))?);
    let errors: Vec<f32> = exact.iter().zip(&rounded).map(|(a, b)| (a - b).abs()).collect();
    let mean = errors.iter().sum::<f32>() / errors.len() as f32;
    assert!(mean < 0.01, "cosines differ by {mean} on average");
    Ok(())
}

#[test]
fn colours_are_symmetric_and_mirroring_keeps_states() {
    let fens = [
        ("4k3/8/8/3q4/4P3/8/8/4K3 w - - 0 1", "4k3/8/8/4p3/3Q4/8/8/4K3 b - - 0 1"),
        ("r3k3/2p5/8/8/8/8/5N2/4K2R w - - 0 1", "4k2r/5n2/8/8/8/8/2P5/R3K3 b - - 0 1"),
    ];
    for (white, black) in fens {
        let [white, black] = [white, black].map(|fen| {
            let placement = Placement::of(&fen.parse().expect("valid"));
            let features = Features::of(&placement);
            let sorted = |rows: &[u16]| {
                let mut rows = rows.to_vec();
                rows.sort_unstable();
                rows
            };
            (sorted(features.own()), sorted(features.other()), placement)
        });
        assert_eq!((&white.0, &white.1), (&black.0, &black.1));
        assert_eq!(white.2.mirrored().mirrored(), white.2);
    }
}

#[test]
fn states_say_what_hangs() {
    use azimuth::encoder::sparse::features::PIECE_SQUARES;
    // White to move. The pawn on e4 attacks the queen on d5, which nothing defends; the queen
    // attacks the pawn, which the king on e3 defends.
    let board: Board = "4k3/8/8/3q4/4P3/4K3/8/8 w - - 0 1".parse().expect("valid");
    let features = Features::of(&Placement::of(&board));
    let state_of = |piece_square: usize| {
        let rows = features.own().iter().map(|&row| usize::from(row));
        rows.into_iter().find(|row| row % PIECE_SQUARES == piece_square).map(|r| r / PIECE_SQUARES)
    };
    let queen = (6 + 4) * 64 + 35;
    let pawn = 28;
    assert_eq!(state_of(queen), Some(4));
    assert_eq!(state_of(pawn), Some(3));
    // A second attacker outnumbers the one defender.
    let board: Board = "4k3/8/5n2/3q4/4P3/4K3/8/8 w - - 0 1".parse().expect("valid");
    let features = Features::of(&Placement::of(&board));
    let rows: Vec<usize> = features.own().iter().map(|&row| usize::from(row)).collect();
    assert!(rows.contains(&(6 * PIECE_SQUARES + pawn)), "{rows:?}");
}
