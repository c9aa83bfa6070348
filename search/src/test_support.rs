//! For tests of the planners: workers, plain searches to compare with, checks that both planners
//! have to pass, and a system that refuses memory and threads.

use std::cell::Cell;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex};

use anyhow::{Result, bail};
use azimuth_chess::position::{Position, board_after, legal_moves, repetition_key};
use azimuth_network::Inputs;
use azimuth_network::weights::Weights;
use candle_core::{DType, Device};
use cozy_chess::{Board, Move, Piece};

use crate::DefaultWeights;
use crate::control::{Control, Limits, Report};
use crate::encoder::{self, Attributes, EncodeError, Encoder, Scores};
use crate::inference::{EvaluateOne, Evaluator, Worker};
use crate::planner::Planner;
use crate::selective::score::{DRAW, INFINITE, Score, mated_in, of_estimate};
use crate::value::{self, Value};

/// A worker that evaluates on the threads of the search.
pub fn local(which: DefaultWeights) -> Result<Worker> {
    Worker::on_cpu(which.weights()?, |_| ())
}

/// A worker with the same encoder on another thread, as on a device.
pub fn remote(which: DefaultWeights) -> Result<Worker> {
    let weights = Arc::new(which.weights()?);
    let encoder = Remote(encoder::build(&weights, &Device::Cpu, DType::F32)?);
    Worker::with_encoder(weights, Box::new(encoder), true, |_| ())
}

/// The weights of a small transformer.
pub fn mini() -> Result<Weights> {
    Weights::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../weights/mini.safetensors"))
}

struct Remote(Box<dyn Encoder>);

impl Encoder for Remote {
    fn attributes(&self) -> Attributes {
        Attributes { recommended_batch: 100, ..self.0.attributes() }
    }

    fn encode(&mut self, inputs: &Inputs) -> Result<Vec<f32>, EncodeError> {
        self.0.encode(inputs)
    }

    fn begin(&mut self, inputs: &Inputs) -> Result<Scores, EncodeError> {
        self.0.begin(inputs)
    }
}

/// An evaluator that fails after the next evaluations, until their number is raised. Its values
/// depend only on the position.
struct Failing(Arc<AtomicU64>);

impl EvaluateOne for Failing {
    fn evaluate(&mut self, board: &Board) -> Result<f32> {
        let spent = self.0.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1));
        if spent.is_err() {
            bail!("the evaluator failed");
        }
        Ok((board.hash() % 2001) as f32 / 1000.0 - 1.0)
    }
}

pub fn to_depth(depth: u32) -> Limits {
    Limits { depth: Some(depth), ..Limits::default() }
}

pub fn search(planner: &mut dyn Planner, root: &Position, limits: Limits) -> Result<Report> {
    planner.search(root, &mut Control::without_signals(limits), &mut |_| ())
}

pub fn assert_legal(root: &Position, line: &[Move]) {
    let mut position = root.clone();
    for &mv in line {
        assert!(position.board().is_legal(mv), "{}: {mv}", root.fen(false));
        position.play(mv);
    }
}

/// Minimax over all moves to `depth` plies, then over all evasions of checks and, if they are to be
/// `resolved`, over captures and queen promotions, which a side may decline.
pub fn plain_score(
    evaluator: &mut Evaluator,
    board: &Board,
    keys: &[u64],
    ply: usize,
    depth: u32,
    resolved: bool,
) -> Result<Score> {
    if ply > 0 && value::is_drawn(board, ply as u32, keys) {
        return Ok(DRAW);
    }
    let in_check = !board.checkers().is_empty();
    let quiet = depth == 0 && !in_check;
    let mut best = if quiet { of_estimate(evaluator.value(board)?) } else { -INFINITE };
    if quiet && !resolved {
        return Ok(best);
    }
    let keys = [keys, &[repetition_key(board)]].concat();
    let moves = legal_moves(board);
    if moves.is_empty() && !quiet {
        return Ok(if in_check { mated_in(ply) } else { DRAW });
    }
    for mv in moves {
        let captures = board.colors(!board.side_to_move()).has(mv.to)
            || board.pieces(Piece::Pawn).has(mv.from) && mv.from.file() != mv.to.file();
        if !quiet || mv.promotion.map_or(captures, |piece| piece == Piece::Queen) {
            let (child, depth) = (board_after(board, mv), depth.saturating_sub(1));
            best = best.max(-plain_score(evaluator, &child, &keys, ply + 1, depth, resolved)?);
        }
    }
    Ok(best)
}

/// Positions of the opening, of middlegames and of endgames.
pub const FENS: [&str; 6] = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 b - - 95 70",
    "6k1/5ppp/8/8/8/8/r4PPP/1R4K1 w - - 0 1",
    "8/P7/8/8/8/6k1/5p2/7K b - - 0 1",
];

/// A position, the moves played from it, and a move.
pub type MoveInGame = (&'static str, &'static str, &'static str);

/// Moves to draws: stalemate, the 50-move rule, bare kings, and the third occurrence of a position.
pub const DRAWS: [MoveInGame; 4] = [
    ("7k/8/5KQ1/8/8/8/8/8 w - - 0 1", "", "g6f7"),
    ("7k/8/8/8/8/8/R7/K7 w - - 99 80", "", "a2b2"),
    ("7k/8/8/8/8/8/1p6/K7 w - - 0 1", "", "a1b2"),
    ("7k/8/8/8/8/8/Q7/K7 w - - 0 1", "a2b2 h8g8 b2a2 g8h8 a2b2 h8g8 b2a2", "g8h8"),
];

/// The value of a move by a search to `depth` plies.
pub fn value_of_move(
    planner: &mut dyn Planner,
    (fen, played, mv): MoveInGame,
    depth: u32,
) -> Result<Value> {
    let mut root = Position::from_fen(fen)?;
    for text in played.split_whitespace() {
        root.play(root.parse_move(text)?);
    }
    let search_moves = vec![root.parse_move(mv)?];
    Ok(search(planner, &root, Limits { search_moves, ..to_depth(depth) })?.value)
}

/// Checks that an error of the evaluator ends the search, here to `depth` plies, and not the
/// planner.
pub fn fail_and_go_on<P: Planner>(
    root: &Position,
    depth: u32,
    planner: impl Fn(&Worker) -> Result<P>,
) -> Result<()> {
    for evaluations in [0, 1, 7, 100, 2000] {
        let left = Arc::<AtomicU64>::default();
        let failing = left.clone();
        let worker = Worker::with_evaluator(move || Failing(failing.clone()), |_| ());
        let mut planner = planner(&worker)?;
        left.store(evaluations, SeqCst);
        let error = search(&mut planner, root, to_depth(depth)).map(|_| ());
        let error = error.expect_err("there were too few evaluations").to_string();
        assert_eq!(error, "the evaluator failed", "{evaluations} evaluations");
        left.store(u64::MAX, SeqCst);
        let report = search(&mut planner, root, to_depth(2))?;
        assert!(report.pv.first().is_some_and(|&mv| root.board().is_legal(mv)));
    }
    Ok(())
}

/// Refuses each of the requests of `work` for memory or a thread in turn, with all later ones.
/// Returns the number of times that the work failed, and that it went on with less and said so.
pub fn refuse_in_turn(
    root: &Position,
    work: impl Fn(&Worker) -> Result<Report>,
) -> Result<(usize, usize)> {
    let said = Arc::new(Mutex::new(Vec::<String>::new()));
    let heard = said.clone();
    let notice = move |text: &str| heard.lock().expect("no panics").push(text.to_owned());
    let worker = Worker::on_cpu(DefaultWeights::Selective.weights()?, notice)?;
    let (mut failures, mut fewer) = (0, 0);
    for n in 1.. {
        UNTIL_REFUSED.set(Some(n));
        let outcome = work(&worker);
        let refused = UNTIL_REFUSED.take() == Some(0);
        let notices = std::mem::take(&mut *said.lock().expect("no panics"));
        match outcome {
            Err(error) => {
                assert!(error.to_string().contains("memory"), "{error}");
                failures += 1;
            }
            Ok(report) => {
                assert!(report.pv.first().is_some_and(|&mv| root.board().is_legal(mv)));
                assert_eq!(notices.is_empty(), !refused, "{notices:?}");
                fewer += usize::from(refused);
            }
        }
        if !refused {
            break;
        }
    }
    Ok((failures, fewer))
}

thread_local! {
    /// Number of requests of this thread until one is refused; all later ones are, too.
    static UNTIL_REFUSED: Cell<Option<usize>> = const { Cell::new(None) };
}

/// Counts a request. Returns whether it is refused.
pub fn refuses() -> bool {
    match UNTIL_REFUSED.get() {
        None => false,
        Some(0) => true,
        Some(left) => {
            UNTIL_REFUSED.set(Some(left - 1));
            left == 1
        }
    }
}
