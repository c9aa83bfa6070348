//! Ranks that are threads of one process, for tests.

use anyhow::{Context, Result};
use crossbeam_channel::{Receiver, Sender, unbounded};

use super::Ranks;
use crate::side_by_side::side_by_side;

struct Threads {
    rank: usize,
    to: Vec<Sender<Vec<u32>>>,
    from: Vec<Receiver<Vec<u32>>>,
}

impl Ranks for Threads {
    fn rank(&self) -> usize {
        self.rank
    }

    fn count(&self) -> usize {
        self.to.len()
    }

    fn exchange(&self, to: Vec<Vec<u32>>) -> Result<Vec<Vec<u32>>> {
        for (channel, message) in self.to.iter().zip(to) {
            channel.send(message).context("a rank ended")?;
        }
        self.from.iter().map(|channel| channel.recv().context("a rank ended")).collect()
    }

    fn gather(&self, own: Vec<u32>) -> Result<Vec<Vec<u32>>> {
        self.exchange(vec![own; self.count()])
    }
}

/// The results of `work` on each of `count` ranks, in their order.
pub fn on_threads<R: Send>(
    count: usize,
    work: impl Fn(&dyn Ranks) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    let mut ranks: Vec<_> =
        (0..count).map(|rank| Threads { rank, to: Vec::new(), from: Vec::new() }).collect();
    for from in 0..count {
        for to in 0..count {
            let (sender, receiver) = unbounded();
            ranks[from].to.push(sender);
            ranks[to].from.push(receiver);
        }
    }
    side_by_side(ranks, |ranks| work(&ranks)).into_iter().collect()
}
