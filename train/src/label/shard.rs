//! Division of the work into shards, for independent machines.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use anyhow::{Context, Result};

/// Shard `number` of `count`, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    number: u64,
    count: u64,
}

impl Shard {
    /// All of the work.
    pub const WHOLE: Self = Self { number: 1, count: 1 };

    /// The parts of `0..parts` in this shard. They are consecutive, so that the shards in order
    /// make up all parts in order.
    pub fn of(self, parts: u64) -> Range<u64> {
        let end =
            |number: u64| (u128::from(parts) * u128::from(number) / u128::from(self.count)) as u64;
        end(self.number - 1)..end(self.number)
    }
}

impl FromStr for Shard {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        let numbers = text.split_once('/').and_then(|(number, count)| {
            Some(Self { number: number.parse().ok()?, count: count.parse().ok()? })
        });
        let valid = numbers.filter(|shard| (1..=shard.count).contains(&shard.number));
        valid.with_context(|| format!("'{text}': expected I/N, I from 1 to N"))
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_all_parts_in_order() -> Result<()> {
        for parts in [0, 1, 5, 100] {
            for count in 1..7u64 {
                let mut next = 0;
                for number in 1..=count {
                    let share = Shard { number, count }.of(parts);
                    assert_eq!(share.start, next);
                    next = share.end;
                }
                assert_eq!(next, parts);
            }
        }
        assert_eq!("2/3".parse::<Shard>()?.to_string(), "2/3");
        for bad in ["", "1", "0/2", "3/2", "a/b", "1/0", "-1/2"] {
            assert!(bad.parse::<Shard>().is_err(), "{bad}");
        }
        Ok(())
    }
}
