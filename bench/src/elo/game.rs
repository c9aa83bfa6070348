//! One game: the moves, the clocks, the rules that end it, and its adjudication.

use std::str::FromStr;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use azimuth::uci::Go;
use azimuth_chess::pgn::Outcome;
use azimuth_chess::position::Position;
use cozy_chess::Color;

use super::player::{Player, Situation};
use crate::games::{Evaluation, PlayedMove, termination};
use crate::settings::{Limit, Words};

pub struct Finished {
    pub moves: Vec<PlayedMove>,
    pub outcome: Outcome,
    pub termination: &'static str,
    pub reason: String,
    pub duration: Duration,
    /// The waits of the searches that use an encoder on another thread, one a move.
    pub waits: Vec<Duration>,
}

/// Plays a game of White against Black from the position `start`. An illegal move or exceeded time
/// loses the game; returns an error only if a player is broken.
pub fn play(
    start: &str,
    mut players: [&mut dyn Player; 2],
    adjudication: &Adjudication,
) -> Result<Finished> {
    let began = Instant::now();
    let mut position = Position::from_fen(start)?;
    let (mut moves, mut played) = (Vec::new(), Vec::new());
    let mut waits = Vec::new();
    let mut adjudicator = Adjudicator::new(adjudication);
    let controls = players.each_ref().map(|player| player.limit().clock);
    let mut clocks = controls.map(|control| control.map(|control| control.base));
    let increments =
        controls.map(|control| control.map_or(Duration::ZERO, |control| control.increment));
    players.iter_mut().try_for_each(|player| player.new_game())?;
    let (outcome, termination, reason) = loop {
        if let Some(ending) = position.ending() {
            break (ending.outcome(), termination::NORMAL, ending.to_string());
        }
        let side = position.board().side_to_move();
        let player = &mut players[side as usize];
        let made = moves.len() / 2;
        let control = controls[side as usize];
        let moves_to_go = control.and_then(|control| control.moves_to_go(made));
        let go = Go { time: clocks, increment: increments, moves_to_go, ..Go::default() };
        let situation = Situation { start, moves: &moves, position: &position, go };
        let choice = player.choose(&situation)?;
        waits.extend(choice.waited);
        if overstepped(&mut clocks[side as usize], player.limit(), choice.time, made + 1) {
            let reason = format!("{side:?} loses on time");
            break (Outcome::win_of(!side), termination::TIME_FORFEIT, reason);
        }
        // Engines write castling in either notation: king's target square or rook's square.
        let Ok(mv) = position.parse_move(&choice.mv) else {
            let reason = format!("{side:?} makes an illegal move: {}", choice.mv);
            break (Outcome::win_of(!side), termination::RULES_INFRACTION, reason);
        };
        played.push(PlayedMove {
            mv,
            evaluation: choice.evaluation,
            depth: choice.depth,
            time: Some(choice.time),
        });
        moves.push(mv);
        position.play(mv);
        // An end by the rules of chess comes first.
        if let Some(outcome) = adjudicator.decide(choice.evaluation, &position)
            && position.ending().is_none()
        {
            let reason = "adjudication by the players' scores".to_owned();
            break (outcome, termination::ADJUDICATION, reason);
        }
    };
    Ok(Finished { moves: played, outcome, termination, reason, duration: began.elapsed(), waits })
}

/// Subtracts the time of a side's move `number`, counted from 1, from its clock. Returns whether
/// the time was exceeded.
fn overstepped(clock: &mut Option<Duration>, limit: &Limit, time: Duration, number: usize) -> bool {
    if limit.move_time.is_some_and(|allowed| time > allowed + limit.margin) {
        return true;
    }
    let (Some(left), Some(control)) = (clock, limit.clock) else { return false };
    let late = time > *left + limit.margin;
    *left = control.after(*left, time, number);
    late
}

/// The rules that end a game early; a rule that is `None` is off.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Adjudication {
    pub draw: Option<DrawRule>,
    pub resign: Option<ResignRule>,
}

/// A draw if every score of both players for `moves` moves was within `score` centipawns, from full
/// move `from` on.
#[derive(Clone, Debug, PartialEq)]
pub struct DrawRule {
    pub moves: usize,
    pub score: i32,
    pub from: u16,
}

/// A win if every score of both players for `moves` moves was beyond `score` centipawns for the
/// same side.
#[derive(Clone, Debug, PartialEq)]
pub struct ResignRule {
    pub moves: usize,
    pub score: i32,
}

impl FromStr for DrawRule {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        let mut words = Words::split_at_commas(text)?;
        let (moves, score): (u16, u16) = (words.require("moves")?, words.require("score")?);
        let from = words.require("from")?;
        words.all_taken()?;
        ensure!(moves > 0, "moves: expected at least 1");
        Ok(Self { moves: moves.into(), score: score.into(), from })
    }
}

impl FromStr for ResignRule {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        let mut words = Words::split_at_commas(text)?;
        let (moves, score): (u16, u16) = (words.require("moves")?, words.require("score")?);
        words.all_taken()?;
        ensure!(moves > 0 && score > 0, "moves and score: expected at least 1");
        Ok(Self { moves: moves.into(), score: score.into() })
    }
}

struct Adjudicator<'a> {
    rules: &'a Adjudication,
    /// Number of consecutive plies with a score within the draw margin.
    equal: usize,
    /// Number of consecutive plies with a score beyond the win margin for one side, and that side.
    decided: (usize, Color),
}

impl<'a> Adjudicator<'a> {
    fn new(rules: &'a Adjudication) -> Self {
        Self { rules, equal: 0, decided: (0, Color::White) }
    }

    /// Records a score from White's view after a move, which led to `position`, and returns the
    /// outcome if a rule now applies.
    fn decide(&mut self, evaluation: Option<Evaluation>, position: &Position) -> Option<Outcome> {
        let centipawns = match evaluation? {
            Evaluation::Centipawns(value) => value,
            // The side that has just moved says that it is mated.
            Evaluation::Mate(0) => match position.board().side_to_move() {
                Color::White => i32::MAX,
                Color::Black => -i32::MAX,
            },
            Evaluation::Mate(moves) => i32::MAX * moves.signum(),
        };
        if let Some(rule) = &self.rules.draw {
            let is_even = centipawns.saturating_abs() <= rule.score;
            self.equal = if is_even { self.equal + 1 } else { 0 };
            let late = position.board().fullmove_number() >= rule.from;
            if late && self.equal >= 2 * rule.moves {
                return Some(Outcome::Draw);
            }
        }
        if let Some(rule) = &self.rules.resign {
            let winner = if centipawns > 0 { Color::White } else { Color::Black };
            let (plies, before) = self.decided;
            self.decided = match centipawns.saturating_abs() >= rule.score {
                true if before == winner => (plies + 1, winner),
                true => (1, winner),
                false => (0, winner),
            };
            if self.decided.0 >= 2 * rule.moves {
                return Some(Outcome::win_of(winner));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use anyhow::Context;
    use azimuth_chess::position::STARTPOS;

    use super::super::player::Choice;
    use super::*;
    use crate::settings::TimeControl;

    const NO_LIMIT: Limit = Limit {
        depth: None,
        nodes: None,
        move_time: None,
        clock: None,
        margin: Duration::from_millis(5),
    };

    struct Script {
        moves: std::vec::IntoIter<&'static str>,
        time: Duration,
        evaluation: Option<Evaluation>,
        limit: Limit,
        games: usize,
    }

    impl Script {
        fn new(moves: &'static str) -> Self {
            let moves: Vec<&str> = moves.split_whitespace().collect();
            Self {
                moves: moves.into_iter(),
                time: Duration::from_millis(1),
                evaluation: None,
                limit: NO_LIMIT,
                games: 0,
            }
        }
    }

    impl Player for Script {
        fn limit(&self) -> &Limit {
            &self.limit
        }

        fn new_game(&mut self) -> Result<()> {
            self.games += 1;
            Ok(())
        }

        fn choose(&mut self, _: &Situation<'_>) -> Result<Choice> {
            let mv = self.moves.next().context("the script is over")?;
            let Self { evaluation, time, .. } = *self;
            Ok(Choice { mv: mv.to_owned(), evaluation, depth: None, time, waited: None })
        }
    }

    fn game(start: &str, mut white: Script, mut black: Script, limit: &Limit) -> Result<Finished> {
        (white.limit, black.limit) = (limit.clone(), limit.clone());
        let finished = play(start, [&mut white, &mut black], &Adjudication::default())?;
        assert_eq!((white.games, black.games), (1, 1));
        Ok(finished)
    }

    #[test]
    fn the_rules_end_a_game() -> Result<()> {
        use Outcome::{BlackWins, Draw, WhiteWins};
        for (start, white, black, outcome, reason) in [
            (STARTPOS, "f2f3 g2g4", "e7e5 d8h4", BlackWins, "Checkmate: Black wins"),
            (STARTPOS, "g1f3 f3g1 g1f3 f3g1", "g8f6 f6g8 g8f6 f6g8", Draw, "Draw by repetition"),
            ("7k/8/6Q1/8/8/8/8/K7 w - - 0 1", "a1b1", "", Draw, "Draw by stalemate"),
            ("7k/8/8/8/8/8/1p6/K7 w - - 0 1", "a1b2", "", Draw, "Draw: neither side can mate"),
            ("6k1/8/8/8/8/8/8/K6R w - - 99 80", "a1b1", "", Draw, "Draw by the 50-move rule"),
            // A mate by the hundredth half-move takes precedence over the 50-move rule.
            ("7k/8/6K1/8/8/8/8/R7 w - - 99 80", "a1a8", "", WhiteWins, "Checkmate: White wins"),
        ] {
            let finished = game(start, Script::new(white), Script::new(black), &NO_LIMIT)?;
            assert_eq!((finished.outcome, finished.reason.as_str()), (outcome, reason));
            assert_eq!(finished.termination, termination::NORMAL);
            let moves = white.split_whitespace().chain(black.split_whitespace()).count();
            assert_eq!(finished.moves.len(), moves);
        }
        Ok(())
    }

    #[test]
    fn castling_may_be_written_either_way() -> Result<()> {
        for castling in ["e1g1", "e1h1"] {
            let mut white = Script::new("");
            white.moves = vec![castling, "f1f8"].into_iter();
            let start = "8/k4p2/8/8/8/8/8/4K2R w K - 0 1";
            let finished = game(start, white, Script::new("a7a8 none"), &NO_LIMIT)?;
            assert_eq!(finished.moves[0].mv.to_string(), "e1h1");
            assert_eq!(finished.reason, "White makes an illegal move: f1f8");
        }
        Ok(())
    }

    #[test]
    fn illegal_moves_and_late_ones_lose() -> Result<()> {
        let finished = game(STARTPOS, Script::new("e2e5"), Script::new(""), &NO_LIMIT)?;
        assert_eq!(finished.outcome, Outcome::BlackWins);
        assert_eq!(finished.termination, termination::RULES_INFRACTION);
        assert!(finished.reason.contains("e2e5"));

        let second = Duration::from_secs(1);
        let clock = TimeControl::parse("1+0.1")?;
        let renewed = TimeControl::parse("2/1")?;
        for (limit, time, moves) in [
            (Limit { move_time: Some(second), ..NO_LIMIT }, 1004, None),
            (Limit { move_time: Some(second), ..NO_LIMIT }, 1006, Some(1)),
            // 500 ms a move leave 200 ms after White's second one, 300 ms leave 400 ms.
            (Limit { clock: Some(clock), ..NO_LIMIT }, 300, None),
            (Limit { clock: Some(clock), ..NO_LIMIT }, 500, Some(5)),
            // One second is added with White's second move.
            (Limit { clock: Some(renewed), ..NO_LIMIT }, 500, None),
            (Limit { clock: Some(renewed), ..NO_LIMIT }, 510, Some(3)),
        ] {
            let mut white = Script::new("e2e4 d1h5 f1c4 h5f7");
            white.time = Duration::from_millis(time);
            let finished = game(STARTPOS, white, Script::new("e7e5 b8c6 g8f6"), &limit)?;
            let late = finished.termination == termination::TIME_FORFEIT;
            assert_eq!(late.then_some(finished.moves.len() + 1), moves, "{limit:?}");
            let expected = if late { Outcome::BlackWins } else { Outcome::WhiteWins };
            assert_eq!(finished.outcome, expected);
        }
        Ok(())
    }

    #[test]
    fn agreed_scores_end_a_game_only_where_asked() -> Result<()> {
        let resign = Adjudication { resign: Some("moves=2,score=500".parse()?), draw: None };
        for (adjudication, termination) in
            [(Adjudication::default(), termination::NORMAL), (resign, termination::ADJUDICATION)]
        {
            let mut white = Script::new("e2e4 d1h5 f1c4 h5f7");
            let mut black = Script::new("e7e5 b8c6 g8f6");
            white.evaluation = Some(Evaluation::Centipawns(600));
            black.evaluation = Some(Evaluation::Mate(4));
            let finished = play(STARTPOS, [&mut white, &mut black], &adjudication)?;
            assert_eq!(finished.outcome, Outcome::WhiteWins);
            assert_eq!(finished.termination, termination);
            assert_eq!(finished.moves.len(), if adjudication.resign.is_some() { 4 } else { 7 });
        }
        Ok(())
    }

    #[test]
    fn the_rules_of_chess_come_before_scores() -> Result<()> {
        let resign = Adjudication { resign: Some("moves=1,score=500".parse()?), draw: None };
        let (mut white, mut black) = (Script::new("a1b1"), Script::new("g8h8"));
        for player in [&mut white, &mut black] {
            player.evaluation = Some(Evaluation::Centipawns(600));
        }
        let start = "6k1/8/6Q1/8/8/8/8/K7 b - - 0 1";
        let finished = play(start, [&mut white, &mut black], &resign)?;
        assert_eq!(finished.reason, "Draw by stalemate");
        assert_eq!((finished.outcome, finished.termination), (Outcome::Draw, termination::NORMAL));
        Ok(())
    }

    #[test]
    fn mate_in_0_is_lost_for_the_side_that_says_it() -> Result<()> {
        let draw = Some("moves=1,score=8,from=1".parse()?);
        let rules = Adjudication { draw, resign: Some("moves=1,score=500".parse()?) };
        let after_white = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1";
        for (fen, winner) in [(after_white, Outcome::BlackWins), (STARTPOS, Outcome::WhiteWins)] {
            let position = Position::from_fen(fen)?;
            let mut adjudicator = Adjudicator::new(&rules);
            let mated = Some(Evaluation::Mate(0));
            let decisions = [mated; 2].map(|mated| adjudicator.decide(mated, &position));
            assert_eq!(decisions, [None, Some(winner)], "{fen}");
        }
        Ok(())
    }

    #[test]
    fn rules_need_moves_and_a_win_needs_a_score() {
        assert!("moves=0,score=10,from=40".parse::<DrawRule>().is_err());
        for text in ["moves=0,score=800", "moves=4,score=0"] {
            assert!(text.parse::<ResignRule>().is_err(), "{text}");
        }
    }

    fn decisions(rules: &Adjudication, scores: &[i32]) -> Vec<Option<Outcome>> {
        let mut adjudicator = Adjudicator::new(rules);
        let position = Position::default();
        let decide =
            |&score: &i32| adjudicator.decide(Some(Evaluation::Centipawns(score)), &position);
        scores.iter().map(decide).collect()
    }

    #[test]
    fn a_rule_holds_only_in_a_row() -> Result<()> {
        let draw = Some("moves=1,score=8,from=1".parse()?);
        let resign = Some("moves=1,score=500".parse()?);
        let rules = Adjudication { draw, resign };
        let (draw, black) = (Some(Outcome::Draw), Some(Outcome::BlackWins));
        assert_eq!(decisions(&rules, &[0, 9, 8, -8]), [None, None, None, draw]);
        assert_eq!(decisions(&rules, &[600, -600, -500]), [None, None, black]);
        let late = Adjudication { draw: Some("moves=1,score=8,from=2".parse()?), resign: None };
        assert_eq!(decisions(&late, &[0, 0, 0]), [None; 3]);
        let draws = Adjudication { resign: None, ..rules };
        assert_eq!(decisions(&draws, &[i32::MIN; 2]), [None; 2]);
        Ok(())
    }
}
