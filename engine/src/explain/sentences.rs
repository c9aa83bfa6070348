//! Describes a move by its best line, in a few sentences: how it mates or draws, the material that
//! it wins or loses and by which tactic, or a new passed pawn.

use azimuth_chess::position::{Ending, Position};
use azimuth_chess::san::{san_of_line, san_of_move};
use azimuth_search::{Value, WdlModel};
use cozy_chess::{Board, Move, Piece, Square};

use super::chess_terms::{
    Outcome, boards_along, draw_of, drawn_out, gained, name, new_passed_pawn, numbered, outcome,
    sacrificed,
};
use super::tactics::{mate_pattern, tactic};

/// Maximum number of plies that a sentence quotes.
const LONGEST_QUOTE: usize = 12;

/// Number of plies that show where a move leads if nothing else is said of it.
const SHORT_QUOTE: usize = 6;

/// Loss of expected score from which on a move is an inaccuracy: at an even score about 55
/// centipawns, lichess's threshold there.
pub const INACCURACY: f32 = 0.12;

/// A move, described by its best line.
pub struct Choice<'a> {
    /// The position before it.
    pub root: &'a Position,
    /// The model of the search's values.
    pub wdl: WdlModel,
    /// The best line that begins with the move.
    pub line: &'a [Move],
    /// The value of the move, if it is known.
    pub value: Option<Value>,
    /// The value of the best move.
    pub best: Value,
}

impl Choice<'_> {
    /// How the move mates or draws, the material that it wins or loses, or a new passed pawn if it
    /// wins none and is not clearly worse than the best move. Material that is won in a draw is worth
    /// nothing. Empty if the line shows nothing.
    pub fn shown(&self, subject: &str) -> Vec<String> {
        if self.is_mate() {
            return self.mate(subject).into_iter().collect();
        }
        if self.value == Some(Value::DRAW) {
            let lost = || self.material(subject).filter(|_| !self.gains());
            return self.draw(subject).or_else(lost).into_iter().collect();
        }
        let says_enough = self.gains() || self.is_clearly_worse();
        let pawn = if says_enough { None } else { self.passed_pawn(subject) };
        self.material(subject).into_iter().chain(pawn).collect()
    }

    /// The same, and the first moves of the line unless that shows why the move is not better.
    pub fn refuted(&self, subject: &str) -> Vec<String> {
        let mut said = self.shown(subject);
        let only_wins = self.gains() && self.value != Some(Value::DRAW);
        let is_open = said.is_empty() || only_wins && self.is_clearly_worse();
        if is_open && !self.line.is_empty() {
            said.push(self.best_play());
        }
        said
    }

    fn best_play(&self) -> String {
        format!("The best play is {}.", self.quote(self.line.len().min(SHORT_QUOTE)))
    }

    /// Whether the line wins material.
    fn gains(&self) -> bool {
        self.outcome().is_some_and(|found| found.gain > 0)
    }

    /// Whether the line wins material for which the opponent has no compensation.
    pub fn wins(&self) -> bool {
        self.outcome().is_some_and(|found| found.gain > 0 && !self.is_balanced(found.ahead))
    }

    /// The move's result and the line that leads to it, if the result is certain: `Nf6 is mated in
    /// 1: 1... Nf6 2. Qxf7#.`
    fn certain(&self, name: &str) -> Option<String> {
        let result = result(self.value?)?;
        let quote = self.quote(self.line.len().min(LONGEST_QUOTE));
        Some(format!("{name} {result}: {quote}."))
    }

    /// The material that the line wins or loses. `None` if it mates or needs more than
    /// [`LONGEST_QUOTE`] plies.
    pub fn outcome(&self) -> Option<Outcome> {
        outcome(self.root.board(), self.line, LONGEST_QUOTE).filter(|_| !self.is_mate())
    }

    /// Whether the move mates or is mated.
    pub fn is_mate(&self) -> bool {
        self.value.is_some_and(|value| value.moves_to_mate().is_some())
    }

    /// Whether the move is clearly worse than the best one.
    pub fn is_clearly_worse(&self) -> bool {
        let lost = |value: Value| self.expected_score(self.best) - self.expected_score(value);
        let is_mated = |value: Value| value.moves_to_mate().is_some_and(|moves| moves <= 0);
        self.value.is_some_and(|value| {
            lost(value) >= INACCURACY || is_mated(value) && !is_mated(self.best)
        })
    }

    fn expected_score(&self, value: Value) -> f32 {
        expected_score(self.wdl.permille(value, self.root.board()))
    }

    fn mate(&self, subject: &str) -> Option<String> {
        let end = self.root.after_line(self.line);
        let Some(Ending::Checkmate { winner }) = end.ending() else { return None };
        let board = self.root.board();
        let sacrificed = sacrificed(board, self.line).filter(|_| winner == board.side_to_move());
        let says = match (sacrificed.map(name), mate_pattern(end.board())) {
            (Some(piece), Some(pattern)) => format!("sacrifices the {piece} for {pattern}"),
            (Some(piece), None) => format!("sacrifices the {piece}"),
            (None, Some(pattern)) => format!("ends in {pattern}"),
            (None, None) => return None,
        };
        let is_short = self.line.len() <= LONGEST_QUOTE;
        is_short.then(|| format!("{subject} {says}: {}.", self.quote(self.line.len())))
    }

    fn draw(&self, subject: &str) -> Option<String> {
        let how = draw_of(self.root, self.line)?;
        let quote = match self.line.len() {
            plies @ 1..=LONGEST_QUOTE => format!(": {}", self.quote(plies)),
            _ => String::new(),
        };
        Some(format!("{subject} draws {how}{quote}."))
    }

    /// The material that the move wins or loses, and the tactic behind that.
    pub fn material(&self, subject: &str) -> Option<String> {
        let found = self.outcome();
        if found.as_ref().is_none_or(|found| found.gain < 0)
            && let Some(hunt) = self.king_hunt(subject)
        {
            return Some(hunt);
        }
        let board = self.root.board();
        let promotion = || {
            let piece = name(self.line.first()?.promotion?);
            Some(format!("{subject} promotes a pawn to a {piece}."))
        };
        let Some(Outcome { mut phrase, gain, plies, ahead }) = found else { return promotion() };
        let winner = if gain > 0 { board.side_to_move() } else { !board.side_to_move() };
        if let Some(lost) = phrase.strip_prefix("loses").filter(|_| self.is_compensated()) {
            phrase = format!("gives up{lost}");
        } else if let Some(won) = phrase.strip_prefix("wins").filter(|_| self.is_balanced(ahead)) {
            phrase = format!("takes{won} but gains no clear advantage");
        }
        let quote = self.quote(plies);
        // A tactic after most of the gain does not cause it.
        let boards = boards_along(board, &self.line[..plies]);
        let is_cause = |ply: usize| 2 * gained([board, &boards[ply]], winner) < gain.abs();
        let found = tactic(board, &self.line[..plies], winner).filter(|it| is_cause(it.ply));
        Some(match found {
            Some(found) if found.ply == 0 => {
                let and = if phrase.contains(" and ") { ", and" } else { " and" };
                format!("{subject} {}{and} {phrase}: {quote}.", found.phrase)
            }
            Some(found) => {
                let mv = &san_of_line(board, self.line)[found.ply];
                format!("{subject} {phrase}, because {mv} {}: {quote}.", found.phrase)
            }
            None => format!("{subject} {phrase}: {quote}."),
        })
    }

    /// As [`drawn_out`], if the line is worth the piece and short enough to quote.
    pub fn drawn_out(&self) -> Option<(Piece, Square, usize)> {
        let found = drawn_out(self.root.board(), self.line).filter(|_| self.is_compensated());
        found.filter(|&(.., plies)| plies <= LONGEST_QUOTE)
    }

    /// The king's way out after it captures a sacrificed piece.
    fn king_hunt(&self, subject: &str) -> Option<String> {
        let (piece, square, plies) = self.drawn_out()?;
        let (piece, quote) = (name(piece), self.quote(plies));
        Some(format!("{subject} sacrifices the {piece} to draw the king out to {square}: {quote}."))
    }

    /// Whether a loss of material is a sacrifice: it hardly loses value.
    fn is_compensated(&self) -> bool {
        let even = 0.5 - INACCURACY;
        self.value.is_some_and(|value| self.expected_score(value) > even)
            && !self.is_clearly_worse()
    }

    /// Whether the opponent has compensation for the material, in pawns, that the side is ahead at
    /// the end of the line, as after a sacrifice that it accepts. So has the opponent of a side that
    /// is level in material, or a pawn ahead, but clearly worse.
    fn is_balanced(&self, ahead: i32) -> bool {
        let least = match ahead {
            2.. => 0.5 + INACCURACY,
            0 | 1 => 0.5 - INACCURACY,
            _ => return false,
        };
        self.value.is_some_and(|value| self.expected_score(value) < least)
    }

    fn passed_pawn(&self, subject: &str) -> Option<String> {
        let board = self.root.board();
        let (pawn, plies) = new_passed_pawn(board, self.line, board.side_to_move())?;
        let quoted = (1..=LONGEST_QUOTE).contains(&plies);
        quoted.then(|| format!("{subject} gets a passed pawn on {pawn}: {}.", self.quote(plies)))
    }

    fn quote(&self, plies: usize) -> String {
        numbered(self.root.board(), &self.line[..plies])
    }
}

/// One sentence on a mistake in `root`: its certain result or the material that it loses, otherwise
/// the certain result of the best move or the material that this wins, otherwise the moves that
/// follow the mistake. Each line begins with its move and has the value for the side that moves,
/// from a search with the model `wdl`.
pub fn mistake(
    root: &Position,
    wdl: WdlModel,
    played: (&[Move], Value),
    best: (&[Move], Value),
) -> Option<String> {
    let [played, best] = [played, best].map(|(line, value)| {
        let name = line.first().map(|&mv| san_of_move(root.board(), mv));
        (Choice { root, wdl, line, value: Some(value), best: best.1 }, name.unwrap_or_default())
    });
    let loses = played.0.outcome().is_some_and(|found| found.gain < 0);
    let said = [(&played, loses), (&best, best.0.wins())];
    let said = said.into_iter().find_map(|((choice, name), shows)| {
        choice.certain(name).or_else(|| choice.material(name).filter(|_| shows))
    });
    said.or_else(|| (!played.0.line.is_empty()).then(|| played.0.best_play()))
}

/// The expected score, in [0, 1], of chances to win, draw and lose in permille.
pub fn expected_score([win, draw, _]: [u32; 3]) -> f32 {
    (win as f32 + draw as f32 / 2.0) / 1000.0
}

/// The expected score of the side to move on `board`, in percent, rounded as the texts show it.
pub fn percent(wdl: &WdlModel, value: Value, board: &Board) -> f32 {
    (1000.0 * expected_score(wdl.permille(value, board))).round() / 10.0
}

/// `is worth 53.2%`, the expected score of the side to move on `board`, or `mates in 3`.
pub fn worth(wdl: &WdlModel, value: Value, board: &Board) -> String {
    result(value).unwrap_or_else(|| format!("is worth {:.1}%", percent(wdl, value, board)))
}

/// The result of a value that is certain, as in `mates in 3` or `draws`.
pub fn result(value: Value) -> Option<String> {
    Some(match value.moves_to_mate() {
        Some(moves) if moves > 0 => format!("mates in {moves}"),
        Some(moves) => format!("is mated in {}", -moves),
        None if value == Value::DRAW => "draws".to_owned(),
        None if value.is_decisive() => {
            if value > Value::DRAW { "wins" } else { "loses" }.to_owned()
        }
        None => return None,
    })
}

#[cfg(test)]
mod tests {
    use anyhow::Result;
    use azimuth_search::PlannerKind;

    use super::super::chess_terms::tests::board_and_line;
    use super::*;

    #[test]
    fn a_mistake_has_one_sentence() -> Result<()> {
        let (worse, better) = (Value::estimate(-0.6), Value::estimate(0.4));
        let mated = Value::mated_in(4);
        for (fen, played, best, expected) in [
            (
                "4k3/8/2n5/4p3/8/8/8/4QK2 w - - 0 1",
                ("Qxe5+ Nxe5", worse),
                ("Qe4 Kd7", better),
                "Qxe5+ loses a queen for a pawn: 1. Qxe5+ Nxe5.",
            ),
            (
                "4k3/p7/8/8/8/2r5/P3N3/4K3 w - - 0 1",
                ("Kd2 Rc8", worse),
                ("Nxc3 Kd7", better),
                "Nxc3 wins a rook: 1. Nxc3.",
            ),
            (
                "4k3/p7/8/8/8/7r/P3N3/4K3 w - - 0 1",
                ("Kd2 Rh2", worse),
                ("Kf2 Kd7", better),
                "The best play is 1. Kd2 Rh2.",
            ),
            (
                "6k1/5ppp/8/8/8/8/r4PPP/1R4K1 w - - 0 1",
                ("Rd1 Ra1 Kh1 Rxd1#", mated),
                ("h3 Ra5", better),
                "Rd1 is mated in 2: 1. Rd1 Ra1 2. Kh1 Rxd1#.",
            ),
        ] {
            let (board, line) = board_and_line(fen, played.0)?;
            let (_, best_line) = board_and_line(fen, best.0)?;
            let root = Position::from(board);
            let wdl = WdlModel::of(PlannerKind::Selective);
            let said = mistake(&root, wdl, (&line, played.1), (&best_line, best.1));
            assert_eq!(said.as_deref(), Some(expected), "{fen}");
        }
        Ok(())
    }

    #[test]
    fn an_accepted_sacrifice_wins_nothing() -> Result<()> {
        let greek_gift = "rnbq1rk1/pp2nppB/4p3/2ppP3/1b1P4/2N2N2/PPP2PPP/R1BQK2R b KQ - 0 1";
        let (board, line) = board_and_line(greek_gift, "Kxh7 Ng5+ Kg6")?;
        let (root, wdl) = (Position::from(board), WdlModel::of(PlannerKind::Selective));
        for (value, expected) in [
            (-0.3, "It takes a bishop but gains no clear advantage: 1... Kxh7."),
            (0.6, "It wins a bishop: 1... Kxh7."),
        ] {
            let best = Value::estimate(value);
            let choice = Choice { root: &root, wdl, line: &line, value: Some(best), best };
            assert_eq!(choice.material("It").as_deref(), Some(expected));
        }
        Ok(())
    }
}
