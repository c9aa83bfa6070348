//! `bench`: the same searches every time, so that their nodes tell whether the search has changed,
//! and their time how fast the machine is.

use anyhow::Result;

use crate::bench_positions::BENCH_POSITIONS;
use crate::position::Position;
use crate::search::{BeamSettings, Control, Limits, Planner, Resources};

/// What each planner has to itself.
pub const BENCH_RESOURCES: Resources = Resources { hash_mb: 16, threads: 1 };

/// Plies that the selective search goes deeper in about the same time.
const SELECTIVE_PLIES: u32 = 3;

/// Deepest `bench`: what follows takes hours.
const DEEPEST: u32 = 16;

/// What searches cost.
#[derive(Clone, Copy, Default)]
pub struct Cost {
    nodes: u64,
    seconds: f64,
}

impl Cost {
    /// The last line: `NODES nodes NPS nps`.
    pub fn tell(self, say: &mut dyn FnMut(&str)) {
        let Self { nodes, seconds } = self;
        say(&format!("{nodes} nodes {:.0} nps", nodes as f64 / f64::max(seconds, 1e-6)));
    }
}

/// Searches every position to `depth` plies, the default where `None`, with the beam, then some plies deeper with the
/// selective search, each with empty tables; `say` gets a line for each and, last, the sum.
pub fn bench<'a>(
    beam: &'a mut dyn Planner,
    selective: &'a mut dyn Planner,
    depth: Option<u32>,
    say: &mut dyn FnMut(&str),
) -> Result<()> {
    let depth = depth.unwrap_or(BeamSettings::default().depth).clamp(1, DEEPEST);
    let mut sum = Cost::default();
    for (planner, name, depth) in
        [(beam, "beam", depth), (selective, "selective", depth + SELECTIVE_PLIES)]
    {
        let Cost { nodes, seconds } = bench_planner(planner, name, Some(depth), say)?;
        sum.nodes += nodes;
        sum.seconds += seconds;
    }
    sum.tell(say);
    Ok(())
}

/// Searches every position to `depth` plies, the planner's own where `None`; `say` gets a line for each.
pub fn bench_planner(
    planner: &mut dyn Planner,
    name: &str,
    depth: Option<u32>,
    say: &mut dyn FnMut(&str),
) -> Result<Cost> {
    let mut sum = Cost::default();
    for (number, fen) in (1..).zip(BENCH_POSITIONS) {
        let root = Position::from_fen(fen)?;
        planner.new_game();
        let limits = Limits { depth, ..Limits::default() };
        let control = &mut Control::without_signals(limits);
        let report = planner.search(&root, control, &mut |_| ())?;
        sum.nodes += report.nodes;
        sum.seconds += report.time.as_secs_f64();
        say(&format!(
            "{name}, position {number}/{}: {} nodes, score {}",
            BENCH_POSITIONS.len(),
            report.nodes,
            report.value
        ));
    }
    Ok(sum)
}
