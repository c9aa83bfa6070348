//! `UCI_LimitStrength` and `UCI_Elo`: the search and the amount of noise for each rating.
//! `Skill Level`: the ratings of Stockfish's levels.

use std::ops::RangeInclusive;

use azimuth_search::{
    BeamSettings, BeamVerify, Handicap, Limits, MOST_PIECES, PlannerKind, PlannerSettings,
};

/// Depth, in plies, of the beam with limited strength. Its ratings were measured at this depth.
const LIMITED_DEPTH: u32 = 6;

/// Elo of the beam of width 3 without verification, and the standard deviation of its noise, in
/// logits. Measured with the default weights, on the scale of Stockfish 16's `UCI_Elo` at 50 ms a
/// move, as are the levels of the selective search. The games are in
/// `bench/results/limited.pgn.zst`, `limited-selective.pgn.zst` and, for the strongest level,
/// `beam.pgn.zst`.
const BEAM: [(f32, f32); 11] = [
    (627.0, 0.7),
    (711.0, 0.6),
    (931.0, 0.5),
    (1095.0, 0.4),
    (1288.0, 0.3),
    (1352.0, 0.25),
    (1431.0, 0.2),
    (1530.0, 0.15),
    (1667.0, 0.1),
    (1798.0, 0.05),
    (1823.0, 0.0),
];

/// Elo of the selective search, its number of nodes, and the standard deviation of its noise.
const SELECTIVE: [(f32, u64, f32); 8] = [
    (1452.0, 400, 0.35),
    (1703.0, 700, 0.3),
    (2007.0, 1200, 0.27),
    (2249.0, 2000, 0.22),
    (2541.0, 4000, 0.17),
    (2736.0, 8000, 0.12),
    (2906.0, 16_000, 0.06),
    (2972.0, 21_000, 0.0),
];

/// The beam plays at ratings below this one, the selective search at the others.
const FIRST_SELECTIVE: u32 = 1703;

/// From this rating on, a level wins with king and queen or king and rook against king, as people
/// of that rating do: it knows the tables of three pieces.
const FIRST_WITH_MATES: u32 = 1200;

/// From this rating on, a level knows all tables.
const FIRST_WITH_TABLES: u32 = 1400;

/// Range of `UCI_Elo`.
pub const WEAKEST_TO_STRONGEST: RangeInclusive<u32> =
    BEAM[0].0 as u32..=SELECTIVE[SELECTIVE.len() - 1].0 as u32;

/// How the engine plays at a rating.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Level {
    /// The search.
    pub planner: PlannerKind,
    /// Maximum number of positions of the selective search.
    pub nodes: Option<u64>,
    /// Standard deviation of the noise on the scores, in logits.
    pub noise: f32,
    /// Maximum number of pieces of the root positions in which tablebases are probed.
    pub table_pieces: usize,
}

impl Level {
    /// Number of search threads, fixed so that a level is as strong on any number of cores.
    pub const THREADS: usize = 1;

    /// The level of a rating, interpolated between measured levels: linear in the noise and in the
    /// logarithm of the nodes.
    pub fn of(elo: u32) -> Self {
        let at = elo as f32;
        let table_pieces = match elo {
            ..FIRST_WITH_MATES => 0,
            FIRST_WITH_MATES..FIRST_WITH_TABLES => 3,
            _ => MOST_PIECES,
        };
        if elo < FIRST_SELECTIVE {
            let noise = interpolated(at, BEAM);
            return Self { planner: PlannerKind::Beam, nodes: None, noise, table_pieces };
        }
        let nodes = interpolated(at, SELECTIVE.map(|(elo, nodes, _)| (elo, (nodes as f32).ln())));
        let noise = interpolated(at, SELECTIVE.map(|(elo, _, noise)| (elo, noise)));
        let nodes = Some(nodes.exp().round() as u64);
        Self { planner: PlannerKind::Selective, nodes, noise, table_pieces }
    }

    /// The measured levels with their ratings. They were measured without tablebases.
    pub fn measured() -> Vec<(f32, Self)> {
        let level = |planner, nodes, noise| Self { planner, nodes, noise, table_pieces: 0 };
        let beam = |(elo, noise)| (elo, level(PlannerKind::Beam, None, noise));
        let selective =
            |(elo, nodes, noise)| (elo, level(PlannerKind::Selective, Some(nodes), noise));
        BEAM.into_iter().map(beam).chain(SELECTIVE.into_iter().map(selective)).collect()
    }

    /// `settings` with the beam that the ratings were measured with, which verifies nothing.
    pub fn settings(&self, settings: PlannerSettings) -> PlannerSettings {
        Self::settings_of(self.planner, settings)
    }

    /// The same, for all levels of a planner.
    pub fn settings_of(planner: PlannerKind, settings: PlannerSettings) -> PlannerSettings {
        let verify = match planner {
            PlannerKind::Beam => BeamVerify::None,
            PlannerKind::Selective => settings.beam.verify,
        };
        PlannerSettings { beam: BeamSettings { verify, ..settings.beam }, ..settings }
    }

    /// Limits a search to this level. The noise depends on `seed`.
    pub fn limit(&self, limits: &mut Limits, seed: u64) {
        if self.planner == PlannerKind::Beam {
            limits.depth = Some(limits.depth.unwrap_or(LIMITED_DEPTH).min(LIMITED_DEPTH));
        }
        limits.handicap = Some(Handicap {
            deviation: self.noise,
            seed,
            nodes: self.nodes,
            table_pieces: self.table_pieces,
        });
    }
}

/// The value at `elo`: linear between points of rising Elo, constant beyond them.
fn interpolated<const N: usize>(elo: f32, points: [(f32, f32); N]) -> f32 {
    let above = points.partition_point(|&(measured, _)| measured < elo);
    let (high_elo, high) = points[above.min(N - 1)];
    let (low_elo, low) = points[above.saturating_sub(1)];
    if high_elo == low_elo {
        return high;
    }
    // This form is exact at both ends, so that the highest rating has no noise.
    let share = (elo - low_elo) / (high_elo - low_elo);
    low * (1.0 - share) + high * share
}

/// Elo of Stockfish's skill levels 0 to 19, on the scale of its `UCI_Elo`.
const SKILL_ELO: [f32; 20] = [
    1320.1, 1467.6, 1608.4, 1742.3, 1922.9, 2203.7, 2363.2, 2499.5, 2596.2, 2702.8, 2788.3, 2855.5,
    2923.1, 2972.9, 3024.8, 3069.5, 3111.2, 3141.3, 3170.3, 3191.1,
];

/// The skill level of full strength.
pub const FULL_SKILL: u32 = SKILL_ELO.len() as u32;

/// The rating of a skill level; `None` for [`FULL_SKILL`].
pub fn elo_of_skill(level: u32) -> Option<u32> {
    SKILL_ELO.get(level as usize).map(|elo| elo.round() as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_elo_is_less_noise_and_more_nodes() {
        let (weakest, strongest) = WEAKEST_TO_STRONGEST.into_inner();
        for elo in weakest..strongest {
            let (level, next) = (Level::of(elo), Level::of(elo + 1));
            if level.planner == next.planner {
                assert!(level.noise > next.noise, "{elo}: {level:?} {next:?}");
                assert!(level.nodes <= next.nodes, "{elo}: {level:?} {next:?}");
            } else {
                assert_eq!((level.planner, elo + 1), (PlannerKind::Beam, FIRST_SELECTIVE));
            }
        }
        let (_, nodes, noise) = SELECTIVE[SELECTIVE.len() - 1];
        let (planner, nodes) = (PlannerKind::Selective, Some(nodes));
        let level = Level { planner, nodes, noise, table_pieces: MOST_PIECES };
        assert_eq!((Level::of(strongest), noise), (level, 0.0));
    }

    #[test]
    fn measured_levels_rise_and_both_searches_reach_the_rating_where_they_meet() {
        assert!(BEAM.is_sorted_by(|low, high| low.0 < high.0 && low.1 > high.1));
        assert!(SELECTIVE.is_sorted_by(|low, high| low.0 < high.0 && low.1 < high.1));
        let meeting = FIRST_SELECTIVE as f32;
        assert!(BEAM[BEAM.len() - 1].0 > meeting && SELECTIVE[0].0 < meeting);
        for (elo, level) in Level::measured() {
            let plays = Level { table_pieces: 0, ..Level::of(elo as u32) };
            assert!(plays.planner != level.planner || plays == level, "{elo}: {plays:?}");
        }
    }

    #[test]
    fn levels_know_the_tables_that_people_of_their_rating_know() {
        let known = [1199, 1200, 1399, 1400, 2000].map(|elo| Level::of(elo).table_pieces);
        assert_eq!(known, [0, 3, 3, MOST_PIECES, MOST_PIECES]);
    }

    #[test]
    fn levels_rise_to_full_strength() {
        let elos: Vec<u32> = (0..FULL_SKILL).filter_map(elo_of_skill).collect();
        assert_eq!((elos.first(), elos.last()), (Some(&1320), Some(&3191)));
        assert!(elos.is_sorted_by(|low, high| low < high) && elos.len() == 20);
        assert_eq!(elo_of_skill(FULL_SKILL), None);
    }
}
