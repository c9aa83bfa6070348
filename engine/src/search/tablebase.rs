//! Syzygy tables: what a position with few pieces is worth for certain.

use std::ffi::OsStr;
use std::sync::Arc;
use std::sync::Once;

use anyhow::{Context, Result, ensure};
use azimuth_chess::position::Position;
use azimuth_chess::text::shortened;
use cozy_chess::{BitBoard, Board, Color, File, Move, Piece, Square};
use shakmaty::{Bitboard, ByColor, ByRole, CastlingMode, Chess, PositionError, Setup};
use shakmaty_syzygy::{Dtz, SyzygyError, Tablebase, Wdl};

use super::terminal;
use super::value::Value;
use crate::inference::Notice;

/// Ranks of moves: wins that the 50-move rule does not undo, and those it does, lie this far from
/// the draws. No distance to zeroing is longer.
const CERTAIN: i32 = 4_000;
const CURSED: i32 = 2_000;

/// Characters of a path in an error.
const LONGEST_PATH: usize = 200;

/// The tables of some folders.
pub struct Tablebases {
    tables: Tablebase<Chess>,
    notice: Notice,
    failed: Once,
}

/// The legal moves of a position that the tables know, best first.
pub(super) struct RankedMoves(Vec<RankedMove>);

struct RankedMove {
    mv: Move,
    rank: i32,
}

impl Tablebases {
    /// The tables in a list of folders, separated as in `PATH`. A table that turns out broken is said
    /// once through `notice`, and passed over. Fails where a folder cannot be read or none has a
    /// table.
    pub fn open(folders: &str, notice: impl Fn(&str) + Send + Sync + 'static) -> Result<Self> {
        let notice: Notice = Arc::new(notice);
        let mut tables = Tablebase::new();
        let mut count = 0;
        for folder in std::env::split_paths(OsStr::new(folders)) {
            count += tables.add_directory(&folder).with_context(|| {
                format!(
                    "Syzygy folder '{}'",
                    shortened(&folder.display().to_string(), LONGEST_PATH)
                )
            })?;
        }
        ensure!(
            count > 0,
            "no Syzygy tables (*.rtbw, *.rtbz) in '{}'",
            shortened(folders, LONGEST_PATH)
        );
        Ok(Self { tables, notice, failed: Once::new() })
    }

    /// Most pieces of any table, kings included.
    pub fn max_pieces(&self) -> usize {
        self.tables.max_pieces()
    }

    /// Plies from `board`, the fifty-move counter at 0, to the next capture or pawn's move of the side that wins:
    /// negative where the side to move loses, 0 where nobody wins, beyond 100 where the fifty-move rule saves the
    /// loser. `None` where the tables do not know the position.
    pub fn distance_to_zeroing(&self, board: &Board) -> Option<i32> {
        if !self.may_know(board) {
            return None;
        }
        let distance = self.known(self.tables.probe_dtz(&converted(board)?))?;
        Some(distance.ignore_rounding().0)
    }

    /// The value of a position right after a capture or a pawn's move, `ply` plies from the root. A
    /// win that the 50-move rule undoes is a draw.
    pub(super) fn value(&self, board: &Board, ply: u32) -> Option<Value> {
        if board.halfmove_clock() != 0 || !self.may_know(board) {
            return None;
        }
        let wdl = self.known(self.tables.probe_wdl_after_zeroing(&converted(board)?))?;
        Some(match wdl {
            Wdl::Win => -Value::tablebase_loss_in(ply),
            Wdl::Loss => Value::tablebase_loss_in(ply),
            Wdl::CursedWin | Wdl::Draw | Wdl::BlessedLoss => Value::DRAW,
        })
    }

    /// The legal moves of `root`, those that win soonest or lose latest first, by their distance to
    /// the next capture or pawn's move; `None` where the tables do not know them all.
    pub(super) fn rank(&self, root: &Position, moves: &[Move]) -> Option<RankedMoves> {
        if !self.may_know(root.board()) {
            return None;
        }
        let rank = |&mv: &Move| Some(RankedMove { mv, rank: self.rank_move(root, mv)? });
        let mut ranked: Vec<RankedMove> = moves.iter().map(rank).collect::<Option<_>>()?;
        ranked.sort_by_key(|ranked| -ranked.rank);
        Some(RankedMoves(ranked))
    }

    fn rank_move(&self, root: &Position, mv: Move) -> Option<i32> {
        let mut after = root.clone();
        after.play(mv);
        let board = after.board();
        let plies = match terminal::terminal_value(board, 1, after.history()) {
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
        let in_time = plies.abs() + played <= 100;
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

impl RankedMoves {
    /// How many moves were ranked, each of them known to the tables.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The moves that rank as high as the one at place `lines`, from 1 on.
    pub(super) fn best(&self, lines: usize) -> Vec<Move> {
        let Some(last) = self.0.get(lines.clamp(1, self.0.len().max(1)) - 1) else {
            return Vec::new();
        };
        self.0.iter().take_while(|ranked| ranked.rank >= last.rank).map(|r| r.mv).collect()
    }

    /// Place of a move among the others; equal moves share theirs.
    pub(super) fn place(&self, mv: Move) -> usize {
        let rank = self.rank(mv);
        self.0.iter().take_while(|ranked| ranked.rank > rank).count()
    }

    /// What a move is worth to the side that makes it.
    pub(super) fn value(&self, mv: Move) -> Value {
        match self.rank(mv) {
            rank if rank > CURSED => -Value::tablebase_loss_in(0),
            rank if rank < -CURSED => Value::tablebase_loss_in(0),
            _ => Value::DRAW,
        }
    }

    fn rank(&self, mv: Move) -> i32 {
        self.0.iter().find(|ranked| ranked.mv == mv).map_or(0, |ranked| ranked.rank)
    }
}

/// The same position in the tables' own types.
fn converted(board: &Board) -> Option<Chess> {
    let pieces = |piece: Piece| bitboard(board.pieces(piece));
    let by_role = ByRole {
        pawn: pieces(Piece::Pawn),
        knight: pieces(Piece::Knight),
        bishop: pieces(Piece::Bishop),
        rook: pieces(Piece::Rook),
        queen: pieces(Piece::Queen),
        king: pieces(Piece::King),
    };
    let by_color = ByColor {
        white: bitboard(board.colors(Color::White)),
        black: bitboard(board.colors(Color::Black)),
    };
    let setup = Setup {
        board: shakmaty::Board::try_from_bitboards(by_role, by_color).ok()?,
        turn: match board.side_to_move() {
            Color::White => shakmaty::Color::White,
            Color::Black => shakmaty::Color::Black,
        },
        ep_square: board.en_passant().map(|file| square_passed(file, board.side_to_move())),
        ..Setup::empty()
    };
    // Tables know every placement of the pieces, reachable or not.
    setup.position(CastlingMode::Standard).or_else(PositionError::ignore_impossible_check).ok()
}

fn bitboard(squares: BitBoard) -> Bitboard {
    Bitboard(squares.0)
}

/// The square that the pawn on `file` has just passed.
fn square_passed(file: File, side_to_move: Color) -> shakmaty::Square {
    let rank = cozy_chess::Rank::Sixth.relative_to(side_to_move);
    shakmaty::Square::new(Square::new(file, rank) as u32)
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::{Arc, Mutex};

    use azimuth_chess::position::legal_moves;

    use super::*;

    const TABLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/syzygy");

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
        // Moves of the 50-move rule have been used, castling is possible, pieces are too many.
        assert_eq!(value("4k3/8/4K3/4P3/8/8/8/8 w - - 1 1")?, None);
        assert_eq!(value("4k3/8/8/8/8/8/8/4K2R w K - 0 1")?, None);
        assert_eq!(value("4k3/8/8/8/8/8/3PP3/4K3 w - - 0 1")?, None);
        Ok(())
    }

    #[test]
    fn distances_are_those_of_the_side_to_move() -> Result<()> {
        let tables = tables()?;
        let distance = |fen: &str| -> Result<Option<i32>> {
            Ok(tables.distance_to_zeroing(Position::from_fen(fen)?.board()))
        };
        // Mate in one, the same for the side that is mated, a pawn that walks, a draw, too many pieces.
        assert_eq!(distance("7k/8/6K1/8/8/8/8/R7 w - - 0 1")?, Some(1));
        assert!(distance("6k1/8/6K1/8/8/8/8/R7 b - - 0 1")?.is_some_and(|plies| plies < 0));
        assert_eq!(distance("4k3/8/4K3/4P3/8/8/8/8 w - - 0 1")?.map(i32::signum), Some(1));
        assert_eq!(distance("8/8/8/8/4k3/8/4P3/4K3 w - - 0 1")?, Some(0));
        assert_eq!(distance("4k3/8/8/8/8/8/3PP3/4K3 w - - 0 1")?, None);
        Ok(())
    }

    #[test]
    fn the_soonest_win_the_draw_and_the_latest_loss_come_first() -> Result<()> {
        let texts =
            |moves: Vec<Move>| -> Vec<String> { moves.iter().map(ToString::to_string).collect() };
        let mate = ranked("7k/8/6K1/8/8/8/8/R7 w - - 0 1")?;
        assert_eq!(texts(mate.best(1)), ["a1a8"]);
        assert_eq!(mate.value(mate.best(1)[0]), -Value::tablebase_loss_in(0));
        // Only taking the queen holds the draw.
        let capture = ranked("8/8/8/8/8/8/3kQ3/7K b - - 0 1")?;
        assert_eq!(texts(capture.best(1)), ["d2e2"]);
        assert_eq!(capture.value(capture.best(1)[0]), Value::DRAW);
        assert!(capture.best(3).len() >= 3);
        Ok(())
    }

    #[test]
    fn the_fifty_move_rule_undoes_a_win() -> Result<()> {
        let far = "8/8/8/3k4/8/8/8/R3K3 w - - 95 100";
        let ranked = ranked(far)?;
        assert_eq!(ranked.value(ranked.best(1)[0]), Value::DRAW);
        Ok(())
    }

    #[test]
    fn a_broken_table_is_said_once_and_passed_over() -> Result<()> {
        let folder = tempfile::tempdir()?;
        for name in ["KQvK.rtbw", "KRvK.rtbw"] {
            let size = std::fs::metadata(Path::new(TABLES).join(name))?.len();
            std::fs::write(folder.path().join(name), vec![0; usize::try_from(size)?])?;
        }
        let said = Arc::new(Mutex::new(Vec::new()));
        let heard = said.clone();
        let notice = move |text: &str| heard.lock().expect("no panics").push(text.to_owned());
        let tables = Tablebases::open(&folder.path().display().to_string(), notice)?;
        for fen in ["8/8/8/8/4k3/8/8/3QK3 b - - 0 1", "8/8/8/8/4k3/8/8/3RK3 b - - 0 1"] {
            assert_eq!(tables.value(Position::from_fen(fen)?.board(), 1), None);
        }
        let said = said.lock().expect("no panics");
        assert!(matches!(said.as_slice(), [line] if line.starts_with("Syzygy: ")), "{said:?}");
        Ok(())
    }
}
