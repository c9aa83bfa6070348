//! Stockfish's training data: chunks of chains; a chain is a position and the moves after it, every position with the
//! centipawns of its side to move.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Context, Result, anyhow};
use azimuth::position::Position;
use sfbinpack::{ChunkReader, TrainingDataEntry, read_chunk_into};

use super::games::{Games, Skipped, skip};
use crate::catch_panic::catch_panic;
use crate::data::family::{Family, Game, check_length};
use crate::data::label::Label;

/// Stockfish's tools write this where there is no score.
const NO_SCORE: i16 = 32_002;

/// The chains of a file.
pub struct Binpack {
    file: File,
    chunk: Vec<u8>,
    reader: ChunkReader,
    /// An entry that was read to see whether it goes on from the one before.
    ahead: Option<TrainingDataEntry>,
    taken: u64,
    read: Arc<AtomicU64>,
}

impl Binpack {
    /// Opens a file; `read` counts the bytes taken.
    pub fn open(path: &Path, read: Arc<AtomicU64>) -> Result<Self> {
        let (file, chunk) = (File::open(path)?, Vec::new());
        Ok(Self { file, chunk, reader: ChunkReader::default(), ahead: None, taken: 0, read })
    }

    /// The next entry; `None` at the end.
    fn entry(&mut self) -> Result<Option<TrainingDataEntry>> {
        if let Some(entry) = self.ahead.take() {
            return Ok(Some(entry));
        }
        while !self.reader.has_next(&self.chunk) {
            if !read_chunk_into(&mut self.file, &mut self.chunk)? {
                return Ok(None);
            }
            self.read.fetch_add(self.chunk.len() as u64, Ordering::Relaxed);
            self.reader = ChunkReader::default();
        }
        let (reader, chunk) = (&mut self.reader, &self.chunk);
        Ok(Some(catch_panic(|| reader.next(chunk))?))
    }

    /// The entries of the next game: each goes on from the one before.
    fn game(&mut self) -> Result<Vec<TrainingDataEntry>> {
        let mut entries: Vec<TrainingDataEntry> = Vec::new();
        while let Some(entry) = self.entry()? {
            if let Some(last) = entries.last()
                && !catch_panic(|| last.is_continuation(&entry))?
            {
                self.ahead = Some(entry);
                break;
            }
            check_length(entries.len())?;
            entries.push(entry);
        }
        self.taken += u64::from(!entries.is_empty());
        Ok(entries)
    }
}

impl Games for Binpack {
    fn next(&mut self, skipped: &mut Skipped) -> Result<Option<Game>> {
        loop {
            let name = format!("game {}", self.taken + 1);
            let entries = self.game().context(name.clone())?;
            if entries.is_empty() {
                return Ok(None);
            }
            let mut families = Vec::with_capacity(entries.len());
            for entry in &entries {
                if entry.score == NO_SCORE {
                    skip(skipped, "without a score");
                } else {
                    families.push(family(entry).context(name.clone())?);
                }
            }
            if !families.is_empty() {
                return Ok(Some(Game::new(families)));
            }
        }
    }

    fn record(&self) -> u64 {
        self.taken
    }

    fn skip_to(&mut self, record: u64) -> Result<()> {
        while self.taken < record && !self.game()?.is_empty() {}
        Ok(())
    }
}

fn family(entry: &TrainingDataEntry) -> Result<Family> {
    let fen =
        catch_panic(|| entry.pos.fen())?.map_err(|error| anyhow!("not a position ({error:?})"))?;
    let position = Position::from_fen(&fen)?;
    let label = Label::from_bits(entry.score);
    let board = position.board();
    Ok(Family::own(board.clone(), label.seen_by(board.side_to_move())))
}
