//! Messages about games that cannot be read.

use anyhow::Error;

/// The games that could not be read. Until a game is read, only the first fault is kept: text that
/// is no PGN has a fault in every paragraph.
#[derive(Default)]
pub struct Faults {
    first: Option<Error>,
    count: u64,
    read: bool,
}

impl Faults {
    /// Records a game that cannot be read. Returns the message if it may be shown now.
    pub fn add(&mut self, fault: Error) -> Option<String> {
        self.count += 1;
        if self.read {
            return Some(format!("{fault:#}"));
        }
        self.first.get_or_insert(fault);
        None
    }

    /// Records that a game was read. If it is the first one, returns the message about the games
    /// before it.
    pub fn end(&mut self) -> Option<String> {
        self.read = true;
        let first = self.first.take()?;
        Some(match self.count - 1 {
            0 => format!("{first:#}"),
            1 => format!("{first:#} (nor can the game after it)"),
            more => format!("{first:#} (nor can the {more} games after it)"),
        })
    }

    /// Number of games that could not be read.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The first fault, if no game could be read.
    pub fn only(self) -> Option<Error> {
        self.first
    }
}

#[cfg(test)]
mod tests {
    use anyhow::anyhow;

    use super::*;

    #[test]
    fn faults_before_the_first_game_are_one_message() {
        let fault = |number: u64| anyhow!("game {number}: no move");
        let mut faults = Faults::default();
        assert!((1..=3).all(|number| faults.add(fault(number)).is_none()));
        let before = faults.end();
        assert_eq!(before.as_deref(), Some("game 1: no move (nor can the 2 games after it)"));
        assert_eq!(faults.end(), None);
        assert_eq!(faults.add(fault(5)).as_deref(), Some("game 5: no move"));
        assert_eq!((faults.count(), faults.only().is_none()), (4, true));
    }
}
