//! Exact nearest neighbours of all embeddings by cosine, fast enough for a map.

use anyhow::Result;
use candle_core::{Device, Tensor};

/// Number of rows of cosines in memory at a time.
const ROWS: usize = 512;

/// The nearest neighbours of each embedding.
pub struct Nearest {
    count: usize,
    /// Their indices, `count` for each embedding.
    numbers: Vec<u32>,
}

impl Nearest {
    /// Finds the `count` nearest neighbours of unit vectors stored row by row. There must be more
    /// than `count` vectors.
    pub fn find(embeddings: &[f32], dim: usize, count: usize) -> Result<Self> {
        let rows = embeddings.len() / dim;
        let all = Tensor::from_slice(embeddings, (rows, dim), &Device::Cpu)?;
        let columns = all.t()?;
        let mut numbers = Vec::new();
        let mut best: Vec<(f32, u32)> = Vec::with_capacity(count + 1);
        for first in (0..rows).step_by(ROWS) {
            let part = all.narrow(0, first, ROWS.min(rows - first))?.matmul(&columns)?;
            for (row, similar) in part.flatten_all()?.to_vec1::<f32>()?.chunks(rows).enumerate() {
                best.clear();
                let own = (first + row) as u32;
                for (number, &cosine) in (0u32..).zip(similar) {
                    let worst = best.last().map_or(f32::MIN, |last| last.0);
                    if number == own || best.len() == count && cosine <= worst {
                        continue;
                    }
                    let place = best.partition_point(|known| known.0 >= cosine);
                    best.insert(place, (cosine, number));
                    best.truncate(count);
                }
                numbers.extend(best.iter().map(|known| known.1));
            }
        }
        Ok(Self { count, numbers })
    }

    /// The neighbours of one embedding, the nearest first.
    pub fn of(&self, number: usize) -> &[u32] {
        &self.numbers[number * self.count..][..self.count]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_come_first() -> Result<()> {
        // On a circle, at 0, 10, 30, 100 and 190 degrees.
        let angles = [0.0f32, 10.0, 30.0, 100.0, 190.0].map(f32::to_radians);
        let embeddings: Vec<f32> =
            angles.iter().flat_map(|angle| [angle.cos(), angle.sin()]).collect();
        let nearest = Nearest::find(&embeddings, 2, 2)?;
        assert_eq!(nearest.of(0), [1, 2]);
        assert_eq!((nearest.of(2), nearest.of(4)), (&[1, 0][..], &[3, 2][..]));
        Ok(())
    }
}
