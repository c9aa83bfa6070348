//! `genfens`: draws positions that games for training data can start from. The form of the command
//! and of its answer is OpenBench's (`Client/genfens.py`).

use anyhow::{Result, bail};
use azimuth_chess::position::{Position, fen_of, legal_moves};
use azimuth_search::{Control, Limits, Planner};
use rand::RngExt;
use rand::seq::IndexedRandom;
use rand_xoshiro::Xoshiro256PlusPlus as Random;
use rand_xoshiro::rand_core::SeedableRng;

use super::bench::PositionFile;
use super::command::GenFens;

/// The search that checks a position: about ten milliseconds.
const CHECK_NODES: u64 = 4000;

/// Number of consecutive games without a fit position after which the command fails: the book or
/// the arguments are at fault.
const ATTEMPTS: u32 = 1000;

impl GenFens {
    /// The limits of the search that checks a position.
    pub fn check() -> Limits {
        Limits { nodes: Some(CHECK_NODES), ..Limits::default() }
    }

    /// Draws the positions and passes `say` a line for each, until `say` returns `false`.
    pub fn run(&self, planner: &mut dyn Planner, mut say: impl FnMut(&str) -> bool) -> Result<()> {
        let read = |path| PositionFile::read("genfens", path);
        let book = self.book.as_deref().map(read).transpose()?;
        let mut random = Random::seed_from_u64(self.seed);
        planner.new_game();
        for _ in 0..self.count {
            let position = self.draw(book.as_ref(), planner, &mut random)?;
            if !say(&format!("info string genfens {}", fen_of(position.board()))) {
                break;
            }
        }
        Ok(())
    }

    /// Draws games until the last position of one is fit to start from.
    fn draw(
        &self,
        book: Option<&PositionFile>,
        planner: &mut dyn Planner,
        random: &mut Random,
    ) -> Result<Position> {
        for _ in 0..ATTEMPTS {
            let start = book.and_then(|book| Some(book.position(book.lines.choose(random)?)));
            let plies = self.plies.unwrap_or_else(|| random.random_range(8..=9));
            let position = play_at_random(start.transpose()?.unwrap_or_default(), plies, random);
            if let Some(position) = position
                && position.ending().is_none()
                && self.is_even(&position, planner)?
            {
                return Ok(position);
            }
        }
        bail!(
            "genfens: {ATTEMPTS} random games gave no position within {} centipawns; \
             allow more with 'score CP' or name another book",
            self.score
        )
    }

    /// Whether a short search finds neither side far ahead.
    fn is_even(&self, position: &Position, planner: &mut dyn Planner) -> Result<bool> {
        let control = &mut Control::without_signals(Self::check());
        let value = planner.search(position, control, &mut |_| ())?.value;
        Ok(!value.is_decisive() && value.centipawns().abs() <= self.score)
    }
}

/// The position after `plies` random moves; `None` if the game ends before.
fn play_at_random(mut position: Position, plies: u32, random: &mut Random) -> Option<Position> {
    for _ in 0..plies {
        let moves = legal_moves(position.board());
        position.play(*moves.choose(random)?);
    }
    Some(position)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use azimuth_search::inference::Worker;
    use azimuth_search::{DefaultWeights, PlannerKind, PlannerSettings, Resources};

    use super::*;
    use crate::embedded_weights;

    const LUCENA: &str = "1K1k4/1P6/8/8/8/8/r7/2R5 w - - 0 1";

    fn planner() -> Result<Box<dyn Planner>> {
        let worker = Worker::on_cpu(embedded_weights::read(DefaultWeights::Selective)?, |_| ())?;
        let resources = Resources { hash_mb: 1, threads: 1 };
        PlannerSettings::default().build(PlannerKind::Selective, &worker, resources, None)
    }

    fn fens(line: &str, planner: &mut dyn Planner) -> Result<Vec<String>> {
        let mut fens = Vec::new();
        let words: Vec<&str> = line.split_whitespace().collect();
        GenFens::parse(&words)?.run(planner, |line| {
            fens.extend(line.strip_prefix("info string genfens ").map(str::to_owned));
            true
        })?;
        Ok(fens)
    }

    #[test]
    fn a_seed_gives_the_same_positions_to_start_from() -> Result<()> {
        let mut planner = planner()?;
        let drawn = fens("12 seed 7 book None", &mut *planner)?;
        assert_eq!(drawn.iter().collect::<HashSet<_>>().len(), 12, "{drawn:?}");
        for fen in &drawn {
            // OpenBench splits the counters off.
            let counters: Vec<u32> =
                fen.split(' ').skip(4).map(str::parse).collect::<Result<_, _>>()?;
            assert!(matches!(counters[..], [_, 5]), "{fen}");
            assert_eq!(Position::from_fen(fen)?.ending(), None, "{fen}");
        }
        assert_eq!(fens("12 seed 7 book None", &mut *planner)?, drawn);
        assert_eq!(fens("3 seed 7 book None", &mut *planner)?, drawn[..3]);
        assert_ne!(fens("3 seed 8 book None", &mut *planner)?, drawn[..3]);
        Ok(())
    }

    #[test]
    fn a_book_gives_the_start_and_its_won_positions_are_refused() -> Result<()> {
        let mut planner = planner()?;
        let folder = tempfile::tempdir()?;
        let book = folder.path().join("book.epd");
        let even = "4k2r/6pp/8/8/8/8/6PP/4K2R w Kk - 0 1";
        let shuffled = "4k1r1/6pp/8/8/8/8/6PP/4K1R1 w Gg - 0 1";
        std::fs::write(&book, format!("{LUCENA}\n{even}\n{shuffled}\n"))?;
        let line = format!("12 seed 1 book {} plies 0", book.display());
        let drawn: HashSet<String> = fens(&line, &mut *planner)?.into_iter().collect();
        assert_eq!(drawn, [even.to_owned(), shuffled.to_owned()].into());

        std::fs::write(&book, LUCENA)?;
        let error = fens(&line, &mut *planner).expect_err("won").to_string();
        assert!(error.contains("1000 random games gave no position within 200"), "{error}");
        std::fs::write(&book, "[Event \"?\"]")?;
        let error = format!("{:#}", fens(&line, &mut *planner).expect_err("no FEN"));
        assert!(error.contains("book.epd', line 1: FEN '[Event \"?\"]'"), "{error}");
        Ok(())
    }
}
