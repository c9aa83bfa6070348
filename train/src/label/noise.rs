//! The noise of labels from shallow MultiPV searches.

/// RMS error of the labels of siblings that lose less than 0.1 in win probability, compared within
/// their parent with depth 12 (`train/data.md`, "How accurate labels are").
const NOISY: [(u32, f32); 4] = [(2, 0.038), (3, 0.064), (4, 0.061), (5, 0.042)];

/// Prints a line if siblings labelled by MultiPV searches of `depth` plies are noisier than at depth
/// 1.
pub fn warn_of_noise(depth: u32) {
    if let Some(warning) = warning(depth) {
        eprintln!("{warning}");
    }
}

fn warning(depth: u32) -> Option<String> {
    let &(_, error) = NOISY.iter().find(|(noisy, _)| *noisy == depth)?;
    Some(format!(
        "--depth {depth}: labels of siblings have an RMS error of {error:.3}, at depth 1 of 0.035 and at \
         depth 6 of 0.029; use depth 1, or 6 and more"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noisy_depths_are_named_with_their_error() {
        let noisy: Vec<u32> = (0..30).filter(|&depth| warning(depth).is_some()).collect();
        assert_eq!(noisy, [2, 3, 4, 5]);
        let line = warning(3).unwrap_or_default();
        assert!(line.starts_with("--depth 3: ") && line.contains("error of 0.064"), "{line}");
    }
}
