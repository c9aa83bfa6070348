//! The search as a planner: it runs simulations until a limit is reached, then plays the most
//! visited move.

use anyhow::{Context, Result};
use azimuth::search::{Control, Planner, Report, RootMoves, Value, terminal_value};
use azimuth_chess::position::Position;

use super::PolicyValue;
use super::tree::Tree;

/// Default number of simulations (the document's).
const SIMULATIONS: u32 = 10;

/// Maximum number of simulations; a tree of this size takes about a gigabyte.
const MOST_SIMULATIONS: u32 = 1 << 20;

/// The planner that searches with a network.
pub struct MonteCarlo<N>(pub N);

impl<N: PolicyValue> Planner for MonteCarlo<N> {
    fn search(
        &mut self,
        root: &Position,
        control: &mut Control,
        report: &mut dyn FnMut(&Report),
    ) -> Result<Report> {
        let root_moves = RootMoves::new(root, control.limits(), None);
        let enough = match control.limits().are_open_ended() {
            true => MOST_SIMULATIONS,
            false => SIMULATIONS,
        };
        let mut tree = Tree::new(root);
        let (mut next_report, mut lines) = (1, Vec::new());
        loop {
            let leaf = tree.select();
            match leaf.end {
                Some(value) => tree.back_up(&leaf, value),
                None => {
                    let assessed = self.0.assess(&[&leaf.position])?;
                    tree.expand(&leaf, assessed.first().context("the network says nothing")?);
                }
            }
            if tree.simulations() == 1 {
                tree.keep_root_moves(&root_moves.moves);
            }
            let forced = root_moves.is_forced() && control.on_the_clock();
            let done = tree.simulations() >= enough
                || control.should_stop(tree.simulations().into())
                || forced;
            if done || tree.simulations() >= next_report {
                lines = reports(&tree, control);
                root_moves.present(&mut lines, report);
                next_report *= 2;
            }
            if done {
                return lines.into_iter().next().context("no legal move");
            }
        }
    }

    fn evaluate(&mut self, position: &Position) -> Result<Value> {
        if let Some(value) = terminal_value(position.board(), 0, position.history()) {
            return Ok(value);
        }
        let assessed = self.0.assess(&[position])?;
        Ok(Value::estimate(assessed.first().context("the network says nothing")?.value))
    }
}

/// One line for each requested root move (`MultiPV`).
fn reports(tree: &Tree, control: &Control) -> Vec<Report> {
    let wanted = control.limits().multipv.max(1);
    let line = |(mv, _, value)| {
        let pv = tree.line(mv);
        let mut report = Report::of(Value::estimate(value), pv);
        report.depth = report.pv.len() as u32;
        report.seldepth = report.depth;
        report.nodes = tree.simulations().into();
        report.scored = report.nodes;
        report.time = control.elapsed();
        report
    };
    tree.root_moves().into_iter().take(wanted).map(line).collect()
}
