//! Computes numbers of many positions on several threads, without Python's lock.

use std::num::NonZero;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use anyhow::{Context, Error, Result};
use azimuth_network::Inputs;
use azimuth_search::model::Model;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::board::{Pov, Source, Sources};
use crate::python_error;

/// Number of positions that one thread computes together: more gain nothing.
const BATCH: usize = 256;

/// The numbers to compute.
#[derive(Clone, Copy)]
pub enum Wanted {
    Embeddings,
    Cosines(Pov),
    WinProbabilities(Pov),
}

/// A position that cannot be computed.
pub struct Failure {
    pub index: usize,
    pub error: Error,
}

impl Wanted {
    /// Number of values per position.
    pub fn width(self, model: &Model) -> usize {
        match self {
            Self::Embeddings => model.attributes().embedding_dim,
            Self::Cosines(_) | Self::WinProbabilities(_) => 1,
        }
    }
}

/// Number of threads that this machine runs at a time.
pub fn all_threads() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
}

/// The threads that divide a slow encoder's work. A forked process has none of the threads of its
/// parent, so it starts its own. Python's lock protects the pool from a fork meanwhile.
pub fn pool(_: Python<'_>) -> PyResult<Arc<ThreadPool>> {
    static POOL: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);
    let mut pool = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    let process = std::process::id();
    if let Some((owner, threads)) = &*pool
        && *owner == process
    {
        return Ok(threads.clone());
    }
    let built = ThreadPoolBuilder::new().build().context("the threads of the encoder");
    let threads = Arc::new(built.map_err(|error| python_error(&error))?);
    // Dropping the parent's pool could wait for a lock of one of its threads.
    std::mem::forget(pool.replace((process, threads.clone())));
    Ok(threads)
}

/// Writes the numbers of `sources` to `output`, row by row. Each model has its own thread. Fails at
/// the first position that is not legal.
pub fn compute(
    models: &mut [Model],
    wanted: Wanted,
    sources: &Sources,
    output: &mut [f32],
) -> Result<(), Failure> {
    let (Some(first), rows) = (models.first(), sources.len()) else { return Ok(()) };
    let width = wanted.width(first);
    let share = rows.div_ceil(models.len()).max(1);
    let parts = sources.positions().chunks(share).zip(output.chunks_mut(share * width));
    if rows <= share {
        return compute_all(&mut models[0], wanted, sources, sources.positions(), output);
    }
    thread::scope(|scope| {
        let threads: Vec<_> = models
            .iter_mut()
            .zip(parts)
            .map(|(model, (part, output))| {
                scope.spawn(move || compute_all(model, wanted, sources, part, output))
            })
            .collect();
        for (number, thread) in threads.into_iter().enumerate() {
            let done = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            done.map_err(|failure| Failure { index: number * share + failure.index, ..failure })?;
        }
        Ok(())
    })
}

fn compute_all(
    model: &mut Model,
    wanted: Wanted,
    sources: &Sources,
    positions: &[Source],
    output: &mut [f32],
) -> Result<(), Failure> {
    let width = wanted.width(model);
    let mut inputs = Inputs::new(model.attributes().input);
    let mut sides = Vec::with_capacity(BATCH);
    let parts = positions.chunks(BATCH).zip(output.chunks_mut(BATCH * width));
    for (number, (part, output)) in parts.enumerate() {
        let at = |index: usize| move |error| Failure { index: number * BATCH + index, error };
        inputs.clear();
        sides.clear();
        for (index, source) in part.iter().enumerate() {
            let board = sources.board(source).map_err(at(index))?;
            sides.push(board.side_to_move());
            inputs.push(&board);
        }
        let largest = model.attributes().maximum_batch;
        let numbers = match wanted {
            Wanted::Embeddings => model.embeddings(&inputs, largest),
            Wanted::Cosines(_) | Wanted::WinProbabilities(_) => model.cosines(&inputs, largest),
        };
        let numbers = numbers.map_err(Error::from).map_err(at(0))?;
        let too_many = "the encoder computed too many numbers";
        let output = output.get_mut(..numbers.len()).context(too_many).map_err(at(0))?;
        output.copy_from_slice(&numbers);
        let perspective = model.space().perspective;
        let calibration = &model.space().calibration;
        for (value, &side) in output.iter_mut().zip(&sides) {
            match wanted {
                Wanted::Cosines(pov) if pov.is_opposite(perspective, side) => *value = -*value,
                Wanted::Embeddings | Wanted::Cosines(_) => {}
                Wanted::WinProbabilities(pov) => {
                    let p = calibration.win_probability(*value);
                    *value = if pov.is_opposite(perspective, side) { 1.0 - p } else { p };
                }
            }
        }
    }
    Ok(())
}
