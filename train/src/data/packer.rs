//! Packs labelled games into a dataset file: filters, removes duplicates, and resumes after a kill.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::duplicates::Duplicates;
use super::family::{Family, Game};
use super::file::description::Source;
use super::file::journal::Journal;
use super::file::writer::{Writer, clear};
use super::filter::Filter;
use super::read::games::{Skipped, skip};

/// A dataset that is being written.
pub struct Packer {
    out: PathBuf,
    journal: Journal,
    writer: Writer,
    filters: Vec<Filter>,
    duplicates: Duplicates,
    commit_every: Duration,
    committed: Instant,
}

impl Packer {
    /// Starts or resumes `out`; `None` if it is complete. `job` describes everything that
    /// determines the output. Work since the last commit is repeated after a kill. Fails if `out`
    /// exists or was started by another job.
    pub fn open(
        out: &Path,
        job: &Value,
        filters: Vec<Filter>,
        commit_every: Duration,
    ) -> Result<Option<Self>> {
        let name = || format!("--out '{}'", out.display());
        let begun = Journal::read(out)?;
        if out.exists() {
            let ours = begun.is_some_and(|begun| begun.job == *job);
            ensure!(ours, "{}: it exists; remove it or choose another name", name());
            // The run was killed between its last two steps.
            clear(out);
            Journal::remove(out)?;
            return Ok(None);
        }
        let begins = begun.is_none();
        let journal = begun.unwrap_or_else(|| Journal::new(job.clone()));
        ensure!(
            journal.job == *job,
            "{}: it was begun with other files or options; give those again, or remove '{0}.journal'",
            out.display()
        );
        let writer = Writer::open(out, journal.writer.clone()).with_context(name)?;
        Journal::remove_unfinished(out);
        let (out, duplicates, committed) = (out.to_owned(), Duplicates::default(), Instant::now());
        let mut packer =
            Self { out, journal, writer, filters, duplicates, commit_every, committed };
        match begins {
            true => packer.commit()?,
            false => packer.remember()?,
        }
        Ok(Some(packer))
    }

    /// The index of the current input, and of its first record that is not yet packed.
    pub fn place(&self) -> (usize, u64) {
        let record = self.journal.current.as_ref().map_or(0, |source| source.end);
        (self.journal.input, record)
    }

    /// Sets the source of the current input, unless the run was resumed within it.
    pub fn begin(&mut self, source: Source) {
        self.journal.current.get_or_insert(source);
    }

    /// Adds a game.
    pub fn add(&mut self, game: Game) -> Result<()> {
        let Journal { current, description, .. } = &mut self.journal;
        let source = current.as_mut().context("no input was begun")?;
        source.labels += game.len() as u64;
        let split = game.split as usize;
        for mut family in game.families {
            family.retain(|board, label, loss| {
                if !board.generate_moves(|_| true) {
                    skip(&mut source.skipped, "game over");
                    return false;
                }
                let wanted = self.filters.iter().all(|filter| filter.passes(board, label, loss));
                let new = wanted && self.duplicates.is_new(board);
                description.filtered += u64::from(!wanted);
                description.duplicates += u64::from(wanted && !new);
                new
            });
            if !family.is_empty() {
                self.writer.add(game.split, &family)?;
                description.positions[split] += family.len() as u64;
                description.families[split] += 1;
            }
        }
        Ok(())
    }

    /// Notes that the input is packed up to `record`, the index of the next record. `skipped`
    /// counts the omissions since the last call.
    pub fn reached(&mut self, record: u64, skipped: Skipped) -> Result<()> {
        let source = self.journal.current.as_mut().context("no input was begun")?;
        source.end = record;
        for (reason, count) in skipped {
            *source.skipped.entry(reason).or_default() += count;
        }
        if self.committed.elapsed() >= self.commit_every {
            self.commit()?;
        }
        Ok(())
    }

    /// Ends an input. For an input that is a dataset, `made_from` holds its sources and its numbers
    /// of duplicates and of filtered positions.
    pub fn end(&mut self, made_from: Option<(Vec<Source>, u64, u64)>) -> Result<()> {
        let current = self.journal.current.take().context("no input was begun")?;
        let description = &mut self.journal.description;
        let (sources, duplicates, filtered) = made_from.unwrap_or_else(|| (vec![current], 0, 0));
        description.duplicates += duplicates;
        description.filtered += filtered;
        for source in sources {
            let joined = description.sources.last_mut().is_some_and(|last| last.join(&source));
            if !joined {
                description.sources.push(source);
            }
        }
        self.journal.input += 1;
        self.commit()
    }

    /// A one-line summary of the packing so far.
    pub fn summary(&self) -> String {
        let mut text = format!("{} positions so far", self.positions());
        for (reason, count) in self.journal.current.iter().flat_map(|source| &source.skipped) {
            text.push_str(&format!("; left out {count}: {reason}"));
        }
        let duplicates = self.journal.description.duplicates;
        text + &format!("; {duplicates} duplicates so far")
    }

    /// Number of positions kept so far.
    pub fn positions(&self) -> u64 {
        self.journal.description.positions.iter().sum()
    }

    /// Saves the progress, so that the run can resume from here.
    pub fn commit(&mut self) -> Result<()> {
        self.journal.writer = self.writer.sync()?;
        self.committed = Instant::now();
        self.journal.write(&self.out)
    }

    /// Writes the file under its final name.
    pub fn finish(mut self) -> Result<()> {
        self.commit()?;
        self.writer.finish(&self.journal.description)?;
        Journal::remove(&self.out)
    }

    /// Removes the partial output.
    pub fn discard(self) -> Result<()> {
        clear(&self.out);
        Journal::remove(&self.out)
    }

    /// Adds the positions written before a kill to the set of known positions.
    fn remember(&mut self) -> Result<()> {
        let duplicates = &mut self.duplicates;
        self.writer.visit(|encoded| {
            let family: Family = encoded.decode()?;
            family.positions().for_each(|(board, _)| {
                duplicates.is_new(&board);
            });
            Ok(())
        })
    }
}
