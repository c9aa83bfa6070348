//! Filters on positions.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use anyhow::{Context, Result, bail};
use azimuth_chess::placement::Placement;
use azimuth_chess::position::legal_moves;
use azimuth_chess::see::StaticExchange;
use cozy_chess::{Board, Color};

use super::label::Label;

/// A condition on a position.
#[derive(Clone, Debug, PartialEq)]
pub enum Filter {
    /// The side to move is not in check.
    NotInCheck,
    /// No capture or promotion of the side to move wins material by static exchange.
    Quiet,
    /// The label is not a forced mate.
    NoMate,
    /// Ply number, counted from the start of a game with move number 1.
    Ply(RangeInclusive<u32>),
    /// Centipawns from White's point of view; no range contains a mate.
    Centipawns(RangeInclusive<i32>),
    /// Number of pieces on the board, including kings.
    Pieces(RangeInclusive<u32>),
    /// Win probability of the side to move; a forced mate is 0 or 1.
    WinProbability(RangeInclusive<f32>),
    /// Maximum win probability that the move to the position loses compared with its best labelled
    /// sibling.
    Loss(f32),
}

impl Filter {
    /// Whether a position meets the condition. `loss` is the win probability lost by the move to
    /// it, as in [`Self::Loss`].
    pub fn passes(&self, board: &Board, label: Label, loss: f32) -> bool {
        match self {
            Self::NotInCheck => board.checkers().is_empty(),
            Self::Quiet => !wins_material(board),
            Self::NoMate => !matches!(label, Label::Mate(_)),
            Self::Ply(range) => {
                let black = u32::from(board.side_to_move() == Color::Black);
                range
                    .contains(&((u32::from(board.fullmove_number()).saturating_sub(1)) * 2 + black))
            }
            Self::Centipawns(range) => {
                matches!(label, Label::Centipawns(value) if range.contains(&value))
            }
            Self::Pieces(range) => range.contains(&board.occupied().len()),
            Self::WinProbability(range) => {
                range.contains(&label.seen_by(board.side_to_move()).win_probability())
            }
            Self::Loss(most) => loss <= *most,
        }
    }
}

fn wins_material(board: &Board) -> bool {
    let placement = Placement::of(board);
    let exchange = StaticExchange::new(&placement);
    legal_moves(board).into_iter().any(|mv| exchange.see_of_move(mv) > 0)
}

impl FromStr for Filter {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        Ok(match text.split_once('=') {
            None if text == "not-in-check" => Self::NotInCheck,
            None if text == "quiet" => Self::Quiet,
            None if text == "no-mate" => Self::NoMate,
            Some(("ply", bounds)) => Self::Ply(range(bounds, 0, u32::MAX)?),
            Some(("cp", bounds)) => Self::Centipawns(range(bounds, i32::MIN, i32::MAX)?),
            Some(("pieces", bounds)) => Self::Pieces(range(bounds, 0, 64)?),
            Some(("p", bounds)) => Self::WinProbability(range(bounds, 0.0, 1.0)?),
            Some(("loss", most)) => {
                let most = most.parse().ok().filter(|most| (0.0..=1.0).contains(most));
                Self::Loss(most.with_context(|| format!("'{text}': expected 0 to 1"))?)
            }
            _ => bail!(
                "'{text}': expected not-in-check, quiet, no-mate, ply=A..B, cp=A..B, pieces=A..B, p=A..B or loss=P"
            ),
        })
    }
}

/// Parses an inclusive range such as `3..9`; either end may be omitted.
fn range<T: FromStr + PartialOrd>(text: &str, least: T, most: T) -> Result<RangeInclusive<T>> {
    let number = |text: &str, open: T| match text {
        "" => Some(open),
        text => text.parse().ok(),
    };
    let (first, last) =
        text.split_once("..").with_context(|| format!("'{text}': expected A..B"))?;
    let ends = number(first, least).zip(number(last, most)).filter(|(first, last)| first <= last);
    let (first, last) = ends.with_context(|| format!("'{text}': expected A..B, A not above B"))?;
    Ok(first..=last)
}

impl fmt::Display for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotInCheck => write!(f, "not-in-check"),
            Self::Quiet => write!(f, "quiet"),
            Self::NoMate => write!(f, "no-mate"),
            Self::Ply(range) => write!(f, "ply={}..{}", range.start(), range.end()),
            Self::Centipawns(range) => write!(f, "cp={}..{}", range.start(), range.end()),
            Self::Pieces(range) => write!(f, "pieces={}..{}", range.start(), range.end()),
            Self::WinProbability(range) => write!(f, "p={}..{}", range.start(), range.end()),
            Self::Loss(most) => write!(f, "loss={most}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_say_what_they_mean() -> Result<()> {
        let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
        let hanging = "4k3/8/8/3q4/4P3/8/8/4K3 w - - 0 20";
        let defended = "4k3/8/2p5/3p4/8/8/8/3RK3 w - - 0 20";
        let check = "4k3/4r3/8/8/8/8/8/4K3 w - - 0 3";
        for (text, fen, label, passes) in [
            ("not-in-check", check, 0, false),
            ("not-in-check", start, 0, true),
            ("quiet", hanging, 0, false),
            ("quiet", defended, 0, true),
            ("ply=..8", check, 0, true),
            ("ply=6..", start, 0, false),
            ("cp=-50..50", start, 51, false),
            ("cp=-50..50", start, 50, true),
            ("pieces=3..4", hanging, 0, true),
            ("p=..0.6", start, 138, false),
            ("p=0.4..0.6", start, 50, true),
            ("loss=0.05", start, 0, false),
            ("loss=0.1", start, 0, true),
        ] {
            let filter: Filter = text.parse()?;
            assert_eq!(filter, filter.to_string().parse()?);
            let board: Board = fen.parse().expect("valid");
            let label = Label::Centipawns(label);
            assert_eq!(filter.passes(&board, label, 0.1), passes, "{text} {fen}");
        }
        assert!(!Filter::NoMate.passes(&Board::default(), Label::Mate(true), 0.0));
        for bad in ["ply", "ply=5", "ply=9..3", "cp=a..b", "loss=2", "p=0.6..0.4", "loud", ""] {
            assert!(bad.parse::<Filter>().is_err(), "{bad}");
        }
        Ok(())
    }
}
