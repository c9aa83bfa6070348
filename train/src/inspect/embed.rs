//! `azimuth-train embed`: embeddings for a notebook as a NumPy array, with a CSV beside it.

use std::io::{BufWriter, Write};
use std::path::PathBuf;

use anyhow::{Result, ensure};
use azimuth::command_line::print_line;
use azimuth_chess::position::fen_of;
use azimuth_network::replace_file::Replacement;
use clap::Args;
use npyz::WriterBuilder;

use super::positions::PositionsOptions;

/// Write the embeddings of positions as a NumPy array, and a CSV with label and score of each row.
///
/// Positions need no labels: --data also takes FENs or EPD, one position a line (.fen, .txt, .epd;
/// standard input as -), and games (.pgn), plain or compressed (.zst). A file of games gives the
/// positions that have evaluations, or all positions of the main lines if none has.
#[derive(Args)]
pub struct EmbedOptions {
    #[command(flatten)]
    positions: PositionsOptions,
    /// Array to write, FILE.npy: f32, one row of unit length per position. FILE.csv has the columns
    /// fen,label,cosine,win_probability in the same order; the last three are from the encoder's
    /// perspective: the side to move for a sparse encoder, White for a transformer. The label is
    /// empty where a position has none.
    #[arg(long, short)]
    out: PathBuf,
}

impl EmbedOptions {
    /// Embeds the positions. Fails if an output file exists; never leaves a partial file.
    pub fn run(&self) -> Result<()> {
        let table = self.out.with_extension("csv");
        let is_npy = self.out.extension().is_some_and(|extension| extension == "npy");
        ensure!(is_npy, "--out '{}': the name must end in .npy", self.out.display());
        for path in [&self.out, &table] {
            ensure!(!path.exists(), "--out '{}': it exists; remove it first", path.display());
        }
        let (mut positions, have_labels) = self.positions.open_any()?;
        let mut have_labels = have_labels.into_iter();
        let shape = [positions.len() as u64, positions.dim() as u64];
        let mut rows = BufWriter::new(Replacement::new(&table)?);
        let mut whole = BufWriter::new(Replacement::new(&self.out)?);
        writeln!(rows, "fen,label,cosine,win_probability")?;
        let mut array = npyz::WriteOptions::new()
            .default_dtype()
            .shape(&shape)
            .writer(&mut whole)
            .begin_nd()?;
        positions.for_each_part(|weights, part, embeddings| {
            array.extend(embeddings.iter().copied())?;
            let perspective = weights.metadata.architecture.perspective();
            for (position, cosine) in part.iter().zip(weights.axis.cosines(embeddings)) {
                let fen = fen_of(&position.board()?);
                let p = weights.calibration.win_probability(cosine);
                match have_labels.next() {
                    Some(true) => {
                        let label = position.win_probability(perspective);
                        writeln!(rows, "{fen},{label},{cosine},{p}")?;
                    }
                    _ => writeln!(rows, "{fen},,{cosine},{p}")?,
                }
            }
            Ok(())
        })?;
        array.finish()?;
        rows.into_inner()?.finish()?;
        whole.into_inner()?.finish()?;
        print_line(format_args!("{} x {} to '{}'", shape[0], shape[1], self.out.display()))?;
        Ok(())
    }
}
