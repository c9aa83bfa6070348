//! Time a move by depth, and what the search keeps of the encoder's throughput.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use azimuth::encoder::Inputs;
use azimuth::inference::{Evaluator, Worker};
use azimuth::position::Position;
use azimuth::search::{Beam, BeamMode, BeamSettings, Control, Limits, Planner};
use azimuth::weights::Weights;
use candle_core::{DType, Device};
use cozy_chess::Board;
use crossbeam_channel::unbounded;

/// Openings, middlegames and endgames of all kinds (Bratko-Kopec's and perft's among them).
const POSITIONS: [&str; 16] = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10",
    "1k1r4/pp1b1R2/3q2pp/4p3/2B5/4Q3/PPP2B2/2K5 b - - 0 1",
    "3r1k2/4npp1/1ppr3p/p6P/P2PPPP1/1NR5/5K2/2R5 w - - 0 1",
    "2q1rr1k/3bbnnp/p2p1pp1/2pPp3/PpP1P1P1/1P2BNNP/2BQ1PRK/7R b - - 0 1",
    "rnbqkb1r/p3pppp/1p6/2ppP3/3N4/2P5/PPP1QPPP/R1B1KB1R w KQkq - 0 1",
    "r1b2rk1/2q1b1pp/p2ppn2/1p6/3QP3/1BN1B3/PPP3PP/R4RK1 w - - 0 1",
    "2r3k1/pppR1pp1/4p3/4P1P1/5P2/1P4K1/P1P5/8 w - - 0 1",
    "1nk1r1r1/pp2n1pp/4p3/q2pPp1N/b1pP1P2/B1P2R2/2P1B1PP/R2Q2K1 w - - 0 1",
    "4b3/p3kp2/6p1/3pP2p/2pP1P2/4K1P1/P3N2P/8 w - - 0 1",
    "2kr1bnr/pbpq4/2n1pp2/3p3p/3P1P1B/2N2N1Q/PPP3PP/2KR1B1R w - - 0 1",
    "3rr1k1/pp3pp1/1qn2np1/8/3p4/PP1R1P2/2P1NQPP/R1B3K1 b - - 0 1",
    "2r1nrk1/p2q1ppp/bp1p4/n1pPp3/P1P1P3/2PBB1N1/4QPPP/R4RK1 w - - 0 1",
    "r3r1k1/ppqb1ppp/8/4p1NQ/8/2P5/PP3PPP/R3R1K1 b - - 0 1",
];

/// Score cache of the measured searches, in megabytes.
const CACHE: usize = 16;

struct Round {
    time: Duration,
    nodes: u64,
    scored: u64,
}

pub fn measure(weights: Option<&Path>, width: usize, depth: u32, rounds: usize) -> Result<()> {
    let weights = Arc::new(match weights {
        Some(path) => Weights::read(path)?,
        None => Weights::embedded()?,
    });
    let roots: Vec<Position> =
        POSITIONS.iter().map(|fen| Position::from_fen(fen)).collect::<Result<_>>()?;
    let mut encoder_speeds = Vec::new();
    let mut search_speeds = Vec::new();
    println!(
        "width {width}, {} positions, empty cache before each, median of {rounds}",
        roots.len()
    );
    println!("depth   ms/move   looked at   scored   scored/s");
    for depth in 1..=depth {
        let mut times: Vec<Round> = (0..rounds)
            .map(|_| {
                encoder_speeds.push(encoder_speed(&weights, &roots)?);
                search_round(&weights, &roots, width, depth)
            })
            .collect::<Result<_>>()?;
        times.sort_by_key(|round| round.time);
        let Round { time, nodes, scored } = times[times.len() / 2];
        let moves = roots.len() as u64;
        let speed = scored as f64 / time.as_secs_f64();
        let milliseconds = time.as_secs_f64() * 1000.0 / moves as f64;
        println!(
            "{depth:>5} {milliseconds:>9.2} {:>11} {:>8} {speed:>10.0}",
            nodes / moves,
            scored / moves
        );
        search_speeds.push(speed);
    }
    encoder_speeds.sort_by(f64::total_cmp);
    let alone = encoder_speeds[encoder_speeds.len() / 2];
    let kept = search_speeds.last().copied().unwrap_or_default() / alone;
    println!("encoder alone, one thread, inputs included: {alone:.0} positions/s");
    println!("the deepest search keeps {:.0}% of it", kept * 100.0);
    Ok(())
}

fn search_round(
    weights: &Arc<Weights>,
    roots: &[Position],
    width: usize,
    depth: u32,
) -> Result<Round> {
    let worker = Worker::start(weights.clone(), &Device::Cpu, DType::F32, Box::new(|_| ()))?;
    let settings = BeamSettings { width, depth, mode: BeamMode::Tree };
    let mut beam = Beam::new(Evaluator::new(&worker, CACHE), settings);
    let (mut time, mut nodes, mut scored) = (Duration::ZERO, 0, 0);
    for root in roots {
        beam.new_game();
        let (_signals, received) = unbounded();
        let mut control = Control::new(Limits::default(), received);
        let began = Instant::now();
        let report = beam.search(root, &mut control, &mut |_| ())?;
        time += began.elapsed();
        nodes += report.nodes;
        scored += report.scored;
    }
    Ok(Round { time, nodes, scored })
}

/// Positions a second from board to score, in batches of the recommended size on one thread.
fn encoder_speed(weights: &Weights, roots: &[Position]) -> Result<f64> {
    let mut encoder = weights.encoder(&Device::Cpu, DType::F32)?;
    let attributes = encoder.attributes();
    // As in a search: neighbours in the tree stand together, and few positions come twice.
    let boards: Vec<Board> =
        roots.iter().flat_map(|root| children(root.board())).flat_map(|b| children(&b)).collect();
    let began = Instant::now();
    let mut positions = 0;
    let mut sum = 0.0;
    while began.elapsed() < Duration::from_millis(200) {
        for chunk in boards.chunks(attributes.recommended_batch) {
            let mut inputs = Inputs::new(attributes.input);
            chunk.iter().for_each(|board| inputs.push(board));
            let embeddings = encoder.encode(&inputs)?;
            let cosines = weights.axis.cosines(&embeddings);
            let scores = cosines.iter().map(|&cosine| weights.calibration.win_probability(cosine));
            sum += scores.sum::<f32>();
            positions += chunk.len();
        }
    }
    // The scores are used, so that none of the work can be left out.
    assert!(sum.is_finite());
    Ok(positions as f64 / began.elapsed().as_secs_f64())
}

fn children(board: &Board) -> Vec<Board> {
    let mut children = Vec::new();
    board.generate_moves(|moves| {
        children.extend(moves.into_iter().map(|mv| {
            let mut child = board.clone();
            child.play_unchecked(mv);
            child
        }));
        false
    });
    children
}
