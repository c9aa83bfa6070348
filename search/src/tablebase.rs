//! Syzygy tablebases: exact values of positions with few pieces.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Once};

use anyhow::{Context, Result, ensure};
use azimuth_chess::position::{Position, legal_moves};
use azimuth_chess::text::shortened;
use cozy_chess::{Board, Color, Move, Piece, Rank, Square};
use shakmaty::{Bitboard, ByColor, ByRole, CastlingMode, Chess, PositionError, Setup};
#[cfg(not(target_family = "wasm"))]
use shakmaty_syzygy::filesystem::OsFilesystem;
use shakmaty_syzygy::filesystem::{Filesystem, RandomAccessFile, ReadHint};
use shakmaty_syzygy::{Dtz, SyzygyError, Tablebase, Wdl};

use crate::inference::Notice;
use crate::value::{self, Value};

/// Ranks of won moves, for wins unaffected by the 50-move rule (`CERTAIN`) and wins that the rule
/// turns into draws (`CURSED`). Draws rank 0, losses are negated. Both exceed any distance to
/// zeroing.
const CERTAIN: i32 = 4_000;
const CURSED: i32 = 2_000;

/// Maximum number of plies of a line of the tables.
const LONGEST_LINE: usize = 40;

/// Maximum number of characters of a path in an error message.
const LONGEST_PATH: usize = 200;

/// Number of pieces in the largest Syzygy tables that exist.
pub const MOST_PIECES: usize = 7;

/// Names and contents of table files in memory.
pub type EmbeddedTables = &'static [(&'static str, &'static [u8])];

/// Folder of the embedded files. No file of the system has a name with a zero byte.
const EMBEDDED: &str = "\0";

/// When tables are probed, and how their results are interpreted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probing {
    /// The largest tables are probed only at this remaining depth (in plies) or more. 1 means
    /// everywhere, including the leaves.
    pub depth: u32,
    /// Positions with more pieces are never probed.
    pub most_pieces: usize,
    /// Whether the 50-move rule turns wins that take too long into draws.
    pub fifty_move_rule: bool,
}

impl Default for Probing {
    fn default() -> Self {
        Self { depth: 1, most_pieces: MOST_PIECES, fifty_move_rule: true }
    }
}

/// The tables in a list of folders.
pub struct Tablebases {
    tables: Tablebase<Chess>,
    probing: Probing,
    notice: Notice,
    failed: Once,
}

/// The legal moves of a position, ranked by the tables, best first.
pub(super) struct RankedMoves(Vec<(Move, i32)>);

impl Tablebases {
    /// Opens the tables in a list of folders, separated as in `PATH`. A folder that cannot be read
    /// and, once, a corrupt table are reported through `notice` and skipped. Fails if no folder has
    /// a table.
    pub fn open(folders: &str, notice: impl Fn(&str) + Send + Sync + 'static) -> Result<Self> {
        Self::embedded(&[], notice).with_folders(folders)
    }

    /// Opens embedded tables. A corrupt table is reported once through `notice` and skipped.
    pub fn embedded(files: EmbeddedTables, notice: impl Fn(&str) + Send + Sync + 'static) -> Self {
        let mut tables = Tablebase::with_filesystem(Arc::new(Files(files)));
        for (name, _) in files {
            if let Err(error) = tables.add_file(Path::new(EMBEDDED).join(name)) {
                notice(&format!("embedded table {name}: {error}"));
            }
        }
        let (probing, notice) = (Probing::default(), Arc::new(notice));
        Self { tables, probing, notice, failed: Once::new() }
    }

    /// Adds the tables in `folders`, as [`Self::open`] does.
    pub fn with_folders(mut self, folders: &str) -> Result<Self> {
        let notice = self.notice.clone();
        let (mut count, mut failed) = (0, None);
        let parts = std::env::split_paths(OsStr::new(folders));
        for folder in parts.filter(|folder| !folder.as_os_str().is_empty()) {
            let name = || shortened(&folder.display().to_string(), LONGEST_PATH);
            let added = self.add_folder(&folder);
            match added.with_context(|| format!("Syzygy folder '{}'", name())) {
                Ok(added) => count += added,
                Err(error) if failed.is_none() => failed = Some(error),
                Err(error) => notice(&format!("{error:#}")),
            }
        }
        match failed {
            Some(error) if count == 0 => return Err(error),
            Some(error) => notice(&format!("{error:#}; the tables of the other folders are used")),
            None => {}
        }
        ensure!(
            count > 0,
            "no Syzygy tables (*.rtbw, *.rtbz) in '{}'",
            shortened(folders, LONGEST_PATH)
        );
        Ok(self)
    }

    /// Adds the tables of a folder, and returns their number. Those of a wrong size, such as
    /// interrupted downloads, are reported and skipped.
    fn add_folder(&mut self, folder: &Path) -> io::Result<usize> {
        let mut count = 0;
        for file in system()?.read_dir(folder)? {
            match self.tables.add_file(&file) {
                Ok(()) => count += 1,
                // No table.
                Err(error) if error.kind() == io::ErrorKind::InvalidInput => {}
                Err(error) => {
                    let name = shortened(&file.display().to_string(), LONGEST_PATH);
                    (self.notice)(&format!("Syzygy table '{name}': {error}; download it again"));
                }
            }
        }
        Ok(count)
    }

    /// The same tables with other probing settings.
    pub fn with_probing(self, probing: Probing) -> Self {
        Self { probing, ..self }
    }

    /// Number of pieces, including kings, in the largest table that is probed.
    pub fn max_pieces(&self) -> usize {
        self.tables.max_pieces().min(self.probing.most_pieces)
    }

    /// Plies from `board`, with the halfmove clock at 0, to the winning side's next capture or pawn
    /// move: negative if the side to move loses, 0 for a draw, beyond 100 if the fifty-move rule
    /// saves the loser. `None` if the tables do not know the position.
    pub fn distance_to_zeroing(&self, board: &Board) -> Option<i32> {
        if !self.may_know(board) {
            return None;
        }
        let distance = self.known(self.tables.probe_dtz(&converted(board)?))?;
        Some(distance.ignore_rounding().0)
    }

    /// As [`Self::value`], for a node with `depth` plies remaining.
    pub(super) fn value_at_depth(&self, board: &Board, ply: u32, depth: i32) -> Option<Value> {
        let least = self.probing.depth as i32;
        let deep_enough = least <= 1 || depth >= least;
        let is_large = board.occupied().len() as usize >= self.max_pieces();
        if is_large && !deep_enough {
            return None;
        }
        self.value(board, ply)
    }

    /// The value of a position right after a capture or pawn move, `ply` plies from the root. A win
    /// that the 50-move rule prevents is a draw.
    pub(super) fn value(&self, board: &Board, ply: u32) -> Option<Value> {
        if board.halfmove_clock() != 0 || !self.may_know(board) {
            return None;
        }
        let wdl = self.known(self.tables.probe_wdl_after_zeroing(&converted(board)?))?;
        Some(match (wdl, self.probing.fifty_move_rule) {
            (Wdl::Win, _) | (Wdl::CursedWin, false) => -Value::tablebase_loss_in(ply),
            (Wdl::Loss, _) | (Wdl::BlessedLoss, false) => Value::tablebase_loss_in(ply),
            (Wdl::CursedWin | Wdl::Draw | Wdl::BlessedLoss, _) => Value::DRAW,
        })
    }

    /// Ranks the legal moves of `root` by their distance to the next capture or pawn move: fastest
    /// wins first, slowest losses before fast ones. `None` if the tables do not know all moves.
    pub(super) fn rank(&self, root: &Position, moves: &[Move]) -> Option<RankedMoves> {
        if !self.may_know(root.board()) {
            return None;
        }
        let rank = |&mv: &Move| Some((mv, self.rank_move(root, mv)?));
        let mut ranked: Vec<(Move, i32)> = moves.iter().map(rank).collect::<Option<_>>()?;
        ranked.sort_by_key(|&(_, rank)| -rank);
        Some(RankedMoves(ranked))
    }

    /// The moves that the tables play from `position`: to the end of the game, but at most
    /// [`LONGEST_LINE`]. A pawn promotes to a queen unless another piece is better. In a drawn
    /// position the line ends where several moves keep the draw, with one that ends the game, if
    /// there is any. Empty if the tables do not know the position.
    pub fn line(&self, position: &Position) -> Vec<Move> {
        let (mut line, mut position) = (Vec::new(), position.clone());
        while line.len() < LONGEST_LINE && position.ending().is_none() {
            let moves = legal_moves(position.board());
            let Some(ranked) = self.rank(&position, &moves) else { break };
            let best = ranked.best(1);
            let Some(&first) = best.first() else { break };
            let queen = Move { promotion: first.promotion.map(|_| Piece::Queen), ..first };
            let first = if best.contains(&queen) { queen } else { first };
            let is_choice = ranked.value(first) == Value::DRAW && best.len() > 1;
            let ends = |mv: &&Move| position.after(**mv).ending().is_some();
            let Some(&mv) = (if is_choice { best.iter().find(ends) } else { Some(&first) }) else {
                break;
            };
            line.push(mv);
            position.play(mv);
        }
        line
    }

    fn rank_move(&self, root: &Position, mv: Move) -> Option<i32> {
        let after = root.after(mv);
        let board = after.board();
        let plies = match value::terminal_value(board, 1, after.history()) {
            Some(value) if value.is_mated() => 1,
            Some(_) => 0,
            None if board.halfmove_clock() == 0 => {
                let wdl = self.known(self.tables.probe_wdl_after_zeroing(&converted(board)?))?;
                -Dtz::before_zeroing(wdl).0
            }
            None => {
                let dtz = self.known(self.tables.probe_dtz(&converted(board)?))?;
                -dtz.ignore_rounding().add_plies_saturating(1).0
            }
        };
        let played = i32::from(root.halfmove_clock());
        let in_time = !self.probing.fifty_move_rule || plies.abs() + played <= 100;
        Some(match (plies.signum(), in_time) {
            (1, true) => CERTAIN - plies,
            (1, false) => CURSED - plies,
            (-1, true) => -CERTAIN - plies,
            (-1, false) => -CURSED - plies,
            _ => 0,
        })
    }

    fn may_know(&self, board: &Board) -> bool {
        let castling = [Color::White, Color::Black].map(|color| board.castle_rights(color));
        let castles = castling.iter().any(|rights| rights.short.or(rights.long).is_some());
        board.occupied().len() as usize <= self.max_pieces() && !castles
    }

    fn known<T>(&self, probed: Result<T, SyzygyError>) -> Option<T> {
        if let Err(error @ SyzygyError::ProbeFailed { .. }) = &probed {
            self.failed.call_once(|| (self.notice)(&format!("Syzygy: {error}")));
        }
        probed.ok()
    }
}

/// The embedded files, and those of the system.
struct Files(EmbeddedTables);

impl Files {
    /// The contents of an embedded file; `None` for a path of the system.
    fn embedded(&self, path: &Path) -> Option<&'static [u8]> {
        let name = path.strip_prefix(EMBEDDED).ok()?;
        let file = self.0.iter().find(|(embedded, _)| name == Path::new(embedded));
        file.map(|(_, bytes)| *bytes)
    }
}

impl Filesystem for Files {
    fn regular_file_size(&self, path: &Path) -> io::Result<u64> {
        match self.embedded(path) {
            Some(bytes) => Ok(bytes.len() as u64),
            None => system()?.regular_file_size(path),
        }
    }

    fn read_dir(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
        system()?.read_dir(path)
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn RandomAccessFile>> {
        match self.embedded(path) {
            Some(bytes) => Ok(Box::new(InMemory(bytes))),
            None => system()?.open(path),
        }
    }
}

/// The files of the operating system.
#[cfg(not(target_family = "wasm"))]
fn system() -> io::Result<OsFilesystem> {
    Ok(OsFilesystem::new())
}

/// WebAssembly has no files but the embedded ones.
#[cfg(target_family = "wasm")]
fn system() -> io::Result<Files> {
    Err(io::ErrorKind::Unsupported.into())
}

struct InMemory(&'static [u8]);

impl RandomAccessFile for InMemory {
    fn read_at(&self, buffer: &mut [u8], offset: u64, _: ReadHint) -> io::Result<usize> {
        let start = usize::try_from(offset).unwrap_or(usize::MAX).min(self.0.len());
        io::Read::read(&mut &self.0[start..], buffer)
    }
}

impl RankedMoves {
    /// Number of ranked moves.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The moves that rank at least as high as move number `lines`, counted from 1.
    pub(super) fn best(&self, lines: usize) -> Vec<Move> {
        let Some(&(_, last)) = self.0.get(lines.clamp(1, self.0.len().max(1)) - 1) else {
            return Vec::new();
        };
        self.0.iter().take_while(|(_, rank)| *rank >= last).map(|&(mv, _)| mv).collect()
    }

    /// The moves, best first.
    pub(super) fn moves(&self) -> impl Iterator<Item = Move> {
        self.0.iter().map(|&(mv, _)| mv)
    }

    /// The moves that the search considers: all that win, because it may find a mate that is sooner
    /// than the next capture or pawn move of the tables' line allows; else as [`Self::best`].
    pub(super) fn worth_searching(&self, lines: usize) -> Vec<Move> {
        let wins = self.0.iter().take_while(|(_, rank)| *rank > CURSED).count();
        if wins >= lines.max(1) {
            return self.moves().take(wins).collect();
        }
        self.best(lines)
    }

    /// Position of a move in the ranking; equal moves share a position.
    pub(super) fn place(&self, mv: Move) -> usize {
        let rank = self.rank(mv);
        self.0.iter().take_while(|(_, other)| *other > rank).count()
    }

    /// The value of a move for the side that makes it.
    pub(super) fn value(&self, mv: Move) -> Value {
        match self.rank(mv) {
            rank if rank > CURSED => -Value::tablebase_loss_in(0),
            rank if rank < -CURSED => Value::tablebase_loss_in(0),
            _ => Value::DRAW,
        }
    }

    fn rank(&self, mv: Move) -> i32 {
        self.0.iter().find(|(known, _)| *known == mv).map_or(0, |&(_, rank)| rank)
    }
}

/// Converts a board to the tablebase library's types.
fn converted(board: &Board) -> Option<Chess> {
    let pieces = |piece| Bitboard(board.pieces(piece).0);
    // The square that a pawn has just skipped.
    let rank = Rank::Sixth.relative_to(board.side_to_move());
    let passed = |file| shakmaty::Square::new(Square::new(file, rank) as u32);
    let by_role = ByRole {
        pawn: pieces(Piece::Pawn),
        knight: pieces(Piece::Knight),
        bishop: pieces(Piece::Bishop),
        rook: pieces(Piece::Rook),
        queen: pieces(Piece::Queen),
        king: pieces(Piece::King),
    };
    let by_color = ByColor {
        white: Bitboard(board.colors(Color::White).0),
        black: Bitboard(board.colors(Color::Black).0),
    };
    let setup = Setup {
        board: shakmaty::Board::try_from_bitboards(by_role, by_color).ok()?,
        turn: match board.side_to_move() {
            Color::White => shakmaty::Color::White,
            Color::Black => shakmaty::Color::Black,
        },
        ep_square: board.en_passant().map(passed),
        ..Setup::empty()
    };
    // The tables contain every placement of the pieces, reachable or not.
    setup.position(CastlingMode::Standard).or_else(PositionError::ignore_impossible_check).ok()
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::{Arc, Mutex};

    use super::*;

    const TABLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../syzygy");

    fn tables() -> Result<Tablebases> {
        Tablebases::open(TABLES, |problem: &str| panic!("{problem}"))
    }

    fn ranked(fen: &str) -> Result<RankedMoves> {
        let root = Position::from_fen(fen)?;
        let moves = legal_moves(root.board());
        tables()?.rank(&root, &moves).context("the tables know this")
    }

    #[test]
    fn positions_right_after_a_capture_are_known() -> Result<()> {
        let tables = tables()?;
        let value = |fen: &str| -> Result<Option<Value>> {
            Ok(tables.value(Position::from_fen(fen)?.board(), 3))
        };
        let win = Some(-Value::tablebase_loss_in(3));
        assert_eq!(value("4k3/8/4K3/4P3/8/8/8/8 w - - 0 1")?, win);
        assert_eq!(value("8/8/8/8/4k3/8/4P3/4K3 w - - 0 1")?, Some(Value::DRAW));
        assert_eq!(value("8/8/8/8/4k3/8/8/3QK3 b - - 0 1")?, Some(Value::tablebase_loss_in(3)));
        // The halfmove clock is not 0, castling is possible, there are too many pieces.
        assert_eq!(value("4k3/8/4K3/4P3/8/8/8/8 w - - 1 1")?, None);
        assert_eq!(value("4k3/8/8/8/8/8/8/4K2R w K - 0 1")?, None);
        assert_eq!(value("4k3/8/8/8/8/8/2PPP3/4K3 w - - 0 1")?, None);
        Ok(())
    }

    #[test]
    fn distances_are_those_of_the_side_to_move() -> Result<()> {
        let tables = tables()?;
        let distance = |fen: &str| -> Result<Option<i32>> {
            Ok(tables.distance_to_zeroing(Position::from_fen(fen)?.board()))
        };
        // Mate in one, a side that is mated, a pawn to advance, a draw, too many pieces.
        assert_eq!(distance("7k/8/6K1/8/8/8/8/R7 w - - 0 1")?, Some(1));
        assert!(distance("6k1/8/6K1/8/8/8/8/R7 b - - 0 1")?.is_some_and(|plies| plies < 0));
        assert_eq!(distance("4k3/8/4K3/4P3/8/8/8/8 w - - 0 1")?.map(i32::signum), Some(1));
        assert_eq!(distance("8/8/8/8/4k3/8/4P3/4K3 w - - 0 1")?, Some(0));
        assert_eq!(distance("4k3/8/8/8/8/8/2PPP3/4K3 w - - 0 1")?, None);
        Ok(())
    }

    #[test]
    fn the_soonest_win_the_draw_and_the_latest_loss_come_first() -> Result<()> {
        let texts =
            |moves: Vec<Move>| -> Vec<String> { moves.iter().map(ToString::to_string).collect() };
        let mate = ranked("7k/8/6K1/8/8/8/8/R7 w - - 0 1")?;
        assert_eq!(texts(mate.best(1)), ["a1a8"]);
        assert_eq!(mate.value(mate.best(1)[0]), -Value::tablebase_loss_in(0));
        // Only capturing the queen holds the draw.
        let capture = ranked("8/8/8/8/8/8/3kQ3/7K b - - 0 1")?;
        assert_eq!(texts(capture.best(1)), ["d2e2"]);
        assert_eq!(capture.value(capture.best(1)[0]), Value::DRAW);
        assert!(capture.best(3).len() >= 3);
        Ok(())
    }

    #[test]
    fn a_won_line_ends_in_mate_and_a_drawn_one_where_there_is_a_choice() -> Result<()> {
        let tables = tables()?;
        let after_line = |fen: &str| -> Result<(usize, Board)> {
            let position = Position::from_fen(fen)?;
            let line = tables.line(&position);
            Ok((line.len(), position.after_line(&line).board().clone()))
        };
        let (plies, end) = after_line("8/8/3k4/8/8/8/1R6/4K3 w - - 0 1")?;
        assert!(end.status() == cozy_chess::GameStatus::Won && plies < 35, "{end}");
        // The king must capture; then the game is over.
        let (plies, end) = after_line("8/8/8/8/8/8/3kQ3/7K b - - 0 1")?;
        assert_eq!((plies, end.occupied().len()), (1, 2));
        // One of two moves is stalemate.
        let (plies, end) = after_line("7k/5Q2/8/8/8/8/8/Kr6 w - - 0 1")?;
        assert!(end.status() == cozy_chess::GameStatus::Drawn && plies == 1, "{end}");
        // Neither side makes progress.
        assert_eq!(after_line("8/8/8/8/4k3/8/4P3/4K3 w - - 0 1")?.0, 0);
        Ok(())
    }

    #[test]
    fn a_line_promotes_to_a_queen_unless_a_rook_is_better() -> Result<()> {
        let tables = tables()?;
        let promotion = |fen: &str| -> Result<Option<Piece>> {
            let line = tables.line(&Position::from_fen(fen)?);
            Ok(line.iter().find_map(|mv| mv.promotion))
        };
        assert_eq!(promotion("8/P6k/8/8/8/8/8/K7 w - - 0 1")?, Some(Piece::Queen));
        // A queen would be stalemate.
        assert_eq!(promotion("8/5P1k/5K2/8/8/8/8/8 w - - 0 1")?, Some(Piece::Rook));
        Ok(())
    }

    #[test]
    fn tables_are_asked_as_they_are_set() -> Result<()> {
        let won = Position::from_fen("4k3/8/4K3/4P3/8/8/8/8 w - - 0 1")?;
        let win = Some(-Value::tablebase_loss_in(3));
        let at = |probing: Probing, depth| -> Result<Option<Value>> {
            Ok(tables()?.with_probing(probing).value_at_depth(won.board(), 3, depth))
        };
        let usual = Probing { most_pieces: 3, ..Probing::default() };
        assert_eq!(at(usual, 0)?, win);
        let deep = Probing { depth: 4, ..usual };
        assert_eq!((at(deep, 3)?, at(deep, 4)?), (None, win));
        let few = Probing { most_pieces: 2, ..usual };
        assert_eq!(at(few, 9)?, None);
        assert_eq!(tables()?.with_probing(few).max_pieces(), 2);
        Ok(())
    }

    #[test]
    fn a_broken_table_is_said_once_and_passed_over() -> Result<()> {
        let folder = tempfile::tempdir()?;
        for name in ["KQvK.rtbw", "KRvK.rtbw"] {
            let size = std::fs::metadata(Path::new(TABLES).join(name))?.len();
            std::fs::write(folder.path().join(name), vec![0; usize::try_from(size)?])?;
        }
        std::fs::write(folder.path().join("KNvK.rtbw"), "an interrupted download")?;
        let said = Arc::new(Mutex::new(Vec::new()));
        let heard = said.clone();
        let notice = move |text: &str| heard.lock().expect("no panics").push(text.to_owned());
        let tables = Tablebases::open(&folder.path().display().to_string(), notice)?;
        for fen in ["8/8/8/8/4k3/8/8/3QK3 b - - 0 1", "8/8/8/8/4k3/8/8/3RK3 b - - 0 1"] {
            assert_eq!(tables.value(Position::from_fen(fen)?.board(), 1), None);
        }
        let said = said.lock().expect("no panics");
        let [cut, line] = said.as_slice() else { panic!("{said:?}") };
        assert!(cut.contains("KNvK.rtbw': ") && line.starts_with("Syzygy: "), "{said:?}");
        Ok(())
    }
}
