//! The command `branch`.

use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use azimuth::command_line::print_line;
use azimuth_network::replace_file::check_output;

use super::folder::Folder;
use super::options::BranchOptions;
use super::place::Place;
use super::rounds::{Labelling, seed_of_branch};
use super::training::Training;
use crate::config::Config;
use crate::optimizer::{Schedule, ScheduleShape};
use crate::run::write_weights;
use crate::training::Checkpoint;

/// Decays the learning rate of a stream's checkpoint, or of an unfinished branch, to 0, and writes
/// the weights.
pub fn branch(options: &BranchOptions) -> Result<()> {
    let BranchOptions { folder: stream, steps, out, stored, labels, pace } = options;
    ensure!(*steps > 0, "--steps must be at least 1");
    let trunk = Folder::checkpoint_in(stream);
    ensure!(
        trunk.exists(),
        "--folder '{}': no stream has written a checkpoint there yet",
        stream.display()
    );
    // Errors of outputs and data are reported before hours of training.
    check_output(out, &[])?;
    let data = Folder::measured_in(stream)?;
    let path = out.with_extension("branch");
    let folder = Arc::new(Folder::open(&path)?);
    let mut training = match folder.checkpoint()? {
        Some(checkpoint) => {
            let mut training = Training::new(Config::of(&checkpoint)?, folder, pace.device)?;
            training.restore(&checkpoint)?;
            eprintln!("continuing at step {} of '{}'", training.step, path.display());
            training
        }
        None => {
            let checkpoint =
                Checkpoint::read(&trunk)?.context("the stream's checkpoint is gone")?;
            let first = checkpoint.step;
            let config = Config::of(&checkpoint)?;
            let schedule = Schedule {
                shape: ScheduleShape::Decay { first },
                steps: first + steps,
                ..config.schedule
            };
            let mut training = Training::new(Config { schedule, ..config }, folder, pace.device)?;
            training.restore(&checkpoint)?;
            training.place = Place { positions: training.place.positions, ..Place::START };
            // The stream continues to change: a killed branch must resume from the same step.
            training.save()?;
            training
        }
    };
    let Schedule { shape, steps: end, .. } = training.config.schedule;
    let ScheduleShape::Decay { first } = shape else {
        anyhow::bail!("'{}' is no folder of a branch; give another --out", path.display())
    };
    ensure!(
        end - first == *steps,
        "'{}' has a branch of {} steps; give those again, or remove it",
        path.display(),
        end - first
    );
    let seed = seed_of_branch(training.config.seed, first);
    training.run(Labelling::read(labels)?, seed, pace, end, None)?;
    let device = &training.device;
    let parameters = training.state.playing()?.to(device, stored.dtype())?;
    let measured = write_weights(&training.config, parameters, &data, device, end, out)?;
    print_line(serde_json::to_string(&measured)?)?;
    training.remove()
}
