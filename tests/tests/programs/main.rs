//! The engine and `azimuth-bench` as built programs: command lines, games in a terminal, matches,
//! and searches that repeat.

mod bench;
mod command_line;
mod play;
mod repeats;
