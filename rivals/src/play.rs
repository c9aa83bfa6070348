//! How a rival plays.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result};
use azimuth_search::inference::Backend;
use candle_core::Device;
use clap::Args;

use crate::book::Book;

/// Maximum of `--remember`, in positions.
const MOST: u64 = 1 << 26;

/// The options of `azimuth-rivals play`.
#[derive(Args)]
pub struct PlayOptions {
    /// Device of the network; the rivals heuristic and nnue always use the CPU.
    #[arg(long, value_enum, default_value_t = Backend::Cpu)]
    device: Backend,
    /// Number of positions whose results alpha-beta remembers (deepchess, heuristic, value, nnue);
    /// the documents' searches remember none.
    #[arg(
        long,
        value_name = "POSITIONS",
        default_value_t = 0,
        value_parser = clap::value_parser!(u64).range(..=MOST),
    )]
    remember: u64,
    /// Opening book: positions of games, FEN or EPD, one a line, repeated for each game that
    /// reached them. The rival plays the move to the most frequent position, if this occurs at
    /// least five times.
    #[arg(long, value_name = "FILE")]
    book: Option<PathBuf>,
}

/// How a rival plays. The default is the documents' search on the CPU.
pub struct Play {
    /// The device of the network.
    pub device: Device,
    /// Number of positions that alpha-beta remembers.
    pub remembered: usize,
    /// The opening book.
    pub book: Option<Arc<Book>>,
}

impl Default for Play {
    fn default() -> Self {
        Self { device: Device::Cpu, remembered: 0, book: None }
    }
}

impl PlayOptions {
    /// Opens the device and reads the book. Fails if the device is a GPU and there is none.
    pub fn open(&self) -> Result<Play> {
        let device = self.device.device().context("--device")?;
        let book = self.book.as_deref().map(Book::read).transpose().context("--book")?;
        Ok(Play { device, remembered: usize::try_from(self.remember)?, book: book.map(Arc::new) })
    }
}
