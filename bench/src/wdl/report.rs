//! The fit as a table.

use std::fmt::Write;

use azimuth::names::name_of;

use super::Fit;
use crate::grouped::grouped;

/// One row for each planner: the games, and the quality of both models.
pub fn table(fits: &[Fit]) -> String {
    let columns = [
        "planner",
        "games",
        "scores",
        "log loss, constant draws",
        "log loss, fitted",
        "Brier score, constant draws",
        "Brier score, fitted",
    ];
    let mut text = crate::report::header(&columns);
    for Fit { planner, games, held_out, quality, before, .. } in fits {
        let _ = writeln!(
            text,
            "| {} | {games} | {} | {:.4} | {:.4} | {:.4} | {:.4} |",
            name_of(planner),
            grouped(held_out.len() as u64),
            before.log_loss,
            quality.log_loss,
            before.brier,
            quality.brier
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use anyhow::Result;
    use azimuth::search::WdlModel;

    use crate::report::wdl_fits_in;

    /// Twice the rounding of the coefficients: another machine may round differently.
    const TOLERANCE: f64 = 0.02;

    #[test]
    fn the_engine_has_the_fit_to_the_recorded_games() -> Result<()> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("results");
        let fits = wdl_fits_in(&folder)?;
        assert_eq!(fits.len(), 2);
        for fit in fits {
            let WdlModel { even, width } = WdlModel::of(fit.planner);
            let known = [even, width].concat();
            for (known, found) in known.iter().zip([fit.model.even, fit.model.width].concat()) {
                assert!((known - found).abs() < TOLERANCE, "{known}: the fit has {found}");
            }
            assert!(fit.quality.brier < fit.before.brier);
            assert!(fit.quality.log_loss < fit.before.log_loss);
        }
        Ok(())
    }
}
