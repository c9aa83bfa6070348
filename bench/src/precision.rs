//! `azimuth-bench precision`: numerical effects of a device and its precision on embeddings and
//! scores.

use anyhow::Result;
use azimuth_cli::print_line;
use azimuth_network::Inputs;
use azimuth_network::axis::Axis;
use azimuth_search::encoder;
use azimuth_search::inference::device_name;
use candle_core::{DType, Device};
use clap::Args;
use cozy_chess::Board;
use serde::Serialize;

use crate::arguments::{DeviceArguments, JsonFile};
use crate::speed::{Subject, children, roots};

/// Compare an encoder on a device and in a precision with the same encoder on the CPU in f32: the
/// largest differences of embeddings and scores, and how often sibling positions keep their order.
#[derive(Args)]
pub struct Precision {
    /// Encoder: mini, small or base (random parameters), or a weights file; may be repeated.
    #[arg(long = "encoder", default_values_t = ["mini".to_owned()])]
    encoders: Vec<String>,
    /// Approximate number of positions; siblings are never split.
    #[arg(long, default_value_t = 10_000)]
    positions: usize,
    #[command(flatten)]
    json: JsonFile,
    #[command(flatten)]
    device: DeviceArguments,
}

#[derive(Serialize)]
struct Agreement {
    encoder: String,
    device: String,
    precision: String,
    positions: usize,
    /// Largest difference of an embedding's components.
    embedding: f64,
    /// Largest difference of the cosine with the axis.
    cosine: f64,
    /// Share of the sibling pairs that keep their order.
    pairs: f64,
    /// Share of the families that keep their best move.
    best: f64,
}

pub fn run(arguments: &Precision) -> Result<()> {
    let (device, dtype) = arguments.device.open()?;
    arguments.json.check(&arguments.encoders)?;
    let families = families(arguments.positions)?;
    let boards: Vec<&Board> = families.iter().flatten().collect();
    let sizes: Vec<usize> = families.iter().map(Vec::len).collect();
    let mut all = Vec::new();
    for name in &arguments.encoders {
        let subject = Subject::named(name)?;
        let embedded = |device: &Device, dtype: DType| -> Result<Vec<f32>> {
            let mut encoder = encoder::build(&subject.weights, device, dtype)?;
            let mut embeddings = Vec::new();
            for part in boards.chunks(encoder.attributes().recommended_batch) {
                let inputs = Inputs::of(encoder.attributes().input, part.iter().copied());
                embeddings.extend(encoder.encode(&inputs)?);
            }
            Ok(embeddings)
        };
        let (exact, found) = (embedded(&Device::Cpu, DType::F32)?, embedded(&device, dtype)?);
        let [embedding, cosine, pairs, best] =
            compare(&exact, &found, &sizes, &subject.weights.axis);
        print_line(format_args!(
            "{}, {} positions: embeddings differ by {embedding:.2e} at most, cosines by {cosine:.2e}; \
             {:.2}% of pairs of siblings keep their order, {:.2}% of families their best move",
            subject.name,
            boards.len(),
            pairs * 100.0,
            best * 100.0
        ))?;
        all.push(Agreement {
            encoder: subject.name,
            device: device_name(&device),
            precision: dtype.as_str().to_owned(),
            positions: boards.len(),
            embedding,
            cosine,
            pairs,
            best,
        });
    }
    arguments.json.write(&all)
}

/// Children of the same parents, for about `positions` positions.
fn families(positions: usize) -> Result<Vec<Vec<Board>>> {
    let parents = roots()?.into_iter().flat_map(|root| children(root.board())).collect::<Vec<_>>();
    let mut families = Vec::new();
    let mut count = 0;
    // Parents from every root come first.
    for parent in parents.iter().step_by(7).chain(&parents) {
        if count >= positions {
            break;
        }
        let family = children(parent);
        count += family.len();
        families.push(family);
    }
    Ok(families)
}

/// Largest differences of embeddings and cosines; shares of pairs and of best moves that are kept.
fn compare(exact: &[f32], found: &[f32], families: &[usize], axis: &Axis) -> [f64; 4] {
    let largest = |a: &[f32], b: &[f32]| {
        a.iter().zip(b).map(|(a, b)| f64::from((a - b).abs())).fold(0.0, f64::max)
    };
    let (cosines, found_cosines) = (axis.cosines(exact), axis.cosines(found));
    let (mut pairs, mut kept, mut best) = (0u64, 0u64, 0u64);
    let mut first = 0;
    for &size in families {
        let (exact, found) = (&cosines[first..first + size], &found_cosines[first..first + size]);
        first += size;
        for a in 0..size {
            for b in 0..a {
                pairs += 1;
                kept += u64::from(exact[a].total_cmp(&exact[b]) == found[a].total_cmp(&found[b]));
            }
        }
        let best_of =
            |cosines: &[f32]| (0..size).max_by(|&a, &b| cosines[a].total_cmp(&cosines[b]));
        best += u64::from(best_of(exact) == best_of(found));
    }
    let share = |part: u64, all: u64| part as f64 / all.max(1) as f64;
    [
        largest(exact, found),
        largest(&cosines, &found_cosines),
        share(kept, pairs),
        share(best, families.len() as u64),
    ]
}

#[cfg(test)]
mod tests {
    use azimuth_network::axis::Direction;

    use super::*;

    #[test]
    fn what_changed_is_counted() -> Result<()> {
        let axis = Axis::new(vec![2.0, 0.0], vec![0.0, 0.0], None, Direction::Mates)?;
        let exact = [0.1, 0.0, 0.5, 0.0, 0.3, 0.0, 0.2, 0.5, 0.4, 0.0];
        assert_eq!(compare(&exact, &exact, &[3, 2], &axis), [0.0, 0.0, 1.0, 1.0]);
        // 0.3 passes 0.5 among the first three, and a component off the axis moves.
        let mut found = exact;
        (found[4], found[7]) = (0.6, 0.1);
        let [embedding, cosine, pairs, best] = compare(&exact, &found, &[3, 2], &axis);
        assert!((embedding - 0.4).abs() < 1e-6 && (cosine - 0.3).abs() < 1e-6);
        assert_eq!((pairs, best), (0.75, 0.5));
        Ok(())
    }

    #[test]
    fn families_are_whole_and_as_many_as_asked_for() -> Result<()> {
        let parents = children(roots()?[0].board());
        assert_eq!(families(1)?, [children(&parents[0])]);
        // No position has more than 218 moves.
        let count: usize = families(1000)?.iter().map(Vec::len).sum();
        assert!((1000..1000 + 218).contains(&count), "{count}");
        Ok(())
    }
}
