//! Where things stand in a dataset file.
//!
//! Blocks of 4,096 bytes, numbers little-endian. Block 0 is the header:
//!
//! | bytes | |
//! |---|---|
//! | 0-3 | CRC-32 of the rest of the block |
//! | 4-15 | `azimuth-data` |
//! | 16-19 | version, 1 |
//! | 20-43 | blocks of training, of calibration, of held-out positions, which follow in this order |
//! | 44-51 | length of the description, JSON in UTF-8, which follows the blocks |
//! | 52-55 | CRC-32 of the description |
//!
//! Every other block: CRC-32 of the rest (4 bytes), families (2), positions (2), the families one after another,
//! zeros. A family: number of children, 0 where the position itself is labelled (1); the file of en passant, 8 for
//! none, plus 128 where Black moves (1); half-move clock (1); full-move number (2); occupied squares, a1 first (8);
//! a code of four bits for each piece in the order of the squares, two a byte, lower half first: pawn, knight,
//! bishop, rook, queen, king, rook that may castle, plus 8 for Black's; then the labels. A label is centipawns from
//! White's view (2), ±31,000 for a forced mate. A child is a move (1), numbered among the legal moves in the order
//! of from-square, to-square (of castling: the rook's), promotion; and its label (2).

/// Bytes of a block.
pub const BLOCK: usize = 4096;

/// Bytes of a block before its families.
pub const BLOCK_HEADER: usize = 8;

/// What a file begins with, after a checksum.
pub const MAGIC: [u8; 12] = *b"azimuth-data";

/// Version of the layout; another one is refused.
pub const VERSION: u32 = 1;

/// Bytes of the header's numbers, from the checksum on.
pub const HEADER: usize = 56;
