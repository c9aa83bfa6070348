//! The layout of a dataset file.
//!
//! Blocks of 4,096 bytes, numbers little-endian. Block 0 is the header:
//!
//! | bytes | |
//! |---|---|
//! | 0-3 | CRC-32 of the rest of the block |
//! | 4-15 | `azimuth-data` |
//! | 16-19 | version, 1 |
//! | 20-43 | numbers of training, calibration and held-out blocks, which follow in this order |
//! | 44-51 | length of the description, JSON in UTF-8, which follows the blocks |
//! | 52-55 | CRC-32 of the description |
//!
//! Every other block has a CRC-32 of its rest (4 bytes), the number of families (2), the number of
//! positions (2), the families one after another, and zeros.
//!
//! A family has:
//!
//! - the number of children, 0 if the position itself is labelled (1 byte);
//! - the en passant file, 8 for none, plus 128 if Black is to move (1);
//! - the half-move clock (1) and the full-move number (2);
//! - the occupied squares, a1 first (8);
//! - a code of four bits for each piece in the order of the squares, two a byte, lower half first:
//!   pawn, knight, bishop, rook, queen, king, rook that may castle, plus 8 for Black's;
//! - the labels.
//!
//! A label is centipawns from White's point of view (2 bytes), from -30,000 to 30,000, or ±31,000
//! for a forced mate. A child is a move (1), numbered among the legal moves in the order of origin,
//! target (of castling: the rook's square) and promotion, and its label (2).

/// Bytes of a block.
pub const BLOCK: usize = 4096;

/// Bytes of a block before its families.
pub const BLOCK_HEADER: usize = 8;

/// The bytes after the first checksum of a file.
pub const MAGIC: [u8; 12] = *b"azimuth-data";

/// Version of the layout; files of other versions are rejected.
pub const VERSION: u32 = 1;

/// Bytes of the header's fields, including the checksum.
pub const HEADER: usize = 56;
