//! PGN with `[%eval]` comments, variations included.
//!
//! The evaluation after a move is the label of the position after it, in pawns or `#n` from White's view; one before
//! the first move is the label of the game's start. Moves of a variation are siblings of the move before which it
//! starts.

use std::io::BufRead;
use std::ops::ControlFlow;

use anyhow::{Context, Result, anyhow};
use azimuth_chess::position::Position;
use cozy_chess::{BitBoard, Board, File, Move, Piece, Rank, Square};
use pgn_reader::shakmaty::{CastlingSide, Role, san::San};
use pgn_reader::{RawComment, RawTag, Reader, SanPlus, Skip, Visitor};

use super::games::{BadRecord, Games, Skipped, skip};
use crate::data::family::{ContentHash, Family, Game, Labels, check_length};
use crate::data::label::Label;

/// Nodes of a game's tree without labels count as well: they take memory too.
const NODES_A_LABEL: usize = 4;

/// Variants whose rules are chess's.
const CHESS: [&str; 5] = ["standard", "chess", "from position", "chess960", "fischerandom"];

/// The games of a file.
pub struct Pgn {
    reader: Reader<Box<dyn BufRead + Send>>,
    taken: u64,
}

impl Pgn {
    /// The games of `input`.
    pub fn new(input: Box<dyn BufRead + Send>) -> Self {
        Self { reader: Reader::new(input), taken: 0 }
    }
}

impl Games for Pgn {
    fn next(&mut self, skipped: &mut Skipped) -> Result<Option<Game>> {
        loop {
            let name = format!("game {}", self.taken + 1);
            let Some(read) = self.reader.read_game(&mut GameReader).context(name.clone())? else {
                return Ok(None);
            };
            self.taken += 1;
            match read.context(BadRecord(name))? {
                Read::Variant => skip(skipped, "game of another variant"),
                Read::Game { game, finished } => {
                    (0..finished).for_each(|_| skip(skipped, "game over"));
                    if !game.families.is_empty() {
                        return Ok(Some(game));
                    }
                    skip(skipped, "game without labels");
                }
            }
        }
    }

    fn record(&self) -> u64 {
        self.taken
    }

    fn skip_to(&mut self, record: u64) -> Result<()> {
        while self.taken < record && self.reader.skip_game()? {
            self.taken += 1;
        }
        Ok(())
    }
}

/// What a game comes to.
enum Read {
    /// Rules that are not chess's.
    Variant,
    /// Its labels, and how many labels of finished games were left out.
    Game { game: Game, finished: u64 },
}

/// A place in a game's tree of moves.
#[derive(Clone)]
struct Node {
    board: Board,
    id: u32,
    /// The move that leads there.
    mv: Option<Move>,
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
    /// Labels with the nodes that they are children of, in the order of the file.
    labelled: Vec<(u32, Family)>,
    content: ContentHash,
    finished: u64,
}

#[derive(Default)]
struct Tags {
    fen: Option<String>,
    other_variant: bool,
}

struct GameReader;

impl Visitor for GameReader {
    type Tags = Tags;
    type Movetext = Tree;
    type Output = Result<Read>;

    fn begin_tags(&mut self) -> ControlFlow<Self::Output, Self::Tags> {
        ControlFlow::Continue(Tags::default())
    }

    fn tag(
        &mut self,
        tags: &mut Tags,
        name: &[u8],
        value: RawTag<'_>,
    ) -> ControlFlow<Self::Output> {
        match name {
            b"FEN" => tags.fen = Some(value.decode_utf8_lossy().into_owned()),
            b"Variant" => {
                let variant = value.decode_utf8_lossy().to_lowercase();
                tags.other_variant = !CHESS.contains(&variant.trim());
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, tags: Tags) -> ControlFlow<Self::Output, Self::Movetext> {
        if tags.other_variant {
            return ControlFlow::Break(Ok(Read::Variant));
        }
        let start = match tags.fen.as_deref().map(Position::from_fen) {
            None => Board::startpos(),
            Some(Ok(position)) => position.board().clone(),
            Some(Err(error)) => return ControlFlow::Break(Err(error)),
        };
        let root = Node { board: start, id: 0, mv: None };
        let line = Line { before: root.clone(), after: root };
        ControlFlow::Continue(Tree {
            line,
            outer: Vec::new(),
            nodes: 1,
            labelled: Vec::new(),
            content: ContentHash::default(),
            finished: 0,
        })
    }

    fn san(&mut self, tree: &mut Tree, san: SanPlus) -> ControlFlow<Self::Output> {
        let before = tree.line.after.clone();
        let Some(mv) = find_move(&before.board, &san.san) else {
            let error = anyhow!("move '{san}' is not legal in '{}'", before.board);
            return ControlFlow::Break(Err(error));
        };
        let mut board = before.board.clone();
        board.play_unchecked(mv);
        tree.line = Line { before, after: Node { board, id: tree.nodes, mv: Some(mv) } };
        tree.nodes += 1;
        bounded(tree.nodes as usize / NODES_A_LABEL)
    }

    fn comment(&mut self, tree: &mut Tree, comment: RawComment<'_>) -> ControlFlow<Self::Output> {
        let Line { before, after } = &tree.line;
        let Some(label) = read_label(comment.as_bytes()) else {
            return ControlFlow::Continue(());
        };
        // Before a variation's first move, where it says again what stands behind the move before.
        if after.id == before.id && after.mv.is_some() {
            return ControlFlow::Continue(());
        }
        // A finished game's position is never encoded: its value is exact.
        if !after.board.generate_moves(|_| true) {
            tree.finished += 1;
            return ControlFlow::Continue(());
        }
        tree.content.add(&after.board, label);
        tree.labelled.push(match after.mv {
            None => (after.id, Family::own(after.board.clone(), label)),
            // The start's own label comes before those of its children.
            Some(mv) => {
                let labels = Labels::Children(vec![(mv, label)]);
                (before.id + 1, Family { board: before.board.clone(), labels })
            }
        });
        bounded(tree.labelled.len())
    }

    fn begin_variation(&mut self, tree: &mut Tree) -> ControlFlow<Self::Output, Skip> {
        tree.outer.push(tree.line.clone());
        tree.line.after = tree.line.before.clone();
        bounded(tree.outer.len()).map_continue(|()| Skip(false))
    }

    fn end_variation(&mut self, tree: &mut Tree) -> ControlFlow<Self::Output> {
        if let Some(line) = tree.outer.pop() {
            tree.line = line;
        }
        ControlFlow::Continue(())
    }

    fn end_game(&mut self, tree: Tree) -> Self::Output {
        let split = tree.content.split();
        let families = joined(tree.labelled);
        Ok(Read::Game { game: Game { split, families }, finished: tree.finished })
    }
}

/// Ends the reading of a game that goes on for ever.
fn bounded(length: usize) -> ControlFlow<Result<Read>> {
    match check_length(length) {
        Ok(()) => ControlFlow::Continue(()),
        Err(error) => ControlFlow::Break(Err(error)),
    }
}

/// Families of one child each, as families of all children of a node.
fn joined(mut labelled: Vec<(u32, Family)>) -> Vec<Family> {
    // Variations within variations stand between a move and its later siblings.
    labelled.sort_by_key(|(node, _)| *node);
    let mut families: Vec<(u32, Family)> = Vec::with_capacity(labelled.len());
    for (node, family) in labelled {
        match (families.last_mut(), family.labels) {
            (
                Some((last, Family { labels: Labels::Children(children), .. })),
                Labels::Children(more),
            ) if *last == node => {
                // A move that is labelled again keeps its first label.
                let new = |mv: Move| !children.iter().any(|(known, _)| *known == mv);
                let more: Vec<_> = more.into_iter().filter(|&(mv, _)| new(mv)).collect();
                children.extend(more);
            }
            (_, labels) => families.push((node, Family { board: family.board, labels })),
        }
    }
    families.into_iter().map(|(_, family)| family).collect()
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
                from &= File::try_index(file.to_usize())?.bitboard();
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

    fn game(text: &'static str) -> Result<Option<Game>> {
        Pgn::new(Box::new(text.as_bytes())).next(&mut Skipped::new())
    }

    fn families(text: &'static str) -> Result<Vec<Family>> {
        Ok(game(text)?.context("no game")?.families)
    }

    #[test]
    fn variations_are_siblings() -> Result<()> {
        let families = families(
            "1. e4 { [%eval 0.25] } ( 1. d4 { [%eval 0.20,30] } 1... d5 { [%eval 0.21] } ) \
             ( 1. f3 { [%eval -0.5] } ) 1... e5 { [%eval #-12] } *",
        )?;
        let labels: Vec<Vec<Label>> = families
            .iter()
            .map(|family| family.positions().map(|(_, label)| label).collect())
            .collect();
        let centipawns = |values: &[i32]| values.iter().map(|&v| Label::Centipawns(v)).collect();
        let expected: [Vec<Label>; 3] =
            [centipawns(&[25, 20, -50]), vec![Label::Mate(false)], centipawns(&[21])];
        assert_eq!(labels, expected);
        let (after_d5, _) = families[2].positions().next().context("a child")?;
        assert_eq!(
            after_d5.to_string(),
            "rnbqkbnr/ppp1pppp/8/3p4/3P4/8/PPP1PPPP/RNBQKBNR w KQkq d6 0 2"
        );
        Ok(())
    }

    #[test]
    fn a_label_before_the_first_move_is_the_starts() -> Result<()> {
        let families = families("{ [%eval 0.3] } 1. e4 { [%eval 0.25] } *")?;
        assert_eq!(families[0], Family::own(Board::startpos(), Label::Centipawns(30)));
        assert_eq!(families[1].len(), 1);
        Ok(())
    }

    #[test]
    fn a_label_before_a_variations_first_move_is_known_already() -> Result<()> {
        let families = families(
            "1. e4 { [%eval 0.3] } 1... e5 { [%eval 0.2] } ( { [%eval 9] } 1... c5 { [%eval 0.4] } ) *",
        )?;
        assert_eq!(families.iter().map(Family::len).collect::<Vec<_>>(), [1, 2]);
        Ok(())
    }

    #[test]
    fn an_illegal_move_is_an_error() {
        let error = game("1. e4 { [%eval 0.25] } 1... Qh4 *").expect_err("no such move");
        assert!(format!("{error:#}").contains("game 1: move 'Qh4' is not legal"), "{error:#}");
    }

    #[test]
    fn what_has_no_use_is_counted() -> Result<()> {
        let text = "1. f3 { [%eval 0] } 1... e5 2. g4 2... Qh4# { [%eval #0] } 0-1\n\n\
                    [Variant \"Atomic\"]\n\n1. Nf3 { [%eval 0] } *\n\n1. e4 *\n\n\
                    [Variant \"Chess960\"]\n\n1. e4 { [%eval 0.2] } *\n";
        let (mut pgn, mut skipped) = (Pgn::new(Box::new(text.as_bytes())), Skipped::new());
        assert_eq!(pgn.next(&mut skipped)?.map(|game| game.len()), Some(1));
        assert_eq!(pgn.next(&mut skipped)?.map(|game| game.len()), Some(1));
        assert!(pgn.next(&mut skipped)?.is_none());
        assert_eq!(pgn.record(), 4);
        let expected = ["game of another variant", "game over", "game without labels"];
        assert_eq!(skipped, expected.map(|reason| (reason.to_owned(), 1)).into());

        let mut pgn = Pgn::new(Box::new(text.as_bytes()));
        pgn.skip_to(3)?;
        assert_eq!(pgn.next(&mut skipped)?.map(|game| game.len()), Some(1));
        Ok(())
    }
}
