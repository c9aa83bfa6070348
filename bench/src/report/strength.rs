//! Tables of matches, and the plot of Elo by depth.

use std::collections::BTreeMap;
use std::fmt::Write;

use anyhow::Result;
use azimuth::uci::{Knowledge, Level};
use azimuth_search::BeamVerify;
use azimuth_search::names::name_of;
use plotters::prelude::SeriesLabelPosition;

use super::results::{Kind, Match, Players, RivalResults, Tau};
use super::tables::header;
use crate::games::GameRecord;
use crate::plot::{Axes, Series, draw, grouped};
use crate::rating::{Player, Rating, Ratings, Standings, effects};
use crate::settings::RecordedSettings;

/// The paper's Table 2: depth, Elo of its small and base encoder (Stockfish 16, 50 ms per move,
/// width 3, at least 600 games per cell).
const PAPER: [(u32, [f64; 2]); 5] = [
    (2, [2067.0, 2115.0]),
    (3, [2282.0, 2318.0]),
    (4, [2388.0, 2433.0]),
    (5, [2487.0, 2538.0]),
    (6, [2548.0, 2593.0]),
];

const WIDTH: usize = 3;

pub struct Strength {
    standings: Standings,
    ratings: Ratings,
    /// The players that are Azimuth, by index in the standings.
    azimuths: BTreeMap<usize, RecordedSettings>,
}

impl Strength {
    /// Rates the players of the files of one kind.
    pub fn of(matches: &[Match], kind: Kind) -> Result<Self> {
        let rated = matches.iter().filter(|played| played.kind == kind);
        let games: Vec<&GameRecord> = rated.flat_map(|played| &played.games).collect();
        let standings = Standings::of(games.iter().copied());
        let ratings = Ratings::of(&standings)?;
        let mut azimuths = BTreeMap::new();
        for player in games.iter().flat_map(|game| [&game.white, &game.black]) {
            let settings = RecordedSettings::read(&player.settings)?;
            if let Some(place) = standings.find(&player.name).filter(|_| settings.planner.is_some())
            {
                azimuths.insert(place, settings);
            }
        }
        Ok(Self { standings, ratings, azimuths })
    }

    /// A plot of Elo by depth with 95% intervals, with and without verification, beside the paper's
    /// values.
    pub fn plot_by_depth(&self) -> Result<String> {
        let curve = |name: &str, verified: bool| {
            let mut line = Series::new(name, Vec::new());
            for (depth, _, player) in self.beams(verified, false) {
                let Rating { elo, low, high, .. } = self.rating(player);
                line.points.push((depth.into(), elo));
                line.intervals.push((depth.into(), [low, high]));
            }
            line
        };
        let paper = |name: &str, size: usize| {
            let points = PAPER.iter().map(|(depth, elos)| ((*depth).into(), elos[size]));
            Series::new(name, points.collect())
        };
        let axes = Axes {
            title: "Elo by depth, width 3 (Stockfish 16's UCI_Elo, 50 ms a move)",
            x: "depth, plies",
            y: "Elo",
            logarithmic: false,
            legend: SeriesLabelPosition::LowerRight,
        };
        let series = [
            curve("Azimuth, verified", true),
            curve("Azimuth, scored by the child's own embedding", false),
            paper("paper, small", 0),
            paper("paper, base", 1),
        ];
        draw(&axes, &series)
    }

    /// Ratings by depth, with or without verification, beside the paper's.
    pub fn depth_table(&self, verified: bool) -> String {
        let mut text = header(&format!("depth | {RATING} | paper: small | paper: base"));
        let beams = |policy| self.beams(verified, policy).into_iter().map(move |b| (b, policy));
        for ((depth, verify, player), policy) in [false, true].into_iter().flat_map(beams) {
            let label = match verify {
                BeamVerify::None if policy => format!("{depth}, with the policy head"),
                BeamVerify::None => depth.to_string(),
                verify => format!("{depth}, verify {}", name_of(&verify)),
            };
            let paper = PAPER.iter().find(|(known, _)| *known == depth);
            let paper =
                paper.map_or(" | ".to_owned(), |(_, [small, base])| format!("{small} | {base}"));
            let _ = writeln!(text, "{} {paper} |", self.rating_row(&label, player));
        }
        text
    }

    /// Ratings of the levels of limited strength, weakest first.
    pub fn level_table(&self) -> String {
        let label = |Level { depth, nodes, noise, .. }| match (depth, nodes) {
            (Some(depth), _) => format!("beam, depth {depth}, noise {noise}"),
            (None, nodes) => {
                format!("selective, {} nodes, noise {noise}", grouped(nodes.unwrap_or_default()))
            }
        };
        let levels = self.levels().into_iter();
        self.ratings_table("search", levels.map(|(level, player)| (label(level), player)).collect())
    }

    /// The players that are levels of limited strength, weakest first.
    fn levels(&self) -> Vec<(Level, usize)> {
        let known = Level::measured();
        let level = |(&player, found): (&usize, &RecordedSettings)| {
            let RecordedSettings { planner, noise, limit, policy: false, .. } = found else {
                return None;
            };
            let depth = limit.depth.map(|depth| depth as f32);
            let (planner, nodes, knowledge) = ((*planner)?, limit.nodes, Knowledge::NONE);
            let level = Level { planner, depth, nodes, noise: *noise, knowledge };
            known.iter().any(|(_, known)| *known == level).then_some((level, player))
        };
        let mut levels: Vec<(Level, usize)> = self.azimuths.iter().filter_map(level).collect();
        levels.sort_by(|a, b| self.rating(a.1).elo.total_cmp(&self.rating(b.1).elo));
        levels
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
        let deepest = [true, false].into_iter().filter_map(|kind| self.beams(kind, false).pop());
        let row = |(depth, verify, player): (u32, BeamVerify, usize)| match verify {
            BeamVerify::None => {
                (format!("the beam as the paper has it, width {WIDTH}, depth {depth}"), player)
            }
            _ => (format!("the beam, width {WIDTH}, depth {depth}, verified"), player),
        };
        deepest.map(row).collect()
    }

    /// Azimuth's score against every opponent, and the rating that follows from it.
    pub fn gauntlet_table(&self, shipped: &BTreeMap<String, String>) -> String {
        let mut text = header("player | Elo | 95% interval | games | Azimuth's score against it");
        let players = self.standings.players.iter();
        let own = players.clone().position(|player| shipped.contains_key(&player.name));
        let mut rows: Vec<usize> = (0..players.len()).collect();
        rows.sort_by(|&a, &b| self.rating(b).elo.total_cmp(&self.rating(a).elo));
        for player in rows {
            let score = own.filter(|&own| own != player).map_or(String::new(), |own| {
                format!("{:.1}%", self.standings.between(own, player).score() * 100.0)
            });
            let (name, rating) = (self.name(player), self.rating_cells(player));
            let _ = writeln!(text, "| {name} | {rating} | {score} |");
        }
        text
    }

    fn name(&self, player: usize) -> &str {
        &self.standings.players[player].name
    }

    /// Depth and verification of the beams of the paper's width, with or without a policy head,
    /// shallowest first.
    fn beams(&self, verified: bool, policy: bool) -> Vec<(u32, BeamVerify, usize)> {
        let beam = |(&player, found): (&usize, &RecordedSettings)| {
            let is_wanted = found.width == Some(WIDTH)
                && (found.verify != BeamVerify::None) == verified
                && found.policy == policy;
            Some((found.limit.depth.filter(|_| is_wanted)?, found.verify, player))
        };
        let mut beams: Vec<_> = self.azimuths.iter().filter_map(beam).collect();
        beams.sort_by_key(|(depth, ..)| *depth);
        beams
    }

    fn rating(&self, player: usize) -> Rating {
        self.ratings.players[player]
    }

    /// Cells with a player's rating, its interval and the number of games.
    fn rating_cells(&self, player: usize) -> String {
        let (rating, games) = (self.rating(player), self.standings.total(player).games());
        format!("{:.0} | {} | {games}", rating.elo, rating.interval())
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

pub fn effects_table(matches: &[Match]) -> Result<String> {
    let mut text = header("technique | Elo | file");
    for played in matches.iter().filter(|played| played.kind == Kind::Effects) {
        for effect in effects(&played.games)? {
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
    for original in originals.iter().filter_map(|name| standings.find(name)) {
        let mut variants: Vec<usize> = (0..standings.players.len())
            .filter(|&variant| standings.between(variant, original).games() > 0)
            .collect();
        let score = |variant: usize| standings.between(variant, original).score();
        variants.sort_by(|&a, &b| score(b).total_cmp(&score(a)));
        for variant in variants {
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
    timed: &[&Strength],
    beams: &Strength,
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

/// Kendall's tau as reported in the document (004, section 4.2).
const REPORTED: [(&str, f64); 4] =
    [("policy", 0.508), ("twohead", 0.476), ("value", 0.7435), ("nnue", 0.0273)];

/// The sets of labelled positions in `rivals/positions`, in the order of their columns.
const POSITIONS: [&str; 2] = ["depth-10", "human-depth-10"];

/// Number of columns about a rival's rating.
const RATED: usize = 3;

/// Training, size, tau, speed and strength of each rival, strongest first.
pub fn rivals_table(rivals: &[RivalResults], strength: &Strength, players: &Players) -> String {
    let opponents = &players.rivals_opponents;
    let against: String = opponents.iter().map(|name| format!(" | against {name}")).collect();
    let mut text = header(&format!(
        "rival | learned from | in | numbers | tau, played on | tau, human games | document's tau \
         | positions/s | Elo | 95% interval | games{against}"
    ));
    let standings = &strength.standings;
    let elo = |rival: &RivalResults| {
        standings.find(&rival.rival).map_or(f64::MIN, |player| strength.rating(player).elo)
    };
    let mut rivals: Vec<&RivalResults> = rivals.iter().collect();
    rivals.sort_by(|a, b| elo(b).total_cmp(&elo(a)));
    for rival in rivals {
        let RivalResults { rival: name, taus, per_second, parameters, examples, seconds } = rival;
        let reported = REPORTED.iter().find(|(known, _)| known == name);
        let reported = reported.map_or(String::new(), |(_, tau)| format!("{tau}"));
        let learned = match examples {
            0 => [String::new(), String::new()],
            _ => [format!("{} examples", grouped(*examples)), format!("{:.0} min", seconds / 60.0)],
        };
        let numbers = if *parameters == 0 { String::new() } else { grouped(*parameters) };
        let [played_on, human] = POSITIONS.map(|data| {
            let tau = taus.iter().find(|tau| tau.data == data);
            tau.map_or(String::new(), |Tau { tau, low, high, .. }| {
                format!("{tau:.3} ({low:.3} to {high:.3})")
            })
        });
        let _ = write!(
            text,
            "| {name} | {} | {numbers} | {played_on} | {human} | {reported} | {} |",
            learned.join(" | "),
            grouped(per_second.round() as u64)
        );
        let Some(player) = standings.find(name) else {
            text.push_str(&" |".repeat(RATED + opponents.len()));
            text.push('\n');
            continue;
        };
        let _ = write!(text, " {} |", strength.rating_cells(player));
        for opponent in opponents {
            let score = standings.find(opponent).map_or(String::new(), |other| {
                format!("{:.1}%", standings.between(player, other).score() * 100.0)
            });
            let _ = write!(text, " {score} |");
        }
        text.push('\n');
    }
    text
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
        let strength = Strength::of(&results.matches, Kind::Limited)?;
        let levels = strength.levels();
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
