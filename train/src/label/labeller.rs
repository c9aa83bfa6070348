//! Labellers: a UCI engine, or a Stockfish network with or without quiescence search.

use anyhow::{Context, Result, bail};
use azimuth_nnue::StockfishNetwork;
use cozy_chess::{Board, Move};

use super::network;
use super::network_quiescence::NetworkQuiescence;
use super::options::LabelOptions;
use super::scored_move::{ScoredMove, Scores};
use super::uci_engine::UciLabeller;
use crate::data::label::Label;

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
            Self::Network(network) => Ok(network::value(network, board)),
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
            Self::Network(network) => Ok(network::score(network, board, moves)),
            Self::NetworkQuiescence(search) => search.score(board, moves),
        }
    }
}
