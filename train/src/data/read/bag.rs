//! ChessBench's state values (Ruoss et al. 2024) in the bag format: the records one after another,
//! then the offset of each record's end, and finally the offset of this index. All offsets are
//! little-endian u64. A record is the length of the FEN as a varint, the FEN in UTF-8, and the win
//! probability of the side to move as a big-endian f64. In a `.bagz` file each record is compressed
//! with zstd.

use std::borrow::Cow;
use std::fs::File;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use azimuth_chess::position::Position;
use indicatif::ProgressBar;
use memmap2::Mmap;

use super::{Games, Skipped};
use crate::data::family::{Family, Game};
use crate::data::packed::Label;

/// Upper bound on the bytes of a record with a FEN.
const LONGEST_RECORD: usize = 1 << 12;

const PLACE: usize = size_of::<u64>();

pub struct Bag {
    map: Mmap,
    /// Offset of the index of the records' ends.
    index: usize,
    compressed: bool,
    taken: u64,
    bar: ProgressBar,
}

impl Bag {
    pub fn open(path: &Path, compressed: bool, bar: &ProgressBar) -> Result<Self> {
        let file = File::open(path)?;
        // SAFETY: the mapping is read-only. As with every mapped file, a process that truncates the
        // file while it is in use ends this process.
        let map = unsafe { Mmap::map(&file)? };
        let end = map.len().checked_sub(PLACE).context("too short for a bag")?;
        let index = usize::try_from(place(&map, end))?;
        ensure!(
            index <= end && (map.len() - index).is_multiple_of(PLACE),
            "not a bag, or not complete: its end says that the index begins at byte {index}"
        );
        Ok(Self { map, index, compressed, taken: 0, bar: bar.clone() })
    }

    fn records(&self) -> u64 {
        ((self.map.len() - self.index) / PLACE) as u64
    }

    fn record_bytes(&self, number: u64) -> Result<&[u8]> {
        let end_of = |number: u64| place(&self.map, self.index + number as usize * PLACE) as usize;
        let start = if number == 0 { 0 } else { end_of(number - 1) };
        let end = end_of(number);
        let all = self.index;
        ensure!(start <= end && end <= all, "the index says bytes {start} to {end} of {all}");
        Ok(&self.map[start..end])
    }

    fn family(&self, number: u64) -> Result<Family> {
        let bytes = self.record_bytes(number)?;
        self.bar.inc(bytes.len() as u64);
        let mut record = Cow::Borrowed(bytes);
        if self.compressed {
            let name = || format!("not zstd of at most {LONGEST_RECORD} bytes");
            record = zstd::bulk::decompress(bytes, LONGEST_RECORD).with_context(name)?.into();
        }
        let (fen, p) = state_value(&record)?;
        let position = Position::from_fen(fen)?;
        let label = Label::of_win_probability(p);
        let label = label.with_context(|| format!("the win probability {p} is not in [0, 1]"))?;
        Ok(Family::own(position.board().clone(), label.seen_by(position.board().side_to_move())))
    }
}

impl Games for Bag {
    fn next(&mut self, _skipped: &mut Skipped) -> Result<Option<Result<Game>>> {
        if self.taken == self.records() {
            return Ok(None);
        }
        let name = format!("record {}", self.taken);
        let family = self.family(self.taken).context(name);
        self.taken += 1;
        Ok(Some(family.map(|family| Game::new(vec![family]))))
    }

    fn record(&self) -> u64 {
        self.taken
    }

    fn skip_record(&mut self) -> Result<bool> {
        let is_there = self.taken < self.records();
        self.taken += u64::from(is_there);
        Ok(is_there)
    }
}

fn place(map: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(std::array::from_fn(|index| map[at + index]))
}

fn state_value(bytes: &[u8]) -> Result<(&str, f64)> {
    let (length, rest) = varint(bytes).context("it ends within its length")?;
    let length = usize::try_from(length)?;
    let fits = rest.len().checked_sub(size_of::<f64>()) == Some(length);
    ensure!(fits, "a FEN of {length} bytes and a number of 8 expected, {} bytes found", rest.len());
    let (fen, p) = rest.split_at(length);
    let fen = std::str::from_utf8(fen).context("the FEN is not UTF-8")?;
    Ok((fen, f64::from_be_bytes(std::array::from_fn(|index| p[index]))))
}

/// Parses a varint: seven bits a byte, lowest first; all bytes but the last have the eighth bit.
fn varint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut value = 0;
    for (index, &byte) in bytes.iter().enumerate().take(9) {
        value |= u64::from(byte & 0x7f) << (7 * index);
        if byte & 0x80 == 0 {
            return Some((value, &bytes[index + 1..]));
        }
    }
    None
}
