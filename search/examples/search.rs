//! Searches a position with both planners.
//!
//!     cargo run --release -p azimuth-search --example search -- "FEN"

use anyhow::Result;
use azimuth_chess::position::{Position, STARTPOS, uci_move};
use azimuth_search::inference::Worker;
use azimuth_search::{Control, Limits, PlannerKind, PlannerSettings, Resources};

fn main() -> Result<()> {
    let fen = std::env::args().nth(1).unwrap_or_else(|| STARTPOS.to_owned());
    let root = Position::from_fen(&fen)?;
    let settings = PlannerSettings::default();
    let resources = Resources { hash_mb: 64, threads: 1 };
    for kind in [PlannerKind::Beam, PlannerKind::Selective] {
        let weights = settings.default_weights(kind).weights()?;
        let worker = Worker::on_cpu(weights, |notice| eprintln!("{notice}"))?;
        let mut planner = settings.build(kind, &worker, resources, None)?;

        let limits = Limits { depth: Some(6), ..Limits::default() };
        let mut control = Control::without_signals(limits);
        let best = planner.search(&root, &mut control, &mut |report| {
            println!("{kind:?}: depth {}, {}, {} nodes", report.depth, report.value, report.nodes);
        })?;
        let mv = best.pv.first().map(|&mv| uci_move(root.board(), mv, false));
        println!("{kind:?}: best move {}", mv.as_deref().unwrap_or("(none)"));
    }
    Ok(())
}
