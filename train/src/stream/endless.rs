//! The command `stream`.

use std::sync::Arc;

use anyhow::{Context, Result, ensure};

use super::folder::Folder;
use super::options::StreamOptions;
use super::rounds::{Labelling, label_round, seed_of};
use super::training::Training;
use crate::optimizer::ScheduleShape;
use crate::space::check_mates;

/// The index of the round that is held out and never trained on.
const HELD_OUT: u64 = 0;

/// Trains without end, from the checkpoint if there is one, until it is stopped.
pub fn stream(options: &StreamOptions) -> Result<()> {
    let StreamOptions { folder: path, run, labels, mates, pace, stop_after } = options;
    ensure!(run.is_sparse(), "--encoder: a stream trains the sparse one");
    let config = run.config(ScheduleShape::Constant, 0)?;
    let seed = config.seed;
    let folder = Arc::new(Folder::open(path)?);
    let described = serde_json::to_string(&config)?;
    let mut training = Training::new(config, folder.clone(), pace.device)?;
    match folder.checkpoint_of(&described)? {
        Some(checkpoint) => {
            training.restore(&checkpoint)?;
            eprintln!("continuing at step {} of '{}'", training.step, path.display());
        }
        None => training.state.begin(&training.config)?,
    }
    folder.keep_mates(mates)?;
    let labelling = Labelling::read(labels)?;
    label_round(&folder.held_out(), &labelling, seed_of(seed, HELD_OUT))?;
    // Errors of the data are reported before days of training.
    let data = Folder::measured_in(path)?;
    check_mates(&data, &training.config.architecture).context("--mates")?;
    drop(data);
    training.run(labelling, seed, pace, u64::MAX, *stop_after)?;
    eprintln!("stopped at step {}; the same command continues", training.step);
    Ok(())
}
