//! Positions of data files, embedded in chunks.

use std::io::{BufWriter, Write};
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use azimuth_chess::position::{TYPICAL_MOVES, fen_of};
use azimuth_cli::print_line;
use azimuth_network::replace_file::Replacement;
use azimuth_network::weights::Weights;
use azimuth_search::DefaultWeights;
use azimuth_search::encoder::Encoder;
use azimuth_search::inference::Backend;
use candle_core::DType;
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use npyz::WriterBuilder;

use super::neighbours::find;
use crate::data::dataset::{read_all, step};
use crate::data::packed::PackedPosition;
use crate::space::embed;

/// Positions per chunk; the progress bar moves after each.
const PART: usize = 8_192;

/// Options for the space and the positions.
#[derive(Args)]
pub struct PositionsOptions {
    /// Datasets or files in any format that `data` reads.
    #[arg(long, required = true, num_args = 1..)]
    data: Vec<PathBuf>,
    /// Approximate number of positions, spread over the data [default: all].
    #[arg(long)]
    sample: Option<usize>,
    /// Weights file [default: the default weights of the beam].
    #[arg(long)]
    weights: Option<PathBuf>,
    /// Device to compute on.
    #[arg(long, value_enum, default_value_t = Backend::Cpu)]
    device: Backend,
}

/// Positions, and the weights and encoder that embed them.
pub struct EmbeddedPositions {
    pub weights: Weights,
    pub encoder: Box<dyn Encoder>,
    positions: Vec<PackedPosition>,
}

impl PositionsOptions {
    /// Reads the positions and the weights.
    pub fn open(&self) -> Result<EmbeddedPositions> {
        self.check()?;
        let all = read_all(&self.data, self.sample.unwrap_or(usize::MAX))?;
        self.space_of(all.positions)
    }

    /// Like [`Self::open`], but includes positions without a label. The second result says for each
    /// position whether it has a label.
    pub fn open_any(&self) -> Result<(EmbeddedPositions, Vec<bool>)> {
        self.check()?;
        let mut found = find(&self.data)?;
        let every = step(found.len(), self.sample.unwrap_or(usize::MAX));
        found = found.into_iter().step_by(every).collect();
        let have_labels = found.iter().map(|found| found.has_label).collect();
        let positions = found.into_iter().map(|found| found.position).collect();
        Ok((self.space_of(positions)?, have_labels))
    }

    /// Like [`Self::open`], with at most one position of each family: siblings are so close that
    /// they would be one another's only neighbours.
    pub fn open_apart(&self) -> Result<EmbeddedPositions> {
        self.check()?;
        let sample = self.sample.unwrap_or(usize::MAX);
        let all = read_all(&self.data, sample.saturating_mul(TYPICAL_MOVES))?;
        let mut apart = Vec::new();
        let mut first = 0;
        for family in all.parents.chunk_by(|a, b| a == b) {
            // A different child index in each family avoids bias.
            apart.push(all.positions[first + apart.len() % family.len()]);
            first += family.len();
        }
        let every = apart.len().div_ceil(sample).max(1);
        self.space_of(apart.into_iter().step_by(every).collect())
    }

    fn check(&self) -> Result<()> {
        ensure!(self.sample != Some(0), "--sample must be at least 1");
        Ok(())
    }

    fn space_of(&self, positions: Vec<PackedPosition>) -> Result<EmbeddedPositions> {
        let files = || self.data.iter().map(|path| format!("'{}'", path.display()));
        ensure!(
            !positions.is_empty(),
            "--data {}: there is no position in it, or none with the label that this command needs",
            files().collect::<Vec<_>>().join(", ")
        );
        let weights = DefaultWeights::Beam.or_read(self.weights.as_deref())?;
        let device = self.device.device().context("--device")?;
        let encoder = azimuth_search::encoder::build(&weights, &device, DType::F32)?;
        Ok(EmbeddedPositions { weights, encoder, positions })
    }
}

impl EmbeddedPositions {
    /// Number of positions.
    pub fn len(&self) -> usize {
        self.positions.len()
    }

    /// The positions; children of one parent are consecutive.
    pub fn positions(&self) -> &[PackedPosition] {
        &self.positions
    }

    /// Dimension of the embeddings.
    pub fn dim(&self) -> usize {
        self.weights.metadata.architecture.embedding_dim()
    }

    /// Calls `take` with each chunk of positions and its embeddings, row by row.
    pub fn for_each_part(
        &mut self,
        mut take: impl FnMut(&Weights, &[PackedPosition], &[f32]) -> Result<()>,
    ) -> Result<()> {
        let style = "{bar:30} {human_pos}/{human_len} positions, {per_sec}, {eta} left";
        let bar = ProgressBar::new(self.positions.len() as u64);
        bar.set_style(ProgressStyle::with_template(style)?);
        for part in self.positions.chunks(PART) {
            take(&self.weights, part, &embed(&mut *self.encoder, part)?)?;
            bar.inc(part.len() as u64);
        }
        bar.finish_and_clear();
        Ok(())
    }
}

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
