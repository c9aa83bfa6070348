//! Labellers: a UCI engine, or a Stockfish network with or without quiescence search.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail, ensure};
use azimuth_chess::placement::Placement;
use azimuth_chess::position::{Position, board_after, legal_moves, uci_move};
use azimuth_cli::say;
use azimuth_client::{Engine, PATIENCE, UciScore, number_after, score};
use azimuth_nnue::StockfishNetwork;
use azimuth_search::inference::Worker;
use azimuth_search::{Planner, Resources, Selective, SelectiveSettings};
use cozy_chess::{Board, Color, Move};

use super::options::{LabelOptions, WalkKind};
use crate::data::packed::Label;

#[derive(Clone, Copy, Debug)]
pub struct ScoredMove {
    pub mv: Move,
    /// The label of the position after the move, from White's point of view.
    pub label: Label,
}

pub enum Labeller {
    /// A UCI engine with searches of `depth` plies: it scores a position, or every legal move in one
    /// MultiPV search.
    Engine {
        engine: Engine,
        depth: u32,
    },
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
        match (&options.engine, &options.network) {
            (Some(command), None) => {
                // No position has more than 218 legal moves.
                let all_moves = matches!(options.walk, WalkKind::Beam | WalkKind::Engine);
                let lines = if all_moves { "218" } else { "1" };
                // Shallow searches do not fill a table of 1 MB, and a small table is cleared quickly.
                let hash = if options.depth < 8 { "1" } else { "16" };
                let set = [("MultiPV", lines), ("Threads", "1"), ("Hash", hash)];
                let depth = options.depth;
                let start =
                    |_| Ok(Self::Engine { engine: Engine::start(command, &[], set)?, depth });
                threads.map(start).collect()
            }
            (None, Some(network)) => {
                let network = StockfishNetwork::read(network).context("--network")?;
                let labeller = |_| {
                    if !options.quiescence {
                        return Ok(Self::Network(Box::new(network.clone())));
                    }
                    let evaluator = network.clone();
                    let worker =
                        Worker::with_evaluator(move || evaluator.clone(), |text| say(text));
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
            Self::Engine { engine, .. } => engine.name(),
            Self::Network(network) => network.name(),
            Self::NetworkQuiescence { name, .. } => name,
        }
    }

    /// Clears the tables of the search, so that labels do not depend on earlier walks.
    pub fn new_game(&mut self) -> Result<()> {
        match self {
            Self::Engine { engine, .. } => engine.new_game()?,
            Self::Network(_) => {}
            Self::NetworkQuiescence { planner, .. } => planner.new_game(),
        }
        Ok(())
    }

    /// Scores a position that has a legal move, from White's point of view.
    pub fn value(&mut self, board: &Board) -> Result<Label> {
        let of_mover = match self {
            Self::Engine { engine, depth } => {
                let line = search(engine, *depth, board)?.into_values().next();
                let (_, score) =
                    line.with_context(|| format!("{engine}: no score for '{board}'"))?;
                return Ok(label_of_score(score, board));
            }
            Self::Network(network) => Label::Centipawns(network.centipawns(&Placement::of(board))),
            Self::NetworkQuiescence { planner, .. } => {
                let value = planner.quiescence(&Position::from(board.clone()))?;
                match value.moves_to_mate() {
                    Some(moves) => Label::Mate(moves > 0),
                    None => Label::Centipawns(value.centipawns()),
                }
            }
        };
        Ok(of_mover.seen_by(board.side_to_move()))
    }

    /// Scores the position after a legal move, from White's point of view.
    pub fn value_after(&mut self, board: &Board, mv: Move) -> Result<Label> {
        let after = board_after(board, mv);
        if after.generate_moves(|_| true) {
            return self.value(&after);
        }
        Ok(match after.checkers().is_empty() {
            true => Label::Centipawns(0),
            false => Label::Mate(after.side_to_move() == Color::Black),
        })
    }

    /// Scores `moves`, and sorts them with the best for the side to move first.
    pub fn score(&mut self, board: &Board, moves: &[Move]) -> Result<Vec<ScoredMove>> {
        if moves.is_empty() {
            return Ok(Vec::new());
        }
        if let Self::Engine { engine, depth } = self {
            let scored = score_all(engine, *depth, board)?.into_iter();
            return Ok(scored.filter(|scored| moves.contains(&scored.mv)).collect());
        }
        let scored =
            moves.iter().map(|&mv| Ok(ScoredMove { mv, label: self.value_after(board, mv)? }));
        let mut scored = scored.collect::<Result<Vec<_>>>()?;
        let side = board.side_to_move();
        scored.sort_by_key(|scored| -i32::from(scored.label.seen_by(side).bits()));
        Ok(scored)
    }
}

/// Scores all moves, the best for the side to move first.
fn score_all(engine: &mut Engine, depth: u32, board: &Board) -> Result<Vec<ScoredMove>> {
    let lines = search(engine, depth, board)?;
    let moves = legal_moves(board).into_iter();
    let legal: BTreeMap<String, Move> = moves.map(|mv| (uci_move(board, mv, false), mv)).collect();
    let (scored, all) = (lines.len(), legal.len());
    ensure!(scored == all, "{engine}: {scored} of {all} moves scored in '{board}'");
    let scored = lines.into_values().map(|(mv, score)| {
        let illegal = || format!("{engine}: '{mv}' is not legal in '{board}'");
        let mv = legal.get(&mv).copied().with_context(illegal)?;
        Ok(ScoredMove { mv, label: label_of_score(score, board) })
    });
    scored.collect()
}

/// The final first move and score of each MultiPV line, from the side to move's point of view.
fn search(
    engine: &mut Engine,
    depth: u32,
    board: &Board,
) -> Result<BTreeMap<u32, (String, UciScore)>> {
    engine.send(&format!("position fen {board}"))?;
    engine.send(&format!("go depth {depth}"))?;
    let mut lines = BTreeMap::new();
    loop {
        let line = engine.read(PATIENCE)?.text;
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["bestmove", ..] => return Ok(lines),
            ["info", facts @ ..] => lines.extend(read_line(facts)),
            _ => {}
        }
    }
}

/// The number, first move and score of the line in the words after `info`. The number of an only
/// line may be left out.
fn read_line(facts: &[&str]) -> Option<(u32, (String, UciScore))> {
    let number = number_after(facts, "multipv").unwrap_or(1);
    let mv = facts.iter().skip_while(|&&word| word != "pv").nth(1)?;
    Some((number, ((*mv).to_owned(), score(facts)?)))
}

/// Converts a score of the side to move to a label from White's point of view.
fn label_of_score(score: UciScore, board: &Board) -> Label {
    let label = match score {
        UciScore::Centipawns(value) => Label::Centipawns(value),
        UciScore::Mate(moves) => Label::Mate(moves > 0),
    };
    label.seen_by(board.side_to_move())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_only_line_needs_no_number() {
        let read = |text: &str| read_line(&text.split_whitespace().collect::<Vec<_>>());
        let line = |number: u32, mv: &str, score| Some((number, (mv.to_owned(), score)));
        assert_eq!(read("depth 3 score cp 5 pv e2e4"), line(1, "e2e4", UciScore::Centipawns(5)));
        let second = "depth 3 multipv 2 score mate 1 nodes 9 pv a2a3 a7a6";
        assert_eq!(read(second), line(2, "a2a3", UciScore::Mate(1)));
        for none in ["", "depth 3 score cp 5", "score cp 5 pv", "string score cp 5 pv e2e4"] {
            assert_eq!(read(none), None, "{none}");
        }
    }
}
