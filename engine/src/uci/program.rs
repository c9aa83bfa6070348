//! The interface between the UCI protocol and an engine with planners and options.

use anyhow::Result;
use azimuth_chess::position::Position;

use super::command::Bench;
use crate::search::{Explanation, Limits, Planner};

/// An engine that [`super::engine::Engine`] drives by UCI. A method that fails changes nothing.
pub trait Program {
    /// Name and version for `id name`.
    fn name(&self) -> String;

    /// Name on the command line.
    fn command(&self) -> &'static str;

    /// The `option` lines of the engine's options.
    fn options(&self) -> Vec<String>;

    /// Sets an option, and loads the file that it names.
    fn set_option(&mut self, name: &str, value: Option<&str>) -> Result<()>;

    /// Applies options that limit a search. `analyses` is true if the GUI analyses and does not
    /// play.
    fn limit(&self, limits: &mut Limits, analyses: bool);

    /// Prepares the engine, so that the first move takes no longer than later ones.
    fn warm_up(&mut self, analyses: bool) -> Result<()>;

    /// Takes out the planner for a search; [`Self::put_back`] returns it.
    fn take_planner(&mut self, limits: &Limits) -> Result<Box<dyn Planner>>;

    /// Returns the planner; `None` if its search failed.
    fn put_back(&mut self, planner: Option<Box<dyn Planner>>);

    /// Clears the state of the previous game.
    fn new_game(&mut self);

    /// The static scores of a position and its moves.
    fn evaluate(&mut self, position: &Position, chess960: bool) -> Result<String>;

    /// The root moves of the last search with their results; `None` before the first search.
    fn explain(&mut self) -> Result<Option<Explanation>>;

    /// Searches a set of positions, which may be the `current` one. The last line passed to `say`
    /// has nodes and nodes per second.
    fn bench(&mut self, bench: &Bench, current: &Position, say: &mut dyn FnMut(&str))
    -> Result<()>;
}
