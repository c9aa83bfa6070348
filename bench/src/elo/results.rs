//! The results of a match's pairings, as JSON.

use serde::Serialize;

use super::tournament::Tournament;
use crate::rating::Standings;

/// A player against an opponent.
#[derive(Debug, Serialize)]
pub struct PairingResult {
    player: String,
    against: String,
    wins: u64,
    losses: u64,
    draws: u64,
    /// Logistic Elo difference with its 95% error margin; `None` if it is unbounded.
    elo: Option<[f64; 2]>,
}

impl PairingResult {
    /// All pairings of a match that have games.
    pub fn of_all(tournament: &Tournament<'_>, standings: &Standings) -> Vec<Self> {
        let name = |player: usize| tournament.participants[player].name.name.as_str();
        let find = |name: &str| standings.players.iter().position(|player| player.name == name);
        let results = tournament.pairings.iter().filter_map(|&[one, other]| {
            let names = [one, other].map(name);
            let between = standings.between(find(names[0])?, find(names[1])?);
            let elo = standings.pairs(names).logistic_elo();
            Some(Self {
                player: names[0].to_owned(),
                against: names[1].to_owned(),
                wins: between.wins,
                losses: between.losses,
                draws: between.draws,
                elo: elo.map(|elo| [elo.value, elo.error]),
            })
        });
        results.collect()
    }
}
