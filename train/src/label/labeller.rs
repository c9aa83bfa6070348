//! Labellers: a UCI engine, or a Stockfish network with or without quiescence search.

use anyhow::{Context, Result, bail};
use azimuth_chess::placement::Placement;
use azimuth_chess::position::{Position, board_after};
use azimuth_cli::say;
use azimuth_nnue::StockfishNetwork;
use azimuth_search::inference::Worker;
use azimuth_search::{Planner, Resources, Selective, SelectiveSettings, Value};
use cozy_chess::{Board, Color, Move};

use super::options::{LabelOptions, WalkKind};
use super::uci_engine::{ScoredMove, UciLabeller};
use crate::data::packed::Label;

pub enum Labeller {
    Engine(UciLabeller),
    Network(Box<StockfishNetwork>),
    /// Quiescence search with a network as its evaluation.
    NetworkQuiescence {
        planner: Box<Selective>,
        name: String,
    },
}

/// A walk's searches share the tables, which are cleared before each walk.
const RESOURCES: Resources = Resources { hash_mb: 2, threads: 1 };

impl Labeller {
    /// Starts the labellers chosen by the options, one for each thread.
    pub fn start_all(options: &LabelOptions) -> Result<Vec<Self>> {
        let threads = 0..options.engines;
        let all_moves = matches!(options.walk, WalkKind::Beam | WalkKind::Engine);
        match (&options.engine, &options.network) {
            (Some(engine), None) => threads
                .map(|_| Ok(Self::Engine(UciLabeller::start(engine, options.depth, all_moves)?)))
                .collect(),
            (None, Some(network)) => {
                let network = StockfishNetwork::read(network).context("--network")?;
                let labeller = |_| {
                    if !options.quiescence {
                        return Ok(Self::Network(Box::new(network.clone())));
                    }
                    let evaluator = network.clone();
                    let notice = Box::new(|text: &str| say(text));
                    let worker = Worker::with_evaluator(move || evaluator.clone(), notice);
                    let planner = Selective::new(&worker, SelectiveSettings::default(), RESOURCES)?;
                    let (planner, name) = (Box::new(planner), network.name().to_owned());
                    Ok(Self::NetworkQuiescence { planner, name })
                };
                threads.map(labeller).collect()
            }
            _ => bail!("--engine or --network: who labels is missing"),
        }
    }

    pub fn name(&self) -> &str {
        match self {
            Self::Engine(labeller) => labeller.engine.name(),
            Self::Network(network) => network.name(),
            Self::NetworkQuiescence { name, .. } => name,
        }
    }

    /// Clears the tables of the search, so that labels do not depend on earlier walks.
    pub fn new_game(&mut self) -> Result<()> {
        match self {
            Self::Engine(labeller) => labeller.engine.new_game(),
            Self::Network(_) => Ok(()),
            Self::NetworkQuiescence { planner, .. } => {
                planner.new_game();
                Ok(())
            }
        }
    }

    /// Scores a position that has a legal move, from White's point of view.
    pub fn value(&mut self, board: &Board) -> Result<Label> {
        let of_mover = match self {
            Self::Engine(engine) => return engine.value(board),
            Self::Network(network) => Label::Centipawns(network.centipawns(&Placement::of(board))),
            Self::NetworkQuiescence { planner, .. } => {
                label_of_value(planner.quiescence(&Position::from(board.clone()))?)
            }
        };
        Ok(of_mover.seen_by(board.side_to_move()))
    }

    /// Whether scoring all moves of a position costs no more than scoring one move.
    pub fn scores_moves_together(&self) -> bool {
        matches!(self, Self::Engine(_))
    }

    /// Scores `moves`, and sorts them with the best for the side to move first.
    pub fn score(&mut self, board: &Board, moves: &[Move]) -> Result<Vec<ScoredMove>> {
        if moves.is_empty() {
            return Ok(Vec::new());
        }
        if let Self::Engine(engine) = self {
            let scored = engine.score(board)?.into_iter();
            return Ok(scored.filter(|scored| moves.contains(&scored.mv)).collect());
        }
        let scored = moves.iter().map(|&mv| {
            let after = board_after(board, mv);
            let label = label_of_end(&after).map_or_else(|| self.value(&after), Ok)?;
            Ok(ScoredMove { mv, label })
        });
        let mut scored = scored.collect::<Result<Vec<_>>>()?;
        let side = board.side_to_move();
        scored.sort_by_key(|scored| -i32::from(scored.label.seen_by(side).bits()));
        Ok(scored)
    }
}

/// The label of a value, from the same point of view.
fn label_of_value(value: Value) -> Label {
    match value.moves_to_mate() {
        Some(moves) => Label::Mate(moves > 0),
        None => Label::Centipawns(value.centipawns()),
    }
}

/// The label of a position that ends the game; `None` if there is a legal move.
fn label_of_end(board: &Board) -> Option<Label> {
    if board.generate_moves(|_| true) {
        return None;
    }
    let mated = !board.checkers().is_empty();
    let drawn = Label::Centipawns(0);
    Some(if mated { Label::Mate(board.side_to_move() == Color::Black) } else { drawn })
}
