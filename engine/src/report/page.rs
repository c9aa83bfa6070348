//! The HTML page of a report: the page of `azimuth serve` in one file, with the games and their
//! analysis in place of an engine.
//!
//! Until the page is written, its journal holds the analysed games: a file beside the page with one
//! game per line. So memory does not grow with the number of games, and an interrupted report can
//! continue.

use std::cell::{Cell, RefCell};
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Error, Result, ensure};
use askama::Template;
use azimuth_cli::page::{BOARD_CREDIT, PIECES_STYLE, policy};
use azimuth_network::replace_file::open_locked;
use azimuth_search::inference::ModelClient;
use cozy_chess::Board;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Deserializer, Value};

use super::analysis::{Judged, Stop};
use super::game::Game;
use crate::map::{Map, MapWeights, Neighbours, Sampled};
use crate::session::Models;

/// The style sheet of the page of the board, which `serve` shows, too.
pub const PAGE_STYLE: &str = include_str!("../../web/board.css");

/// Its body.
const PAGE_BODY: &str = include_str!("../../web/body.html");

/// Its script, with chessground in it.
pub const PAGE_SCRIPT: &str = include_str!("../../web/dist/board.js");

#[derive(Template)]
#[template(path = "report.html")]
struct Page<'a> {
    policy: String,
    data: Data<'a>,
}

#[derive(Serialize)]
struct Data<'a> {
    /// The engine that analysed the games, and how.
    credit: &'a str,
    board_credit: &'static str,
    /// The weights that drew the map.
    weights: MapWeights,
    sample: &'a [Sampled],
    games: Streamed<'a>,
}

/// Games that are read from the journal while they are written to the page.
struct Streamed<'a> {
    games: RefCell<StoredGames<'a>>,
    failed: &'a Cell<Option<Error>>,
}

impl Serialize for Streamed<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut games = self.games.borrow_mut();
        serializer.collect_seq(games.by_ref().map_while(|game| match game {
            Ok(game) => Some(game),
            Err(error) => {
                self.failed.set(Some(error));
                None
            }
        }))
    }
}

/// A game in the form that the page's script reads.
#[derive(Serialize)]
pub struct GameData<'a> {
    #[serde(flatten)]
    game: &'a Game,
    /// The positions of the main line.
    judged: Vec<Judged>,
    /// Their places on the map.
    path: Vec<[f32; 2]>,
    /// Their neighbours in the sample.
    near: Vec<Neighbours>,
}

impl<'a> GameData<'a> {
    /// Converts an analysed game. `model` draws `map`. Fails if the model does.
    pub fn new(game: &'a Game, stops: &[Stop], map: &Map, model: &mut ModelClient) -> Result<Self> {
        let boards: Vec<Board> = stops.iter().map(|stop| stop.position.board().clone()).collect();
        let near = boards.iter().map(|board| map.near(model, board)).collect::<Result<_>>()?;
        Ok(Self {
            game,
            judged: stops.iter().enumerate().map(|(ply, stop)| Judged::new(ply, stop)).collect(),
            path: map.spots(model, &boards)?.into_iter().map(|spot| spot.at).collect(),
            near,
        })
    }
}

/// Writes the page with the games of a journal, on the map of `models`, to `out`. `credit` says who
/// analysed the games.
pub fn write_page(
    journal: &mut Journal,
    models: &Models,
    credit: &str,
    out: &mut impl Write,
) -> Result<()> {
    let failed = Cell::new(None);
    let games = Streamed { games: RefCell::new(journal.games()?), failed: &failed };
    let page = Page {
        policy: policy(PAGE_SCRIPT),
        data: Data {
            credit,
            board_credit: BOARD_CREDIT,
            weights: models.map_weights(),
            sample: &models.map()?.sample,
            games,
        },
    };
    let written = page.write_into(out);
    // The cause of an error of the journal is lost on the way through the template.
    failed.take().map_or(Ok(()), Err)?;
    Ok(written?)
}

/// An open journal, which no other process writes.
pub struct Journal {
    path: PathBuf,
    file: BufReader<File>,
    /// Bytes of the first line, which names the settings of the analysis.
    head: u64,
    /// End of the last entry that belongs to a game of this run.
    end: u64,
    /// Whether entries of an earlier run may follow.
    may_hold_more: bool,
}

/// A line: an analysed game, and the digest of the game as it was read.
#[derive(Serialize, Deserialize)]
struct Entry<D, G> {
    digest: D,
    game: G,
}

/// The games of a journal, in JSON, which are read one at a time.
type StoredGames<'a> = Box<dyn Iterator<Item = Result<Value>> + 'a>;

impl Journal {
    /// Opens the journal of the page `out`, or begins one. Fails if another process writes it, or
    /// if its games were analysed with other `settings`.
    pub fn open(out: &Path, settings: &str) -> Result<Self> {
        let mut path = out.as_os_str().to_owned();
        path.push(".journal");
        let path = PathBuf::from(path);
        let name = || format!("journal '{}'", path.display());
        let (file, head) = open(&path, settings).with_context(name)?;
        Ok(Self { path, file, head, end: head, may_hold_more: true })
    }

    /// Whether the next entry is the analysis of the game with this digest. If not, it and all
    /// entries after it are dropped.
    pub fn holds_next(&mut self, digest: &str) -> Result<bool> {
        if !self.may_hold_more {
            return Ok(false);
        }
        let mut line = Vec::new();
        let length = self.file.read_until(b'\n', &mut line).with_context(|| self.name())?;
        // The last line is incomplete if its process was killed.
        let entry = serde_json::from_slice::<Entry<&str, IgnoredAny>>(&line);
        if line.ends_with(b"\n") && entry.is_ok_and(|entry| entry.digest == digest) {
            self.end += length as u64;
            return Ok(true);
        }
        self.drop_rest()?;
        Ok(false)
    }

    /// Adds an analysed game.
    pub fn add(&mut self, digest: &str, game: &(impl Serialize + ?Sized)) -> Result<()> {
        let mut line = serde_json::to_vec(&Entry { digest, game })?;
        line.push(b'\n');
        self.file.get_mut().write_all(&line).with_context(|| self.name())?;
        self.end += line.len() as u64;
        Ok(())
    }

    /// The analysed games of this run.
    fn games(&mut self) -> Result<StoredGames<'_>> {
        self.drop_rest()?;
        let name = self.name();
        self.file.seek(SeekFrom::Start(self.head)).with_context(|| name.clone())?;
        let lines = self.file.by_ref().take(self.end - self.head);
        let entries = Deserializer::from_reader(lines).into_iter::<Entry<IgnoredAny, Value>>();
        let game = move |entry: serde_json::Result<Entry<IgnoredAny, Value>>| {
            entry.map(|entry| entry.game).with_context(|| name.clone())
        };
        Ok(Box::new(entries.map(game)))
    }

    /// Deletes the file.
    pub fn remove(self) -> Result<()> {
        let name = self.name();
        drop(self.file);
        fs::remove_file(&self.path).with_context(|| format!("cannot remove the {name}"))
    }

    /// Deletes everything after the entries of this run. The next entry will be written there.
    fn drop_rest(&mut self) -> Result<()> {
        self.may_hold_more = false;
        let cut = |file: &mut BufReader<File>| {
            file.get_ref().set_len(self.end)?;
            file.seek(SeekFrom::Start(self.end))
        };
        cut(&mut self.file).map(drop).with_context(|| self.name())
    }

    fn name(&self) -> String {
        format!("journal '{}'", self.path.display())
    }
}

/// Opens a file that begins with the line `settings`, and returns the length of this line. Writes
/// the line to a new file, and to a file whose process was killed before it had written the line.
fn open(path: &Path, settings: &str) -> Result<(BufReader<File>, u64)> {
    let mut file = BufReader::new(open_locked(path)?.context("another process writes it")?);
    let head = format!("{settings}\n").into_bytes();
    let mut found = Vec::new();
    file.by_ref().take(head.len() as u64).read_until(b'\n', &mut found)?;
    if found != head {
        let length = file.get_ref().metadata()?.len();
        ensure!(
            length == found.len() as u64 && head.starts_with(&found),
            "it belongs to a report with other settings; remove it to start anew"
        );
        file.seek(SeekFrom::Start(0))?;
        file.get_mut().write_all(&head)?;
    }
    Ok((file, head.len() as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored(journal: &mut Journal) -> Result<Vec<String>> {
        journal.games()?.map(|game| Ok(game?.to_string())).collect()
    }

    #[test]
    fn a_run_goes_on_where_the_last_one_ended() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let out = folder.path().join("games.html");
        let journal = folder.path().join("games.html.journal");
        let mut first = Journal::open(&out, "100ms")?;
        for number in ["1", "2", "3"] {
            assert!(!first.holds_next(number)?);
            first.add(number, number)?;
        }
        let all = stored(&mut first)?;
        assert!(all.len() == 3 && all[1] == "\"2\"", "{all:?}");
        assert!(
            Journal::open(&out, "100ms")
                .is_err_and(|error| format!("{error:#}").contains("another process"))
        );
        drop(first);

        // As if the process had been killed within a line.
        let written = fs::read(&journal)?;
        fs::write(&journal, &written[..written.len() - 5])?;
        let mut second = Journal::open(&out, "100ms")?;
        let held = ["1", "2", "3"].map(|number| second.holds_next(number).is_ok_and(|held| held));
        assert_eq!(held, [true, true, false]);
        second.add("3", "3")?;
        assert_eq!(stored(&mut second)?, all);
        assert_eq!(fs::read(&journal)?, written);
        drop(second);

        // Another game in the second place, and none in the third.
        let mut third = Journal::open(&out, "100ms")?;
        assert!(third.holds_next("1")? && !third.holds_next("x")? && !third.holds_next("3")?);
        assert_eq!(stored(&mut third)?, all[..1]);
        third.add("x", "x")?;
        assert_eq!(stored(&mut third)?.len(), 2);
        third.remove()?;
        assert!(!journal.exists());
        Ok(())
    }

    #[test]
    fn settings_are_those_of_the_first_line() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let out = folder.path().join("games.html");
        let journal = folder.path().join("games.html.journal");
        drop(Journal::open(&out, "100ms")?);
        for other in ["1s", "100ms and more", "100", ""] {
            let refused = Journal::open(&out, other).err().map(|error| format!("{error:#}"));
            assert!(refused.is_some_and(|said| said.contains("other settings")), "{other}");
        }
        for killed in ["", "10"] {
            fs::write(&journal, killed)?;
            drop(Journal::open(&out, "100ms")?);
            assert_eq!(fs::read_to_string(&journal)?, "100ms\n");
        }
        Ok(())
    }
}
