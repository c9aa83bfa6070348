//! Stockfish's training data (binpack): chunks of chains. A chain is a position and the moves after
//! it; each position has a score in centipawns from the point of view of its side to move.

use std::fs::File;
use std::path::Path;

use anyhow::{Context, Result, anyhow};
use azimuth_chess::position::Position;
use indicatif::ProgressBar;
use sfbinpack::{ChunkReader, TrainingDataEntry, read_chunk_into};

use super::{Games, Skipped, catch_panic, skip};
use crate::data::family::{Family, Game, check_length};
use crate::data::packed::Label;

/// The score that Stockfish's tools write if there is none.
const NO_SCORE: i16 = 32_002;

pub struct Binpack {
    file: File,
    chunk: Vec<u8>,
    reader: ChunkReader,
    /// An entry that was read ahead to find the end of a chain.
    ahead: Option<TrainingDataEntry>,
    taken: u64,
    bar: ProgressBar,
}

impl Binpack {
    pub fn open(path: &Path, bar: &ProgressBar) -> Result<Self> {
        let (file, chunk) = (File::open(path)?, Vec::new());
        let (reader, bar) = (ChunkReader::default(), bar.clone());
        Ok(Self { file, chunk, reader, ahead: None, taken: 0, bar })
    }

    fn entry(&mut self) -> Result<Option<TrainingDataEntry>> {
        if let Some(entry) = self.ahead.take() {
            return Ok(Some(entry));
        }
        while !self.reader.has_next(&self.chunk) {
            if !read_chunk_into(&mut self.file, &mut self.chunk)? {
                return Ok(None);
            }
            self.bar.inc(self.chunk.len() as u64);
            self.reader = ChunkReader::default();
        }
        let (reader, chunk) = (&mut self.reader, &self.chunk);
        Ok(Some(catch_panic(|| reader.next(chunk))?))
    }

    /// The entries of the next game: each continues the previous one.
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
    fn next(&mut self, skipped: &mut Skipped) -> Result<Option<Result<Game>>> {
        loop {
            let name = format!("game {}", self.taken + 1);
            let entries = self.game().context(name.clone())?;
            if entries.is_empty() {
                return Ok(None);
            }
            let (scored, others): (Vec<_>, Vec<_>) =
                entries.iter().partition(|entry| entry.score != NO_SCORE);
            others.iter().for_each(|_| skip(skipped, "without a score"));
            let families = scored.into_iter().map(family).collect::<Result<Vec<_>>>();
            match families.context(name) {
                Ok(families) if families.is_empty() => {}
                families => return Ok(Some(families.map(Game::new))),
            }
        }
    }

    fn record(&self) -> u64 {
        self.taken
    }

    fn skip_record(&mut self) -> Result<bool> {
        Ok(!self.game()?.is_empty())
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

#[cfg(test)]
mod tests {
    use sfbinpack::CompressedTrainingDataEntryWriter;
    use sfbinpack::chess::coords::Square as SfSquare;
    use sfbinpack::chess::r#move::Move as SfMove;
    use sfbinpack::chess::position::Position as SfPosition;

    use super::*;

    fn open(file: &tempfile::NamedTempFile) -> Result<Binpack> {
        Binpack::open(file.path(), &ProgressBar::hidden())
    }

    #[test]
    fn chains_written_by_the_library_are_games() -> Result<()> {
        let mut file = tempfile::NamedTempFile::new()?;
        let moves = [(12, 28), (52, 36), (6, 21), (57, 42), (5, 33)];
        {
            let mut writer = CompressedTrainingDataEntryWriter::new(file.as_file_mut())
                .map_err(|error| anyhow!("{error}"))?;
            for game in 0..3i16 {
                let mut position = SfPosition::new();
                for (ply, (from, to)) in moves.into_iter().enumerate() {
                    let mv = SfMove::normal(SfSquare::new(from), SfSquare::new(to));
                    let score = match (game, ply) {
                        (2, 4) => 31_990,
                        (1, 2) => NO_SCORE,
                        _ => game * 100 + ply as i16,
                    };
                    let entry =
                        TrainingDataEntry { pos: position, mv, score, ply: ply as u16, result: 0 };
                    writer.write_entry(&entry).map_err(|error| anyhow!("{error}"))?;
                    position.do_move(mv);
                }
            }
        }
        let (mut binpack, mut skipped) = (open(&file)?, Skipped::new());
        let mut games = Vec::new();
        while let Some(game) = binpack.next_game(&mut skipped)? {
            games.push(game.families);
        }
        assert_eq!(games.iter().map(Vec::len).collect::<Vec<_>>(), [5, 4, 5]);
        assert_eq!(skipped, [("without a score".to_owned(), 1)].into());
        let labels = |families: &[Family]| -> Vec<Label> {
            families.iter().flat_map(Family::positions).map(|(_, label)| label).collect()
        };
        // Every second label is from Black's point of view.
        assert_eq!(labels(&games[0]), [0, -1, 2, -3, 4].map(Label::Centipawns));
        assert_eq!(labels(&games[2])[4], Label::Mate(true));
        let fen = "r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3";
        assert_eq!(games[0][4].board.to_string(), fen);

        let mut binpack = open(&file)?;
        binpack.skip_to(2)?;
        let third = binpack.next_game(&mut skipped)?.map(|game| game.families);
        assert_eq!(third.as_ref(), games.last());
        Ok(())
    }
}
