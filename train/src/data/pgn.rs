//! Labelled games: PGN with `[%eval]` comments, plain or zstd-compressed, variations included.
//!
//! The evaluation after a move is the label of the position after it, in pawns or `#n` from White's
//! view. Moves of a variation are labelled siblings of the move before which it starts.

use std::fs::File;
use std::io::{BufReader, Read};
use std::ops::ControlFlow;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use azimuth::position::Position;
use cozy_chess::{BitBoard, Board, Move, Piece, Rank, Square};
use pgn_reader::shakmaty::{CastlingSide, Role, san::San};
use pgn_reader::{RawComment, RawTag, Reader, SanPlus, Skip, Visitor};
use sha2::{Digest, Sha256};

use super::packed::{Label, PackedPosition};

/// A position with what it is a child of: children of one parent share the number within a game.
#[derive(Clone, Copy, Debug)]
pub struct LabelledPosition {
    /// The position and its label.
    pub position: PackedPosition,
    /// The node of the game's tree that it follows.
    pub parent: u32,
}

/// The labelled positions of one game, in the order of the file.
pub type Game = Vec<LabelledPosition>;

/// Reads every game of a file and gives it to `visit`. Returns the SHA-256 of the file. Fails, with
/// the number of the game, at a FEN or move that is not legal.
pub fn read_games(path: &Path, mut visit: impl FnMut(Game)) -> Result<String> {
    let name = || format!("data file '{}'", path.display());
    let mut file = HashedReader { file: File::open(path).with_context(name)?, hash: Sha256::new() };
    let compressed = path.extension().is_some_and(|extension| extension == "zst");
    let source: Box<dyn Read + '_> = if compressed {
        Box::new(zstd::Decoder::new(&mut file).with_context(name)?)
    } else {
        Box::new(&mut file)
    };
    let mut reader = Reader::new(BufReader::with_capacity(1 << 20, source));
    let mut games = 0;
    while let Some(game) = reader.read_game(&mut GameReader).with_context(name)? {
        games += 1;
        visit(game.with_context(|| format!("{}: game {games}", name()))?);
    }
    drop(reader);
    ensure!(games > 0, "{}: no games in it", name());
    std::io::copy(&mut file, &mut std::io::sink()).with_context(name)?;
    let digest = file.hash.finalize();
    Ok(digest.iter().map(|byte| format!("{byte:02x}")).collect())
}

struct HashedReader {
    file: File,
    hash: Sha256,
}

impl Read for HashedReader {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.file.read(buffer)?;
        self.hash.update(&buffer[..read]);
        Ok(read)
    }
}

/// A place in a game's tree of moves.
#[derive(Clone)]
struct Node {
    board: Board,
    id: u32,
}

/// The last move's position and the one before it, where variations branch off.
#[derive(Clone)]
struct Line {
    before: Node,
    after: Node,
}

struct Tree {
    line: Line,
    outer: Vec<Line>,
    nodes: u32,
    game: Game,
}

struct GameReader;

impl Visitor for GameReader {
    type Tags = Board;
    type Movetext = Tree;
    type Output = Result<Game>;

    fn begin_tags(&mut self) -> ControlFlow<Self::Output, Self::Tags> {
        ControlFlow::Continue(Board::startpos())
    }

    fn tag(
        &mut self,
        start: &mut Board,
        name: &[u8],
        value: RawTag<'_>,
    ) -> ControlFlow<Self::Output> {
        if name == b"FEN" {
            match Position::from_fen(&value.decode_utf8_lossy()) {
                Ok(position) => *start = position.board().clone(),
                Err(error) => return ControlFlow::Break(Err(error)),
            }
        }
        ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, start: Board) -> ControlFlow<Self::Output, Self::Movetext> {
        let root = Node { board: start, id: 0 };
        let line = Line { before: root.clone(), after: root };
        ControlFlow::Continue(Tree { line, outer: Vec::new(), nodes: 1, game: Vec::new() })
    }

    fn san(&mut self, tree: &mut Tree, san: SanPlus) -> ControlFlow<Self::Output> {
        let before = tree.line.after.clone();
        let Some(mv) = find_move(&before.board, &san.san) else {
            let error = anyhow::anyhow!("move '{san}' is not legal in '{}'", before.board);
            return ControlFlow::Break(Err(error));
        };
        let mut board = before.board.clone();
        board.play_unchecked(mv);
        tree.line = Line { before, after: Node { board, id: tree.nodes } };
        tree.nodes += 1;
        ControlFlow::Continue(())
    }

    fn comment(&mut self, tree: &mut Tree, comment: RawComment<'_>) -> ControlFlow<Self::Output> {
        let Line { before, after } = &tree.line;
        // A finished game's position is never encoded: its value is exact.
        if let Some(label) = read_label(comment.as_bytes())
            && after.board.generate_moves(|_| true)
        {
            let position = PackedPosition::new(&after.board, label);
            tree.game.push(LabelledPosition { position, parent: before.id });
        }
        ControlFlow::Continue(())
    }

    fn begin_variation(&mut self, tree: &mut Tree) -> ControlFlow<Self::Output, Skip> {
        tree.outer.push(tree.line.clone());
        tree.line.after = tree.line.before.clone();
        ControlFlow::Continue(Skip(false))
    }

    fn end_variation(&mut self, tree: &mut Tree) -> ControlFlow<Self::Output> {
        if let Some(line) = tree.outer.pop() {
            tree.line = line;
        }
        ControlFlow::Continue(())
    }

    fn end_game(&mut self, tree: Tree) -> Self::Output {
        Ok(tree.game)
    }
}

/// The evaluation in a comment: `[%eval 0.25]`, `[%eval #-3]`, with or without `,depth`.
fn read_label(comment: &[u8]) -> Option<Label> {
    let text = std::str::from_utf8(comment).ok()?;
    let (_, rest) = text.split_once("[%eval ")?;
    let (value, _) = rest.split_once([']', ','])?;
    match value.trim().strip_prefix('#') {
        Some(moves) => Some(Label::Mate(!moves.starts_with('-'))),
        None => {
            let pawns: f64 = value.trim().parse().ok()?;
            Some(Label::Centipawns((pawns * 100.0).round() as i32))
        }
    }
}

/// The one legal move that a SAN stands for.
fn find_move(board: &Board, san: &San) -> Option<Move> {
    let us = board.side_to_move();
    match *san {
        San::Castle(side) => {
            let rights = board.castle_rights(us);
            let rook = match side {
                CastlingSide::KingSide => rights.short?,
                CastlingSide::QueenSide => rights.long?,
            };
            let to = Square::new(rook, Rank::First.relative_to(us));
            let mv = Move { from: board.king(us), to, promotion: None };
            board.is_legal(mv).then_some(mv)
        }
        San::Normal { role, file, rank, to, promotion, .. } => {
            let to = Square::try_index(to.to_usize())?;
            let mut from = board.colored_pieces(us, piece(role));
            if let Some(file) = file {
                from &= cozy_chess::File::try_index(file.to_usize())?.bitboard();
            }
            if let Some(rank) = rank {
                from &= Rank::try_index(rank.to_usize())?.bitboard();
            }
            let promotion = promotion.map(piece);
            let mut found = BitBoard::EMPTY;
            board.generate_moves_for(from, |moves| {
                if moves.has(Move { from: moves.from, to, promotion }) && !board.colors(us).has(to)
                {
                    found |= moves.from.bitboard();
                }
                false
            });
            (found.len() == 1).then_some(Move { from: found.next_square()?, to, promotion })
        }
        San::Put { .. } | San::Null => None,
    }
}

fn piece(role: Role) -> Piece {
    match role {
        Role::Pawn => Piece::Pawn,
        Role::Knight => Piece::Knight,
        Role::Bishop => Piece::Bishop,
        Role::Rook => Piece::Rook,
        Role::Queen => Piece::Queen,
        Role::King => Piece::King,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn games(text: &str) -> Result<Game> {
        let mut reader = Reader::new(text.as_bytes());
        reader.read_game(&mut GameReader)?.context("no game")?
    }

    #[test]
    fn variations_are_siblings() -> Result<()> {
        let game = games(
            "1. e4 { [%eval 0.25] } ( 1. d4 { [%eval 0.20,30] } 1... d5 { [%eval 0.21] } ) \
             ( 1. f3 { [%eval -0.5] } ) 1... e5 { [%eval #-12] } *",
        )?;
        let parents: Vec<u32> = game.iter().map(|labelled| labelled.parent).collect();
        assert_eq!(parents[0], parents[1]);
        assert_eq!(parents[0], parents[3]);
        assert_ne!(parents[1], parents[2]);
        assert_ne!(parents[4], parents[0]);
        for (labelled, label) in game.iter().zip([25, 20, 21, -50].map(Label::Centipawns)) {
            let expected = PackedPosition::new(&labelled.position.board(), label);
            assert_eq!(labelled.position, expected);
        }
        assert!(game[4].position.is_mate());
        assert_eq!(
            game[2].position.board().to_string(),
            "rnbqkbnr/ppp1pppp/8/3p4/3P4/8/PPP1PPPP/RNBQKBNR w KQkq d6 0 2"
        );
        Ok(())
    }

    #[test]
    fn an_illegal_move_is_an_error() {
        let error = games("1. e4 { [%eval 0.25] } 1... Qh4 *").expect_err("no such move");
        assert!(error.to_string().contains("'Qh4' is not legal"), "{error}");
    }

    #[test]
    fn finished_games_are_left_out() -> Result<()> {
        let game = games("1. f3 { [%eval 0] } 1... e5 2. g4 2... Qh4# { [%eval #0] } 0-1")?;
        assert_eq!(game.len(), 1);
        Ok(())
    }
}
