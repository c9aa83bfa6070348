//! What stands behind the protocol: a program with options of its own that has planners.

use anyhow::Result;
use azimuth_chess::position::Position;

use super::command::Bench;
use crate::search::{Explanation, Limits, Planner};

/// A program that speaks UCI by [`super::engine::Engine`]. What fails changes nothing.
pub trait Program {
    /// Its name and version, as `id name` tells them.
    fn name(&self) -> String;

    /// Its name on the command line.
    fn command(&self) -> &'static str;

    /// The `option` lines of its own options.
    fn options(&self) -> Vec<String>;

    /// Sets one of them, and loads what it names.
    fn set_option(&mut self, name: &str, value: Option<&str>) -> Result<()>;

    /// Changes what a search was asked for by its own options; `analyses` where the GUI does not play.
    fn limit(&self, limits: &mut Limits, analyses: bool);

    /// Makes sure that the first move costs no more than the others.
    fn warm_up(&mut self, analyses: bool) -> Result<()>;

    /// The planner of a search, until it is put back.
    fn take_planner(&mut self, limits: &Limits) -> Result<Box<dyn Planner>>;

    /// Takes the planner back; `None` where its search failed.
    fn put_back(&mut self, planner: Option<Box<dyn Planner>>);

    /// Forgets what was learned in the game before.
    fn new_game(&mut self);

    /// The scores of a position and its moves without a search.
    fn evaluate(&mut self, position: &Position, chess960: bool) -> Result<String>;

    /// What became of the last search's root moves; `None` before the first one.
    fn explain(&mut self) -> Result<Option<Explanation>>;

    /// Searches a set of positions, of which one may be `current`; `say` gets lines, the last with nodes and nodes per
    /// second.
    fn bench(&mut self, bench: &Bench, current: &Position, say: &mut dyn FnMut(&str))
    -> Result<()>;
}
