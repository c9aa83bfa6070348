//! Inspection of a trained space and of training runs: embeddings for a notebook (`embed`), the
//! nearest positions (`neighbours`), training curves, maps. The positions of data files, with or
//! without labels, are embedded in chunks.

mod charts;
mod map;

use std::collections::HashSet;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use azimuth_chess::pgn::{Game, Reader, open_text};
use azimuth_chess::position::{Position, TYPICAL_MOVES, board_after, fen_of};
use azimuth_cli::print_line;
use azimuth_network::replace_file::Replacement;
use azimuth_network::weights::Weights;
use azimuth_network::{Inputs, Perspective};
use azimuth_search::DefaultWeights;
use azimuth_search::encoder::Encoder;
use azimuth_search::inference::Backend;
use candle_core::DType;
use clap::Args;
use cozy_chess::{Board, Color};
use indicatif::{ProgressBar, ProgressStyle};
use npyz::WriterBuilder;

use crate::data::dataset::{family_step, read_all};
use crate::data::packed::{Label, PackedPosition};
use crate::data::read::Lines;
use crate::data::read::input::{Format, ending};
use crate::data::read::position_lines::parse_epd;
use crate::space::embed;

pub use charts::PlotOptions;
pub use map::MapOptions;

/// Positions per chunk; the progress bar moves after each.
const PART: usize = 8_192;

/// Options for the space and the positions.
#[derive(Args)]
pub(crate) struct PositionsOptions {
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
pub(crate) struct EmbeddedPositions {
    pub weights: Weights,
    pub encoder: Box<dyn Encoder>,
    /// Children of one parent are consecutive.
    pub positions: Vec<PackedPosition>,
}

impl PositionsOptions {
    /// Reads the positions and the weights.
    pub fn open(&self) -> Result<EmbeddedPositions> {
        self.space_of(read_all(&self.data, self.limit()?)?.positions)
    }

    /// Like [`Self::open`], with positions that have no label; says for each whether it has one.
    pub fn open_any(&self) -> Result<(EmbeddedPositions, Vec<bool>)> {
        let limit = self.limit()?;
        let found = find_positions(&self.data)?;
        let every = family_step(found.len(), limit);
        let (positions, have_labels) = found.into_iter().step_by(every).unzip();
        Ok((self.space_of(positions)?, have_labels))
    }

    /// Like [`Self::open`], with at most one position of each family: siblings are so close that
    /// they would be one another's only neighbours.
    pub fn open_apart(&self) -> Result<EmbeddedPositions> {
        let sample = self.limit()?;
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

    /// The value of `--sample`.
    fn limit(&self) -> Result<usize> {
        ensure!(self.sample != Some(0), "--sample must be at least 1");
        Ok(self.sample.unwrap_or(usize::MAX))
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

/// A position, and whether it has a label.
type Found = (PackedPosition, bool);

fn packed(board: &Board, label: Option<Label>) -> Found {
    // The label of a position without one is never read.
    let stored = label.unwrap_or(Label::Centipawns(0));
    (PackedPosition::new(board, stored), label.is_some())
}

/// The positions of `paths`, in their order: all positions of files of FENs or EPD, and the
/// labelled positions of other files. A PGN file without evaluations gives all positions of the
/// main lines.
fn find_positions(paths: &[PathBuf]) -> Result<Vec<Found>> {
    let mut found = Vec::new();
    for path in paths {
        if is_lines(path) {
            add_lines(path, &mut found)?;
            continue;
        }
        let labelled = read_all(std::slice::from_ref(path), usize::MAX)?;
        if labelled.positions.is_empty() && Format::of(path)? == Format::Pgn {
            add_games(path, &mut found)?;
        }
        let labelled = labelled.positions.into_iter();
        found.extend(labelled.map(|position| (position, true)));
    }
    Ok(found)
}

/// Whether a file has a FEN or an EPD record on each line, by its name. `-` is standard input.
fn is_lines(path: &Path) -> bool {
    path.as_os_str() == "-"
        || ending(path).is_some_and(|ending| ["epd", "fen", "fens", "txt"].contains(&&*ending))
}

fn add_lines(path: &Path, found: &mut Vec<Found>) -> Result<()> {
    let mut lines = Lines::new(open_text(path)?);
    let name = || format!("'{}'", path.display());
    while let Some(line) = lines.next().with_context(name)? {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let parsed = parse_epd(line);
        let place = || format!("'{}': line {}", path.display(), lines.number());
        let (position, label) = parsed.with_context(place)?;
        found.push(packed(position.board(), label));
    }
    Ok(())
}

fn add_games(path: &Path, found: &mut Vec<Found>) -> Result<()> {
    let mut reader = Reader::new(open_text(path)?);
    let name = || format!("'{}'", path.display());
    while let Some(game) = reader.read_game::<Game>().with_context(name)? {
        let game = game.and_then(Game::complete).with_context(name)?;
        found.extend(boards_of(&game).iter().map(|board| packed(board, None)));
    }
    Ok(())
}

/// The positions of a game's main line, in order.
fn boards_of(game: &Game) -> Vec<Board> {
    let mut boards = vec![game.start.board().clone()];
    for played in &game.moves {
        boards.push(board_after(&boards[boards.len() - 1], played.mv));
    }
    boards
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
        let shape = [positions.positions.len() as u64, positions.dim() as u64];
        let mut rows = BufWriter::new(Replacement::new(&table)?);
        let mut whole = BufWriter::new(Replacement::new(&self.out)?);
        writeln!(rows, "fen,label,cosine,win_probability")?;
        let options = npyz::WriteOptions::new().default_dtype().shape(&shape);
        let mut array = options.writer(&mut whole).begin_nd()?;
        positions.for_each_part(|weights, part, embeddings| {
            array.extend(embeddings.iter().copied())?;
            let perspective = weights.metadata.architecture.perspective();
            for (position, cosine) in part.iter().zip(weights.axis.cosines(embeddings)) {
                let fen = fen_of(&position.board()?);
                let p = weights.calibration.win_probability(cosine);
                let has_label = have_labels.next() == Some(true);
                let label = has_label.then(|| position.win_probability(perspective).to_string());
                writeln!(rows, "{fen},{},{cosine},{p}", label.unwrap_or_default())?;
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

/// Find the positions in the data that are nearest to a given one by cosine, with their labels.
#[derive(Args)]
pub struct NeighboursOptions {
    /// The position, as FEN.
    fen: String,
    #[command(flatten)]
    positions: PositionsOptions,
    /// Number of neighbours.
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    count: u32,
}

/// A position and the cosine of its embedding with that of the given position.
struct Neighbour {
    similarity: f32,
    /// Win probability of White, by the label and by the space.
    label: f32,
    predicted: f32,
    position: PackedPosition,
}

impl NeighboursOptions {
    /// Prints the neighbours, nearest first.
    pub fn run(&self) -> Result<()> {
        let asked = Position::from_fen(&self.fen)?;
        let mut positions = self.positions.open()?;
        let inputs = Inputs::of(positions.encoder.attributes().input, [asked.board()]);
        let here = positions.encoder.encode(&inputs)?;
        let (dim, count) = (positions.dim(), self.count as usize);
        let mut nearest: Vec<Neighbour> = Vec::new();
        positions.for_each_part(|weights, part, embeddings| {
            let perspective = weights.metadata.architecture.perspective();
            for (position, embedding) in part.iter().zip(embeddings.chunks_exact(dim)) {
                let similarity: f32 = here.iter().zip(embedding).map(|(a, b)| a * b).sum();
                let p = weights.calibration.win_probability(weights.axis.cosine(embedding));
                let predicted = match (perspective, position.side_to_move()) {
                    (Perspective::SideToMove, Color::Black) => 1.0 - p,
                    _ => p,
                };
                let label = position.win_probability(Perspective::White);
                nearest.push(Neighbour { similarity, label, predicted, position: *position });
            }
            keep_nearest(&mut nearest, count);
            Ok(())
        })?;
        print_line("cosine   label  space  position (win probabilities of White)")?;
        for Neighbour { similarity, label, predicted, position } in nearest {
            let fen = fen_of(&position.board()?);
            let [label, predicted] = [label, predicted].map(|p| 100.0 * p);
            print_line(format_args!("{similarity:.4}  {label:5.1}%  {predicted:4.1}%  {fen}"))?;
        }
        Ok(())
    }
}

/// Keeps the nearest `count` in order, without repeated positions.
fn keep_nearest(nearest: &mut Vec<Neighbour>, count: usize) {
    nearest.sort_by(|a, b| b.similarity.total_cmp(&a.similarity));
    let mut seen = HashSet::new();
    nearest.retain(|Neighbour { position, .. }| {
        seen.len() < count && seen.insert((position.piece_bytes(), position.side_to_move()))
    });
}
