//! `UCI_LimitStrength` and `UCI_Elo`: the search and the amount of noise for each rating.
//! `Skill Level`: the ratings of Stockfish's levels. Also the opening book of limited strength.

use std::ops::RangeInclusive;

use azimuth_chess::position::Position;
use azimuth_search::{
    BeamSettings, BeamVerify, Handicap, Limits, MOST_PIECES, PlannerKind, PlannerSettings,
};
use cozy_chess::{File, Move, Rank, Square};
use rand::distr::{Distribution, weighted::WeightedIndex};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use shakmaty::fen::Fen;
use shakmaty::zobrist::Zobrist64;
use shakmaty::{CastlingMode, Chess, EnPassantMode, Position as _};

/// Elo of the beam of width 3 without verification, its depth in plies, and the standard deviation
/// of its noise, in logits. Measured on the scale of Stockfish 16's `UCI_Elo` at 50 ms a move, as
/// are the levels of the selective search. The games are in `limited-beam.pgn.zst`
/// and `limited-selective.pgn.zst` in `bench/results`.
const BEAM: [(f32, f32, f32); 8] = [
    (564.0, 1.0, 0.6),
    (727.0, 1.0, 0.4),
    (836.0, 1.0, 0.25),
    (991.0, 1.0, 0.1),
    (1346.0, 2.0, 0.1),
    (1553.0, 3.0, 0.1),
    (1688.0, 4.0, 0.1),
    (1794.0, 5.0, 0.1),
];

/// Elo of the selective search, its number of nodes, and the standard deviation of its noise.
const SELECTIVE: [(f32, u64, f32); 8] = [
    (1517.0, 400, 0.35),
    (1705.0, 700, 0.3),
    (2005.0, 1200, 0.27),
    (2301.0, 2000, 0.22),
    (2577.0, 4000, 0.17),
    (2768.0, 8000, 0.12),
    (2939.0, 16_000, 0.06),
    (2980.0, 21_000, 0.0),
];

/// The beam plays at ratings below this one, the selective search at the others.
const FIRST_SELECTIVE: u32 = 1705;

/// From this rating on, a level wins with king and queen or king and rook against king, as people
/// of that rating do: it knows the tables of three pieces.
const FIRST_WITH_MATES: u32 = 1200;

/// From this rating on, a level knows all tables.
const FIRST_WITH_TABLES: u32 = 1400;

/// Number of moves of the opening that a level knows, and the least share of games in which people
/// play a move that it knows, at two ratings.
const OPENINGS: [(f32, (f32, f32)); 2] = [(600.0, (2.0, 0.02)), (2400.0, (10.0, 0.08))];

/// Range of `UCI_Elo`.
pub const WEAKEST_TO_STRONGEST: RangeInclusive<u32> =
    BEAM[0].0 as u32..=SELECTIVE[SELECTIVE.len() - 1].0 as u32;

/// How the engine plays at a rating.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Level {
    /// The search.
    pub planner: PlannerKind,
    /// Depth of the beam, in plies. Between two whole numbers, each move is searched to one of
    /// them, more often to the nearer one.
    pub depth: Option<f32>,
    /// Maximum number of positions of the selective search.
    pub nodes: Option<u64>,
    /// Standard deviation of the noise on the scores, in logits.
    pub noise: f32,
    /// The moves that it plays without a search.
    pub knowledge: Knowledge,
}

/// The openings and endings that a level knows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Knowledge {
    /// Maximum number of pieces of the root positions in which tablebases are probed.
    pub table_pieces: usize,
    /// Number of the game's moves that come from the opening book. Each later move comes from it
    /// with half the probability of the move before.
    opening_moves: f32,
    /// The least share of games in which people play a move of the opening book.
    least_share: f32,
}

impl Knowledge {
    /// Neither openings nor endings.
    pub const NONE: Self = Self { table_pieces: 0, opening_moves: 0.0, least_share: 1.0 };

    /// The knowledge of people with this rating.
    fn of(elo: u32) -> Self {
        let table_pieces = match elo {
            ..FIRST_WITH_MATES => 0,
            FIRST_WITH_MATES..FIRST_WITH_TABLES => 3,
            _ => MOST_PIECES,
        };
        let opening_moves =
            interpolated(elo as f32, OPENINGS.map(|(elo, (moves, _))| (elo, moves)));
        let least_share = interpolated(elo as f32, OPENINGS.map(|(elo, (_, share))| (elo, share)));
        Self { table_pieces, opening_moves, least_share }
    }
}

impl Level {
    /// Number of search threads, fixed so that a level is as strong on any number of cores.
    pub const THREADS: usize = 1;

    /// The level of a rating, interpolated between measured levels: linear in depth and noise, and in
    /// the logarithm of the nodes.
    pub fn of(elo: u32) -> Self {
        let (at, knowledge) = (elo as f32, Knowledge::of(elo));
        if elo < FIRST_SELECTIVE {
            let depth = Some(interpolated(at, BEAM.map(|(elo, depth, _)| (elo, depth))));
            let noise = interpolated(at, BEAM.map(|(elo, _, noise)| (elo, noise)));
            return Self { planner: PlannerKind::Beam, depth, nodes: None, noise, knowledge };
        }
        let nodes = interpolated(at, SELECTIVE.map(|(elo, nodes, _)| (elo, (nodes as f32).ln())));
        let noise = interpolated(at, SELECTIVE.map(|(elo, _, noise)| (elo, noise)));
        let nodes = Some(nodes.exp().round() as u64);
        Self { planner: PlannerKind::Selective, depth: None, nodes, noise, knowledge }
    }

    /// The measured levels with their ratings. They were measured without the opening book and
    /// tablebases.
    pub fn measured() -> Vec<(f32, Self)> {
        let knowledge = Knowledge::NONE;
        let level = |planner, depth, nodes, noise| Self { planner, depth, nodes, noise, knowledge };
        let beam = |(elo, depth, noise)| (elo, level(PlannerKind::Beam, Some(depth), None, noise));
        let selective =
            |(elo, nodes, noise)| (elo, level(PlannerKind::Selective, None, Some(nodes), noise));
        BEAM.into_iter().map(beam).chain(SELECTIVE.into_iter().map(selective)).collect()
    }

    /// `settings` with the beam that the ratings of a planner's levels were measured with: without
    /// verification and without a policy.
    pub fn settings_of(planner: PlannerKind, settings: PlannerSettings) -> PlannerSettings {
        let beam = match planner {
            PlannerKind::Beam => {
                BeamSettings { verify: BeamVerify::None, policy: false, ..settings.beam }
            }
            PlannerKind::Selective => settings.beam,
        };
        PlannerSettings { beam, ..settings }
    }

    /// Limits a search from `position` to this level. The noise, the openings and the depth depend
    /// on `seed`.
    pub fn limit(&self, limits: &mut Limits, position: &Position, seed: u64) {
        if limits.search_moves.is_empty() && limits.multipv <= 1 {
            limits.search_moves.extend(self.opening_move(position, seed));
        }
        if let Some(mean) = self.depth {
            let deeper = random_for(position, seed).random_bool(mean.fract().into());
            let depth = mean as u32 + u32::from(deeper);
            limits.depth = Some(limits.depth.unwrap_or(depth).min(depth));
        }
        limits.handicap = Some(Handicap {
            deviation: self.noise,
            seed,
            nodes: self.nodes,
            table_pieces: self.knowledge.table_pieces,
        });
    }

    /// A move of the opening book, drawn with the probability at which people play it.
    fn opening_move(&self, position: &Position, seed: u64) -> Option<Move> {
        let Knowledge { opening_moves, least_share, .. } = self.knowledge;
        let number = f32::from(position.board().fullmove_number());
        let mut random = random_for(position, seed);
        let known = (opening_moves - number + 1.0).min(0.0).exp2();
        if random.random::<f32>() >= known {
            return None;
        }
        let mut moves = book_moves(position);
        moves.retain(|&(_, share)| share >= f64::from(least_share));
        let shares = WeightedIndex::new(moves.iter().map(|(_, share)| share)).ok()?;
        Some(moves[shares.sample(&mut random)].0)
    }
}

/// Random numbers that are the same whenever a game with this seed reaches `position`.
fn random_for(position: &Position, seed: u64) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(seed ^ position.board().hash())
}

/// The value at `elo`: linear between points of rising Elo, constant beyond them.
fn interpolated<const N: usize>(elo: f32, points: [(f32, f32); N]) -> f32 {
    let above = points.partition_point(|&(measured, _)| measured < elo);
    let (high_elo, high) = points[above.min(N - 1)];
    let (low_elo, low) = points[above.saturating_sub(1)];
    if high_elo == low_elo || high == low {
        return high;
    }
    // This form is exact at both ends, so that the highest rating has no noise.
    let share = (elo - low_elo) / (high_elo - low_elo);
    low * (1.0 - share) + high * share
}

/// A Polyglot book, which `scripts/update-opening-book` makes from a list of popular positions. Its
/// entries are in the order of their keys, each of 16 bytes: key, move, weight and an unused field,
/// in big-endian order.
static BOOK: &[u8] = include_bytes!("openings.bin");

/// Legal moves of the book with their shares of the games in which people reached `position`.
pub fn book_moves(position: &Position) -> Vec<(Move, f64)> {
    let (entries, _) = BOOK.as_chunks::<16>();
    let Some(key) = book_key(position) else { return Vec::new() };
    let key_of = |entry: &[u8; 16]| u64::from_be_bytes(std::array::from_fn(|byte| entry[byte]));
    let first = entries.partition_point(|entry| key_of(entry) < key);
    let found = entries[first..].iter().take_while(|entry| key_of(entry) == key);
    let mut moves: Vec<(Move, f64)> = found
        .map(|entry| {
            let [.., high, low, weight_high, weight_low, _, _, _, _] = *entry;
            let weight = u16::from_be_bytes([weight_high, weight_low]);
            (decoded(u16::from_be_bytes([high, low])), f64::from(weight))
        })
        .filter(|&(mv, _)| position.board().is_legal(mv))
        .collect();
    let all: f64 = moves.iter().map(|(_, weight)| weight).sum();
    moves.iter_mut().for_each(|(_, weight)| *weight /= all);
    moves
}

/// The Polyglot key; `None` in Chess960, which the book does not cover.
fn book_key(position: &Position) -> Option<u64> {
    let fen: Fen = position.fen(false).parse().ok()?;
    let position: Chess = fen.into_position(CastlingMode::Standard).ok()?;
    Some(position.zobrist_hash::<Zobrist64>(EnPassantMode::PseudoLegal).0)
}

/// A move, with castling as king takes rook. The openings have no promotions.
fn decoded(number: u16) -> Move {
    let square = |shift: u16| {
        let [file, rank] = [number >> shift & 7, number >> (shift + 3) & 7].map(usize::from);
        Square::new(File::index(file), Rank::index(rank))
    };
    Move { from: square(6), to: square(0), promotion: None }
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
    use anyhow::Result;

    use super::*;

    #[test]
    fn more_elo_is_less_noise_and_a_larger_search() {
        let (weakest, strongest) = WEAKEST_TO_STRONGEST.into_inner();
        for elo in weakest..strongest {
            let (level, next) = (Level::of(elo), Level::of(elo + 1));
            if level.planner == next.planner {
                assert!(level.noise >= next.noise, "{elo}: {level:?} {next:?}");
                assert!(level.depth <= next.depth, "{elo}: {level:?} {next:?}");
                assert!(level.nodes <= next.nodes, "{elo}: {level:?} {next:?}");
                assert_ne!(level, next, "{elo}");
            } else {
                assert_eq!((level.planner, elo + 1), (PlannerKind::Beam, FIRST_SELECTIVE));
            }
        }
        let (_, nodes, noise) = SELECTIVE[SELECTIVE.len() - 1];
        let (planner, nodes) = (PlannerKind::Selective, Some(nodes));
        let level =
            Level { planner, depth: None, nodes, noise, knowledge: Knowledge::of(strongest) };
        assert_eq!((Level::of(strongest), noise), (level, 0.0));
    }

    #[test]
    fn measured_levels_rise_and_both_searches_reach_the_rating_where_they_meet() {
        assert!(
            BEAM.is_sorted_by(|low, high| low.0 < high.0 && low.1 <= high.1 && low.2 >= high.2)
        );
        assert!(SELECTIVE.is_sorted_by(|low, high| low.0 < high.0 && low.1 < high.1));
        let meeting = FIRST_SELECTIVE as f32;
        assert!(BEAM[BEAM.len() - 1].0 > meeting && SELECTIVE[0].0 < meeting);
        for (elo, level) in Level::measured() {
            let plays = Level { knowledge: Knowledge::NONE, ..Level::of(elo as u32) };
            assert!(plays.planner != level.planner || plays == level, "{elo}: {plays:?}");
        }
    }

    #[test]
    fn a_depth_between_two_plies_is_a_mix_of_both() {
        let position = Position::default();
        let depths = |elo| {
            let depth = |seed| {
                let mut limits = Limits { multipv: 2, ..Limits::default() };
                Level::of(elo).limit(&mut limits, &position, seed);
                limits.depth
            };
            let mut depths: Vec<_> = (0..200).filter_map(depth).collect();
            depths.sort_unstable();
            depths
        };
        let [(one, ..), (other, ..)] = [BEAM[4], BEAM[5]];
        let mixed = depths(((one + other) / 2.0) as u32);
        assert_eq!((mixed[0], mixed[60], mixed[140], mixed[199]), (2, 2, 3, 3));
        assert!(depths(BEAM[0].0 as u32).iter().all(|&depth| depth == 1));
    }

    #[test]
    fn levels_know_the_tables_that_people_of_their_rating_know() {
        let known = [1199, 1200, 1399, 1400, 2000].map(|elo| Knowledge::of(elo).table_pieces);
        assert_eq!(known, [0, 3, 3, MOST_PIECES, MOST_PIECES]);
    }

    #[test]
    fn levels_play_the_openings_that_people_of_their_rating_play() -> Result<()> {
        let moves = |elo, position: &Position| -> Vec<String> {
            let level = Level::of(elo);
            let moves = (0..200).filter_map(|seed| level.opening_move(position, seed));
            moves.map(|mv| mv.to_string()).collect()
        };
        let king_knight = "rnbqkbnr/pppp1ppp/8/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R b KQkq - 1 2";
        let position = Position::from_fen(king_knight)?;
        let known = moves(2000, &position);
        let usual = known.iter().filter(|mv| *mv == "b8c6").count();
        assert!(known.len() == 200 && (140..200).contains(&usual), "{known:?}");
        // The weaker player soon leaves the book.
        let ruy_lopez = "r1bqkb1r/1ppp1ppp/p1n2n2/4p3/B3P3/5N2/PPPP1PPP/RNBQK2R w KQkq - 2 5";
        let later = Position::from_fen(ruy_lopez)?;
        let (weak, strong) = (moves(700, &later).len(), moves(2000, &later).len());
        assert!((20..120).contains(&weak) && strong == 200, "{weak} {strong}");
        // A search that is restricted to other moves keeps these.
        let search_moves = vec![position.parse_move("h7h6")?];
        let mut limits = Limits { search_moves: search_moves.clone(), ..Limits::default() };
        Level::of(2000).limit(&mut limits, &position, 1);
        assert_eq!(limits.search_moves, search_moves);
        Ok(())
    }

    /// The moves of the book after a line, the most popular first.
    fn after(line: &str) -> Result<Vec<(String, f64)>> {
        let mut position = Position::default();
        for mv in line.split_whitespace() {
            position.play(position.parse_move(mv)?);
        }
        let mut moves = book_moves(&position);
        moves.sort_by(|(_, one), (_, other)| other.total_cmp(one));
        Ok(moves.into_iter().map(|(mv, share)| (mv.to_string(), share)).collect())
    }

    #[test]
    fn the_book_has_what_people_play() -> Result<()> {
        let first = after("")?;
        assert!(["e2e4", "d2d4"].contains(&first[0].0.as_str()), "{first:?}");
        let shares: f64 = first.iter().map(|(_, share)| share).sum();
        assert!((shares - 1.0).abs() < 1e-9);
        let replies = after("e2e4 e7e5 g1f3")?;
        assert_eq!(replies[0].0, "b8c6");
        assert!(replies.iter().all(|(mv, _)| mv != "f7f6"), "{replies:?}");
        // King takes rook.
        let ruy_lopez = "e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 b5a4 g8f6";
        assert!(after(ruy_lopez)?.iter().any(|(mv, _)| mv == "e1h1"));
        Ok(())
    }

    #[test]
    fn levels_rise_to_full_strength() {
        let elos: Vec<u32> = (0..FULL_SKILL).filter_map(elo_of_skill).collect();
        assert_eq!((elos.first(), elos.last()), (Some(&1320), Some(&3191)));
        assert!(elos.is_sorted_by(|low, high| low < high) && elos.len() == 20);
        assert_eq!(elo_of_skill(FULL_SKILL), None);
    }
}
