//! Tables of matches.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use anyhow::Result;
use azimuth::uci::{Knowledge, Level};
use azimuth_search::PlannerKind;
use azimuth_search::names::named;

use super::results::Match;
use super::sources::Kind;
use super::tables::header;
use crate::elo::settings::Words;
use crate::games::record::{GameRecord, Name};
use crate::plot::grouped;
use crate::rating::{Player, Rating, Ratings, Standings, effects};

/// The paper's Table 2: depth, Elo of its small and base encoder (Stockfish 16, 50 ms per move,
/// width 3, at least 600 games per cell).
pub const PAPER: [(u32, [f64; 2]); 5] = [
    (2, [2067.0, 2115.0]),
    (3, [2282.0, 2318.0]),
    (4, [2388.0, 2433.0]),
    (5, [2487.0, 2538.0]),
    (6, [2548.0, 2593.0]),
];

/// A beam that scores children by their static evaluation.
const NO_VERIFICATION: &str = "none";

/// Matches that are rated together.
pub struct Strength<'a> {
    own: Vec<&'a GameRecord>,
    standings: Standings,
    ratings: Option<Ratings>,
    /// Settings of Azimuth's beams by player index in the standings.
    beams: BTreeMap<usize, Beam>,
}

/// The search settings of a rated player of Azimuth.
#[derive(Clone, PartialEq)]
pub struct Beam {
    pub width: usize,
    pub depth: u32,
    /// How children are scored; `none` is the paper's method.
    pub verify: String,
}

impl<'a> Strength<'a> {
    /// Rates the matches of one kind.
    pub fn of(matches: &'a [Match], kind: Kind) -> Result<Self> {
        let rated = matches.iter().filter(|played| played.kind == kind);
        Self::of_games(rated.flat_map(|played| &played.games).collect())
    }

    /// Rates the levels of limited strength. The strongest is the selective search alone, whose
    /// games are among those of the beam.
    pub fn of_levels(matches: &'a [Match], alone: &BTreeSet<String>) -> Result<Self> {
        let is_rated = |kind: Kind, game: &GameRecord| match kind {
            Kind::Limited => true,
            Kind::Beam => [&game.white, &game.black].iter().any(|it| alone.contains(&it.name)),
            _ => false,
        };
        let all = matches
            .iter()
            .flat_map(|played| played.games.iter().filter(move |game| is_rated(played.kind, game)));
        Self::of_games(all.collect())
    }

    fn of_games(own: Vec<&'a GameRecord>) -> Result<Self> {
        let standings = Standings::of(own.iter().copied());
        let ratings = (!own.is_empty()).then(|| Ratings::of(&standings)).transpose()?;
        let mut beams = BTreeMap::new();
        for player in own.iter().flat_map(|game| [&game.white, &game.black]) {
            if let Some((place, beam)) = standings.find(&player.name).zip(beam_of(player)?) {
                beams.insert(place, beam);
            }
        }
        Ok(Self { own, standings, ratings, beams })
    }

    /// Ratings of the beam of width 3, with or without verification, shallowest first.
    pub fn by_depth(&self, verified: bool) -> Vec<(u32, Rating)> {
        self.paper_beams(verified)
            .into_iter()
            .map(|(beam, player)| (beam.depth, self.rating(player)))
            .collect()
    }

    /// Ratings by depth, with or without verification, beside the paper's.
    pub fn depth_table(&self, verified: bool) -> String {
        let mut text = header(&format!("depth | {RATING} | paper: small | paper: base"));
        for (Beam { depth, verify, .. }, player) in self.paper_beams(verified) {
            let label = match verify.as_str() {
                NO_VERIFICATION => depth.to_string(),
                verify => format!("{depth}, verify {verify}"),
            };
            let paper = PAPER.iter().find(|(known, _)| *known == depth);
            let paper =
                paper.map_or(" | ".to_owned(), |(_, [small, base])| format!("{small} | {base}"));
            let _ = writeln!(text, "{} {paper} |", self.rating_row(&label, player));
        }
        text
    }

    /// Ratings of the selective search alone, beside the beam that it verifies.
    pub fn alone_table(&self, alone: &BTreeSet<String>) -> String {
        self.ratings_table("player", self.named(|player| alone.contains(&player.name)))
    }

    /// Ratings of the levels of limited strength, weakest first.
    pub fn level_table(&self) -> Result<String> {
        let levels = self.levels()?.into_iter();
        let rows = levels.map(|(level, player)| (level_label(&level), player));
        Ok(self.ratings_table("search", rows.collect()))
    }

    /// The players that are levels of limited strength, weakest first.
    fn levels(&self) -> Result<Vec<(Level, usize)>> {
        let mut levels: BTreeMap<usize, Level> = BTreeMap::new();
        for player in self.own.iter().flat_map(|game| [&game.white, &game.black]) {
            if let Some((place, level)) = self.player(&player.name).zip(level_of(player)?) {
                levels.insert(place, level);
            }
        }
        let mut levels: Vec<(Level, usize)> =
            levels.into_iter().map(|(place, level)| (level, place)).collect();
        levels.sort_by(|a, b| self.rating(a.1).elo.total_cmp(&self.rating(b.1).elo));
        Ok(levels)
    }

    /// Ratings of all players whose rating is not given.
    pub fn timed_table(&self) -> String {
        let mut rows = self.named(|player| player.elo.is_none());
        rows.sort();
        self.ratings_table("player", rows)
    }

    /// The players that are `wanted`, each in a row with its name.
    fn named(&self, wanted: impl Fn(&Player) -> bool) -> Vec<Row> {
        let players = self.standings.players.iter().enumerate();
        let wanted = players.filter(|(_, known)| wanted(known));
        wanted.map(|(player, known)| (known.name.clone(), player)).collect()
    }

    /// Rows of the program as shipped, with the labels of its players.
    fn shipped(&self, labels: &BTreeMap<String, String>) -> Vec<Row> {
        let rows = self.named(|player| labels.contains_key(&player.name)).into_iter();
        rows.map(|(name, player)| (labels[&name].clone(), player)).collect()
    }

    /// The beam of the paper's width at its greatest depth, with and without verification.
    fn deepest_beams(&self) -> Vec<Row> {
        let row = |(Beam { width, depth, verify }, player): (Beam, usize)| match verify.as_str() {
            NO_VERIFICATION => {
                (format!("the beam as the paper has it, width {width}, depth {depth}"), player)
            }
            _ => (format!("the beam, width {width}, depth {depth}, verified"), player),
        };
        let deepest = [true, false].into_iter().filter_map(|kind| self.paper_beams(kind).pop());
        deepest.map(row).collect()
    }

    /// Azimuth's score against every opponent, and the rating that follows from it.
    pub fn gauntlet_table(&self, shipped: &BTreeMap<String, String>) -> String {
        let mut text = header("player | Elo | 95% interval | games | Azimuth's score against it");
        let players = self.standings.players.iter();
        let own = players.clone().position(|player| shipped.contains_key(&player.name));
        let mut rows: Vec<(Rating, usize)> =
            (0..players.len()).map(|player| (self.rating(player), player)).collect();
        rows.sort_by(|a, b| b.0.elo.total_cmp(&a.0.elo));
        for (Rating { elo, low, high, known }, player) in rows {
            let games = self.standings.total(player).games();
            let score = own.filter(|&own| own != player).map_or(String::new(), |own| {
                format!("{:.1}%", self.standings.between(own, player).score() * 100.0)
            });
            let interval = match known {
                true => "known".to_owned(),
                false => format!("{low:.0} to {high:.0}"),
            };
            let name = self.name(player);
            let _ = writeln!(text, "| {name} | {elo:.0} | {interval} | {games} | {score} |");
        }
        text
    }

    fn name(&self, player: usize) -> &str {
        &self.standings.players[player].name
    }

    /// Beams of the paper's width, 3, shallowest first.
    fn paper_beams(&self, verified: bool) -> Vec<(Beam, usize)> {
        self.rated(|beam| {
            let is_verified = beam.verify != NO_VERIFICATION;
            beam.width == 3 && is_verified == verified
        })
    }

    fn rated(&self, wanted: impl Fn(&Beam) -> bool) -> Vec<(Beam, usize)> {
        let mut rated: Vec<(Beam, usize)> = self
            .beams
            .iter()
            .filter(|(_, beam)| wanted(beam))
            .map(|(&player, beam)| (beam.clone(), player))
            .collect();
        rated.sort_by_key(|(beam, _)| (beam.depth, beam.width));
        rated
    }

    /// Index of the player with this name.
    pub fn player(&self, name: &str) -> Option<usize> {
        self.standings.find(name)
    }

    /// The score of one player against another, in [0, 1].
    pub fn score(&self, one: usize, other: usize) -> f64 {
        self.standings.between(one, other).score()
    }

    /// A player's rating.
    pub fn rating(&self, player: usize) -> Rating {
        match &self.ratings {
            Some(ratings) => ratings.players[player],
            None => unreachable!("who is in the standings has a rating"),
        }
    }

    /// Cells with a player's rating, its interval and the number of games.
    pub fn rating_cells(&self, player: usize) -> String {
        let Rating { elo, low, high, .. } = self.rating(player);
        let games = self.standings.total(player).games();
        format!("{elo:.0} | {low:.0} to {high:.0} | {games}")
    }

    fn ratings_table(&self, title: &str, rows: Vec<Row>) -> String {
        let mut text = header(&format!("{title} | {RATING}"));
        for (label, player) in rows {
            let _ = writeln!(text, "{}", self.rating_row(&label, player));
        }
        text
    }

    /// A player's rating, and its scores against the opponents of known rating.
    fn rating_row(&self, label: &str, player: usize) -> String {
        let scores: Vec<String> = (0..self.standings.players.len())
            .filter(|&opponent| self.standings.players[opponent].elo.is_some())
            .filter(|&opponent| self.standings.between(player, opponent).games() > 0)
            .map(|opponent| {
                let score = self.standings.between(player, opponent).score();
                format!("{}: {:.1}%", self.name(opponent), score * 100.0)
            })
            .collect();
        format!("| {label} | {} | {} |", self.rating_cells(player), scores.join(", "))
    }
}

/// A row of a table of ratings: its label, and the player.
type Row = (String, usize);

/// The titles of the columns of [`Strength::rating_row`], without that of the label.
const RATING: &str = "Elo | 95% interval | games | score against";

/// The effect of each technique in the designed matches.
pub fn effects_table(matches: &[Match]) -> Result<String> {
    let mut text = header("technique | Elo | file");
    for played in matches.iter().filter(|played| played.kind == Kind::Effects) {
        for effect in effects(&played.games.iter().collect::<Vec<_>>())? {
            let _ = writeln!(
                text,
                "| {} | {:+.0} ± {:.0} | {} |",
                effect.name, effect.elo, effect.error, played.file
            );
        }
    }
    Ok(text)
}

/// Variants of the beam against the players in `originals`, for each of these the best first.
/// Players with different times never meet, so they have no common ratings.
pub fn variants_table(matches: &[Match], originals: &[String]) -> String {
    let mut text = header("variant | won, lost, drawn | score | Elo difference");
    let played = matches.iter().filter(|played| played.kind == Kind::BeamTime);
    let standings = Standings::of(played.flat_map(|played| &played.games));
    let name = |player: usize| standings.players[player].name.as_str();
    for original in originals {
        let mut pairings: Vec<[usize; 2]> = Vec::new();
        for (one, other) in standings.pairings() {
            if name(one) == original {
                pairings.push([other, one]);
            } else if name(other) == original {
                pairings.push([one, other]);
            }
        }
        let score =
            |&[variant, original]: &[usize; 2]| standings.between(variant, original).score();
        pairings.sort_by(|a, b| score(b).total_cmp(&score(a)));
        for [variant, original] in pairings {
            let results = standings.between(variant, original);
            let elo = standings.pairs([variant, original].map(name)).logistic_elo();
            let elo =
                elo.map_or(String::new(), |elo| format!("{:+.0} ± {:.0}", elo.value, elo.error));
            let _ = writeln!(
                text,
                "| {} | {}, {}, {} | {:.1}% | {elo} |",
                name(variant),
                results.wins,
                results.losses,
                results.draws,
                results.score() * 100.0
            );
        }
    }
    text
}

/// The README's summary of strength: the program as shipped in each of the `timed`
/// matches, and the beam in other matches.
pub fn summary(
    timed: &[&Strength<'_>],
    beams: &Strength<'_>,
    shipped: &BTreeMap<String, String>,
) -> String {
    let mut text = header("Azimuth | Elo | 95% interval | games");
    let shipped = timed.iter().map(|&matches| (matches, matches.shipped(shipped)));
    for (matches, rows) in shipped.chain([(beams, beams.deepest_beams())]) {
        for (label, player) in rows {
            let _ = writeln!(text, "| {label} | {} |", matches.rating_cells(player));
        }
    }
    text
}

fn beam_of(player: &Name) -> Result<Option<Beam>> {
    let mut words = Words::of(&player.settings)?;
    // Earlier games name a mode: `tree`, or `global` for a search that was removed.
    if words.take_text("mode").is_some_and(|mode| mode != "tree") {
        return Ok(None);
    }
    let (width, depth) = (words.take("width")?, words.take("depth")?);
    let verify = words.take_text("verify").unwrap_or_else(|| NO_VERIFICATION.to_owned());
    Ok(width.zip(depth).map(|(width, depth)| Beam { width, depth, verify }))
}

/// The level of limited strength that a player's settings name; `None` for another engine.
fn level_of(player: &Name) -> Result<Option<Level>> {
    let mut words = Words::of(&player.settings)?;
    let planner = match words.take_text("planner") {
        Some(name) => named("planner", &name)?,
        None if words.take_text("width").is_some() => PlannerKind::Beam,
        None => return Ok(None),
    };
    let (nodes, noise) = (words.take("nodes")?, words.take("noise")?.unwrap_or(0.0));
    Ok(Some(Level { planner, nodes, noise, knowledge: Knowledge::NONE }))
}

/// A level in words.
fn level_label(level: &Level) -> String {
    match level.nodes {
        Some(nodes) => format!("selective, {} nodes, noise {}", grouped(nodes), level.noise),
        None => format!("beam, noise {}", level.noise),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use anyhow::Context;

    use super::super::results::Results;
    use super::*;

    #[test]
    fn the_levels_of_the_engine_are_those_that_were_measured() -> Result<()> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("results");
        let results = Results::read(&folder)?;
        let strength = Strength::of_levels(&results.matches, &results.players.alone)?;
        let levels = strength.levels()?;
        let known = Level::measured();
        assert_eq!(levels.len(), known.len());
        for (level, player) in levels {
            let found = strength.rating(player).elo;
            let elo = known.iter().find(|(_, known)| *known == level).map(|(elo, _)| *elo);
            let elo = elo.with_context(|| format!("{level:?} is not in the engine's table"))?;
            assert!((f64::from(elo) - found).abs() < 1.0, "{level:?}: {elo}, measured {found}");
        }
        Ok(())
    }
}
