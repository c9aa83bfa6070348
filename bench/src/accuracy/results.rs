//! The judge's results, as JSON and as a table.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Headings of the table.
const HEADINGS: &str = "| player | phase | moves | loss a move | lose > 0.05 | lose > 0.15 | \
                        own score less the judge's: mean, rms | depth |\n\
                        |---|---|---|---|---|---|---|---|\n";

/// All players judged by one engine.
#[derive(Debug, Serialize, Deserialize)]
pub struct AccuracyResults {
    /// Name of the file of positions or games.
    pub source: String,
    /// The judge and its limit.
    pub judge: String,
    pub players: Vec<PlayerAccuracy>,
}

/// One player's figures.
#[derive(Debug, Serialize, Deserialize)]
pub struct PlayerAccuracy {
    pub player: String,
    pub all: Figures,
    /// By phase, from opening to endgame.
    pub phases: Vec<(String, Figures)>,
}

/// Means over moves, in win probability.
#[derive(Debug, Serialize, Deserialize)]
pub struct Figures {
    pub moves: usize,
    /// Mean win probability lost per move, with its standard error.
    pub loss: f64,
    pub loss_error: f64,
    /// Share of the moves that lose more than 0.05.
    pub above_005: f64,
    pub above_015: f64,
    /// The player's score minus the judge's score of the position after the move.
    pub score_error: f64,
    pub score_rms: f64,
    /// Depth of the player's search, in plies.
    pub depth: f64,
}

/// The table in Markdown.
impl fmt::Display for AccuracyResults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HEADINGS)?;
        self.players.iter().try_for_each(|player| player.fmt(f))
    }
}

/// Rows of the table.
impl fmt::Display for PlayerAccuracy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "| {} | all | {} |", self.player, self.all)?;
        let phases = self.phases.iter().filter(|(_, figures)| figures.moves > 0);
        for (phase, figures) in phases {
            writeln!(f, "| | {phase} | {figures} |")?;
        }
        Ok(())
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} | {:.4} ± {:.4} | {:.1}% | {:.1}% | {:+.3}, {:.3} | {:.1}",
            self.moves,
            self.loss,
            self.loss_error,
            self.above_005 * 100.0,
            self.above_015 * 100.0,
            self.score_error,
            self.score_rms,
            self.depth
        )
    }
}
