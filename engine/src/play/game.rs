//! A game in progress: its positions, how it ends, and its PGN.

use std::io;

use azimuth_chess::pgn::{Outcome, Writer};
use azimuth_chess::position::{Ending, Position};
use cozy_chess::{Color, Move};

use super::opponent::Clock;
use crate::explain::side_name;

/// The positions of a game and the moves between them.
pub struct Game {
    positions: Vec<Position>,
    moves: Vec<Move>,
    /// An end that the rules of chess did not bring about.
    stopped: Option<End>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Rules(Ending),
    Resignation(Color),
    Agreement,
    Time(Color),
    /// A side has run out of time, and the other side has only its king.
    TimeAgainstKing(Color),
}

impl Game {
    pub fn new(start: Position) -> Self {
        Self { positions: vec![start], moves: Vec::new(), stopped: None }
    }

    pub fn start(&self) -> &Position {
        &self.positions[0]
    }

    pub fn position(&self) -> &Position {
        &self.positions[self.moves.len()]
    }

    pub fn moves(&self) -> &[Move] {
        &self.moves
    }

    /// The last move of a side, and the position that it was played in.
    pub fn last_of(&self, side: Color) -> Option<(&Position, Move)> {
        self.ply_of_last(side).map(|ply| (&self.positions[ply], self.moves[ply]))
    }

    /// Number of half-moves before the last move of a side.
    fn ply_of_last(&self, side: Color) -> Option<usize> {
        let mut plies = (0..self.moves.len()).rev();
        plies.find(|&ply| self.positions[ply].board().side_to_move() == side)
    }

    /// Plays a legal move.
    pub fn play(&mut self, mv: Move) {
        self.positions.push(self.position().after(mv));
        self.moves.push(mv);
    }

    /// Takes moves back until `side` is to move again, including at least one of its own. Returns
    /// whether there was one.
    pub fn undo(&mut self, side: Color) -> bool {
        let Some(ply) = self.ply_of_last(side) else { return false };
        self.moves.truncate(ply);
        self.positions.truncate(ply + 1);
        self.stopped = None;
        true
    }

    /// Ends the game by a resignation or an agreement.
    pub fn stop(&mut self, end: End) {
        self.stopped = Some(end);
    }

    /// Ends the game: the time of `side` is over.
    pub fn run_out_of_time(&mut self, side: Color) {
        let can_win = self.position().board().colors(!side).len() > 1;
        self.stopped = Some(if can_win { End::Time(side) } else { End::TimeAgainstKing(side) });
    }

    /// Whether a side ran out of time.
    pub fn is_out_of_time(&self) -> bool {
        matches!(self.stopped, Some(End::Time(_) | End::TimeAgainstKing(_)))
    }

    /// How the game ended; `None` if it has not ended.
    pub fn end(&self) -> Option<End> {
        self.stopped.or_else(|| self.position().ending().map(End::Rules))
    }
}

impl End {
    /// The result in PGN notation.
    pub fn result(self) -> &'static str {
        self.outcome().as_pgn()
    }

    fn outcome(self) -> Outcome {
        match self {
            Self::Rules(ending) => ending.outcome(),
            Self::Resignation(side) | Self::Time(side) => Outcome::win_of(!side),
            Self::TimeAgainstKing(_) | Self::Agreement => Outcome::Draw,
        }
    }

    pub fn words(self) -> String {
        match self {
            Self::Rules(ending) => ending.to_string(),
            Self::Resignation(side) => format!("{} resigns", side_name(side)),
            Self::Agreement => "Draw by agreement".to_owned(),
            Self::Time(side) => format!("{} loses on time", side_name(side)),
            Self::TimeAgainstKing(side) => {
                let side = side_name(side);
                format!("Draw: the time of {side} is over, and the other side cannot mate")
            }
        }
    }
}

/// The game in PGN format, with its tags.
pub fn pgn(
    game: &Game,
    [white, black]: [&str; 2],
    date: &str,
    clock: Option<&Clock>,
) -> io::Result<Vec<u8>> {
    let end = game.end();
    let mut tags = vec![
        ("Event", "Casual game"),
        ("Site", "?"),
        ("Date", date),
        ("Round", "-"),
        ("White", white),
        ("Black", black),
        ("Result", end.map_or("*", End::result)),
    ];
    let time_control = clock.map(Clock::as_pgn);
    tags.extend(time_control.as_deref().map(|control| ("TimeControl", control)));
    if game.is_out_of_time() {
        tags.push(("Termination", "time forfeit"));
    }
    let mut text = Vec::new();
    let mut writer = Writer::new(&mut text);
    writer.begin(tags, game.start())?;
    for (before, &mv) in game.positions.iter().zip(&game.moves) {
        writer.play(before.board(), mv)?;
    }
    writer.end(end.map(End::outcome))?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use anyhow::Result;
    use azimuth_chess::san::parse_move;

    use super::*;

    fn played(fen: Option<&str>, sans: &str) -> Result<Game> {
        let start = fen.map_or_else(|| Ok(Position::default()), Position::from_fen)?;
        let mut game = Game::new(start);
        for san in sans.split_whitespace() {
            game.play(parse_move(game.position(), san)?);
        }
        Ok(game)
    }

    #[test]
    fn a_repetition_ends_a_game() -> Result<()> {
        let game = played(None, "Nf3 Nf6 Ng1 Ng8 Nf3 Nf6 Ng1 Ng8")?;
        assert_eq!(game.end(), Some(End::Rules(Ending::Repetition)));
        Ok(())
    }

    #[test]
    fn a_lone_king_does_not_win_on_time() -> Result<()> {
        let mut game = played(Some("8/8/4k3/8/8/4K3/4Q3/8 b - - 0 1"), "Kd6")?;
        game.run_out_of_time(Color::White);
        assert_eq!(game.end(), Some(End::TimeAgainstKing(Color::White)));
        game.run_out_of_time(Color::Black);
        assert_eq!(game.end(), Some(End::Time(Color::Black)));
        assert_eq!(End::Time(Color::Black).result(), "1-0");
        Ok(())
    }

    #[test]
    fn a_move_is_taken_back_with_its_answer() -> Result<()> {
        let mut game = played(None, "e4 e5 Nf3 Nc6")?;
        game.stop(End::Resignation(Color::White));
        assert!(game.undo(Color::White));
        assert_eq!((game.moves().len(), game.end()), (2, None));
        assert!(game.undo(Color::Black));
        assert_eq!(game.moves().len(), 1);
        assert!(!game.undo(Color::Black));
        Ok(())
    }
}
