//! Chess for the engine, its networks and its trainer: positions and moves, SAN, PGN, attacks,
//! static exchange evaluation, board representations for networks, and the win probability of a
//! centipawn score. The cozy-chess crate implements the rules.

pub mod bench_positions;
pub mod board_diagram;
pub mod check_squares;
pub mod notation;
pub mod pgn;
pub mod placement;
pub mod position;
pub mod san;
pub mod see;
pub mod text;
pub mod tokens;
pub mod win_probability;
