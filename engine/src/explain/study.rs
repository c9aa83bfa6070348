//! The analysis of a position: one search, its result for every move, separate searches of the
//! moves that a person would compare, of the opponent's threat and of offers, and the quiet
//! positions at the ends of verified lines.

use std::collections::HashMap;

use anyhow::{Context, Result};
use azimuth_chess::position::{Position, board_after, castles_as_in_chess960, legal_moves};
use azimuth_search::inference::ModelClient;
use azimuth_search::{
    Bound, Control, ExplainedMove, Explanation, Limits, Planner, Report, SearchedMove, StopSwitch,
    Tablebases, Value, WdlModel,
};
use cozy_chess::{Board, Move, Piece};

use super::chess_terms::{best_capture, boards_along, draw_of, is_settled};
use super::sentences::{INACCURACY, expected_score};

/// The parameters of a study.
pub struct Task {
    /// The position. It must have a legal move.
    pub root: Position,
    pub limits: Limits,
    pub compared: Vec<Move>,
    /// Number of plies of the tree to record.
    pub plies: u32,
    /// Ends the searches early.
    pub stop: StopSwitch,
}

/// The analysis of a position.
pub struct Study {
    pub root: Position,
    /// Whether the tablebases contain the position.
    pub in_tables: bool,
    /// The model of the search's values.
    pub wdl: WdlModel,
    pub static_value: Value,
    /// The position's cosine with the axis, for the side to move.
    pub cosine: f32,
    pub report: Report,
    /// Why the search ended before the requested depth, if it did.
    pub early_end: Option<String>,
    /// All legal moves: the chosen one, then those with exact values, then the others.
    pub moves: Vec<StudiedMove>,
    /// The moves that the user asked to compare.
    pub compared: Vec<Move>,
    /// The opponent's best line if the side to move passes; `None` in check.
    pub threat: Option<Threat>,
    /// The positions that verified moves and replies lead to, with their cosines for the side to
    /// move.
    quiet: HashMap<Board, f32>,
}

/// The best line of the opponent, to move in `position`, and its value for the opponent.
pub struct Threat {
    pub position: Position,
    pub line: Vec<Move>,
    pub value: Value,
}

/// The best line after the capture that wins most material at once, from the root on, and its value
/// for the side to move at the root.
pub struct Taken {
    pub line: Vec<Move>,
    pub value: Value,
}

/// The analysis of a legal move.
pub struct StudiedMove {
    /// The search's result for the move and its replies.
    pub explained: ExplainedMove,
    /// The cosine of the position after it, for the side that moves.
    pub cosine: f32,
    /// Rank by static evaluation, from 1.
    pub rank_before: usize,
    /// Rank among the moves with exact values, from 1.
    pub rank_after: Option<usize>,
    /// The result of a separate search of the move.
    pub own_search: Option<SearchedMove>,
    /// The best line that begins with the move; empty if no search reported one.
    pub line: Vec<Move>,
    /// The consequence of the capture that the move offers, if it offers one and was searched.
    pub if_taken: Option<Taken>,
    /// Whether the opponent loses only because of the duty to move, according to the tablebases or,
    /// in a pawn ending, to a search.
    pub zugzwang: bool,
}

impl StudiedMove {
    /// The result of the separate search, else of the main search: an exact value or a bound.
    pub fn found(&self) -> Option<SearchedMove> {
        self.own_search.or(self.explained.searched)
    }

    /// The value, if it is exact.
    pub fn value(&self) -> Option<Value> {
        self.found().filter(|found| found.bound == Bound::Exact).map(|found| found.value)
    }

    fn take_in(&mut self, own: Report) {
        let Report { value, depth, pv, .. } = own;
        let mv = self.explained.mv;
        self.own_search = Some(SearchedMove { mv, value, bound: Bound::Exact, depth });
        self.line = pv;
    }
}

impl Study {
    /// Searches and analyses the position. Fails if the model does.
    pub fn make(task: Task, planner: &mut dyn Planner, model: &mut ModelClient) -> Result<Self> {
        let Task { root, limits, compared, plies, stop } = task;
        let asked_depth = limits.depth;
        let control = &mut Control::without_signals(limits).stopped_by(&stop);
        let report = continued(&root, planner.search(&root, control, &mut |_| ())?, planner);
        let early_end = control.early_end(asked_depth, &report);
        let study = Self::before_ranking(root, report, plies, planner, model)?;
        let mut study = Self { early_end, compared, ..study };
        let (root, report) = (&study.root, &study.report);
        let chosen = report.pv.first().copied().context("the search chose no move")?;
        let mut alone = Alone { planner, root, report, chosen, stop: &stop };
        alone.search_compared(&study.compared, &mut study.moves)?;
        alone.search_chosen_again(&mut study.moves)?;
        rank(chosen, &mut study.moves);
        study.threat = alone.threat()?;
        // The chosen move and the runner-up come first.
        for (place, studied) in study.moves.iter_mut().enumerate() {
            if place < 2 || study.compared.contains(&studied.explained.mv) {
                alone.look_closer(studied)?;
            }
        }
        Ok(study)
    }

    /// The analysis that the planner's last search alone gives; `report` is its result. No move is
    /// searched again.
    pub fn of_last_search(
        root: Position,
        report: Report,
        planner: &mut dyn Planner,
        model: &mut ModelClient,
    ) -> Result<Self> {
        let mut study = Self::before_ranking(root, report, 1, planner, model)?;
        let chosen = study.report.pv.first().copied().context("the search chose no move")?;
        rank(chosen, &mut study.moves);
        Ok(study)
    }

    /// The same, with the moves in the order of their static evaluations.
    fn before_ranking(
        root: Position,
        report: Report,
        plies: u32,
        planner: &mut dyn Planner,
        model: &mut ModelClient,
    ) -> Result<Self> {
        let explanation = planner.explain(plies)?.context("the search left nothing to explain")?;
        let mut ends = Vec::new();
        collect_ends(root.board(), &explanation.moves, &mut ends);
        let cosines = model.cosines(&ends)?;
        let quiet = ends.into_iter().zip(cosines).collect();
        let mut moves = first_sight(explanation, model)?;
        let chosen = report.pv.first().copied();
        if let Some(studied) = moves.iter_mut().find(|known| Some(known.explained.mv) == chosen) {
            studied.line.clone_from(&report.pv);
            // With tablebases, the report's value is theirs, and that of the search an estimate. They
            // may choose a move that the search dropped.
            let ExplainedMove { mv, searched, .. } = &mut studied.explained;
            let depth = searched.map_or(report.depth, |searched| searched.depth);
            let (mv, value, bound) = (*mv, report.value, Bound::Exact);
            *searched = Some(SearchedMove { mv, value, bound, depth });
        }
        let cosine = model.cosines(&[root.board().clone()])?[0];
        let static_value = planner.evaluate(&root)?;
        let tablebases = planner.tablebases();
        let in_tables = tablebases.is_some_and(|it| it.distance_to_zeroing(root.board()).is_some());
        Ok(Self {
            root,
            in_tables,
            wdl: planner.wdl_model(),
            static_value,
            cosine,
            report,
            early_end: None,
            moves,
            compared: Vec::new(),
            threat: None,
            quiet,
        })
    }

    /// Whether moves are written in Chess960 notation.
    pub fn chess960(&self) -> bool {
        castles_as_in_chess960(self.root.board())
    }

    /// The chosen move.
    pub fn chosen(&self) -> &StudiedMove {
        &self.moves[0]
    }

    /// Whether the planner verified the moves.
    pub fn verifies(&self) -> bool {
        self.moves.iter().any(|studied| studied.explained.verified.is_some())
    }

    /// The value of the chosen move: from its separate search if there is one, else from the main
    /// search.
    pub fn value_of_chosen(&self) -> Value {
        self.chosen().value().unwrap_or(self.report.value)
    }

    /// Depth, in plies, of the search that gave this value.
    pub fn depth_of_chosen(&self) -> u32 {
        self.chosen().own_search.map_or(self.report.depth, |own| own.depth)
    }

    /// The best of the other moves with exact values.
    pub fn runner_up(&self) -> Option<&StudiedMove> {
        self.moves.get(1).filter(|studied| studied.value().is_some())
    }

    /// The runner-up and its value, if this makes the chosen move an inaccuracy.
    pub fn missed(&self) -> Option<(&StudiedMove, Value)> {
        let runner_up = self.runner_up()?;
        let value = runner_up.value()?;
        let lost = self.expected_score(value) - self.expected_score(self.value_of_chosen());
        (lost >= INACCURACY).then_some((runner_up, value))
    }

    /// The quiet position of a verified move of `board`, and its cosine for the side that makes the
    /// move; no cosine if the value is exact and needs no embedding.
    pub fn quiet(&self, board: &Board, explained: &ExplainedMove) -> Option<(Board, Option<f32>)> {
        let value = explained.verified.as_ref()?.value;
        let end = end_of(board, explained)?;
        let is_exact = value.is_decisive() || value == Value::DRAW;
        let cosine = self.quiet.get(&end).filter(|_| !is_exact);
        let same_side = end.side_to_move() == board.side_to_move();
        let cosine = cosine.map(|&cosine| if same_side { cosine } else { -cosine });
        Some((end, cosine))
    }

    /// Expected score, in [0, 1], of a value for the side to move.
    pub fn expected_score(&self, value: Value) -> f32 {
        expected_score(self.wdl.permille(value, self.root.board()))
    }
}

/// The moves with their cosines, sorted by static evaluation, best first.
fn first_sight(explanation: Explanation, model: &mut ModelClient) -> Result<Vec<StudiedMove>> {
    let Explanation { root, mut moves } = explanation;
    moves.sort_by(|a, b| b.static_value.order(a.static_value));
    let after: Vec<Board> = moves.iter().map(|known| board_after(root.board(), known.mv)).collect();
    let cosines = model.cosines(&after)?;
    let studied = |((place, explained), cosine): ((usize, ExplainedMove), f32)| StudiedMove {
        explained,
        // The other side is to move there.
        cosine: -cosine,
        rank_before: place + 1,
        rank_after: None,
        own_search: None,
        line: Vec::new(),
        if_taken: None,
        zugzwang: false,
    };
    Ok(moves.into_iter().enumerate().zip(cosines).map(studied).collect())
}

/// Node limit of a separate search, as a multiple of the nodes of the main search.
const OWN_SEARCH_NODES: u64 = 4;

/// Number of moves, best static evaluation first, that are always compared with the chosen move.
const FIRST_SIGHT_MOVES: usize = 3;

/// Maximum number and depth, in plies, of the searches that lead a line to a quiet position.
const SETTLING_SEARCHES: u32 = 3;
const SETTLING_DEPTH: u32 = 6;

/// Searches of single moves and of later positions, in addition to the main search.
struct Alone<'a> {
    planner: &'a mut dyn Planner,
    root: &'a Position,
    /// The result of the main search, and the move that it chose.
    report: &'a Report,
    chosen: Move,
    stop: &'a StopSwitch,
}

impl Alone<'_> {
    /// Searches `moves`, or all moves if there is none, to `depth` plies, with at most
    /// [`OWN_SEARCH_NODES`] times the nodes of the main search.
    fn search(&mut self, position: &Position, moves: Vec<Move>, depth: u32) -> Result<Report> {
        // The limit is nodes, not time: with a clock, a search of a single move returns at once.
        let nodes = Some(self.report.nodes.saturating_mul(OWN_SEARCH_NODES));
        let depth = Some(depth.max(1));
        let limits = Limits { depth, nodes, search_moves: moves, ..Limits::default() };
        let control = &mut Control::without_signals(limits).stopped_by(self.stop);
        let report = self.planner.search(position, control, &mut |_| ())?;
        Ok(continued(position, report, self.planner))
    }

    /// Searches moves without an exact value to the depth of the main search: the runner-up, the
    /// [`FIRST_SIGHT_MOVES`] and the moves that the user asked for. Moves that only an earlier
    /// iteration values above the chosen move are searched to this depth, too.
    fn search_compared(&mut self, compared: &[Move], moves: &mut [StudiedMove]) -> Result<()> {
        let Report { depth, value: best, .. } = *self.report;
        let mut others = legal_moves(self.root.board());
        others.retain(|&mv| mv != self.chosen);
        let runner_up =
            if others.is_empty() { None } else { Some(self.search(self.root, others, depth)?) };
        for studied in moves {
            let mv = studied.explained.mv;
            let wanted = studied.rank_before <= FIRST_SIGHT_MOVES || compared.contains(&mv);
            let needed = match studied.value() {
                None => wanted,
                // The value of an earlier iteration, which does not show that the move is better.
                Some(value) => value > best && studied.found().is_some_and(|it| it.depth < depth),
            };
            if let Some(report) = runner_up.as_ref().filter(|it| it.pv.first() == Some(&mv)) {
                studied.take_in(report.clone());
            } else if mv != self.chosen && needed {
                studied.take_in(self.search(self.root, vec![mv], depth)?);
            }
        }
        Ok(())
    }

    /// Searches the chosen move separately if another move's separate search scores higher. The
    /// depth is at least that of the other search, so that the two values are comparable.
    fn search_chosen_again(&mut self, moves: &mut [StudiedMove]) -> Result<()> {
        let (chosen, report) = (self.chosen, self.report);
        let others = moves.iter().filter(|studied| studied.explained.mv != chosen);
        let better = others.filter(|it| it.value().is_some_and(|value| value > report.value));
        let depths = better.filter_map(|studied| Some(studied.found()?.depth));
        let Some(deepest) = depths.max() else { return Ok(()) };
        let own = self.search(self.root, vec![chosen], deepest.max(report.depth))?;
        if let Some(studied) = moves.iter_mut().find(|studied| studied.explained.mv == chosen)
            && own.depth >= report.depth
        {
            studied.take_in(own);
        }
        Ok(())
    }

    /// The opponent's best line if the side to move passes, at most half as deep as the main search.
    fn threat(&mut self) -> Result<Option<Threat>> {
        let Some(passed) = self.root.board().null_move() else { return Ok(None) };
        let position = Position::from(passed);
        if position.ending().is_some() {
            return Ok(None);
        }
        let depth = self.report.depth / 2;
        let Report { value, pv, .. } = self.search(&position, Vec::new(), depth)?;
        let line = self.settled(&position, pv)?;
        Ok(Some(Threat { position, line, value }))
    }

    /// Adds to a move what the reason may say of it: its line's moves to a quiet position, the
    /// consequence of an offer, and a zugzwang.
    fn look_closer(&mut self, studied: &mut StudiedMove) -> Result<()> {
        if studied.line.is_empty() {
            return Ok(());
        }
        studied.line = self.settled(self.root, std::mem::take(&mut studied.line))?;
        let after = self.root.after(studied.explained.mv);
        let tablebases = self.planner.tablebases();
        studied.zugzwang = tablebases.is_some_and(|it| is_zugzwang(it, after.board()))
            || self.pawns_in_zugzwang(studied, &after)?;
        studied.if_taken = self.if_taken(studied, &after)?;
        Ok(())
    }

    /// Whether, in a pawn ending, a move wins that would not win if the opponent could pass: less than
    /// 60% is expected then, according to a search of the same depth, or it is stalemate.
    fn pawns_in_zugzwang(&mut self, studied: &StudiedMove, after: &Position) -> Result<bool> {
        let board = after.board();
        let others = board.occupied() & !board.pieces(Piece::Pawn) & !board.pieces(Piece::King);
        let (Some(found), Some(passed)) = (studied.found(), board.null_move()) else {
            return Ok(false);
        };
        let Some(value) = studied.value() else { return Ok(false) };
        let wdl = self.planner.wdl_model();
        let score = |value: Value| expected_score(wdl.permille(value, self.root.board()));
        if !others.is_empty() || score(value) < 0.9 {
            return Ok(false);
        }
        let (passed, depth) = (Position::from(passed), found.depth);
        if passed.ending().is_some() {
            return Ok(true);
        }
        let passed = self.search(&passed, Vec::new(), depth)?;
        Ok(passed.depth >= depth && score(passed.value) < 0.6)
    }

    fn if_taken(&mut self, studied: &StudiedMove, after: &Position) -> Result<Option<Taken>> {
        let Some(capture) = best_capture(after.board()) else { return Ok(None) };
        if let Some(found) = studied.found()
            && studied.line.get(1) == Some(&capture)
        {
            return Ok(Some(Taken { line: studied.line.clone(), value: found.value }));
        }
        let taken = after.after(capture);
        let mut line = vec![studied.explained.mv, capture];
        if taken.ending().is_some() {
            return Ok(Some(Taken { line, value: self.planner.evaluate(&taken)? }));
        }
        let depth = self.report.depth.saturating_sub(2);
        let Report { value, pv, .. } = self.search(&taken, Vec::new(), depth)?;
        line.extend(self.settled(&taken, pv)?);
        Ok(Some(Taken { line, value }))
    }

    /// A line that ends amid exchanges, with the moves of short searches up to the next quiet
    /// position. A line that ends with a repetition shows a draw and gets none.
    fn settled(&mut self, root: &Position, mut line: Vec<Move>) -> Result<Vec<Move>> {
        for _ in 0..SETTLING_SEARCHES {
            let end = root.after_line(&line);
            let is_drawn = draw_of(root, &line).is_some();
            if is_drawn || end.ending().is_some() || is_settled(end.board()) {
                break;
            }
            let depth = SETTLING_DEPTH.min(self.report.depth);
            let pv = self.search(&end, Vec::new(), depth)?.pv;
            let quiet = boards_along(end.board(), &pv).iter().position(is_settled);
            line.extend(&pv[..quiet.unwrap_or(pv.len())]);
        }
        Ok(line)
    }
}

/// Whether the side to move loses, but would not if it could pass.
fn is_zugzwang(tablebases: &Tablebases, board: &Board) -> bool {
    let Some(passed) = board.null_move() else { return false };
    let [known, if_passed] =
        [board, &passed].map(|board| tablebases.distance_to_zeroing(board).map(i32::signum));
    known == Some(-1) && if_passed.is_some_and(|sign| sign < 1)
}

/// Adds to a line the moves that the tablebases play on: a search ends where they know the value.
fn continued(root: &Position, mut report: Report, planner: &dyn Planner) -> Report {
    if let Some(tablebases) = planner.tablebases() {
        report.pv.extend(tablebases.line(&root.after_line(&report.pv)));
    }
    report
}

/// Sorts the chosen move first, then the moves with exact values, then the others, each group by
/// value.
fn rank(chosen: Move, moves: &mut [StudiedMove]) {
    let best_known =
        |studied: &StudiedMove| studied.found().map_or(Value::MIN, |found| found.value);
    moves.sort_by(|a, b| {
        let is_chosen = |studied: &StudiedMove| studied.explained.mv == chosen;
        is_chosen(b)
            .cmp(&is_chosen(a))
            .then(b.value().is_some().cmp(&a.value().is_some()))
            .then(best_known(b).order(best_known(a)))
            .then(a.rank_before.cmp(&b.rank_before))
    });
    let values: Vec<Option<Value>> = moves.iter().map(StudiedMove::value).collect();
    for (place, studied) in moves.iter_mut().enumerate() {
        studied.rank_after = values[place].map(|value| {
            // Equal moves keep their order, the chosen one first.
            let before = (0..).zip(&values).filter(|&(other, found)| {
                found.is_some_and(|found| found > value || found == value && other < place)
            });
            1 + before.count()
        });
    }
}

/// Collects the positions at the ends of the lines that verified `moves` and all their replies.
fn collect_ends(board: &Board, moves: &[ExplainedMove], ends: &mut Vec<Board>) {
    for explained in moves {
        ends.extend(end_of(board, explained));
        collect_ends(&board_after(board, explained.mv), &explained.replies, ends);
    }
}

/// The position at the end of the line that verified a move of `board`.
fn end_of(board: &Board, explained: &ExplainedMove) -> Option<Board> {
    let verified = explained.verified.as_ref()?;
    boards_along(&board_after(board, explained.mv), &verified.line).pop()
}
