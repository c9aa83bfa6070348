//! Sampling: the document's Algorithm 2, from all tokens masked to none. An unmasked token is the
//! most probable one (the document's "arg max p"), and the first action must be legal. A random
//! generator seeded by the position selects the tokens to unmask, so that a position always gets
//! the same answer.

use anyhow::Result;
use candle_core::{D, Tensor};
use cozy_chess::{Board, Move};
use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::model::{DiffusionConfig, DiffusionNetwork, MASKED_ACTION, MASKED_STATE};
use super::noise::lambda;
use super::sequences::{STATE, state_tokens};
use crate::board::{move_index, viewer};

impl DiffusionNetwork {
    /// Sorts `moves`, the legal moves of `board`: first the sampled move, then the others by their
    /// logits in the step that sampled it.
    pub fn sample(&self, board: &Board, moves: &[Move]) -> Result<Vec<Move>> {
        let DiffusionConfig { horizon, timesteps, oriented, .. } = self.config();
        let view = viewer(board, oriented);
        let number = |mv: Move| move_index(board, mv, view);
        let mut states = state_tokens(board, view).to_vec();
        states.resize(horizon * STATE, MASKED_STATE);
        let mut actions = vec![MASKED_ACTION; horizon];
        let mut ranked = moves.to_vec();
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(board.hash());
        for t in (1..=timesteps).rev() {
            let ids = Tensor::from_slice(&states, (1, horizon, STATE), self.device())?;
            let of_actions = Tensor::from_slice(&actions, (1, horizon), self.device())?;
            let (of_states, of_actions) = self.forward(&ids, &of_actions)?;
            let of_actions = of_actions.squeeze(0)?;
            let mut likeliest = of_actions.argmax(D::Minus1)?.to_vec1::<u32>()?;
            if actions[0] == MASKED_ACTION {
                let logits = of_actions.get(0)?.to_vec1::<f32>()?;
                ranked.sort_by(|&a, &b| logits[number(b)].total_cmp(&logits[number(a)]));
                likeliest[0] = ranked.first().map_or(MASKED_ACTION, |&mv| number(mv) as u32);
            }
            let chance = lambda(t, timesteps);
            uncover(&mut actions, MASKED_ACTION, &likeliest, chance, &mut rng);
            if let Some(of_states) = of_states {
                let likeliest = of_states.squeeze(0)?.argmax(D::Minus1)?.to_vec1::<u32>()?;
                uncover(&mut states[STATE..], MASKED_STATE, &likeliest, chance, &mut rng);
            }
        }
        Ok(ranked)
    }
}

/// Replaces each masked token by the most probable one, with probability `chance`.
fn uncover(tokens: &mut [u32], mask: u32, likeliest: &[u32], chance: f64, rng: &mut impl Rng) {
    for (token, &likeliest) in tokens.iter_mut().zip(likeliest) {
        if *token == mask && rng.random::<f64>() < chance {
            *token = likeliest;
        }
    }
}
