//! The moves to judge: chosen by players on request, or taken from games.

use std::collections::BTreeMap;
use std::thread;

use anyhow::{Context, Result};
use azimuth_chess::position::Position;
use cozy_chess::{Color, Move};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::elo::player::{Choice, Player, Situation};
use crate::elo::roster::Roster;
use crate::games::{Evaluation, GameRecord};

/// A player's move in a position.
#[derive(Clone, Debug)]
pub struct Decision {
    pub player: String,
    pub position: Position,
    pub mv: Move,
    /// The player's score, from White's view.
    pub evaluation: Option<Evaluation>,
    pub depth: Option<u32>,
}

/// Asks a player for its move in a position, without a game before it.
pub fn ask(player: &mut dyn Player, position: &Position) -> Result<Choice> {
    player.new_game()?;
    player.choose(&Situation {
        start: &position.fen(false),
        moves: &[],
        position,
        clocks: [None, None],
        increments: Default::default(),
        moves_to_go: None,
    })
}

/// The choice of every player of `roster` in every position; several positions run concurrently.
pub fn chosen(roster: &Roster, fens: &[String], concurrency: usize) -> Result<Vec<Decision>> {
    let mut decisions = Vec::new();
    for (number, participant) in roster.participants.iter().enumerate() {
        let name = &participant.name.name;
        decisions.extend(in_shares(roster, number, fens, concurrency, |player, fen| {
            let position = Position::from_fen(fen)?;
            let Choice { mv, evaluation, depth, .. } = ask(player, &position)?;
            let mv = position
                .parse_move(&mv)
                .with_context(|| format!("'{name}' makes an illegal move in '{fen}'"))?;
            Ok(vec![Decision { player: name.clone(), position, mv, evaluation, depth }])
        })?);
    }
    Ok(decisions)
}

/// Applies `work` to all `items`, on several threads that each have a player for participant
/// `number` of `roster`. Returns the results in the order of `items`.
pub fn in_shares<T: Sync, R: Send>(
    roster: &Roster,
    number: usize,
    items: &[T],
    threads: usize,
    work: impl Fn(&mut dyn Player, &T) -> Result<Vec<R>> + Sync,
) -> Result<Vec<R>> {
    let (share, work) = (items.len().div_ceil(threads).max(1), &work);
    let shares = items.chunks(share).map(|share| Ok((share, roster.player(number)?)));
    let shares = shares.collect::<Result<Vec<_>>>()?;
    thread::scope(|scope| {
        let threads: Vec<_> = shares
            .into_iter()
            .map(|(share, mut player)| {
                scope.spawn(move || -> Result<Vec<R>> {
                    let mut done = Vec::new();
                    for item in share {
                        done.extend(work(&mut *player, item)?);
                    }
                    Ok(done)
                })
            })
            .collect();
        let mut all = Vec::new();
        for thread in threads {
            all.extend(thread.join().ok().context("a thread that asks failed")??);
        }
        Ok(all)
    })
}

/// Up to `count` moves of each player of `games`, drawn by `seed` from those with a score.
pub fn played(games: &[GameRecord], count: usize, seed: u64) -> Result<Vec<Decision>> {
    let mut by_player: BTreeMap<&str, Vec<Decision>> = BTreeMap::new();
    for game in games {
        let mut position = Position::from_fen(&game.opening)?;
        for played in &game.moves {
            let board = position.board();
            let name = match board.side_to_move() {
                Color::White => &game.white.name,
                Color::Black => &game.black.name,
            };
            if played.evaluation.is_some() {
                by_player.entry(name).or_default().push(Decision {
                    player: name.clone(),
                    position: position.clone(),
                    mv: played.mv,
                    evaluation: played.evaluation,
                    depth: played.depth,
                });
            }
            position.play(played.mv);
        }
    }
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let drawn = by_player.into_values().flat_map(|mut decisions| {
        decisions.shuffle(&mut rng);
        decisions.truncate(count);
        decisions
    });
    Ok(drawn.collect())
}
