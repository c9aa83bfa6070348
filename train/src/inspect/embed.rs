//! `azimuth-train embed`: embeddings for a notebook, as NumPy stores arrays, with a CSV beside them.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use azimuth_chess::position::fen_of;
use clap::Args;
use npyz::WriterBuilder;

use super::positions::PositionsOptions;

/// Write the embeddings of positions for NumPy, and a CSV beside them with what is known of each row.
#[derive(Args)]
pub struct EmbedOptions {
    #[command(flatten)]
    positions: PositionsOptions,
    /// The array to write, FILE.npy: f32, a row of unit length for each position. FILE.csv has, row by row,
    /// fen,label,cosine,win_probability: the last three in the encoder's perspective, which is the side to move's for a
    /// sparse encoder and White's for a transformer.
    #[arg(long, short)]
    out: PathBuf,
}

impl EmbedOptions {
    /// Embeds the positions. Fails where one of the files exists, and leaves none that is half written.
    pub fn run(&self) -> Result<()> {
        let table = self.out.with_extension("csv");
        let is_npy = self.out.extension().is_some_and(|extension| extension == "npy");
        ensure!(is_npy, "--out '{}': the name must end in .npy", self.out.display());
        for path in [&self.out, &table] {
            ensure!(!path.exists(), "--out '{}': it exists; remove it first", path.display());
        }
        let mut positions = self.positions.open()?;
        let shape = [positions.len() as u64, positions.dim() as u64];
        let (unfinished, mut rows) = begin(&table)?;
        let (unfinished_array, array) = begin(&self.out)?;
        writeln!(rows, "fen,label,cosine,win_probability")?;
        let mut array =
            npyz::WriteOptions::new().default_dtype().shape(&shape).writer(array).begin_nd()?;
        positions.for_each_part(|weights, part, embeddings| {
            array.extend(embeddings.iter().copied())?;
            let perspective = weights.metadata.architecture.perspective();
            for (position, cosine) in part.iter().zip(weights.axis.cosines(embeddings)) {
                let fen = fen_of(&position.board()?);
                let label = position.win_probability(perspective);
                let p = weights.calibration.win_probability(cosine);
                writeln!(rows, "{fen},{label},{cosine},{p}")?;
            }
            Ok(())
        })?;
        array.finish()?;
        rows.flush()?;
        std::fs::rename(unfinished, &table)?;
        std::fs::rename(unfinished_array, &self.out)?;
        println!("{} x {} to '{}'", shape[0], shape[1], self.out.display());
        Ok(())
    }
}

/// A file beside `path`, which takes its name once it is whole.
fn begin(path: &Path) -> Result<(PathBuf, BufWriter<File>)> {
    let unfinished = PathBuf::from(format!("{}.unfinished", path.display()));
    let file = File::create(&unfinished)
        .with_context(|| format!("cannot write '{}'", unfinished.display()))?;
    Ok((unfinished, BufWriter::new(file)))
}
