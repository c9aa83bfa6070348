//! The slots of a view's rows.

/// Number of slots of one view: one for the piece on each square and one for each of up to six
/// threats. They fill a whole number of registers.
pub(in crate::encoder::sparse) const SLOTS: usize = 96;

/// The row in each slot.
pub(in crate::encoder::sparse) type Slots = [u16; SLOTS];
