//! A block of families: writing, checking and reading it.

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};

use super::family_code::EncodedFamily;
use super::layout::{BLOCK, BLOCK_HEADER};

/// A block that is being filled.
#[derive(Clone, Default, Serialize, Deserialize)]
pub struct OpenBlock {
    families: u16,
    positions: u16,
    bytes: Vec<u8>,
}

impl OpenBlock {
    /// Adds an encoded family. Returns false if it does not fit.
    pub fn push(&mut self, family: &[u8], positions: usize) -> bool {
        let fits = BLOCK_HEADER + self.bytes.len() + family.len() <= BLOCK;
        if fits {
            self.bytes.extend_from_slice(family);
            self.families += 1;
            self.positions += positions as u16;
        }
        fits
    }

    /// Whether the block has no families.
    pub fn is_empty(&self) -> bool {
        self.families == 0
    }

    /// The block as bytes in the file.
    pub fn close(&self) -> [u8; BLOCK] {
        let mut block = [0; BLOCK];
        block[4..6].copy_from_slice(&self.families.to_le_bytes());
        block[6..8].copy_from_slice(&self.positions.to_le_bytes());
        block[BLOCK_HEADER..][..self.bytes.len()].copy_from_slice(&self.bytes);
        seal(&mut block);
        block
    }
}

/// Writes a block's checksum into it.
pub fn seal(block: &mut [u8; BLOCK]) {
    let checksum = crc32fast::hash(&block[4..]);
    block[..4].copy_from_slice(&checksum.to_le_bytes());
}

/// Whether a block's checksum is correct.
pub fn is_sound(block: &[u8]) -> bool {
    crc32fast::hash(&block[4..]).to_le_bytes() == block[..4]
}

/// The numbers of families and positions in a block's header.
pub fn counts(block: &[u8]) -> (usize, usize) {
    let number = |at: usize| usize::from(u16::from_le_bytes([block[at], block[at + 1]]));
    (number(4), number(6))
}

/// The families of a block that passed [`check`].
pub fn families(block: &[u8]) -> impl Iterator<Item = EncodedFamily<'_>> {
    let mut rest = &block[BLOCK_HEADER..];
    (0..counts(block).0).map_while(move |_| {
        let (family, after) = EncodedFamily::split(rest)?;
        rest = after;
        Some(family)
    })
}

/// Checks a block's checksum, and its families against its header.
pub fn check(block: &[u8]) -> Result<()> {
    ensure!(is_sound(block), "its checksum differs");
    let (count, positions) = counts(block);
    let found: Vec<_> = families(block).collect();
    ensure!(found.len() == count, "it ends within a family");
    let labelled: usize = found.iter().map(EncodedFamily::len).sum();
    (labelled == positions).then_some(()).context("its families do not add up")
}
