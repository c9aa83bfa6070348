//! The search for `go mate`: proves a mate in the fewest moves, against every defence.
//!
//! It deepens move by move. The attacker tries all moves, checks first, and a move fails with the
//! first reply after which no mate follows. Such a reply is remembered and tried first in sibling
//! positions, so that most moves fail after one reply.

use std::collections::HashSet;

use azimuth_chess::position::{Position, board_after, legal_moves, move_count, repetition_key};
use cozy_chess::{Board, Move};

use crate::control::{Control, Report};
use crate::large_memory::slot_of;
use crate::value::Value;

/// Number of entries of the table, which take 24 bytes each.
const ENTRIES: usize = 1 << 20;

/// Maximum number of moves to a mate that is searched for.
const MOST_MOVES: u32 = 100;

/// Nodes between two looks at the limits.
const NODES_BETWEEN_CHECKS: u64 = 1024;

/// Searches for a mate in at most `moves` moves of the side to move, until the limits of `control`
/// end the search. Returns the mate; without one, subtracts the searched nodes from the node limit
/// of `control`, so that a search that follows keeps to the rest.
pub fn find_mate(root: &Position, moves: u32, control: &mut Control) -> Option<Report> {
    let root_moves = match control.limits().search_moves.as_slice() {
        [] => legal_moves(root.board()),
        moves => moves.to_vec(),
    };
    let moves = moves.min(MOST_MOVES);
    let mut search = MateSearch::new(root, moves, control);
    for length in 1..=moves {
        let found = search.first_mating(root.board(), root_moves.clone(), length, 0);
        if let Some(mv) = found {
            let pv = search.line(root.board(), mv, length);
            let plies = 2 * length - 1;
            let value = -Value::mated_in(plies);
            let (nodes, time) = (search.nodes, search.control.elapsed());
            let report = Report::of(value, pv);
            return Some(Report { depth: plies, seldepth: plies, nodes, time, ..report });
        }
        if search.stopped {
            break;
        }
    }
    search.control.take_nodes(search.nodes);
    None
}

/// The knowledge about a position.
#[derive(Clone, Copy, Default)]
struct Entry {
    key: u64,
    /// The attacker mates in at most this number of moves; 0 if that is not known.
    mates: u8,
    /// The attacker does not mate in this number of moves.
    fails: u8,
    /// The mating move, or the reply that prevents the mate.
    mv: Option<Move>,
}

impl Entry {
    /// Whether the attacker mates in at most `length` moves, if that is known.
    fn known(self, length: u32) -> Option<bool> {
        let mates = self.mates > 0 && u32::from(self.mates) <= length;
        (mates || u32::from(self.fails) >= length).then_some(mates)
    }
}

struct MateSearch<'a> {
    control: &'a mut Control,
    table: Vec<Entry>,
    /// For each ply, the last reply that prevented a mate.
    killers: Vec<Option<Move>>,
    /// Keys of positions that have occurred twice in the game: the next time is a draw.
    occurred_twice: HashSet<u64>,
    /// Whether the 50-move rule can end a line, so that the half-move clock belongs to a position.
    clock_matters: bool,
    nodes: u64,
    stopped: bool,
}

impl<'a> MateSearch<'a> {
    fn new(root: &Position, moves: u32, control: &'a mut Control) -> Self {
        let mut seen = HashSet::new();
        let earlier = root.history().iter().copied().chain([repetition_key(root.board())]);
        Self {
            control,
            table: vec![Entry::default(); ENTRIES],
            killers: vec![None; 2 * MOST_MOVES as usize + 2],
            occurred_twice: earlier.filter(|&key| !seen.insert(key)).collect(),
            clock_matters: u32::from(root.halfmove_clock()) + 2 * moves > 100,
            nodes: 0,
            stopped: false,
        }
    }

    /// A move of `moves` after which every reply leads to a mate in at most `length` moves in all.
    fn first_mating(
        &mut self,
        board: &Board,
        moves: Vec<Move>,
        length: u32,
        ply: usize,
    ) -> Option<Move> {
        let known = self.entry(board).mv;
        let mut children: Vec<(Move, Board, usize)> = Vec::with_capacity(moves.len());
        for mv in moves {
            let child = board_after(board, mv);
            let gives_check = !child.checkers().is_empty();
            // The last move must be a check.
            if length == 1 && !gives_check {
                continue;
            }
            let rank = match (length, gives_check) {
                (1, _) => 0,
                _ if Some(mv) == known => 0,
                // The fewer replies, the more forcing.
                (_, true) => 1 + move_count(&child),
                (_, false) => 1_000 + move_count(&child),
            };
            children.push((mv, child, rank));
        }
        children.sort_by_key(|(_, _, rank)| *rank);
        children.into_iter().find_map(|(mv, child, _)| {
            (!self.stopped && self.is_mated(&child, length - 1, ply + 1)).then_some(mv)
        })
    }

    /// Whether the attacker, who is to move, mates in at most `length` moves.
    fn mates(&mut self, board: &Board, length: u32, ply: usize) -> bool {
        if self.is_drawn(board) {
            return false;
        }
        if let Some(mates) = self.entry(board).known(length) {
            return mates;
        }
        let found = self.first_mating(board, legal_moves(board), length, ply);
        if !self.stopped {
            self.store(board, found.is_some(), length, found);
        }
        found.is_some()
    }

    /// Whether the defender, who is to move, is mated after at most `length` more moves of the
    /// attacker.
    fn is_mated(&mut self, board: &Board, length: u32, ply: usize) -> bool {
        self.count_node();
        let in_check = !board.checkers().is_empty();
        if length == 0 {
            return in_check && !board.generate_moves(|_| true);
        }
        let mut replies = legal_moves(board);
        if replies.is_empty() {
            return in_check;
        }
        if self.stopped || self.is_drawn(board) {
            return false;
        }
        let entry = self.entry(board);
        if let Some(mates) = entry.known(length) {
            return mates;
        }
        let (known, killer) = (entry.mv, self.killers[ply]);
        let enemies = board.colors(!board.side_to_move());
        replies.sort_by_key(|reply| match Some(*reply) {
            reply if reply == known => 0,
            reply if reply == killer => 1,
            _ if enemies.has(reply.to) => 2,
            _ => 3,
        });
        for reply in replies {
            let mates = self.mates(&board_after(board, reply), length, ply + 1);
            if self.stopped {
                return false;
            }
            if !mates {
                self.killers[ply] = Some(reply);
                self.store(board, false, length, Some(reply));
                return false;
            }
        }
        self.store(board, true, length, None);
        true
    }

    /// The mate that begins with `mv`, with the replies that delay it most.
    fn line(&mut self, board: &Board, mv: Move, length: u32) -> Vec<Move> {
        let mut line = vec![mv];
        let (mut board, mut length) = (board_after(board, mv), length - 1);
        while length > 0 {
            let mut longest: Option<(u32, Move, Board)> = None;
            for reply in legal_moves(&board) {
                let child = board_after(&board, reply);
                let needed = (1..=length).find(|&moves| self.mates(&child, moves, line.len() + 1));
                let needed = needed.unwrap_or(length);
                if longest.as_ref().is_none_or(|(most, ..)| needed > *most) {
                    longest = Some((needed, reply, child));
                }
            }
            let Some((needed, reply, child)) = longest else { break };
            line.push(reply);
            let ply = line.len();
            let Some(mv) = self.first_mating(&child, legal_moves(&child), needed, ply) else {
                break;
            };
            line.push(mv);
            (board, length) = (board_after(&child, mv), needed - 1);
        }
        line
    }

    fn count_node(&mut self) {
        self.nodes += 1;
        let is_last = self.control.limits().nodes.is_some_and(|most| self.nodes >= most);
        if is_last || self.nodes.is_multiple_of(NODES_BETWEEN_CHECKS) {
            self.stopped |= self.control.should_stop(self.nodes);
        }
    }

    /// Whether the game is drawn in this position, if it is no mate.
    fn is_drawn(&self, board: &Board) -> bool {
        board.halfmove_clock() >= 100
            || !self.occurred_twice.is_empty()
                && self.occurred_twice.contains(&repetition_key(board))
    }

    fn key(&self, board: &Board) -> u64 {
        let clock = if self.clock_matters { u64::from(board.halfmove_clock()) } else { 0 };
        board.hash() ^ clock.wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }

    fn entry(&self, board: &Board) -> Entry {
        let key = self.key(board);
        let entry = self.table[slot_of(key, self.table.len())];
        if entry.key == key { entry } else { Entry { key, ..Entry::default() } }
    }

    fn store(&mut self, board: &Board, mates: bool, length: u32, mv: Option<Move>) {
        let mut entry = self.entry(board);
        match mates {
            true => entry.mates = length as u8,
            false => entry.fails = length as u8,
        }
        entry.mv = mv.or(entry.mv);
        let slot = slot_of(entry.key, self.table.len());
        self.table[slot] = entry;
    }
}

#[cfg(test)]
mod tests {
    use anyhow::{Context, Result};
    use azimuth_chess::position::uci_move;

    use super::*;
    use crate::control::Limits;

    fn found(fen: &str, moves: u32) -> Result<Option<(i32, String)>> {
        let root = Position::from_fen(fen)?;
        let mut control = Control::without_signals(Limits::default());
        let Some(report) = find_mate(&root, moves, &mut control) else { return Ok(None) };
        let length = report.value.moves_to_mate().context("no mate")?;
        let mut position = root.clone();
        for &mv in &report.pv {
            assert!(position.board().is_legal(mv), "{fen}");
            position.play(mv);
        }
        assert!(!position.has_legal_move() && !position.board().checkers().is_empty(), "{fen}");
        assert_eq!(report.pv.len() as i32, 2 * length - 1, "{fen}");
        Ok(Some((length, uci_move(root.board(), report.pv[0], false))))
    }

    #[test]
    fn the_shortest_mate_is_found_and_no_other() -> Result<()> {
        for (fen, length, mv) in [
            ("Q7/8/5K2/8/7k/8/8/8 w - - 0 1", 2, "a8g2"),
            ("8/8/4R3/8/8/k7/2K5/8 w - - 0 1", 2, "e6e4"),
            ("6k1/5ppp/8/8/8/8/8/K2R4 w - - 0 1", 1, "d1d8"),
            ("7k/5ppp/8/8/8/8/5PPP/3RR1K1 w - - 98 90", 1, "d1d8"),
        ] {
            for moves in 1..=3 {
                let expected = (moves >= length as u32).then(|| (length, mv.to_owned()));
                assert_eq!(found(fen, moves)?, expected, "{fen}, {moves} moves");
            }
        }
        Ok(())
    }

    #[test]
    fn the_fifty_move_rule_and_repetitions_prevent_mates() -> Result<()> {
        // The mate in two comes too late.
        assert_eq!(found("Q7/8/5K2/8/7k/8/8/8 w - - 98 90", 2)?, None);
        assert!(found("Q7/8/5K2/8/7k/8/8/8 w - - 97 90", 2)?.is_some());
        Ok(())
    }

    #[test]
    fn a_limit_ends_the_search() -> Result<()> {
        for nodes in [900, 5_000] {
            let limits = Limits { nodes: Some(nodes), ..Limits::default() };
            let mut control = Control::without_signals(limits);
            assert!(find_mate(&Position::default(), 9, &mut control).is_none());
            assert_eq!(control.limits().nodes, Some(0));
        }
        Ok(())
    }
}
