//! The gradients of a step, computed in parts, and their sum over all ranks.

use anyhow::{Context, Result};
use candle_core::backprop::GradStore;
use candle_core::{DType, Tensor, Var};

use super::{Model, Readout};
use crate::cpu::side_by_side;
use crate::data::sampler::{Batch, BatchPart, split_mix};
use crate::loss::{LossValues, Losses};
use crate::ranks::{Ranks, sum_parts};

/// The gradients and losses of a step, averaged over the parts of all ranks. The parts of this rank
/// are computed in parallel. Dropout depends only on `seed` and on the place of a part.
pub fn gradients(
    model: &dyn Model,
    batch: Batch,
    losses: &Losses,
    seed: u64,
    ranks: &dyn Ranks,
) -> Result<(GradStore, LossValues)> {
    model.prepare(&batch)?;
    let found = side_by_side(batch.parts, |part| part_gradients(model, part, losses, seed));
    if ranks.count() > 1 {
        return sum_of_ranks(model, &found.into_iter().collect::<Result<Vec<_>>>()?, ranks);
    }
    let mut found = found.into_iter();
    let (mut gradients, mut values) = found.next().context("a batch of nothing")??;
    for part in found {
        let (more, others) = part?;
        add_gradients(&mut gradients, &more, model.optimizer().variables())?;
        values = values.add(&others)?;
    }
    Ok((gradients, values))
}

/// Adds the gradients of `variables` in `more` to `sums`.
pub fn add_gradients<'a>(
    sums: &mut GradStore,
    more: &GradStore,
    variables: impl Iterator<Item = &'a Var>,
) -> Result<()> {
    for variable in variables {
        if let Some(gradient) = more.get(variable) {
            let sum = match sums.get(variable) {
                Some(first) => (first + gradient)?,
                None => gradient.clone(),
            };
            sums.insert(variable, sum);
        }
    }
    Ok(())
}

fn part_gradients(
    model: &dyn Model,
    part: BatchPart,
    losses: &Losses,
    seed: u64,
) -> Result<(GradStore, LossValues)> {
    let BatchPart { place, weight, inputs, labels, contrasts } = part;
    let embedded = model.forward(place, inputs, seed ^ split_mix(place as u64))?;
    let Readout { direction, bias } = model.readout();
    let found = losses.of(&embedded.z, &labels, contrasts, direction, bias)?.scaled(weight)?;
    Ok((embedded.backward(&found.total)?, found))
}

const LOSSES: usize = 3;

/// The sum of the gradients and losses of all parts of all ranks; `parts` has those of this rank.
fn sum_of_ranks(
    model: &dyn Model,
    parts: &[(GradStore, LossValues)],
    ranks: &dyn Ranks,
) -> Result<(GradStore, LossValues)> {
    let variables: Vec<&Var> = model.optimizer().variables().collect();
    let length = variables.iter().map(|variable| variable.elem_count()).sum::<usize>() + LOSSES;
    let device = model.readout().bias.device();
    let parts = parts.iter().map(|part| flat(part, &variables)).collect::<Result<Vec<_>>>()?;
    if !device.is_cpu() {
        // A device computes all parts of a rank together.
        let own = match parts.first() {
            Some(own) => own.clone(),
            None => Tensor::zeros(length, DType::F32, device)?,
        };
        if let Some(sum) = ranks.sum_on_devices(&own)? {
            return apart(&sum, &variables);
        }
    }
    let parts = parts.iter().map(|part| Ok(part.to_vec1()?)).collect::<Result<Vec<_>>>()?;
    let sum = sum_parts(ranks, &parts, length)?;
    model.sum_rows(ranks)?;
    apart(&Tensor::from_vec(sum, length, device)?, &variables)
}

/// The gradients of all variables one after another, and then the losses, in f32.
fn flat((gradients, values): &(GradStore, LossValues), variables: &[&Var]) -> Result<Tensor> {
    let mut all = Vec::new();
    for variable in variables {
        let gradient = gradients.get(variable).context("a parameter has no gradient")?;
        all.push(gradient.flatten_all()?.to_dtype(DType::F32)?);
    }
    for loss in [&values.total, &values.contrastive, &values.regression] {
        all.push(loss.detach().flatten_all()?);
    }
    Ok(Tensor::cat(&all, 0)?)
}

/// The inverse of [`flat`].
fn apart(all: &Tensor, variables: &[&Var]) -> Result<(GradStore, LossValues)> {
    // Candle creates a gradient store only in a backward pass.
    let mut gradients = all.zeros_like()?.sum_all()?.backward()?;
    let mut first = 0;
    for variable in variables {
        let count = variable.elem_count();
        gradients.insert(variable, all.narrow(0, first, count)?.reshape(variable.shape())?);
        first += count;
    }
    let loss = |index: usize| all.get(first + index);
    let values = LossValues { total: loss(0)?, contrastive: loss(1)?, regression: loss(2)? };
    Ok((gradients, values))
}

#[cfg(test)]
pub(super) mod tests {
    use azimuth_network::parameters::Parameters;
    use azimuth_network::{Architecture, Inputs};
    use candle_core::Device;
    use cozy_chess::Board;

    use super::super::build;
    use super::*;
    use crate::config::Config;
    use crate::options::TrainOptions;
    use crate::ranks::threads::on_threads;
    use crate::ranks::{Alone, share_of};

    /// Number of positions of a part with all pieces.
    const FULL: usize = 5;

    /// Positions of a part with few pieces, for other heads.
    const FEW: [&str; 2] =
        ["8/2k5/8/3q4/8/8/4R3/4K3 w - - 0 1", "8/2k5/8/3n4/8/8/4R3/4K3 b - - 0 1"];

    /// Part `place` of a batch of `parts`.
    fn part(architecture: &Architecture, place: usize, parts: usize) -> BatchPart {
        let number = |index: usize| (place * FULL + index) as u32;
        let full = (0..FULL).map(|index| Board::chess960_startpos(number(index) * 40));
        let few = FEW.map(|fen| fen.parse().expect("valid"));
        let boards: Vec<Board> = full.chain(few).collect();
        let labels = (0..FULL).map(|index| 0.3 + number(index) as f32 * 0.02);
        BatchPart {
            place,
            weight: 1.0 / parts as f64,
            inputs: Inputs::of(architecture.input_kind(), &boards),
            labels: labels.chain([0.1, 0.2]).collect(),
            contrasts: 1,
        }
    }

    /// The parameters and the last loss after the steps of a run on this rank's share of each batch.
    pub fn taught(
        model: &mut dyn Model,
        config: &Config,
        ranks: &dyn Ranks,
    ) -> Result<(Parameters, f32)> {
        let Config { architecture, losses, schedule, clip, .. } = config;
        let count = config.sampling.parts;
        let mut loss = f32::NAN;
        for step in 0..schedule.steps {
            let own = share_of(ranks, count)?;
            let parts = own.map(|place| part(architecture, place, count)).collect();
            let batch = Batch { parts, positions: count * (FULL + FEW.len()) };
            let (found, values) = gradients(model, batch, losses, step, ranks)?;
            loss = values.total.to_scalar()?;
            model.step(&found, schedule.step(step), *clip)?;
        }
        Ok((model.parameters()?, loss))
    }

    #[test]
    fn ranks_learn_as_one_process_to_the_last_bit() -> Result<()> {
        for encoder in [
            "--features exchange-states-16+threats --accumulator 128 --embedding-dim 8 --heads 2 \
             --middle-layers 1",
            "--encoder mini --layers 1 --hidden 16 --heads 2 --mlp 16 --embedding-dim 8",
        ] {
            let options = "--steps 4 --warmup 1 --learning-rate 0.01 --parts 4 --clip 1";
            let config = TrainOptions::with_options(&format!("{options} {encoder}"))?.config()?;
            let taught = |ranks: &dyn Ranks| {
                let (architecture, parts) = (&config.architecture, config.sampling.parts);
                let mut model = build(architecture, &Device::Cpu, DType::F32, 0.1, parts, 3)?;
                taught(&mut *model, &config, ranks)
            };
            let (expected, loss) = taught(&Alone)?;
            for count in [2, 4] {
                for (found, its_loss) in on_threads(count, taught)? {
                    assert_eq!(its_loss.to_bits(), loss.to_bits());
                    for (name, _) in expected.iter() {
                        let bits = |parameters: &Parameters| -> Result<Vec<u32>> {
                            Ok(parameters.values(name)?.iter().map(|v| v.to_bits()).collect())
                        };
                        assert!(bits(&found)? == bits(&expected)?, "{name}, {count} ranks");
                    }
                }
            }
        }
        assert!(on_threads(3, |ranks| share_of(ranks, 4)).is_err());
        Ok(())
    }
}
