//! `bench`: the same searches every time, so that their nodes tell whether the search has changed,
//! and their time how fast the machine is.

use std::fmt::{Display, Formatter};

use anyhow::Result;
use azimuth_chess::bench_positions::BENCH_POSITIONS;
use azimuth_chess::position::Position;

use crate::search::{BeamSettings, Control, Limits, Planner, Resources};

/// What each planner has to itself.
pub const BENCH_RESOURCES: Resources = Resources { hash_mb: 16, threads: 1 };

/// Plies of the selective search by default: some seconds on one core, so that OpenBench can scale a machine's
/// time by its speed.
const DEFAULT_DEPTH: u32 = 15;

/// Deepest `bench`: more may take hours.
const DEEPEST: u32 = 32;

/// What searches cost.
#[derive(Clone, Copy, Default)]
pub struct Cost {
    nodes: u64,
    seconds: f64,
}

/// `NODES nodes NPS nps`, as OpenBench reads it in the last line.
impl Display for Cost {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        let Self { nodes, seconds } = *self;
        write!(formatter, "{nodes} nodes {:.0} nps", nodes as f64 / seconds.max(1e-6))
    }
}

/// The planners of `bench`, each with empty tables.
pub struct BenchPlanners {
    /// The paper's beam, as it is written.
    pub beam: Box<dyn Planner>,
    /// The beam with verification, by default.
    pub verified_beam: Box<dyn Planner>,
    /// The selective search.
    pub selective: Box<dyn Planner>,
}

/// Searches every position with both beams, no deeper than they go by default, then with the selective search to `depth`
/// plies, [`DEFAULT_DEPTH`] where `None`. `say` gets a line for each position, one for the cost of each beam and, last,
/// one for that of the selective search.
pub fn bench(
    planners: &mut BenchPlanners,
    depth: Option<u32>,
    say: &mut dyn FnMut(&str),
) -> Result<()> {
    let BenchPlanners { beam, verified_beam, selective } = planners;
    let depth = depth.unwrap_or(DEFAULT_DEPTH).clamp(1, DEEPEST);
    let beam_depth = depth.min(BeamSettings::default().depth);
    for (name, planner) in [("beam", beam), ("verified beam", verified_beam)] {
        let cost = bench_planner(&mut **planner, name, Some(beam_depth), say)?;
        say(&format!("{name}: {cost}"));
    }
    let cost = bench_planner(&mut **selective, "selective", Some(depth), say)?;
    say(&cost.to_string());
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
