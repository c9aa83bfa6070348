//! Kendall's tau (seed document 004, section 4.1) between labels and a rival's values. For a rival
//! that predicts only moves, the label of the position after its move replaces the value.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use azimuth::command_line::print_line;
use azimuth::names::name_of;
use azimuth::search::{Control, Limits, Planner, TimeLimit};
use azimuth_chess::position::{Position, fen_of};
use azimuth_train::data::dataset;
use azimuth_train::data::family::{Family, FamilyLabels};
use azimuth_train::data::label::Label;
use azimuth_train::data::split::Split;
use azimuth_train::metrics::kendall_tau_b;
use clap::Args;
use cozy_chess::{Board, Color, Move};
use serde::Serialize;

use crate::rival::Rival;
use crate::weights::RivalWeights;

/// Number of positions for measuring speed, and the search time for each.
const SPEED_POSITIONS: usize = 30;
const SPEED_TIME: Duration = Duration::from_millis(100);

/// Measure Kendall's tau of a rival on labelled positions, and its search speed.
#[derive(Args)]
pub struct TauOptions {
    /// Rival to measure.
    #[arg(value_enum)]
    rival: Rival,
    /// Labelled positions; a rival that predicts only moves also needs the labels of all their
    /// moves.
    #[arg(long, required = true, num_args = 1..)]
    data: Vec<PathBuf>,
    /// Weights file [default: the shipped weights].
    #[arg(long)]
    weights: Option<PathBuf>,
    /// Print the result as one line of JSON at the end.
    #[arg(long)]
    json: bool,
}

/// The result of a measurement.
#[derive(Serialize)]
struct Measured {
    rival: String,
    positions: usize,
    tau: f64,
    /// Nodes per second of search.
    per_second: f64,
    /// Number of values in the weights.
    parameters: usize,
    /// Number of training examples, counted with repetition.
    examples: u64,
    /// Training time in seconds.
    seconds: f64,
}

/// A position with its label and the labels of its moves, as White's win probabilities.
struct Labelled {
    position: Position,
    label: f32,
    moves: Vec<(Move, f32)>,
}

/// Measures and prints.
pub fn run(options: &TauOptions) -> Result<()> {
    let rival = options.rival;
    let mut planner = rival.planner(options.weights.as_deref())?;
    let positions = read(&options.data)?;
    let (mut found, mut labels) = (Vec::new(), Vec::new());
    for labelled in &positions {
        found.push(said(&mut *planner, rival, labelled)?);
        labels.push(labelled.label);
    }
    let weights = rival.weights(options.weights.as_deref())?;
    let training = weights.as_ref().map(|weights| &weights.metadata.training);
    let number = |key: &str| training.and_then(|training| training[key].as_f64()).unwrap_or(0.0);
    let measured = Measured {
        rival: name_of(&rival),
        positions: positions.len(),
        tau: kendall_tau_b(&found, &labels),
        per_second: speed(&mut *planner, &positions)?,
        parameters: weights.as_ref().map_or(0, RivalWeights::parameter_count),
        examples: (number("batch") * number("steps")) as u64,
        seconds: number("seconds"),
    };
    print_line(format_args!("positions           {:>10}", measured.positions))?;
    print_line(format_args!("Kendall tau-b       {:>10.4}", measured.tau))?;
    print_line(format_args!("positions a second  {:>10.0}", measured.per_second))?;
    if options.json {
        print_line(serde_json::to_string(&measured)?)?;
    }
    Ok(())
}

/// Nodes per second of search.
fn speed(planner: &mut dyn Planner, positions: &[Labelled]) -> Result<f64> {
    let (mut nodes, mut seconds) = (0, 0.0);
    for labelled in positions.iter().take(SPEED_POSITIONS) {
        let time = Some(TimeLimit { soft: SPEED_TIME, hard: SPEED_TIME });
        let mut control = Control::without_signals(Limits { time, ..Limits::default() });
        let report = planner.search(&labelled.position, &mut control, &mut |_| ())?;
        nodes += report.nodes;
        seconds += control.elapsed().as_secs_f64();
    }
    Ok(nodes as f64 / seconds)
}

/// The rival's value of a position as White's win probability; for a policy, the label of the move
/// that it chooses.
fn said(planner: &mut dyn Planner, rival: Rival, labelled: &Labelled) -> Result<f32> {
    let position = &labelled.position;
    if !rival.is_policy() {
        let own = planner.evaluate(position)?.win_probability();
        let white = position.board().side_to_move() == Color::White;
        return Ok(if white { own } else { 1.0 - own });
    }
    let mut control = Control::without_signals(Limits::default());
    let report = planner.search(position, &mut control, &mut |_| ())?;
    let chosen = report.pv.first().context("no move")?;
    let label = labelled.moves.iter().find(|(mv, _)| mv == chosen);
    label.map(|&(_, label)| label).with_context(|| {
        format!(
            "{}: needs labels of all moves; '{}' has none of {chosen}",
            name_of(&rival),
            position.board()
        )
    })
}

/// The labelled positions, with the labels of their moves if there are any.
fn read(paths: &[PathBuf]) -> Result<Vec<Labelled>> {
    let (data, _) = dataset::open(paths)?;
    let mut positions: Vec<Labelled> = Vec::new();
    let mut families: Vec<(Board, Vec<(Move, f32)>)> = Vec::new();
    for split in Split::ALL {
        data.families(split, 1, |family, _| {
            let Family { board, labels } = family.decode()?;
            match labels {
                FamilyLabels::Own(label) => positions.push(Labelled {
                    position: Position::from_fen(&fen_of(&board))?,
                    label: label.win_probability(),
                    moves: Vec::new(),
                }),
                FamilyLabels::Children(children) => {
                    let p = |(mv, label): (Move, Label)| (mv, label.win_probability());
                    families.push((board, children.into_iter().map(p).collect()));
                }
            }
            Ok(())
        })?;
    }
    ensure!(!positions.is_empty(), "the data has no position with a label of its own");
    for labelled in &mut positions {
        let board = labelled.position.board();
        let own = families.iter().find(|(other, _)| other.same_position(board));
        labelled.moves = own.map(|(_, moves)| moves.clone()).unwrap_or_default();
    }
    positions.retain(|labelled| labelled.position.has_legal_move());
    Ok(positions)
}
