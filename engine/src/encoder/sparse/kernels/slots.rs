//! The places of a view's rows.

/// Places of the rows of one view: a square's piece has one row, and so has each of up to six threats. A whole number
/// of registers.
pub(in crate::encoder::sparse) const SLOTS: usize = 96;

/// The row in each place.
pub(in crate::encoder::sparse) type Slots = [u16; SLOTS];
