//! The label of a position.

use std::fmt;

use azimuth_chess::win_probability::{
    centipawns_of_win_probability, win_probability_of_centipawns,
};
use cozy_chess::Color;

/// Stored labels from this value on, with either sign, are forced mates.
const MATE: i16 = 31_000;

/// Larger centipawn values are stored as this one; their win probability rounds to 0 or 1.
const MOST_CENTIPAWNS: i32 = 30_000;

/// The label of a position, from White's point of view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Label {
    /// Centipawns.
    Centipawns(i32),
    /// A forced mate; `true` if White mates.
    Mate(bool),
}

impl Label {
    /// The label of a win probability in [0, 1] from White's point of view, to the nearest
    /// centipawn (an error of at most 0.0005 in win probability). Exactly 0 and 1 are forced mates.
    /// `None` outside of [0, 1].
    pub fn of_win_probability(p: f64) -> Option<Self> {
        match p {
            1.0 => Some(Self::Mate(true)),
            0.0 => Some(Self::Mate(false)),
            p if p > 0.0 && p < 1.0 => Some(Self::Centipawns(centipawns_of_win_probability(p))),
            _ => None,
        }
    }

    /// Parses `#3` or `#-3` (a mate) or centipawns, from White's point of view.
    pub fn parse_centipawns(text: &str) -> Option<Self> {
        match text.strip_prefix('#') {
            Some(moves) => Some(Self::Mate(!moves.starts_with('-'))),
            None => {
                let centipawns: f64 = text.parse().ok()?;
                centipawns.is_finite().then(|| Self::Centipawns(centipawns.round() as i32))
            }
        }
    }

    /// Converts a label between White's point of view and that of `color`, in either direction.
    pub fn seen_by(self, color: Color) -> Self {
        match (self, color) {
            (label, Color::White) => label,
            (Self::Centipawns(value), Color::Black) => Self::Centipawns(value.saturating_neg()),
            (Self::Mate(white), Color::Black) => Self::Mate(!white),
        }
    }

    /// The win probability of White, in [0, 1]; a forced mate is exactly 0 or 1.
    pub fn win_probability(self) -> f32 {
        match self {
            Self::Mate(true) => 1.0,
            Self::Mate(false) => 0.0,
            Self::Centipawns(value) => win_probability_of_centipawns(value.into()) as f32,
        }
    }

    /// A 16-bit encoding that preserves the order of labels.
    pub fn bits(self) -> i16 {
        match self {
            Self::Centipawns(value) => value.clamp(-MOST_CENTIPAWNS, MOST_CENTIPAWNS) as i16,
            Self::Mate(true) => MATE,
            Self::Mate(false) => -MATE,
        }
    }

    /// Decodes a label from [`Self::bits`].
    pub fn from_bits(bits: i16) -> Self {
        match bits {
            MATE.. => Self::Mate(true),
            value if value <= -MATE => Self::Mate(false),
            value => Self::Centipawns(value.into()),
        }
    }
}

/// Centipawns, or `#1` and `#-1` for a forced mate, as [`Label::parse_centipawns`] reads it.
impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Centipawns(value) => value.fmt(f),
            Self::Mate(true) => f.pad("#1"),
            Self::Mate(false) => f.pad("#-1"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn centipawns_come_back_from_their_win_probability() {
        for centipawns in (-2_000..=2_000).step_by(7) {
            let p = win_probability_of_centipawns(centipawns.into());
            assert_eq!(Label::of_win_probability(p), Some(Label::Centipawns(centipawns)));
        }
        assert_eq!(Label::of_win_probability(1.0), Some(Label::Mate(true)));
        for outside in [-0.1, 1.5, f64::NAN, f64::INFINITY] {
            assert_eq!(Label::of_win_probability(outside), None, "{outside}");
        }
    }

    #[test]
    fn bits_keep_what_labels_say() {
        for label in [Label::Mate(true), Label::Mate(false), Label::Centipawns(-312)] {
            assert_eq!(Label::from_bits(label.bits()), label);
            assert_eq!(Label::parse_centipawns(&label.to_string()), Some(label));
            assert_eq!(label.seen_by(Color::Black).seen_by(Color::Black), label);
        }
        let far = Label::Centipawns(i32::MIN);
        assert_eq!(Label::from_bits(far.bits()), Label::Centipawns(-MOST_CENTIPAWNS));
        assert_eq!(Label::parse_centipawns("#-4"), Some(Label::Mate(false)));
        assert_eq!(Label::parse_centipawns("-12.6"), Some(Label::Centipawns(-13)));
        for text in ["", "inf", "e4", "nan"] {
            assert_eq!(Label::parse_centipawns(text), None, "{text}");
        }
    }
}
