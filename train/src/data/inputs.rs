//! Packed positions as inputs of an encoder.

use anyhow::Result;
use azimuth_network::{InputKind, Inputs};

use super::packed::PackedPosition;

/// The positions without any augmentation.
pub fn inputs_of(positions: &[PackedPosition], kind: InputKind) -> Result<Inputs> {
    let mut inputs = Inputs::new(kind);
    positions.iter().try_for_each(|position| push(&mut inputs, position, false))?;
    Ok(inputs)
}

/// Adds a position; `mirror` mirrors features from left to right (a-file and h-file and so on).
pub fn push(inputs: &mut Inputs, position: &PackedPosition, mirror: bool) -> Result<()> {
    match inputs {
        Inputs::Features(features) => {
            let placement = position.placement();
            features.push(&if mirror { placement.mirrored() } else { placement });
        }
        Inputs::Tokens(_) => inputs.push(&position.board()?),
    }
    Ok(())
}
