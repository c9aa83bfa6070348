//! Input of games: files, plain or compressed, folders of them, or standard input.

use std::borrow::Cow;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Cursor, ErrorKind, Read, stdin};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use bzip2::read::MultiBzDecoder;
use flate2::read::MultiGzDecoder;

use super::lexer::decode;

/// Log2 of the largest window that a compressed file may request: 128 MB, as with `zstd --long`.
#[cfg(not(target_family = "wasm"))]
const WINDOW_LOG: u32 = 27;

/// Bytes that are read at once.
const BUFFER: usize = 1 << 18;

/// The endings of compressed files.
const COMPRESSED: [&str; 3] = ["zst", "gz", "bz2"];

/// The first bytes of compressed files and archives: `.zst`, `.gz`, `.bz2`, `.zip`, `.xz` and `.7z`.
const MAGIC: [&[u8]; 6] =
    [b"\x28\xb5\x2f\xfd", b"\x1f\x8b\x08", b"BZh", b"PK\x03\x04", b"\xfd7zXZ", b"7z\xbc\xaf"];

/// The PGN files (`*.pgn`, plain or compressed) of a folder, sorted by name. A path that is not a
/// folder is returned as it is.
pub fn pgn_files(path: &Path) -> Result<Vec<PathBuf>> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let name = || format!("'{}'", path.display());
    let mut files = Vec::new();
    for entry in fs::read_dir(path).with_context(name)? {
        let file = entry.with_context(name)?.path();
        let plain = if is_compressed(&file) { file.with_extension("") } else { file.clone() };
        // As `*.pgn` in a shell. macOS writes `._games.pgn`, which has no games, beside `games.pgn`.
        let is_hidden = file.file_name().is_some_and(|it| it.as_encoded_bytes().starts_with(b"."));
        let is_pgn = plain.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("pgn"));
        if is_pgn && !is_hidden {
            files.push(file);
        }
    }
    ensure!(!files.is_empty(), "{}: there is no *.pgn or *.pgn.zst in the folder", name());
    files.sort();
    Ok(files)
}

/// Opens a text file, plain or compressed; `-` is standard input.
pub fn open_text(path: &Path) -> Result<Box<dyn BufRead + Send>> {
    let name = || format!("'{}'", path.display());
    if path.as_os_str() == "-" {
        return in_utf8(stdin()).context("standard input");
    }
    let file = File::open(path).with_context(name)?;
    decompressed(path, file).with_context(name)
}

/// The largest text that is read into memory, in bytes.
const LARGEST_TEXT: u64 = 1 << 30;

/// The whole text of a file, plain or compressed, for [`lines_of`]. Fails if it exceeds 1 GiB.
pub fn read_text(path: &Path) -> Result<Vec<u8>> {
    let name = || format!("'{}'", path.display());
    let mut text = Vec::new();
    open_text(path)?.take(LARGEST_TEXT + 1).read_to_end(&mut text).with_context(name)?;
    ensure!(text.len() as u64 <= LARGEST_TEXT, "{}: more than 1 GiB of text", name());
    Ok(text)
}

/// The lines of a list of positions that are neither empty nor comments (`#`), decoded as by
/// [`decode`], and their numbers from 1. They end as in PGN: in a line feed, in a carriage return,
/// as on old Macintoshes, or in both.
pub fn lines_of(text: &[u8]) -> impl Iterator<Item = (usize, Cow<'_, str>)> {
    let lines = text
        .split(|&byte| byte == b'\n')
        .flat_map(|line| line.strip_suffix(b"\r").unwrap_or(line).split(|&byte| byte == b'\r'));
    let lines = (1..).zip(lines.map(decode));
    lines.filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'))
}

/// The text in the bytes of the file `path`, decompressed if its name ends in `.zst`, `.gz` or
/// `.bz2`. UTF-16 with a byte order mark becomes UTF-8; other bytes stay as they are. Fails if it is
/// compressed in another way.
pub fn decompressed(
    path: &Path,
    bytes: impl Read + Send + 'static,
) -> io::Result<Box<dyn BufRead + Send>> {
    in_utf8(unpacked(path, bytes)?)
}

/// The bytes of the file `path`, which need not be text, decompressed as by [`decompressed`].
pub fn unpacked(
    path: &Path,
    bytes: impl Read + Send + 'static,
) -> io::Result<Box<dyn Read + Send>> {
    Ok(match compression(path) {
        None => Box::new(bytes),
        #[cfg(target_family = "wasm")]
        Some("zst") => {
            let unsupported = "zstd is not supported here; decompress the file first";
            return Err(io::Error::new(ErrorKind::Unsupported, unsupported));
        }
        #[cfg(not(target_family = "wasm"))]
        Some("zst") => {
            let mut decoder = zstd::Decoder::new(bytes)?;
            decoder.window_log_max(WINDOW_LOG)?;
            Box::new(decoder)
        }
        Some("gz") => Box::new(MultiGzDecoder::new(bytes)),
        Some(_) => Box::new(MultiBzDecoder::new(bytes)),
    })
}

/// Whether a file's name ends in `.zst`, `.gz` or `.bz2`.
pub fn is_compressed(path: &Path) -> bool {
    compression(path).is_some()
}

fn compression(path: &Path) -> Option<&'static str> {
    let ending = path.extension()?;
    COMPRESSED.into_iter().find(|known| ending.eq_ignore_ascii_case(known))
}

/// Text in UTF-8 from text with a byte order mark of UTF-16; other text stays as it is. Fails if it
/// is compressed.
fn in_utf8(bytes: impl Read + Send + 'static) -> io::Result<Box<dyn BufRead + Send>> {
    let mut bytes = BufReader::with_capacity(BUFFER, bytes);
    let is_big_endian = match bytes.fill_buf()? {
        [0xff, 0xfe, ..] => false,
        [0xfe, 0xff, ..] => true,
        text if MAGIC.iter().any(|magic| text.starts_with(magic)) => {
            let packed = "it is compressed; unpack it, or let its name end in .zst, .gz or .bz2";
            return Err(io::Error::new(ErrorKind::InvalidData, packed));
        }
        _ => return Ok(Box::new(bytes)),
    };
    bytes.consume(2);
    let decoder = Utf16 { bytes, is_big_endian, surrogate: None, text: Cursor::default() };
    Ok(Box::new(BufReader::with_capacity(BUFFER, decoder)))
}

/// Decodes UTF-16.
struct Utf16<R> {
    bytes: BufReader<R>,
    is_big_endian: bool,
    /// The first half of a pair of surrogates.
    surrogate: Option<u16>,
    /// UTF-8 that has been decoded, read up to its position.
    text: Cursor<Vec<u8>>,
}

impl<R: Read> Utf16<R> {
    /// The next unit; `None` at the end. Half a unit there is dropped.
    fn unit(&mut self) -> io::Result<Option<u16>> {
        let mut unit = [0; 2];
        match self.bytes.read_exact(&mut unit) {
            Ok(()) if self.is_big_endian => Ok(Some(u16::from_be_bytes(unit))),
            Ok(()) => Ok(Some(u16::from_le_bytes(unit))),
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl<R: Read> Read for Utf16<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.text.position() == self.text.get_ref().len() as u64 {
            let mut text = Vec::with_capacity(BUFFER);
            while text.len() < BUFFER
                && let Some(unit) = self.unit()?
            {
                for decoded in char::decode_utf16(self.surrogate.take().into_iter().chain([unit])) {
                    match decoded {
                        Err(error) if (0xd800..0xdc00).contains(&error.unpaired_surrogate()) => {
                            self.surrogate = Some(error.unpaired_surrogate());
                        }
                        decoded => {
                            let character = decoded.unwrap_or(char::REPLACEMENT_CHARACTER);
                            text.extend(character.encode_utf8(&mut [0; 4]).as_bytes());
                        }
                    }
                }
            }
            self.text = Cursor::new(text);
        }
        self.text.read(buffer)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn text_is_the_same_plain_and_compressed() -> Result<()> {
        let text = "1. e4 {ü♞😀} *\n".repeat(1000);
        let gzip = {
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), Default::default());
            encoder.write_all(text.as_bytes())?;
            encoder.finish()?
        };
        let bzip2 = {
            let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), Default::default());
            encoder.write_all(text.as_bytes())?;
            encoder.finish()?
        };
        let units = || "\u{feff}".encode_utf16().chain(text.encode_utf16());
        for (name, bytes) in [
            ("games.pgn", text.clone().into_bytes()),
            ("games.PGN.ZST", zstd::encode_all(text.as_bytes(), 3)?),
            ("games.pgn.gz", gzip),
            ("games.pgn.bz2", bzip2),
            ("little.pgn", units().flat_map(u16::to_le_bytes).collect()),
            ("big.pgn", units().flat_map(u16::to_be_bytes).collect()),
        ] {
            let mut read = String::new();
            decompressed(Path::new(name), Cursor::new(bytes))?.read_to_string(&mut read)?;
            assert_eq!(read, text, "{name}");
        }
        Ok(())
    }

    #[test]
    fn lines_have_no_marks_of_files() {
        let text = b"\xef\xbb\xbf# a list\r\n\x1a\xef\xbb\xbfone \x1a\r\n\r\n\
                     \tM\xfcller\rtwo\r\r\n\xc3\xbc\n\x1a";
        let lines: Vec<(usize, Cow<'_, str>)> = lines_of(text).collect();
        let expected = [(2, "one"), (4, "M\u{fc}ller"), (5, "two"), (7, "\u{fc}")];
        assert_eq!(lines, expected.map(|(number, line)| (number, Cow::Borrowed(line))));
    }

    #[test]
    fn hidden_files_of_a_folder_are_no_games() -> Result<()> {
        let folder = std::env::temp_dir().join(format!("azimuth-{}-hidden", std::process::id()));
        fs::create_dir_all(&folder)?;
        ["._a.pgn", "a.pgn"].iter().try_for_each(|name| fs::write(folder.join(name), ""))?;
        let found = pgn_files(&folder)?;
        fs::remove_dir_all(&folder)?;
        assert_eq!(found, [folder.join("a.pgn")]);
        Ok(())
    }

    #[test]
    fn compressed_bytes_are_no_text_and_bytes_are_not_decoded() -> Result<()> {
        let zst = zstd::encode_all(&b"1. e4 *"[..], 3)?;
        for bytes in [zst, b"PK\x03\x04\x14".to_vec(), b"\x1f\x8b\x08\x00".to_vec()] {
            let read = decompressed(Path::new("games.pgn"), Cursor::new(bytes));
            let error = read.err().map(|error| error.to_string());
            assert!(error.is_some_and(|error| error.starts_with("it is compressed; unpack it")));
        }
        let mut bytes = Vec::new();
        let two = Cursor::new(vec![0xff_u8, 0xfe]);
        unpacked(Path::new("positions.bullet"), two)?.read_to_end(&mut bytes)?;
        assert_eq!(bytes, [0xff, 0xfe]);
        Ok(())
    }
}
