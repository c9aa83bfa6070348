//! Labellers: a UCI engine, or a Stockfish network with or without quiescence search.

use anyhow::{Context, Result, bail};
use azimuth_chess::placement::Placement;
use azimuth_chess::position::{Position, board_after};
use azimuth_cli::say;
use azimuth_nnue::StockfishNetwork;
use azimuth_search::inference::Worker;
use azimuth_search::{Planner, Resources, Selective, SelectiveSettings, Value};
use cozy_chess::{Board, Color, Move};

use super::options::LabelOptions;
use super::uci_engine::{ScoredMove, Scores, UciLabeller};
use crate::data::packed::Label;

/// Scores positions.
pub enum Labeller {
    /// A UCI engine in another process.
    Engine(UciLabeller),
    /// A network without a search.
    Network(Box<StockfishNetwork>),
    /// Quiescence search with a network as its evaluation.
    NetworkQuiescence(Box<NetworkQuiescence>),
}

impl Labeller {
    /// Starts the labellers chosen by the options, one for each thread.
    pub fn start_all(options: &LabelOptions, scores: Scores) -> Result<Vec<Self>> {
        let threads = 0..options.engines;
        match (&options.engine, &options.network) {
            (Some(engine), None) => threads
                .map(|_| Ok(Self::Engine(UciLabeller::start(engine, options.depth, scores)?)))
                .collect(),
            (None, Some(network)) => {
                let network = StockfishNetwork::read(network).context("--network")?;
                let labeller = |_| match options.quiescence {
                    false => Ok(Self::Network(Box::new(network.clone()))),
                    true => {
                        Ok(Self::NetworkQuiescence(Box::new(NetworkQuiescence::new(&network)?)))
                    }
                };
                threads.map(labeller).collect()
            }
            _ => bail!("--engine or --network: who labels is missing"),
        }
    }

    /// Name of the engine or network.
    pub fn name(&self) -> &str {
        match self {
            Self::Engine(engine) => engine.name(),
            Self::Network(network) => network.name(),
            Self::NetworkQuiescence(search) => search.name(),
        }
    }

    /// Clears the tables of the search, so that labels do not depend on earlier walks.
    pub fn new_game(&mut self) -> Result<()> {
        match self {
            Self::Engine(engine) => engine.new_game(),
            Self::Network(_) => Ok(()),
            Self::NetworkQuiescence(search) => {
                search.new_game();
                Ok(())
            }
        }
    }

    /// Scores a position that has a legal move, from White's point of view.
    pub fn value(&mut self, board: &Board) -> Result<Label> {
        match self {
            Self::Engine(engine) => engine.value(board),
            Self::Network(network) => Ok(network_value(network, board)),
            Self::NetworkQuiescence(search) => search.value(board),
        }
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
        match self {
            Self::Engine(engine) => {
                let scored = engine.score(board)?.into_iter();
                Ok(scored.filter(|scored| moves.contains(&scored.mv)).collect())
            }
            Self::Network(network) => Ok(network_scores(network, board, moves)),
            Self::NetworkQuiescence(search) => search.score(board, moves),
        }
    }
}

/// Scores a position that has a legal move, from White's point of view.
fn network_value(network: &mut StockfishNetwork, board: &Board) -> Label {
    Label::Centipawns(network.centipawns(&Placement::of(board))).seen_by(board.side_to_move())
}

/// Scores `moves`, and sorts them with the best for the side to move first.
fn network_scores(
    network: &mut StockfishNetwork,
    board: &Board,
    moves: &[Move],
) -> Vec<ScoredMove> {
    let scored = moves.iter().map(|&mv| {
        let after = board_after(board, mv);
        let label = label_of_end(&after).unwrap_or_else(|| {
            let centipawns = network.centipawns(&Placement::of(&after));
            Label::Centipawns(centipawns).seen_by(after.side_to_move())
        });
        ScoredMove { mv, label }
    });
    best_first(scored.collect(), board.side_to_move())
}

/// A walk's searches share the tables, which are cleared before each walk.
const RESOURCES: Resources = Resources { hash_mb: 2, threads: 1 };

/// The quiescence search of the selective search with a Stockfish network as its evaluation.
pub struct NetworkQuiescence {
    planner: Selective,
    name: String,
}

impl NetworkQuiescence {
    /// Searches with `network`.
    pub fn new(network: &StockfishNetwork) -> Result<Self> {
        let evaluator = network.clone();
        let notice = Box::new(|text: &str| say(text));
        let worker = Worker::with_evaluator(move || evaluator.clone(), notice);
        let planner = Selective::new(&worker, SelectiveSettings::default(), RESOURCES)?;
        Ok(Self { planner, name: network.name().to_owned() })
    }

    /// Name of the network.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Clears the tables of the search.
    pub fn new_game(&mut self) {
        self.planner.new_game();
    }

    /// Scores a position that has a legal move, from White's point of view.
    pub fn value(&mut self, board: &Board) -> Result<Label> {
        let value = self.planner.quiescence(&Position::from(board.clone()))?;
        Ok(label_of_value(value, board.side_to_move()))
    }

    /// Scores `moves`, and sorts them with the best for the side to move first.
    pub fn score(&mut self, board: &Board, moves: &[Move]) -> Result<Vec<ScoredMove>> {
        let scored = moves.iter().map(|&mv| {
            let after = board_after(board, mv);
            let label = label_of_end(&after).map_or_else(|| self.value(&after), Ok)?;
            Ok(ScoredMove { mv, label })
        });
        Ok(best_first(scored.collect::<Result<_>>()?, board.side_to_move()))
    }
}

/// A value for `side`, as a label.
fn label_of_value(value: Value, side: Color) -> Label {
    let label = match value.moves_to_mate() {
        Some(moves) => Label::Mate(moves > 0),
        None => Label::Centipawns(value.centipawns()),
    };
    label.seen_by(side)
}

/// Sorts moves of `side` by their labels, the best first.
fn best_first(mut scored: Vec<ScoredMove>, side: Color) -> Vec<ScoredMove> {
    scored.sort_by_key(|scored| -i32::from(scored.label.seen_by(side).bits()));
    scored
}

/// The label of a position in which the game is over, by mate or stalemate. `None` if there is a
/// legal move.
fn label_of_end(board: &Board) -> Option<Label> {
    if board.generate_moves(|_| true) {
        return None;
    }
    let mated = !board.checkers().is_empty();
    let drawn = Label::Centipawns(0);
    Some(if mated { Label::Mate(board.side_to_move() == Color::Black) } else { drawn })
}
