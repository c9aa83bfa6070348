//! The batches of the encoders that games share, as CSV.

use std::fmt::Write;

use azimuth::inference::BatchSecond;

const HEADER: &str = "weights,second,batches,searches,positions,largest\n";

/// A line for each second in which an encoder had a batch: the batches that began in it, the mean
/// number of searches and of positions in a batch, and the positions of the largest.
pub fn csv<'a>(encoders: impl Iterator<Item = (&'a str, Vec<BatchSecond>)>) -> String {
    let mut text = HEADER.to_owned();
    for (name, seconds) in encoders {
        for BatchSecond { second, batches, requests, positions, largest } in seconds {
            let mean = |sum: u64| sum as f64 / batches.max(1) as f64;
            let (searches, positions) = (mean(requests), mean(positions));
            let _ =
                writeln!(text, "{name},{second},{batches},{searches:.1},{positions:.1},{largest}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_the_means_of_a_second() {
        let second =
            BatchSecond { second: 7, batches: 4, requests: 10, positions: 30, largest: 16 };
        let text = csv([("ab12", vec![second])].into_iter());
        assert_eq!(text, format!("{HEADER}ab12,7,4,2.5,7.5,16\n"));
    }
}
