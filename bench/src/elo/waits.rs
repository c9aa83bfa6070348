//! How long games wait for an encoder that they share.

use std::time::Duration;

/// The waits of a game's searches for an encoder on another thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waited {
    pub time: Duration,
    /// Number of moves of players that use such an encoder.
    pub moves: usize,
}

impl Waited {
    /// Adds the wait of a move; `None` if its player uses no such encoder.
    pub fn add(&mut self, waited: Option<Duration>) {
        if let Some(waited) = waited {
            self.time += waited;
            self.moves += 1;
        }
    }
}

/// The mean wait per move of each game.
#[derive(Default)]
pub struct Waits(Vec<f64>);

impl Waits {
    /// Adds a game.
    pub fn add(&mut self, Waited { time, moves }: Waited) {
        if moves > 0 {
            self.0.push(time.as_secs_f64() * 1000.0 / moves as f64);
        }
    }

    /// The mean over all games, and the game that waited most; `None` if no game waited.
    pub fn summary(&self) -> Option<String> {
        let mean = self.0.iter().sum::<f64>() / self.0.len().max(1) as f64;
        let most = self.0.iter().copied().fold(0.0, f64::max);
        (mean > 0.0).then(|| {
            let times = most / mean;
            format!(
                "waiting for the encoder: {mean:.1} ms a move; in the game that waited most \
                 {most:.1} ms, {times:.2} times the mean"
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_game_that_waits_most_is_compared_with_the_mean() {
        let mut waits = Waits::default();
        assert_eq!(waits.summary(), None);
        let game = |ms, moves| Waited { time: Duration::from_millis(ms), moves };
        waits.add(game(100, 10));
        waits.add(game(600, 20));
        waits.add(game(0, 0));
        let summary = waits.summary().unwrap_or_default();
        assert!(summary.contains(": 20.0 ms a move"), "{summary}");
        assert!(summary.contains("most 30.0 ms, 1.50 times"), "{summary}");
    }
}
