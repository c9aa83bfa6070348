//! Moves that a walk plays before its labels begin, so that walks from one start visit different
//! positions.

use anyhow::Result;
use azimuth::inference::Evaluator;
use azimuth_chess::position::{Position, board_after, legal_moves};
use cozy_chess::Move;
use rand::RngExt;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::walk::FIFTY_MOVES;

/// Number of random moves of which a lead plays the best. Scoring all moves would take several
/// times as long, and single random moves would soon be blunders.
const DRAWN: usize = 6;

/// Plays 0 to `most` moves; all numbers have the same probability. Stops earlier if the fifty-move
/// rule applies or all of the moves drawn end the game.
pub fn play(
    evaluator: &mut Evaluator,
    position: &mut Position,
    most: u32,
    rng: &mut Xoshiro256PlusPlus,
) -> Result<()> {
    // Draws no random number without a lead, so that walks stay equal to those of versions without
    // leads.
    if most == 0 {
        return Ok(());
    }
    for _ in 0..rng.random_range(0..=most) {
        if position.board().halfmove_clock() >= FIFTY_MOVES {
            break;
        }
        let Some(mv) = choose(evaluator, position, rng)? else { break };
        position.play(mv);
    }
    Ok(())
}

/// Draws [`DRAWN`] moves, and returns the one with the lowest value for the opponent. Leaves out
/// moves that end the game; `None` if no other move is drawn.
fn choose(
    evaluator: &mut Evaluator,
    position: &Position,
    rng: &mut Xoshiro256PlusPlus,
) -> Result<Option<Move>> {
    let mut moves = legal_moves(position.board());
    moves.shuffle(rng);
    let mut best: Option<(f32, Move)> = None;
    for mv in moves.into_iter().take(DRAWN) {
        let child = board_after(position.board(), mv);
        if child.generate_moves(|_| true) {
            let value = evaluator.value(&child)?;
            if best.is_none_or(|(lowest, _)| value < lowest) {
                best = Some((value, mv));
            }
        }
    }
    Ok(best.map(|(_, mv)| mv))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::sync::Arc;

    use azimuth::embedded_weights::EmbeddedWeights;
    use azimuth::inference::Worker;
    use candle_core::{DType, Device};
    use rand::SeedableRng;

    use super::*;

    fn ends(fen: &str, most: u32) -> Result<Vec<Position>> {
        let weights = Arc::new(EmbeddedWeights::Beam.weights()?);
        let notice = Box::new(|_: &str| ());
        let worker = Worker::start(weights, &Device::Cpu, DType::F32, notice)?;
        let mut evaluator = Evaluator::new(&worker, 1)?;
        let end = |seed| {
            let mut position = Position::from_fen(fen)?;
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
            play(&mut evaluator, &mut position, most, &mut rng)?;
            Ok(position)
        };
        (0..40).map(end).collect()
    }

    #[test]
    fn leads_from_one_start_differ() -> Result<()> {
        let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
        let hashes = |most| -> Result<HashSet<u64>> {
            Ok(ends(start, most)?.iter().map(|position| position.board().hash()).collect())
        };
        assert_eq!(hashes(0)?.len(), 1);
        assert!(hashes(16)?.len() > 30);
        Ok(())
    }

    #[test]
    fn a_lead_ends_before_the_game() -> Result<()> {
        // Many moves give mate, and some give stalemate.
        let ends = ends("7k/8/6K1/5Q2/8/8/8/8 w - - 0 1", 40)?;
        assert!(ends.iter().all(Position::has_legal_move));
        Ok(())
    }

    #[test]
    fn a_lead_of_any_length_ends() -> Result<()> {
        let ends = ends("8/8/4k3/8/8/4K3/8/8 w - - 0 1", u32::MAX)?;
        assert!(ends.iter().all(|end| end.board().halfmove_clock() == FIFTY_MOVES));
        Ok(())
    }
}
