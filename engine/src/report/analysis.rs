//! Analysis of a game, position by position, and its form on the page.

use std::collections::HashSet;
use std::time::Duration;

use anyhow::Result;
use azimuth_chess::position::{Position, castles_as_in_chess960, legal_moves, uci_move};
use azimuth_search::inference::ModelClient;
use azimuth_search::{Control, Limits, Planner, StopSwitch, TimeLimit, Value, terminal_value};
use cozy_chess::{Board, Move};
use serde::Serialize;

use super::game::Game;
use crate::explain::{INACCURACY, ScoreJson, expected_score, line, mistake, score};

/// A position of the game.
pub struct Stop {
    pub position: Position,
    /// The search's value for the side to move, or the exact result.
    pub value: Value,
    /// Chances of the side to move to win, draw and lose, in permille; `None` if the game is over.
    pub wdl: Option<[u32; 3]>,
    /// The best line; empty if the game is over.
    pub line: Vec<Move>,
    /// The best moves with their expected scores, if the move of the game was judged.
    pub compared: Vec<(Move, f32)>,
    /// The cosine with the axis, for White.
    pub cosine: f32,
    /// The move that led to the position; nothing at the start.
    pub arrival: Arrival,
}

impl Stop {
    /// Expected score of the side to move.
    fn expected_score(&self) -> f32 {
        self.wdl.map_or_else(|| self.value.win_probability(), expected_score)
    }
}

/// A move of the game.
#[derive(Clone, Default, Serialize)]
pub struct Arrival {
    /// Loss of expected score.
    loss: Option<f32>,
    /// The classification, if the loss is large enough.
    judgement: Option<Judgement>,
    /// Why the move is a mistake, in a sentence, if it was judged.
    #[serde(skip_serializing_if = "Option::is_none")]
    remark: Option<String>,
    /// Rank among the legal moves by static evaluation, from 1, and the number of legal moves.
    rank: Option<(usize, usize)>,
}

/// Classification of a move by its loss of expected score.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Judgement {
    /// At least 0.12.
    Inaccuracy,
    /// At least 0.24.
    Mistake,
    /// At least 0.36, or an inaccuracy that allows a forced mate.
    Blunder,
}

/// Loss of expected score from which on a move is an inaccuracy, a mistake or a blunder; one that
/// allows a mate is a blunder. At an even score, these are about 55, 110 and 170 centipawns,
/// lichess's thresholds there.
const BANDS: [(f32, Judgement); 3] =
    [(0.36, Judgement::Blunder), (0.24, Judgement::Mistake), (INACCURACY, Judgement::Inaccuracy)];

/// Number of moves that are compared where the move of the game was judged.
const COMPARED: usize = 5;

/// Time of the search of a position whose move is explained or may be a mistake.
pub const CLOSER_LOOK: Duration = Duration::from_secs(1);

/// The expected score that `mv` loses, from the position before it to the one after it.
fn loss_of(before: &Stop, mv: Move, after: &Stop) -> f32 {
    match before.line.first() {
        Some(&best) if best != mv => {
            (before.expected_score() + after.expected_score() - 1.0).max(0.0)
        }
        // No move is better, or the game was drawn before it.
        _ => 0.0,
    }
}

/// Analyses games with a planner and a model.
pub struct Analyst<'a> {
    pub planner: &'a mut dyn Planner,
    pub model: &'a mut ModelClient,
    /// Limits of the search of each position.
    pub limits: Limits,
    /// Ends the searches early.
    pub switch: StopSwitch,
}

impl Analyst<'_> {
    /// Analyses a game from start to end, and calls `looked` after each position. Where the move of
    /// the game was judged, the best moves are compared, so that another try can be judged, too.
    pub fn look_at(&mut self, game: &Game, mut looked: impl FnMut()) -> Result<Vec<Stop>> {
        self.planner.new_game();
        let mut stops = vec![self.stop(game.start.clone())?];
        looked();
        for (index, &mv) in game.moves.iter().enumerate() {
            let next = self.next_stop(&stops[index], mv)?;
            if next.arrival.judgement.is_some() {
                stops[index].compared = self.compare(&stops[index].position)?;
            }
            stops.push(next);
            looked();
        }
        Ok(stops)
    }

    /// Analyses the position after a legal move, and judges the move.
    pub fn next_stop(&mut self, before: &Stop, mv: Move) -> Result<Stop> {
        let rank = self.rank(&before.position, mv)?;
        let mut stop = self.stop(before.position.after(mv))?;
        let mut loss = loss_of(before, mv, &stop);
        let searched_longer: Stop;
        let mut before = before;
        if loss >= INACCURACY
            && let Some(limits) = self.longer()
        {
            searched_longer = self.stop_within(before.position.clone(), limits.clone())?;
            before = &searched_longer;
            stop = self.stop_within(stop.position, limits)?;
            loss = loss_of(before, mv, &stop);
        }
        let allows_mate = stop.value.moves_to_mate().is_some_and(|moves| moves > 0);
        let judgement = match BANDS.iter().find(|(least, _)| loss >= *least) {
            Some(_) if allows_mate => Some(Judgement::Blunder),
            band => band.map(|&(_, judgement)| judgement),
        };
        let played = [&[mv], stop.line.as_slice()].concat();
        let value = (-stop.value).seen_from_before(1);
        let wdl = self.planner.wdl_model();
        let why =
            |_| mistake(&before.position, wdl, (&played, value), (&before.line, before.value));
        let remark = judgement.and_then(why);
        let arrival = Arrival { loss: Some(loss), judgement, remark, rank: Some(rank) };
        Ok(Stop { arrival, ..stop })
    }

    /// The limits of the searches that judge a suspected mistake: as long as those of *Why*, so that
    /// both agree. `None` if the usual ones are as long, or do not depend on time.
    fn longer(&self) -> Option<Limits> {
        let is_shorter = self.limits.time.as_ref().is_some_and(|time| time.soft < CLOSER_LOOK);
        let time = Some(TimeLimit::exactly(CLOSER_LOOK));
        is_shorter.then(|| Limits { time, ..self.limits.clone() })
    }

    /// Analyses a position.
    pub fn stop(&mut self, position: Position) -> Result<Stop> {
        self.stop_within(position, self.limits.clone())
    }

    fn stop_within(&mut self, position: Position, limits: Limits) -> Result<Stop> {
        let (value, line) = match terminal_value(position.board(), 0, position.history()) {
            Some(value) => (value, Vec::new()),
            None => {
                let control = Control::without_signals(limits);
                let control = &mut control.stopped_by(&self.switch);
                let report = self.planner.search(&position, control, &mut |_| ())?;
                (report.value, report.pv)
            }
        };
        let board = position.board();
        let model = self.planner.wdl_model();
        let wdl = (!line.is_empty()).then(|| model.permille(value, board));
        let embedding = self.model.embeddings(std::slice::from_ref(board))?;
        let space = self.model.space();
        let cosine = space.cosine_for_white(space.axis.cosine(&embedding), board.side_to_move());
        let (compared, arrival) = (Vec::new(), Arrival::default());
        Ok(Stop { position, value, wdl, line, compared, cosine, arrival })
    }

    /// The best moves of a position with their expected scores, best first.
    fn compare(&mut self, position: &Position) -> Result<Vec<(Move, f32)>> {
        let limits = Limits { multipv: COMPARED, ..self.limits.clone() };
        let control = &mut Control::without_signals(limits).stopped_by(&self.switch);
        let model = self.planner.wdl_model();
        let mut lines: Vec<Option<(Move, f32)>> = vec![None; COMPARED];
        self.planner.search(position, control, &mut |report| {
            let place = lines.get_mut(report.multipv.max(1) - 1);
            if let (Some(place), Some(&mv)) = (place, report.pv.first()) {
                *place = Some((mv, expected_score(model.permille(report.value, position.board()))));
            }
        })?;
        // If the last iteration was interrupted between its lines, a move may occur twice.
        let mut known = HashSet::new();
        Ok(lines.into_iter().flatten().filter(|&(mv, _)| known.insert(mv)).collect())
    }

    /// Rank of a legal move by static evaluation, from 1, and the number of legal moves.
    fn rank(&mut self, position: &Position, mv: Move) -> Result<(usize, usize)> {
        let moves = legal_moves(position.board());
        let after: Vec<Position> = moves.iter().map(|&mv| position.after(mv)).collect();
        let boards: Vec<Board> = after.iter().map(|after| after.board().clone()).collect();
        let cosines = self.model.cosines(&boards)?;
        // The values are the opponent's: lower is better for the side that moves.
        let space = self.model.space();
        let value = |(after, cosine): (&Position, f32)| {
            let side = after.board().side_to_move();
            match terminal_value(after.board(), 1, after.history()) {
                Some(Value::DRAW) => 0.0,
                Some(_mate) => f32::NEG_INFINITY,
                None => space.value(space.cosine_for_side_to_move(cosine, side), side),
            }
        };
        let values: Vec<f32> = after.iter().zip(cosines).map(value).collect();
        let own = moves.iter().position(|&known| known == mv).map_or(0.0, |index| values[index]);
        let better = values.iter().filter(|&&value| value < own).count();
        Ok((better + 1, moves.len()))
    }
}

/// A position of a game, analysed. The page computes everything else from these.
#[derive(Serialize)]
pub struct Judged {
    /// Number of half-moves before the position.
    ply: usize,
    /// The score of the side to move.
    score: ScoreJson,
    /// Chances of the side to move to win, draw and lose, in permille; none if the game is over.
    wdl: Option<[u32; 3]>,
    /// The best line; empty if the game is over.
    pv: Vec<String>,
    /// The cosine of the position with the axis, for White.
    cosine: f32,
    /// The move before the position.
    #[serde(flatten)]
    arrival: Arrival,
    /// The best moves of the position, if they were compared.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    compared: Vec<Compared>,
}

/// One of several moves of a position.
#[derive(Serialize)]
struct Compared {
    /// The move in UCI notation.
    uci: String,
    /// The expected score of the side that moves.
    expected_score: f32,
}

impl Judged {
    /// The analysis of a position after `ply` half-moves.
    pub fn new(ply: usize, stop: &Stop) -> Self {
        let board = stop.position.board();
        let chess960 = castles_as_in_chess960(board);
        let compared = stop.compared.iter().map(|&(mv, expected_score)| Compared {
            uci: uci_move(board, mv, chess960),
            expected_score,
        });
        Self {
            ply,
            score: score(stop.value),
            wdl: stop.wdl,
            pv: line(board, chess960, &stop.line),
            cosine: stop.cosine,
            arrival: stop.arrival.clone(),
            compared: compared.collect(),
        }
    }
}
