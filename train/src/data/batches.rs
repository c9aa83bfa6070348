//! Batches prepared on background threads, the same for any number of threads.

use std::ops::Range;
use std::sync::Arc;
use std::thread;

use anyhow::{Context, Result};
use candle_core::Device;
use crossbeam_channel::{Receiver, bounded};

use super::sampler::{Batch, Sampler};

/// Approximate number of batches prepared ahead of the training thread.
const READY: usize = 8;

/// Maximum number of threads that prepare batches.
const MAX_THREADS: usize = 32;

/// Batches in the order of their steps.
pub struct Batches {
    threads: Vec<Receiver<Result<Batch>>>,
    taken: usize,
}

impl Batches {
    /// Starts the threads that prepare the batches of `steps` for training on `device`: one for
    /// every four cores on the CPU, otherwise one for each core but one. `processes` share the cores.
    pub fn prepare(sampler: Sampler, steps: Range<u64>, device: &Device, processes: usize) -> Self {
        let cores = thread::available_parallelism().map_or(1, usize::from) / processes;
        let threads = if device.is_cpu() { cores / 4 } else { cores.saturating_sub(1) };
        Self::on_threads(sampler, steps, threads.clamp(1, MAX_THREADS))
    }

    fn on_threads(sampler: Sampler, steps: Range<u64>, threads: usize) -> Self {
        let sampler = Arc::new(sampler);
        let threads = (0..threads).map(|thread| {
            let (sender, receiver) = bounded(READY.div_ceil(threads));
            let (sampler, steps) = (sampler.clone(), steps.clone());
            thread::spawn(move || {
                for step in steps.skip(thread).step_by(threads) {
                    let batch = sampler.batch(step);
                    let failed = batch.is_err();
                    if sender.send(batch).is_err() || failed {
                        break;
                    }
                }
            });
            receiver
        });
        Self { threads: threads.collect(), taken: 0 }
    }

    pub fn next(&mut self) -> Result<Batch> {
        let thread = &self.threads[self.taken % self.threads.len()];
        self.taken += 1;
        thread.recv().context("a thread that prepares batches ended")?
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use azimuth_network::transformer::TransformerConfig;
    use azimuth_network::{Architecture, Inputs};

    use super::super::dataset::Datasets;
    use super::super::dataset::tests::example;
    use super::super::sampler::Sampling;
    use super::*;
    use crate::loss::PositiveThreshold;

    /// 31 positions: ten families of three, and one single position.
    const FAMILIES: [usize; 11] = [3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 0];

    const SAMPLING: Sampling = Sampling { anchors: 7, positives: 0, parts: 1, mirror: true };

    fn sampler(positives: usize) -> Result<Sampler> {
        sampler_of(Sampling { positives, ..SAMPLING }, false)
    }

    fn sampler_of(sampling: Sampling, together: bool) -> Result<Sampler> {
        let folder = tempfile::tempdir()?;
        let data = Datasets::new(vec![example(&folder.path().join("data.azd"), &FAMILIES)?])?;
        sampler_from(data, sampling, together)
    }

    fn sampler_from(data: Datasets, sampling: Sampling, together: bool) -> Result<Sampler> {
        let threshold = PositiveThreshold { delta: 0.1, delta_equal: 0.1 };
        let architecture = Architecture::Transformer(TransformerConfig::mini());
        Sampler::new(data, architecture, sampling, threshold, 5, together)
    }

    type Taken = (Vec<[u8; 77]>, Vec<f32>);

    fn batches(sampler: Sampler, threads: usize, steps: Range<u64>) -> Result<Vec<Taken>> {
        let mut batches = Batches::on_threads(sampler, steps.clone(), threads);
        let batches = steps.map(|_| {
            let mut taken: Taken = Default::default();
            for part in batches.next()?.parts {
                let Inputs::Tokens(tokens) = part.inputs else {
                    unreachable!("a transformer reads tokens");
                };
                taken.0.extend(tokens);
                taken.1.extend(part.labels);
            }
            Ok(taken)
        });
        batches.collect()
    }

    #[test]
    fn batches_are_the_same_from_any_number_of_threads() -> Result<()> {
        // An epoch is four batches.
        let all = batches(sampler(2)?, 1, 0..13)?;
        assert_ne!(all[0], all[4]);
        for threads in [2, 3, 8] {
            assert_eq!(batches(sampler(2)?, threads, 0..13)?, all, "{threads} threads");
            let continued = batches(sampler(2)?, threads, 5..13)?;
            assert_eq!(continued, all[5..], "{threads} threads, continued");
        }
        Ok(())
    }

    #[test]
    fn a_file_that_is_cut_short_ends_the_run_in_one_line() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("data.azd");
        let data = Datasets::new(vec![example(&path, &FAMILIES)?])?;
        let sampler = sampler_from(data, Sampling { positives: 2, ..SAMPLING }, false)?;
        let mut batches = Batches::on_threads(sampler, 0..1_000_000, 2);
        batches.next()?;
        // A thread that reads while the file is cut would end this process. The threads wait once
        // they have prepared as many batches as fit.
        while !batches.threads.iter().all(Receiver::is_full) {
            thread::sleep(Duration::from_millis(1));
        }
        thread::sleep(Duration::from_millis(200));
        std::fs::OpenOptions::new().write(true).open(&path)?.set_len(0)?;
        // Some batches were prepared before the file was cut.
        let error = (0..1_000).find_map(|_| batches.next().err()).expect("an error");
        let line = format!("{error:#}");
        assert!(line.contains("data.azd': another process cut it short"), "{line}");
        assert!(!line.contains('\n'), "{line}");
        Ok(())
    }

    #[test]
    fn a_contrastive_loss_of_too_many_positions_is_refused() -> Result<()> {
        let sampling = Sampling { anchors: 8, ..SAMPLING };
        for (positives, parts, fits) in
            [(4095, 1, true), (4096, 1, false), (usize::MAX, 1, false), (4096, 2, true)]
        {
            let sampler = sampler_of(Sampling { positives, parts, ..sampling }, false);
            assert_eq!(sampler.is_ok(), fits, "{positives} positives, {parts} parts");
            let error = sampler.err().map(|error| error.to_string()).unwrap_or_default();
            assert!(fits || error.contains("--positives"), "{error}");
        }
        Ok(())
    }

    #[test]
    fn an_epoch_sees_a_position_once() -> Result<()> {
        for epoch in batches(sampler(0)?, 1, 0..8)?.chunks(4) {
            let mut seen: Vec<_> = epoch.iter().flat_map(|(tokens, _)| tokens).collect();
            seen.sort_unstable();
            seen.dedup();
            assert_eq!(seen.len(), 28);
        }
        Ok(())
    }

    #[test]
    fn parts_come_apart_or_together_and_are_the_same_positions() -> Result<()> {
        let sampling = Sampling { anchors: 9, parts: 4, ..SAMPLING };
        let (apart, together) = (sampler_of(sampling, false)?, sampler_of(sampling, true)?);
        for step in 0..5 {
            let (apart, together) = (apart.batch(step)?.parts, together.batch(step)?.parts);
            assert!(apart.len() > 1 && apart.iter().all(|part| part.contrasts == 1));
            let [together] = together.as_slice() else { panic!("one part") };
            assert_eq!((together.contrasts, together.labels.len()), (4, 8));
            let labels: Vec<f32> = apart.into_iter().flat_map(|part| part.labels).collect();
            assert_eq!(labels[..8], together.labels);
        }
        Ok(())
    }

    #[test]
    fn processes_divide_the_parts_of_a_batch() -> Result<()> {
        type Part = (usize, Vec<[u8; 77]>, Vec<f32>);
        let parts = |sampler: Sampler, step| -> Result<Vec<Part>> {
            let batch = sampler.batch(step)?;
            let total: f64 = batch.parts.iter().map(|part| part.weight).sum();
            assert!(total <= 1.0);
            let parts = batch.parts.into_iter().map(|part| {
                let Inputs::Tokens(tokens) = part.inputs else { unreachable!("tokens") };
                (part.place, tokens, part.labels)
            });
            Ok(parts.collect())
        };
        for (positives, together) in [(0, false), (2, false), (0, true), (2, true)] {
            let sampling = Sampling { anchors: 8, positives, parts: 4, ..SAMPLING };
            for step in 0..3 {
                let all = parts(sampler_of(sampling, together)?, step)?;
                let half = |own| parts(sampler_of(sampling, together)?.only(own), step);
                let (first, second) = (half(0..2)?, half(2..4)?);
                if !together {
                    assert_eq!([first, second].concat(), all);
                    assert!(all.iter().all(|(_, _, labels)| labels.len() == 2 * (1 + positives)));
                    continue;
                }
                // Positions alternate between the contrasts.
                assert_eq!((first[0].0, second[0].0), (0, 2));
                let halves = first[0].2.chunks(2).zip(second[0].2.chunks(2));
                let joined: Vec<f32> = halves.flat_map(|(a, b)| [a, b].concat()).collect();
                assert_eq!(joined, all[0].2);
            }
        }
        Ok(())
    }

    #[test]
    fn positives_are_close_by_label() -> Result<()> {
        for (_, labels) in batches(sampler(3)?, 1, 0..20)? {
            let (anchors, positives) = labels.split_at(7);
            for (anchor, positives) in anchors.iter().zip(positives.chunks(3)) {
                assert!(positives.iter().all(|positive| (positive - anchor).abs() < 0.1));
            }
        }
        Ok(())
    }
}
