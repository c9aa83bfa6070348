//! Names the tactics of a line: discovered attacks, forks, skewers, pins, removed defenders and
//! trapped pieces. A tactic counts only if the line carries it out. Also names patterns of mates.

use azimuth_chess::placement::{Placement, piece_attacks};
use azimuth_chess::position::legal_moves;
use azimuth_chess::see::{StaticExchange, piece_value};
use cozy_chess::{
    BitBoard, Board, Color, Move, Piece, Rank, Square, get_between_rays, get_king_moves,
    get_line_rays,
};

use super::chess_terms::{boards_along, listed, name};

/// Number of plies after a tactic within which the line must carry it out.
const SOON: usize = 4;

/// A tactic of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tactic {
    /// Index of its move in the line.
    pub ply: usize,
    /// `forks the king and the rook`.
    pub phrase: String,
}

/// The first tactic of `side` in `line`.
pub fn tactic(board: &Board, line: &[Move], side: Color) -> Option<Tactic> {
    let boards = boards_along(board, line);
    (0..line.len()).filter(|&ply| boards[ply].side_to_move() == side).find_map(|ply| {
        let (before, after) = (&boards[ply], &boards[ply + 1]);
        let step = Step { side, before, after, mv: line[ply], rest: &line[ply + 1..] };
        Some(Tactic { ply, phrase: step.phrase()? })
    })
}

/// Whether `mv` captures a piece that guards the target of `threat`, a legal move of the same side.
pub fn removes_guard(board: &Board, mv: Move, threat: Move) -> bool {
    let enemies = board.colors(!board.side_to_move());
    enemies.has(mv.to) && board.is_legal(threat) && attacks(board, mv.to).has(threat.to)
}

/// The pattern of a mate, as in `a smothered mate`.
pub fn mate_pattern(mated: &Board) -> Option<&'static str> {
    let side = mated.side_to_move();
    let (king, own) = (mated.king(side), mated.colors(side));
    let checker = mated.checkers().next_square()?;
    let around = get_king_moves(king);
    match mated.piece_on(checker)? {
        Piece::Knight if (around & !own).is_empty() => Some("a smothered mate"),
        Piece::Rook | Piece::Queen => {
            let back = Rank::First.relative_to(side);
            let front = around & Rank::Second.relative_to(side).bitboard();
            let is_shut_in = 2 * (front & own).len() > front.len();
            let is_back_rank = king.rank() == back && checker.rank() == back;
            (is_back_rank && is_shut_in).then_some("a back-rank mate")
        }
        _ => None,
    }
}

/// A move of a line.
struct Step<'a> {
    /// The side that makes the move.
    side: Color,
    before: &'a Board,
    after: &'a Board,
    mv: Move,
    /// The moves after it.
    rest: &'a [Move],
}

impl Step<'_> {
    fn phrase(&self) -> Option<String> {
        self.discovered_attack()
            .or_else(|| self.fork())
            .or_else(|| self.skewer_or_pin())
            .or_else(|| self.capture_despite_pinned())
            .or_else(|| self.attack_on_pinned())
            .or_else(|| self.removed_defender())
            .or_else(|| self.trap())
    }

    fn discovered_attack(&self) -> Option<String> {
        let sliders = self.after.colors(self.side) & !self.mv.to.bitboard();
        sliders.into_iter().find_map(|slider| {
            let opened = attacks(self.after, slider) & !attacks(self.before, slider);
            let behind = |target: &Square| get_between_rays(slider, *target).has(self.mv.from);
            let mut targets = (opened & self.enemies()).into_iter().filter(behind);
            targets.find_map(|target| {
                if self.piece(target) == Piece::King {
                    let double = self.after.checkers().len() > 1;
                    let check =
                        if double { "gives double check" } else { "gives discovered check" };
                    return Some(check.to_owned());
                }
                let wins = self.gain(slider, target) > 0 && self.captures(target, Some(slider));
                wins.then(|| format!("discovers an attack on the {}", self.name(target)))
            })
        })
    }

    fn fork(&self) -> Option<String> {
        // Castling moves two pieces.
        let moved = self.after.colors(self.side) & !self.before.colors(self.side);
        let attacked = |from: Square| {
            let attacked = (attacks(self.after, from) & self.enemies()).into_iter();
            attacked.filter(move |&target| {
                self.piece(target) == Piece::King || self.gain(from, target) > 0
            })
        };
        let wins = |from: Square| attacked(from).any(|it| self.captures(it, Some(from)));
        let targets: BitBoard = moved.into_iter().flat_map(attacked).collect();
        let pieces: Vec<Piece> = targets.into_iter().map(|target| self.piece(target)).collect();
        let only_pawns = pieces.iter().all(|&piece| piece == Piece::Pawn);
        let is_fork = pieces.len() > 1 && !only_pawns && moved.into_iter().any(wins);
        is_fork.then(|| format!("forks {}", listed("the", &pieces)))
    }

    /// An attack on a piece that has no safe move and is lost.
    fn trap(&self) -> Option<String> {
        if !self.after.checkers().is_empty() {
            return None;
        }
        let (attacker, placement) = (self.mv.to, Placement::of(self.after));
        let exchange = StaticExchange::new(&placement);
        let mut attacked = (attacks(self.after, attacker) & self.enemies()).into_iter();
        let trapped = attacked.find(|&square| {
            let is_piece = !matches!(self.piece(square), Piece::Pawn | Piece::King);
            let mut moves = legal_moves(self.after).into_iter();
            is_piece
                && self.gain(attacker, square) > 0
                && moves.all(|mv| mv.from != square || exchange.see_of_move(mv) < 0)
                && self.falls(square)
        })?;
        Some(format!("traps the {}", self.name(trapped)))
    }

    /// An attack along a line on which two enemy pieces stand. In a skewer, the front one is worth
    /// as much as the other or more and moves away; in a pin, it is worth less and is lost.
    fn skewer_or_pin(&self) -> Option<String> {
        let slider = self.mv.to;
        self.pairs(slider).find_map(|(front, back)| {
            let [front_name, back_name] = [front, back].map(|square| self.name(square));
            let [front_value, back_value] =
                [front, back].map(|square| piece_value(Some(self.piece(square))));
            let moves_away = self.rest.first().is_some_and(|reply| reply.from == front);
            if front_value >= back_value && moves_away && self.captures(back, Some(slider)) {
                return Some(format!("skewers the {front_name} and the {back_name}"));
            }
            let pins = front_value < back_value && self.captures(front, None);
            pins.then(|| format!("pins the {front_name} to the {back_name}"))
        })
    }

    fn attack_on_pinned(&self) -> Option<String> {
        let attacked = attacks(self.after, self.mv.to) & self.enemies();
        let sliders = self.after.colors(self.side) & !self.mv.to.bitboard();
        sliders.into_iter().flat_map(|slider| self.pairs(slider)).find_map(|(front, back)| {
            let is_pinned =
                piece_value(Some(self.piece(front))) < piece_value(Some(self.piece(back)));
            let wins = is_pinned && attacked.has(front) && self.captures(front, None);
            wins.then(|| format!("attacks the pinned {}", self.name(front)))
        })
    }

    /// A capture that only a pinned piece could answer.
    fn capture_despite_pinned(&self) -> Option<String> {
        let (to, king) = (self.mv.to, self.after.king(!self.side));
        if !self.before.colors(!self.side).has(to) {
            return None;
        }
        let mut pinned = (self.after.pinned() & self.enemies()).into_iter();
        let defender = pinned.find(|&pinned| {
            attacks(self.after, pinned).has(to) && !get_line_rays(king, pinned).has(to)
        })?;
        let recaptured = legal_moves(self.after).into_iter().any(|reply| reply.to == to);
        let uses = || format!("uses the pin of the {} on {defender}", self.name(defender));
        (!recaptured).then(uses)
    }

    fn removed_defender(&self) -> Option<String> {
        if !self.before.colors(!self.side).has(self.mv.to) {
            return None;
        }
        let defended = attacks(self.before, self.mv.to) & self.enemies();
        let left_alone = defended.into_iter().find(|&square| {
            let pays = |board: &Board| {
                let placement = Placement::of(board);
                let exchange = StaticExchange::new(&placement);
                exchange.see_on(square, self.piece(square), !self.side) > Some(0)
            };
            let is_king = self.piece(square) == Piece::King;
            !is_king && !pays(self.before) && pays(self.after) && self.captures(square, None)
        });
        left_alone.map(|square| format!("removes the defender of the {}", self.name(square)))
    }

    fn enemies(&self) -> BitBoard {
        self.after.colors(!self.side)
    }

    /// The piece on an occupied square after the move.
    fn piece(&self, square: Square) -> Piece {
        self.after.piece_on(square).unwrap_or(Piece::Pawn)
    }

    fn name(&self, square: Square) -> &'static str {
        name(self.piece(square))
    }

    /// Material gain of the capture from `from` on `to`, if the side moved again.
    fn gain(&self, from: Square, to: Square) -> i32 {
        let placement = Placement { side_to_move: self.side, ..Placement::of(self.after) };
        StaticExchange::new(&placement).see_of_move(Move { from, to, promotion: None })
    }

    /// The enemy pieces that a slider attacks, other than pawns that stand behind another piece,
    /// each with the enemy piece behind it.
    fn pairs(&self, slider: Square) -> impl Iterator<Item = (Square, Square)> {
        let occupied = self.after.occupied();
        let attacked = attacks_through(self.after, slider, occupied);
        let piece = self.after.piece_on(slider);
        let is_slider = matches!(piece, Some(Piece::Bishop | Piece::Rook | Piece::Queen));
        let fronts = if is_slider { attacked & self.enemies() } else { BitBoard::EMPTY };
        fronts.into_iter().filter_map(move |front| {
            let through = attacks_through(self.after, slider, occupied ^ front.bitboard());
            let behind = through & !attacked & self.enemies();
            let back = behind.into_iter().find(|&back| self.piece(back) != Piece::Pawn)?;
            Some((front, back))
        })
    }

    /// Whether the line soon captures the piece on `square`, there or where it goes, and no other
    /// piece captures the moved one first.
    fn falls(&self, square: Square) -> bool {
        let mut stands = square;
        for (index, mv) in self.rest.iter().enumerate().take(SOON) {
            if index == 0 && mv.to == self.mv.to && mv.from != square {
                return false;
            }
            if index % 2 == 1 && mv.to == stands {
                return true;
            }
            if mv.from == stands {
                stands = mv.to;
            }
        }
        false
    }

    /// Whether the line soon captures the piece on `square` there, with the piece on `by` if that
    /// is given.
    fn captures(&self, square: Square, by: Option<Square>) -> bool {
        for (index, mv) in self.rest.iter().enumerate().take(SOON) {
            let is_own = index % 2 == 1;
            if is_own && mv.to == square {
                return by.is_none_or(|by| mv.from == by);
            }
            let leaves = if is_own { Some(mv.from) == by } else { mv.from == square };
            if leaves || !is_own && Some(mv.to) == by {
                return false;
            }
        }
        false
    }
}

/// The squares that the piece on `square` attacks.
fn attacks(board: &Board, square: Square) -> BitBoard {
    attacks_through(board, square, board.occupied())
}

fn attacks_through(board: &Board, square: Square, occupied: BitBoard) -> BitBoard {
    let Some((piece, color)) = board.piece_on(square).zip(board.color_on(square)) else {
        return BitBoard::EMPTY;
    };
    piece_attacks(piece, color, square, occupied)
}

#[cfg(test)]
mod tests {
    use anyhow::Result;
    use azimuth_chess::position::Position;

    use super::super::chess_terms::tests::board_and_line;
    use super::*;

    #[test]
    fn tactics_have_the_usual_names() -> Result<()> {
        for (fen, line, expected) in [
            ("r3k3/8/8/3N4/8/8/8/4K3 w - - 0 1", "Nc7+ Kd7 Nxa8", "forks the king and the rook"),
            (
                "4q3/8/4k3/8/8/8/8/3R2K1 w - - 0 1",
                "Re1+ Kf7 Rxe8",
                "skewers the king and the queen",
            ),
            ("4k3/8/4q3/8/8/8/8/3R1K2 w - - 0 1", "Re1 Kd7 Rxe6", "pins the queen to the king"),
            ("3r2k1/8/8/3n4/8/8/2P5/3R2K1 w - - 0 1", "c4 Kf7 cxd5", "attacks the pinned knight"),
            ("5rk1/5p2/6q1/8/2B5/8/8/6QK w - - 0 1", "Qxg6+ Kh8", "uses the pin of the pawn on f7"),
            (
                "3qk3/8/8/8/8/3B4/8/3R2K1 w - - 0 1",
                "Bb5+ Ke7 Rxd8",
                "discovers an attack on the queen",
            ),
            ("4k3/8/8/4N3/8/8/4Q3/4K3 w - - 0 1", "Nc6+ Kd7", "gives discovered check"),
            (
                "6k1/6p1/5n2/3b2B1/8/8/8/3R2K1 w - - 0 1",
                "Bxf6 gxf6 Rxd5",
                "removes the defender of the bishop",
            ),
        ] {
            let (board, line) = board_and_line(fen, line)?;
            let found = tactic(&board, &line, Color::White).map(|found| found.phrase);
            assert_eq!(found.as_deref(), Some(expected), "{fen}");
        }
        Ok(())
    }

    #[test]
    fn an_attack_that_the_line_does_not_carry_out_has_no_name() -> Result<()> {
        let (board, line) =
            board_and_line("r3k3/8/8/3N4/8/8/8/4K3 w - - 0 1", "Nc7+ Kd7 Nd5 Ra1+")?;
        assert_eq!(tactic(&board, &line, Color::White), None);
        Ok(())
    }

    #[test]
    fn mates_have_the_usual_names() -> Result<()> {
        for (fen, pattern) in [
            ("3R2k1/5ppp/8/8/8/8/8/6K1 b - - 0 1", Some("a back-rank mate")),
            ("6rk/5Npp/8/8/8/8/8/6K1 b - - 0 1", Some("a smothered mate")),
            ("6k1/6Q1/5K2/8/8/8/8/8 b - - 0 1", None),
        ] {
            assert_eq!(mate_pattern(Position::from_fen(fen)?.board()), pattern, "{fen}");
        }
        Ok(())
    }
}
