//! Describes a line in chess terms: material won or lost, a promotion, a new passed pawn, a draw, a
//! sacrifice. Every statement follows from the moves of the line.

use azimuth_chess::placement::Placement;
use azimuth_chess::position::{
    Ending, Position, board_after, is_capture, legal_moves, repetition_key,
};
use azimuth_chess::san::san_of_line;
use azimuth_chess::see::{StaticExchange, piece_value};
use cozy_chess::{BitBoard, Board, Color, File, GameStatus, Move, Piece, Rank, Square};

/// The material balance of a line, from the view of the side that begins it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// `wins a knight for a pawn`, `loses the exchange`, `promotes a pawn`.
    pub phrase: String,
    /// Material gain in pawns.
    pub gain: i32,
    /// Number of plies after which the gain is complete.
    pub plies: usize,
    /// Material that the side has more than the other at the end of the line, in pawns.
    pub ahead: i32,
}

/// The material that `line` wins or loses up to its last quiet position, unless later moves give it
/// back; or up to an earlier quiet position by which half of it is won for good: no later quiet
/// position gives back more than a pawn, or anything at all if such a position is within
/// `most_plies`. `None` if the line wins and loses nothing, or takes more plies.
///
/// If the line has no such outcome, positions count as quiet, too, in which the side that has lost
/// material can regain at most a pawn.
pub fn outcome(board: &Board, line: &[Move], most_plies: usize) -> Option<Outcome> {
    let boards = boards_along(board, line);
    let own = board.side_to_move();
    let nearly_settled = || {
        let is_kept = |&ply: &usize| {
            let gain = gained([board, &boards[ply]], own);
            let loser = if gain > 0 { !own } else { own };
            gain != 0 && most_gain(&boards[ply], loser).is_some_and(|regained| regained <= 1)
        };
        (1..boards.len()).filter(is_kept).collect::<Vec<usize>>()
    };
    outcome_at(&boards, &settled_plies(&boards), most_plies)
        .or_else(|| outcome_at(&boards, &nearly_settled(), most_plies))
}

/// The same for the quiet positions `settled`.
fn outcome_at(boards: &[Board], settled: &[usize], most_plies: usize) -> Option<Outcome> {
    let board = &boards[0];
    let own = board.side_to_move();
    let ahead = |ply: usize| material(&boards[ply], own) - material(&boards[ply], !own);
    let last = *settled.last()?;
    let sign = (ahead(last) - ahead(0)).signum();
    // The gain of the side that has gained in the end.
    let gain_to = |ply: usize| sign * (ahead(ply) - ahead(0));
    if (last..boards.len()).any(|ply| gain_to(ply) <= gain_to(last) / 2) {
        return None;
    }
    let gives_back = |ply: usize| {
        let later = settled.iter().filter(|&&later| later >= ply);
        later.map(|&later| gain_to(ply) - gain_to(later)).max().unwrap_or(0)
    };
    let count = |board: &Board| Color::ALL.map(|side| counts(board, side));
    let plies_to =
        |ply: usize| boards.iter().take_while(|&board| count(board) != count(&boards[ply])).count();
    let is_enough = |&ply: &usize| 2 * gain_to(ply) >= gain_to(last) && gives_back(ply) <= 1;
    let is_quoted = |&ply: &usize| plies_to(ply) <= most_plies;
    let is_kept = |ply: &usize| gives_back(*ply) == 0 && is_quoted(ply);
    let ends: Vec<usize> = settled.iter().copied().filter(is_enough).collect();
    // Less than half of a gain that is complete only later.
    let part = || {
        let kept = settled.iter().copied().rev().filter(|ply| gain_to(*ply) > 1 && is_kept(ply));
        kept.max_by_key(|&ply| gain_to(ply))
    };
    let first = ends.first().copied().filter(is_quoted);
    let end = ends.iter().copied().find(is_kept).or(first).or_else(part)?;
    let [mine, theirs] = [own, !own].map(|side| changes(side, board, &boards[end]));
    let phrase = match sign > 0 {
        true => exchanged(["wins", "promotes a pawn"], &mine, &theirs),
        false => exchanged(["loses", "lets a pawn promote"], &theirs, &mine),
    };
    let plies = plies_to(end);
    Some(Outcome { phrase, gain: sign * gain_to(end), plies, ahead: ahead(last) })
}

/// The material that `side` gains from one position to another, in pawns.
pub fn gained(boards: [&Board; 2], side: Color) -> i32 {
    let [before, after] = boards.map(|board| material(board, side) - material(board, !side));
    after - before
}

/// The most advanced pawn of `side` that is passed in the last quiet position of `line` but was not
/// at the start, and the number of plies after which it is passed.
pub fn new_passed_pawn(board: &Board, line: &[Move], side: Color) -> Option<(Square, usize)> {
    let boards = boards_along(board, line);
    let end = *settled_plies(&boards).last()?;
    let came_from = |pawn: Square| {
        let moves = line[..end].iter().rev();
        moves.fold(pawn, |square, mv| if mv.to == square { mv.from } else { square })
    };
    let pawns = boards[end].colored_pieces(side, Piece::Pawn).into_iter();
    let new = pawns.filter(|&pawn| {
        is_passed(&boards[end], pawn, side) && !is_passed(board, came_from(pawn), side)
    });
    let pawn = new.max_by_key(|pawn| pawn.rank().relative_to(side) as usize)?;
    let stands = |board: &Board| {
        board.colored_pieces(side, Piece::Pawn).has(pawn) && is_passed(board, pawn, side)
    };
    // The first ply from which the pawn stays passed.
    let first = (0..=end).rev().take_while(|&ply| stands(&boards[ply])).last()?;
    Some((pawn, first))
}

/// How a drawn line ends, as in `by stalemate`; `None` if its moves do not show it.
pub fn draw_of(root: &Position, line: &[Move]) -> Option<&'static str> {
    let end = root.after_line(line);
    match end.ending() {
        Some(Ending::Stalemate) => return Some("by stalemate"),
        Some(Ending::InsufficientMaterial) => {
            return Some("because in the end neither side can mate");
        }
        Some(Ending::FiftyMoves) => return Some("by the fifty-move rule"),
        Some(Ending::Checkmate { .. }) => return None,
        Some(Ending::Repetition) | None => {}
    }
    let key = repetition_key(end.board());
    let since = 1 + end.history().iter().rev().position(|&earlier| earlier == key)?;
    let boards = boards_along(root.board(), line);
    let cycle = &boards[boards.len() - since.min(line.len())..];
    // In a cycle the sides take turns: one of them has given all checks.
    let checks = |first: usize| {
        let mut after = cycle.iter().rev().skip(first).step_by(2);
        after.all(|board| !board.checkers().is_empty())
    };
    let is_perpetual = cycle.len() > 1 && (checks(0) || checks(1));
    Some(if is_perpetual { "by perpetual check" } else { "by repetition" })
}

/// A move that mates at once in `passed`, the position after a side has passed.
pub fn mate_threat(passed: &Board) -> Option<Move> {
    let mates = |mv: &Move| board_after(passed, *mv).status() == GameStatus::Won;
    legal_moves(passed).into_iter().find(mates)
}

/// The capture of the side to move that wins most material by exchanges on its square, if one pays.
pub fn best_capture(board: &Board) -> Option<Move> {
    let captures = legal_moves(board).into_iter().filter(|&mv| is_capture(board, mv));
    let paying = captures.filter(|&mv| gain_of(board, mv) > 0);
    paying.max_by_key(|&mv| gain_of(board, mv))
}

/// The piece that a line sacrifices with its first move: the reply captures it, at a loss of more
/// than a pawn.
pub fn sacrificed(board: &Board, line: &[Move]) -> Option<Piece> {
    let [mv, reply, ..] = line else { return None };
    let is_offered = gain_of(board, *mv) < -1;
    (is_offered && reply.to == mv.to).then(|| board.piece_on(mv.from))?
}

/// A sacrifice that the king captures, the square beyond its second rank to which this draws the
/// king, and the number of plies until then.
pub fn drawn_out(board: &Board, line: &[Move]) -> Option<(Piece, Square, usize)> {
    let piece = sacrificed(board, line)?;
    let boards = boards_along(board, line);
    let theirs = !board.side_to_move();
    let is_taken_by_king = boards[1].king(theirs) == line[1].from;
    let is_out = |board: &Board| board.king(theirs).rank().relative_to(theirs) >= Rank::Third;
    let plies = boards.iter().position(is_out).filter(|&plies| plies > 0)?;
    is_taken_by_king.then(|| (piece, boards[plies].king(theirs), plies))
}

/// The material that one side has more than the other, if it is more than a pawn: `White has a rook
/// against a bishop`.
pub fn surplus(board: &Board) -> Option<String> {
    let [white, black] = Color::ALL.map(|side| material(board, side));
    let stronger = if white > black { Color::White } else { Color::Black };
    let [more, less] = [stronger, !stronger].map(|side| {
        let of_kind = |piece| board.colored_pieces(side, piece).into_iter().map(move |_| piece);
        Piece::ALL.into_iter().flat_map(of_kind).collect::<Vec<Piece>>()
    });
    let (more, less) = without_equals(&more, &less);
    let has = format!("{} has {}", side_name(stronger), listed("a", &more));
    (white.abs_diff(black) > 1).then(|| match less.as_slice() {
        [] => format!("{has} more"),
        less => format!("{has} against {}", listed("a", less)),
    })
}

/// The promotion square of a rook's pawn that its side's bishop does not control, if the side has
/// nothing else and the other side only a king.
pub fn wrong_corner(board: &Board) -> Option<Square> {
    let side = Color::ALL.into_iter().find(|&side| board.colors(!side).len() == 1)?;
    let [pawns, bishops] =
        [Piece::Pawn, Piece::Bishop].map(|piece| board.colored_pieces(side, piece));
    let file = pawns.next_square()?.file();
    let corner = Square::new(file, Rank::Eighth.relative_to(side));
    let is_dark = BitBoard::DARK_SQUARES.has(corner);
    let others = if is_dark { BitBoard::LIGHT_SQUARES } else { BitBoard::DARK_SQUARES };
    let is_alone = 1 + pawns.len() + bishops.len() == board.colors(side).len();
    let is_rooks = matches!(file, File::A | File::H) && pawns.is_subset(file.bitboard());
    let is_wrong = !bishops.is_empty() && bishops.is_subset(others);
    (is_alone && is_rooks && is_wrong).then_some(corner)
}

/// Whether no capture or promotion pays for either side.
pub fn is_settled(board: &Board) -> bool {
    Color::ALL.into_iter().all(|side| most_gain(board, side).is_some_and(|gain| gain <= 0))
}

/// The boards before, between and after the moves of a line.
pub fn boards_along(board: &Board, line: &[Move]) -> Vec<Board> {
    let mut boards = vec![board.clone()];
    for &mv in line {
        boards.push(board_after(&boards[boards.len() - 1], mv));
    }
    boards
}

/// Indices of the settled positions other than the first.
fn settled_plies(boards: &[Board]) -> Vec<usize> {
    (1..boards.len()).filter(|&ply| is_settled(&boards[ply])).collect()
}

/// The most that a capture or promotion of `side` gains, in pawns; `None` in check.
fn most_gain(board: &Board, side: Color) -> Option<i32> {
    let passed = board.null_move()?;
    let board = if board.side_to_move() == side { board } else { &passed };
    let placement = Placement::of(board);
    let exchange = StaticExchange::new(&placement);
    let moves = legal_moves(board).into_iter();
    let forcing = moves.filter(|&mv| is_capture(board, mv) || mv.promotion.is_some());
    Some(forcing.map(|mv| exchange.see_of_move(mv)).max().unwrap_or(0))
}

/// Material gain of a legal move after all captures on its target square.
fn gain_of(board: &Board, mv: Move) -> i32 {
    StaticExchange::new(&Placement::of(board)).see_of_move(mv)
}

fn counts(board: &Board, side: Color) -> [i32; Piece::NUM] {
    Piece::ALL.map(|piece| board.colored_pieces(side, piece).len() as i32)
}

/// The value of one side's pieces, in pawns.
fn material(board: &Board, side: Color) -> i32 {
    let pieces = Piece::ALL.into_iter().zip(counts(board, side));
    pieces.map(|(piece, count)| count * piece_value(Some(piece))).sum()
}

/// The changes in one side's material.
struct Changes {
    /// Lost pieces, most valuable first.
    lost: Vec<Piece>,
    /// Pieces that pawns promoted to and that are still on the board.
    promoted: Vec<Piece>,
}

fn changes(side: Color, before: &Board, after: &Board) -> Changes {
    let (before, after) = (counts(before, side), counts(after, side));
    let mut changes = Changes { lost: Vec::new(), promoted: Vec::new() };
    for piece in Piece::ALL.into_iter().rev() {
        let change = after[piece as usize] - before[piece as usize];
        changes.promoted.extend((0..change).map(|_| piece));
        let promoted = changes.promoted.len() as i32;
        let lost = if piece == Piece::Pawn { -change - promoted } else { -change };
        changes.lost.extend((0..lost).map(|_| piece));
    }
    changes
}

/// Names the material of an exchange and a promotion, with verbs for both.
fn exchanged([trades, promotes]: [&str; 2], winner: &Changes, loser: &Changes) -> String {
    let (got, given) = without_equals(&loser.lost, &winner.lost);
    let trade = match (got.as_slice(), given.as_slice()) {
        ([Piece::Rook], [Piece::Knight | Piece::Bishop]) => format!("{trades} the exchange"),
        (_, []) => format!("{trades} {}", listed("a", &got)),
        _ => format!("{trades} {} for {}", listed("a", &got), listed("a", &given)),
    };
    let promotes = match winner.promoted.as_slice() {
        [piece] if *piece != Piece::Queen => format!("{promotes} to a {}", name(*piece)),
        _ => promotes.to_owned(),
    };
    match (!winner.promoted.is_empty(), got.is_empty()) {
        (false, _) => trade,
        (true, false) => format!("{promotes} and {trade}"),
        (true, true) if given.iter().all(|&piece| piece == Piece::Pawn) => promotes,
        (true, true) => format!("{promotes} for {}", listed("a", &given)),
    }
}

/// Removes pairs of equal pieces from both lists. Bishops and knights are equal.
fn without_equals(some: &[Piece], others: &[Piece]) -> (Vec<Piece>, Vec<Piece>) {
    let (mut left, mut right) = (some.to_vec(), others.to_vec());
    let kinds: [fn(Piece, Piece) -> bool; 2] =
        [|a, b| a == b, |a, b| piece_value(Some(a)) == piece_value(Some(b))];
    for equal in kinds {
        left.retain(|&piece| {
            let pair = right.iter().position(|&other| equal(piece, other));
            pair.map(|place| right.remove(place)).is_none()
        });
    }
    (left, right)
}

/// `White` or `Black`.
pub fn side_name(side: Color) -> &'static str {
    match side {
        Color::White => "White",
        Color::Black => "Black",
    }
}

/// A line with its move numbers: `3... Nf6 4. Qxf7#`.
pub fn numbered(board: &Board, line: &[Move]) -> String {
    let sans = san_of_line(board, line).into_iter().enumerate();
    let words = sans.zip(boards_along(board, line)).map(|((ply, san), board)| {
        let number = board.fullmove_number();
        match board.side_to_move() {
            Color::White => format!("{number}. {san}"),
            Color::Black if ply == 0 => format!("{number}... {san}"),
            Color::Black => san,
        }
    });
    words.collect::<Vec<String>>().join(" ")
}

/// `rook`.
pub fn name(piece: Piece) -> &'static str {
    ["pawn", "knight", "bishop", "rook", "queen", "king"][piece as usize]
}

/// `a rook and two pawns`, `the king and the rook`.
pub fn listed(article: &str, pieces: &[Piece]) -> String {
    let kinds = Piece::ALL.into_iter().rev().filter_map(|kind| {
        let name = name(kind);
        match pieces.iter().filter(|&&piece| piece == kind).count() {
            0 => None,
            1 => Some(format!("{article} {name}")),
            2 => Some(format!("two {name}s")),
            3 => Some(format!("three {name}s")),
            more => Some(format!("{more} {name}s")),
        }
    });
    let mut kinds: Vec<String> = kinds.collect();
    let last = kinds.pop().unwrap_or_default();
    if kinds.is_empty() { last } else { format!("{} and {last}", kinds.join(", ")) }
}

/// Whether no enemy pawn is ahead of the pawn of `side` on `square`, on its file or an adjacent
/// one.
fn is_passed(board: &Board, square: Square, side: Color) -> bool {
    let files = square.file().bitboard() | square.file().adjacent();
    let mut theirs = (board.colored_pieces(!side, Piece::Pawn) & files).into_iter();
    theirs.all(|pawn| pawn.rank().relative_to(side) <= square.rank().relative_to(side))
}

#[cfg(test)]
pub mod tests {
    use anyhow::Result;
    use azimuth_chess::position::Position;
    use azimuth_chess::san::parse_move;

    use super::*;

    pub fn board_and_line(fen: &str, sans: &str) -> Result<(Board, Vec<Move>)> {
        let mut position = Position::from_fen(fen)?;
        let board = position.board().clone();
        let mut line = Vec::new();
        for san in sans.split_whitespace() {
            let mv = parse_move(&position, san)?;
            position.play(mv);
            line.push(mv);
        }
        Ok((board, line))
    }

    #[test]
    fn material_is_counted_where_captures_have_ended() -> Result<()> {
        for (fen, line, expected) in [
            // The knight captures a rook, and nothing recaptures.
            ("4k3/8/8/8/8/2r5/4N3/4K3 w - - 0 1", "Nxc3 Kd7", Some(("wins a rook", 5, 1))),
            ("4k3/8/8/8/3N4/8/8/r3K3 w - - 0 1", "Kd2 Ra2+ Nc2 Kd7", None),
            // The king can recapture.
            ("3qk3/8/8/8/7B/8/P7/4K3 w - - 0 1", "Bxd8", None),
            // A pawn is still attacked.
            ("r3k3/8/8/3N4/8/8/4p3/4K3 w - - 0 1", "Nc7+ Kd7 Nxa8", Some(("wins a rook", 5, 3))),
            // A fork wins the rook with the third ply.
            ("r3k3/8/8/3N4/8/8/8/4K3 w - - 0 1", "Nc7+ Kd7 Nxa8", Some(("wins a rook", 5, 3))),
            // The knight captures a defended pawn.
            (
                "4k3/8/2n5/4p3/8/5N2/8/4K3 w - - 0 1",
                "Nxe5 Nxe5 Kd2 Kd7",
                Some(("loses a knight for a pawn", -2, 2)),
            ),
            (
                "3rk3/8/8/3b4/8/8/8/3RK3 w - - 0 1",
                "Rxd5 Rxd5 Ke2",
                Some(("loses the exchange", -2, 2)),
            ),
            ("4k3/8/8/8/8/3n4/8/3R1K2 w - - 0 1", "Rxd3 Kf7", Some(("wins a knight", 3, 1))),
            ("8/P6k/8/8/8/8/8/K7 w - - 0 1", "a8=Q Kg6", Some(("promotes a pawn", 8, 1))),
            ("8/p6K/8/8/8/8/8/k7 w - - 0 1", "Kg6 a5 Kf5 a4", None),
            (
                "4k3/8/5n2/3p4/4P3/8/4N3/4K3 w - - 0 1",
                "Kf2 dxe4 Nc3 Ke7",
                Some(("loses a pawn", -1, 2)),
            ),
            // The king takes a pawn for the rook.
            (
                "8/8/8/8/6k1/2r5/4N2P/4K3 w - - 0 1",
                "Nxc3 Kh3 Kd2 Kxh2 Kd3",
                Some(("wins a rook for a pawn", 4, 4)),
            ),
            // The pawn is recaptured after the last quiet position.
            ("4k3/8/5n2/3p4/4P3/8/4N3/4K3 w - - 0 1", "Kf2 dxe4 Nc3 Ke7 Nxe4", None),
            ("8/7K/8/8/8/8/p7/2k5 w - - 0 1", "Kg6 a1=Q Kf5", Some(("lets a pawn promote", -8, 2))),
            // The rooks that are exchanged later do not count.
            (
                "3rk3/8/8/8/8/2r5/4N3/3RK3 w - - 0 1",
                "Nxc3 Rxd1+ Nxd1 Ke7",
                Some(("wins a rook", 5, 1)),
            ),
            // The rook takes a pawn that a king defends; the line ends there, or after the
            // recapture.
            ("8/8/3k4/3p4/8/8/8/3RK3 w - - 0 1", "Rxd5+", None),
            (
                "8/8/3k4/3p4/8/8/8/3RK3 w - - 0 1",
                "Rxd5+ Kxd5",
                Some(("loses a rook for a pawn", -4, 2)),
            ),
        ] {
            let (board, line) = board_and_line(fen, line)?;
            let found = outcome(&board, &line, line.len());
            let found = found.as_ref().map(|it| (it.phrase.as_str(), it.gain, it.plies));
            assert_eq!(found, expected, "{fen}");
        }
        Ok(())
    }

    #[test]
    fn a_gain_lasts_to_the_end_or_is_quoted_within_a_pawn() -> Result<()> {
        let (board, line) =
            board_and_line("8/8/8/8/6k1/2r5/4N2P/4K3 w - - 0 1", "Nxc3 Kh3 Kd2 Kxh2 Kd3")?;
        for (most_plies, expected) in [
            (5, Some(("wins a rook for a pawn", 4, 3))),
            (3, Some(("wins a rook", 1, 3))),
            (0, None),
        ] {
            let found = outcome(&board, &line, most_plies);
            let found = found.as_ref().map(|it| (it.phrase.as_str(), it.plies, it.ahead));
            assert_eq!(found, expected, "{most_plies}");
        }
        Ok(())
    }

    #[test]
    fn a_passed_pawn_is_new_only_once() -> Result<()> {
        let (board, line) =
            board_and_line("8/1p4k1/8/P7/2P5/8/8/6K1 w - - 0 1", "c5 Kf7 c6 bxc6 a6 Ke7")?;
        assert_eq!(new_passed_pawn(&board, &line, Color::White), Some((Square::A6, 5)));
        let (board, line) = board_and_line("8/6k1/8/P7/8/8/8/6K1 w - - 0 1", "a6 Kf7 a7 Ke7")?;
        assert_eq!(new_passed_pawn(&board, &line, Color::White), None);
        Ok(())
    }

    #[test]
    fn a_surplus_is_more_than_a_pawn() -> Result<()> {
        for (fen, expected) in [
            ("6bk/8/5K2/8/8/8/8/6R1 w - - 0 1", Some("White has a rook against a bishop")),
            ("7k/8/8/8/8/8/8/1n2n2K w - - 0 1", Some("Black has two knights more")),
            ("7k/p7/8/8/8/8/PP6/7K w - - 0 1", None),
        ] {
            assert_eq!(surplus(Position::from_fen(fen)?.board()).as_deref(), expected, "{fen}");
        }
        Ok(())
    }

    #[test]
    fn a_bishop_of_the_wrong_colour_does_not_control_the_corner() -> Result<()> {
        for (fen, expected) in [
            ("7k/8/6KP/8/8/8/8/5B2 w - - 0 1", Some(Square::H8)),
            ("8/8/8/8/p7/k7/6b1/K7 b - - 0 1", Some(Square::A1)),
            ("8/8/8/8/p7/k7/7b/K7 b - - 0 1", None),
            ("6k1/8/6KP/6P1/8/8/8/5B2 w - - 0 1", None),
            ("6bk/8/5K2/8/8/8/8/6R1 w - - 0 1", None),
        ] {
            let position = Position::from_fen(fen)?;
            assert_eq!(wrong_corner(position.board()), expected, "{fen}");
        }
        Ok(())
    }

    #[test]
    fn a_king_that_captures_is_drawn_out() -> Result<()> {
        let fen = "r1bqkb1r/ppp2ppp/2n5/3np1N1/2B5/8/PPPP1PPP/RNBQK2R w KQkq - 0 6";
        let (board, line) = board_and_line(fen, "Nxf7 Kxf7 Qf3+ Ke6")?;
        assert_eq!(sacrificed(&board, &line), Some(Piece::Knight));
        assert_eq!(drawn_out(&board, &line), Some((Piece::Knight, Square::E6, 4)));
        assert_eq!(drawn_out(&board, &line[..3]), None);
        Ok(())
    }
}
