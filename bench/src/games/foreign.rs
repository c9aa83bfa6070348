//! The notations of cutechess and fastchess for moves and clocks.

use std::time::Duration;

use super::Evaluation;
use crate::settings::TimeControl;

/// The content of a comment on the move before it.
#[derive(Debug, PartialEq)]
pub struct Comment<'a> {
    /// From the mover's view.
    pub evaluation: Option<Evaluation>,
    pub depth: Option<u32>,
    pub time: Option<Duration>,
    /// Reason for the end of the game, after the last move.
    pub reason: &'a str,
}

/// Reads `+0.12/11 0.050s`, `-M6/8 0.002s, White mates`; `None` for any other comment.
pub fn comment(text: &str) -> Option<Comment<'_>> {
    let (facts, reason) = text.split_once(", ").unwrap_or((text, ""));
    let mut words = facts.split_whitespace();
    let (score, depth) = words.next()?.split_once('/')?;
    let seconds = words.next()?.strip_suffix('s')?.parse().ok()?;
    Some(Comment {
        evaluation: evaluation(score),
        depth: depth.parse().ok(),
        time: Duration::try_from_secs_f64(seconds).ok(),
        reason,
    })
}

/// Pawns, or `M` and the number of plies to mate, with a sign.
fn evaluation(score: &str) -> Option<Evaluation> {
    let (sign, unsigned) = match score.strip_prefix('-') {
        Some(unsigned) => (-1, unsigned),
        None => (1, score.strip_prefix('+').unwrap_or(score)),
    };
    match unsigned.strip_prefix('M') {
        Some(plies) => Some(Evaluation::Mate(sign * (plies.parse::<i32>().ok()? + 1) / 2)),
        None => {
            let pawns: f64 = unsigned.parse().ok()?;
            Some(Evaluation::Centipawns(sign * (pawns * 100.0).round() as i32))
        }
    }
}

/// The settings words of a `TimeControl` tag: `0.05/move`, `10+0.1`, `40/10`.
pub fn settings(time_control: &str) -> Option<String> {
    match time_control.strip_suffix("/move") {
        Some(seconds) => {
            let time = Duration::try_from_secs_f64(seconds.parse().ok()?).ok()?;
            Some(format!("movetime={}", time.as_millis()))
        }
        None => TimeControl::parse(time_control).ok().map(|control| format!("tc={control}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_read_as_they_are_meant() {
        let read = |text| {
            comment(text).map(|c| (c.evaluation, c.depth, c.time.map(|t| t.as_millis()), c.reason))
        };
        let centipawns = |value| Some(Evaluation::Centipawns(value));
        let mate = |moves| Some(Evaluation::Mate(moves));
        for (text, expected) in [
            ("+0.12/11 0.050s", Some((centipawns(12), Some(11), Some(50), ""))),
            ("-1.05/9 1.2s", Some((centipawns(-105), Some(9), Some(1200), ""))),
            ("0.00/1 0s", Some((centipawns(0), Some(1), Some(0), ""))),
            ("+M13/14 0.05s", Some((mate(7), Some(14), Some(50), ""))),
            ("-M6/8 0.002s", Some((mate(-3), Some(8), Some(2), ""))),
            ("+M1/1 0s, White mates", Some((mate(1), Some(1), Some(0), "White mates"))),
            ("book", None),
            ("White's best/worst idea", None),
            ("", None),
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
    }

    #[test]
    fn clocks_are_read_as_they_are_meant() {
        for (tag, words) in [
            ("0.05/move", Some("movetime=50")),
            ("10+0.1", Some("tc=10+0.1")),
            ("40/10", Some("tc=40/10+0")),
            ("40/7200:3600", None),
            ("-", None),
            ("?", None),
        ] {
            assert_eq!(settings(tag).as_deref(), words, "{tag}");
        }
    }
}
