//! `Skill Level`: the ratings of Stockfish's skill levels.

/// Elo of Stockfish's skill levels 0 to 19, on the scale of its `UCI_Elo`.
const ELO: [f32; 20] = [
    1320.1, 1467.6, 1608.4, 1742.3, 1922.9, 2203.7, 2363.2, 2499.5, 2596.2, 2702.8, 2788.3, 2855.5,
    2923.1, 2972.9, 3024.8, 3069.5, 3111.2, 3141.3, 3170.3, 3191.1,
];

/// The level of full strength.
pub const FULL_SKILL: u32 = ELO.len() as u32;

/// The rating of a level; `None` for [`FULL_SKILL`].
pub fn elo_of_skill(level: u32) -> Option<u32> {
    ELO.get(level as usize).map(|elo| elo.round() as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_rise_to_full_strength() {
        let elos: Vec<u32> = (0..FULL_SKILL).filter_map(elo_of_skill).collect();
        assert_eq!((elos.first(), elos.last()), (Some(&1320), Some(&3191)));
        assert!(elos.is_sorted_by(|low, high| low < high) && elos.len() == 20);
        assert_eq!(elo_of_skill(FULL_SKILL), None);
    }
}
