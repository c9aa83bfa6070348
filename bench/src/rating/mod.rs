//! Ratings from games, as text and for the reports. The results between players, in games and in
//! pairs.

mod effects;
mod model;
mod sprt;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use azimuth_chess::pgn::Outcome;
use azimuth_cli::print_line;
use cozy_chess::Move;
use sprt::{Pentanomial, WithError};

use crate::games::{GameRecord, read_files};

pub use effects::effects;
pub use model::{Rating, Ratings};
pub use sprt::{Sprt, Verdict};

/// Prints the ratings of all games in `files`, with players of `known` rating, or the effect of
/// each technique that some players leave out.
pub fn run(files: &[PathBuf], known: &[(String, f64)], by_technique: bool) -> Result<()> {
    let games = read_files(files)?;
    if by_technique {
        for effect in effects(&games)? {
            print_line(format_args!(
                "{:32} {:+6.1} +/- {:.1} Elo",
                effect.name, effect.elo, effect.error
            ))?;
        }
        return Ok(());
    }
    let mut standings = Standings::of(&games);
    for (name, elo) in known {
        match standings.players.iter_mut().find(|player| &player.name == name) {
            Some(player) => player.elo = Some(*elo),
            None => bail!("--known {name}: no game of that player"),
        }
    }
    print_line(table(&standings).trim_end())?;
    Ok(())
}

/// Ratings, if the games determine them, and pairings, as text.
pub fn table(standings: &Standings) -> String {
    let mut text = match Ratings::of(standings) {
        Ok(ratings) => rating_table(standings, &ratings),
        Err(error) => format!("{error}\n"),
    };
    for (one, other) in standings.pairings() {
        let results = standings.between(one, other);
        let names = [one, other].map(|player| standings.players[player].name.as_str());
        let pairs = standings.pairs(names);
        let elo = |elo: Option<WithError>| {
            elo.map_or("-".to_owned(), |elo| format!("{:+.2} +/- {:.2}", elo.value, elo.error))
        };
        let _ = writeln!(
            text,
            "{} against {}: +{} -{} ={} ({:.1}%), Elo {}, normalized {}, pairs {:?}",
            names[0],
            names[1],
            results.wins,
            results.losses,
            results.draws,
            results.score() * 100.0,
            elo(pairs.logistic_elo()),
            elo(pairs.normalized_elo()),
            pairs.0
        );
    }
    if standings.repeated > 0 {
        let all: u64 = standings.games.values().map(Results::games).sum();
        let _ = writeln!(
            text,
            "{} of {all} games repeat another game of their players: the intervals are too narrow; \
             play from more openings",
            standings.repeated
        );
    }
    text
}

/// Players by rating, best first.
fn rating_table(standings: &Standings, ratings: &Ratings) -> String {
    let names = standings.players.iter().map(|player| player.name.chars().count());
    let width = names.chain(["player".len()]).max().unwrap_or(0);
    let mut text =
        format!("{:<width$}    Elo       95% interval  games   score  draws\n", "player");
    let mut order: Vec<usize> = (0..standings.players.len()).collect();
    order.sort_by(|&a, &b| ratings.players[b].elo.total_cmp(&ratings.players[a].elo));
    for player in order {
        let (rating, total) = (ratings.players[player], standings.total(player));
        let _ = writeln!(
            text,
            "{:<width$} {:>6.0} {:>18} {:>6} {:>6.1}% {:>5.1}%",
            standings.players[player].name,
            rating.elo,
            rating.interval(),
            total.games(),
            total.score() * 100.0,
            total.draws as f64 * 100.0 / total.games() as f64
        );
    }
    let _ = writeln!(
        text,
        "first move {:+.0} Elo, draw parameter {:.0} Elo",
        ratings.advantage, ratings.draw
    );
    text
}

/// Reads `NAME=ELO`.
pub fn known(text: &str) -> Result<(String, f64)> {
    let (name, elo) = text.rsplit_once('=').context("expected NAME=ELO")?;
    let elo: f64 = elo.parse().ok().with_context(|| format!("'{elo}' is not a number"))?;
    Ok((name.to_owned(), elo))
}

/// Games from one player's view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Results {
    pub wins: u64,
    pub draws: u64,
    pub losses: u64,
}

/// The results of the games of one or more matches.
#[derive(Default)]
pub struct Standings {
    /// In the order of their first game.
    pub players: Vec<Player>,
    /// Games by White and Black, from White's view.
    pub games: BTreeMap<(usize, usize), Results>,
    pairs: HashMap<(usize, usize), Pentanomial>,
    /// Games whose partner in the pair has not been counted yet, by White, Black and opening:
    /// half-points of White.
    waiting: HashMap<(usize, usize, String), Vec<usize>>,
    /// The different games: opening and moves.
    different: HashSet<([usize; 2], String, Vec<Move>)>,
    /// Number of games that repeat another game of the same players.
    pub repeated: u64,
}

pub struct Player {
    pub name: String,
    pub elo: Option<f64>,
}

impl Standings {
    pub fn of<'a>(games: impl IntoIterator<Item = &'a GameRecord>) -> Self {
        let mut standings = Self::default();
        games.into_iter().for_each(|game| standings.add(game));
        standings
    }

    /// Counts a game. Two games of the same players from the same opening with colours reversed
    /// form a pair.
    pub fn add(&mut self, game: &GameRecord) {
        let [white, black] =
            [&game.white, &game.black].map(|player| self.player(&player.name, player.elo));
        let results = self.games.entry((white, black)).or_default();
        match game.outcome {
            Outcome::WhiteWins => results.wins += 1,
            Outcome::BlackWins => results.losses += 1,
            Outcome::Draw => results.draws += 1,
        }
        let line = game.moves.iter().map(|played| played.mv).collect();
        let players = [white.min(black), white.max(black)];
        let is_new = self.different.insert((players, game.opening.clone(), line));
        self.repeated += u64::from(!is_new);
        let points = game.outcome.white_half_points();
        let partner = self.waiting.get_mut(&(black, white, game.opening.clone()));
        match partner.and_then(Vec::pop) {
            Some(others) => {
                let white_points = points + (2 - others);
                self.pairs.entry((white, black)).or_default().0[white_points] += 1;
                self.pairs.entry((black, white)).or_default().0[4 - white_points] += 1;
            }
            None => {
                let key = (white, black, game.opening.clone());
                self.waiting.entry(key).or_default().push(points);
            }
        }
    }

    /// Standings of games known only by their counts.
    #[cfg(test)]
    pub fn with(players: Vec<Player>, games: BTreeMap<(usize, usize), Results>) -> Self {
        Self { players, games, ..Self::default() }
    }

    fn player(&mut self, name: &str, elo: Option<f64>) -> usize {
        if let Some(found) = self.find(name) {
            let known = &mut self.players[found].elo;
            *known = known.or(elo);
            return found;
        }
        self.players.push(Player { name: name.to_owned(), elo });
        self.players.len() - 1
    }

    pub fn find(&self, name: &str) -> Option<usize> {
        self.players.iter().position(|player| player.name == name)
    }

    /// Pairs of the two named players, from the first one's view.
    pub fn pairs(&self, names: [&str; 2]) -> Pentanomial {
        let [Some(one), Some(other)] = names.map(|name| self.find(name)) else {
            return Pentanomial::default();
        };
        self.pairs.get(&(one, other)).copied().unwrap_or_default()
    }

    /// Games and score of a player against all others.
    pub fn total(&self, player: usize) -> Results {
        let own = self.games.iter().map(|(&(white, black), &results)| match player {
            _ if player == white => results,
            _ if player == black => results.seen_by_other(),
            _ => Results::default(),
        });
        own.fold(Results::default(), Results::plus)
    }

    /// Games of one player against another, from the first one's view.
    pub fn between(&self, one: usize, other: usize) -> Results {
        let games = |white, black| self.games.get(&(white, black)).copied().unwrap_or_default();
        games(one, other).plus(games(other, one).seen_by_other())
    }

    /// Pairings that have games, each once. A player of unknown rating comes before one of known
    /// rating; otherwise the order is by name.
    pub fn pairings(&self) -> Vec<(usize, usize)> {
        let place = |player: usize| {
            let Player { name, elo } = &self.players[player];
            (elo.is_some(), name.to_lowercase())
        };
        (0..self.players.len())
            .flat_map(|one| (0..self.players.len()).map(move |other| (one, other)))
            .filter(|&(one, other)| place(one) < place(other))
            .filter(|&(one, other)| self.between(one, other).games() > 0)
            .collect()
    }
}

impl Results {
    pub fn games(&self) -> u64 {
        self.wins + self.draws + self.losses
    }

    /// Points per game, in [0, 1].
    pub fn score(&self) -> f64 {
        (self.wins as f64 + self.draws as f64 / 2.0) / self.games() as f64
    }

    fn plus(self, other: Self) -> Self {
        Self {
            wins: self.wins + other.wins,
            draws: self.draws + other.draws,
            losses: self.losses + other.losses,
        }
    }

    fn seen_by_other(self) -> Self {
        Self { wins: self.losses, draws: self.draws, losses: self.wins }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::games::{Name, PlayedMove};

    fn game(white: &str, black: &str, opening: &str, outcome: Outcome) -> GameRecord {
        let name = |name: &str| Name { name: name.to_owned(), ..Name::default() };
        let opening = opening.to_owned();
        GameRecord { opening, ..GameRecord::between(name(white), name(black), outcome) }
    }

    #[test]
    fn a_known_rating_may_be_given_in_any_game() {
        let unrated = game("a", "b", "one", Outcome::Draw);
        let mut rated = game("b", "a", "one", Outcome::Draw);
        rated.white.elo = Some(1900.0);
        for games in [[&unrated, &rated], [&rated, &unrated]] {
            let standings = Standings::of(games);
            let rating = standings.players.iter().find(|player| player.name == "b");
            assert_eq!(rating.and_then(|player| player.elo), Some(1900.0));
        }
    }

    #[test]
    fn games_from_one_opening_with_colours_changed_are_a_pair() {
        use Outcome::{BlackWins, Draw, WhiteWins};
        let standings = Standings::of(&[
            game("a", "b", "one", WhiteWins),
            game("a", "b", "two", Draw),
            game("b", "a", "two", WhiteWins),
            game("b", "a", "one", BlackWins),
            // No pair: the colours were not reversed.
            game("a", "b", "three", WhiteWins),
            game("a", "b", "three", WhiteWins),
            game("a", "c", "three", WhiteWins),
        ]);
        assert_eq!(standings.pairs(["a", "b"]).0, [0, 1, 0, 0, 1]);
        assert_eq!(standings.pairs(["b", "a"]).0, [1, 0, 0, 1, 0]);
        assert_eq!(standings.pairs(["a", "c"]), Pentanomial::default());
        assert_eq!(standings.between(0, 1), Results { wins: 4, draws: 1, losses: 1 });
        assert_eq!(standings.total(0), Results { wins: 5, draws: 1, losses: 1 });
    }

    #[test]
    fn repeated_games_are_counted_and_told() {
        let one = game("a", "b", "one", Outcome::Draw);
        let moves = vec![PlayedMove::of("e2e4".parse().expect("a move"))];
        let other = GameRecord { moves, ..one.clone() };
        let reversed =
            GameRecord { moves: other.moves.clone(), ..game("b", "a", "one", Outcome::Draw) };
        let third =
            GameRecord { moves: other.moves.clone(), ..game("a", "c", "one", Outcome::Draw) };
        let all = [one, other, third];
        assert!(!table(&Standings::of(&all)).contains("repeat"));
        let standings = Standings::of(all.iter().chain([&reversed, &all[0]]));
        assert_eq!(standings.repeated, 2);
        let table = table(&standings);
        assert!(table.contains("2 of 5 games repeat another game of their players"), "{table}");
    }
}
