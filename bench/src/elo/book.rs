//! Opening books: one EPD or FEN per line, plain or compressed (.zip, .zst, .gz or .bz2).

use std::borrow::Cow;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use azimuth_chess::pgn::{decompressed, lines_of};
use azimuth_chess::position::{Position, castles_as_in_chess960, split_operations};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;

/// Maximum uncompressed size of a book, in bytes. Common books have a few hundred million bytes.
const LARGEST_BOOK: u64 = 1 << 30;

/// The first `count` openings of the book, shuffled with `seed`, as FENs. A larger count extends
/// the list of a smaller one. Fails if the book is too short or a position is illegal.
pub fn openings(path: &Path, count: usize, seed: u64) -> Result<Vec<String>> {
    let name = || format!("opening book '{}'", path.display());
    let text = read(path, LARGEST_BOOK).with_context(name)?;
    let mut lines: Vec<(usize, Cow<'_, str>)> = lines_of(&text).collect();
    let is_list = lines.first().is_none_or(|(_, line)| !line.starts_with('['));
    ensure!(is_list, "{}: games in PGN; a book has a FEN or an EPD record on each line", name());
    lines.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(seed));
    ensure!(
        count <= lines.len(),
        "{}: {} openings, {count} are needed; repeated openings would repeat games",
        name(),
        lines.len()
    );
    let place = |number: &usize| format!("{}, line {number}", name());
    let chosen = lines.iter().take(count);
    chosen.map(|(number, line)| opening(line).with_context(|| place(number))).collect()
}

fn read(path: &Path, largest: u64) -> Result<Vec<u8>> {
    let file = File::open(path)?;
    let mut bytes = Vec::new();
    if path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("zip")) {
        let mut archive = zip::ZipArchive::new(file)?;
        // Folders, and the hidden files that macOS adds, are no books.
        let is_book = |name: &str| {
            name.rsplit('/').next().is_some_and(|last| !last.is_empty() && !last.starts_with('.'))
        };
        let may_be_book = |&index: &usize| {
            archive.name_for_index(index).and_then(Result::ok).is_none_or(|name| is_book(&name))
        };
        let books: Vec<usize> = (0..archive.len()).filter(may_be_book).collect();
        let [book] = books.as_slice() else {
            bail!("{} files in it, expected one", books.len());
        };
        archive.by_index(*book)?.take(largest + 1).read_to_end(&mut bytes)?;
    } else {
        decompressed(path, file)?.take(largest + 1).read_to_end(&mut bytes)?;
    }
    ensure!(bytes.len() as u64 <= largest, "more than {largest} bytes of text; use a part of it");
    Ok(bytes)
}

/// The FEN of a line, without EPD operations.
fn opening(line: &str) -> Result<String> {
    let (fen, _) = split_operations(line);
    let position = Position::from_fen(&fen)?;
    ensure!(position.has_legal_move(), "'{fen}': the game is over there");
    ensure!(
        !castles_as_in_chess960(position.board()),
        "'{fen}': Chess960 castling; matches are standard chess"
    );
    Ok(position.fen(false))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    const LINES: [&str; 3] = [
        "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1",
        "rnbqkbnr/pppppppp/8/8/3P4/8/PPPP1PPP/RNBQKBNR b KQkq - bm d5; id \"x\";",
        "4k3/8/8/8/8/8/8/4K2R w K - 3 9",
    ];

    #[test]
    fn plain_and_zipped_books_give_the_same_openings() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let plain = folder.path().join("book.epd");
        std::fs::write(
            &plain,
            format!("\u{feff}# A byte order mark first.\n{}", LINES.join("\n")),
        )?;
        let zipped = folder.path().join("book.epd.zip");
        let mut archive = zip::ZipWriter::new(File::create(&zipped)?);
        archive.add_directory("books", zip::write::SimpleFileOptions::default())?;
        let lines = LINES.join("\n");
        for (name, text) in [
            ("books/book.epd", &lines[..]),
            ("books/.DS_Store", "\0"),
            ("__MACOSX/books/._book.epd", "\0"),
        ] {
            archive.start_file(name, zip::write::SimpleFileOptions::default())?;
            archive.write_all(text.as_bytes())?;
        }
        archive.finish()?;

        let all = openings(&plain, 3, 7)?;
        assert_eq!(openings(&zipped, 3, 7)?, all);
        std::fs::write(&plain, LINES.join("\r"))?;
        assert_eq!(openings(&plain, 3, 7)?, all);
        assert_eq!(openings(&plain, 2, 7)?, all[..2]);
        let mut sorted = all.clone();
        sorted.sort_unstable();
        let second = "rnbqkbnr/pppppppp/8/8/3P4/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1";
        assert_eq!(sorted, [LINES[2], second, LINES[0]]);
        Ok(())
    }

    #[test]
    fn a_book_is_read_no_further_than_its_largest_size() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let zipped = folder.path().join("zeros.zip");
        let mut archive = zip::ZipWriter::new(File::create(&zipped)?);
        archive.start_file("zeros", zip::write::SimpleFileOptions::default())?;
        archive.write_all(&vec![b'0'; 1 << 20])?;
        archive.finish()?;
        assert!(std::fs::metadata(&zipped)?.len() < 1 << 12);
        assert_eq!(read(&zipped, 1 << 20)?.len(), 1 << 20);
        let plain = folder.path().join("zeros");
        std::fs::write(&plain, vec![b'0'; 1 << 20])?;
        for path in [&zipped, &plain] {
            let error = read(path, (1 << 20) - 1).expect_err("too large").to_string();
            assert!(error.contains("more than 1048575 bytes"), "{error}");
        }
        Ok(())
    }

    #[test]
    fn what_is_wrong_is_named() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let book = folder.path().join("book.epd");
        for (text, part) in [
            ("", "0 openings, 1 are needed"),
            ("hello", "not a legal board"),
            ("# a book\n8/8/8/8/8/8/8/8 w - -", "line 2: FEN '8/8/8/8/8/8/8/8 w - -': not a legal"),
            ("[Event \"?\"]\n\n1. e4 *\n", "games in PGN; a book has a FEN"),
            ("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", "the game is over there"),
            ("1k6/8/8/8/8/8/8/R2K3R w KQ - 0 1", "Chess960"),
        ] {
            std::fs::write(&book, text)?;
            let error = format!("{:#}", openings(&book, 1, 0).expect_err(text));
            assert!(error.contains(part) && error.contains("book.epd"), "{error}");
        }
        Ok(())
    }
}
