//! `nodestime`: a clock of the engine that counts searched positions instead of time.

use std::time::Duration;

use cozy_chess::Color;

use super::command::Go;

/// The time left. The GUI's clock initialises it once.
#[derive(Default)]
pub struct NodeClock {
    left: Option<Duration>,
}

impl NodeClock {
    /// Replaces the GUI's clock of the side to move by this one.
    pub fn replace(&mut self, go: &mut Go, side: Color) {
        if let Some(time) = &mut go.time[side as usize] {
            *time = *self.left.get_or_insert(*time);
        }
    }

    /// Subtracts the time `used` by a move and adds its increment.
    pub fn take(&mut self, used: Duration, increment: Duration) {
        self.left = self.left.map(|left| left.saturating_add(increment).saturating_sub(used));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_guis_clock_sets_it_once() {
        let [second, minute] = [1, 60].map(Duration::from_secs);
        let mut clock = NodeClock::default();
        let left = |clock: &mut NodeClock, time| {
            let mut go = Go { time: [None, time], ..Go::default() };
            clock.replace(&mut go, Color::Black);
            go.time[1]
        };
        assert_eq!(left(&mut clock, None), None);
        assert_eq!(left(&mut clock, Some(minute)), Some(minute));
        clock.take(second * 10, second);
        assert_eq!(left(&mut clock, Some(second * 59)), Some(second * 51));
        clock.take(minute * 2, second);
        assert_eq!(left(&mut clock, Some(second * 40)), Some(Duration::ZERO));
    }
}
