//! What there is to say of a position: a search, what it saw in every move, and searches of their own for the moves that
//! a person would compare.

use anyhow::{Context, Result};
use azimuth_chess::position::{Position, board_after, legal_moves};
use azimuth_network::axis::Axis;
use cozy_chess::{Board, Move};

use super::cosines::cosines;
use super::quiet::{QuietPosition, QuietPositions};
use crate::encoder::Encoder;
use crate::search::{
    Bound, Control, ExplainedMove, Explanation, Limits, Planner, Report, SearchedMove, Value,
};

/// Moves, the best at first sight, that a person would compare with the one that is chosen.
const FIRST_SIGHT_MOVES: usize = 3;

/// What is asked.
pub struct Task {
    /// The position, which has a legal move.
    pub root: Position,
    /// Of the search.
    pub limits: Limits,
    /// Moves to compare.
    pub compared: Vec<Move>,
    /// Plies of the tree.
    pub plies: u32,
}

/// A position, studied.
pub struct Study {
    /// The position.
    pub root: Position,
    /// Its static evaluation.
    pub static_value: Value,
    /// Its cosine with the axis, for the side to move.
    pub cosine: f32,
    /// What the search came to.
    pub report: Report,
    /// Why it went less deep than it was asked to, if it did.
    pub early_end: Option<String>,
    /// Every legal move: the chosen one, then those whose values are known, then the others.
    pub moves: Vec<StudiedMove>,
    /// The positions that verified moves and replies lead to.
    pub quiet: QuietPositions,
}

/// A legal move of it.
pub struct StudiedMove {
    /// What the search made of it, and of the replies.
    pub explained: ExplainedMove,
    /// The cosine of the position after it, for the side that moves.
    pub cosine: f32,
    /// Its place by static evaluation, from 1.
    pub rank_before: usize,
    /// Its place among the moves whose values are known, from 1.
    pub rank_after: Option<usize>,
    /// What a search of its own came to.
    pub own_search: Option<SearchedMove>,
}

impl StudiedMove {
    /// The best that is known of it: its value where a search found one, else a bound.
    pub fn found(&self) -> Option<SearchedMove> {
        self.own_search.or(self.explained.searched)
    }

    fn value(&self) -> Option<Value> {
        self.found().filter(|found| found.bound == Bound::Exact).map(|found| found.value)
    }
}

impl Study {
    /// Searches. Fails where the encoder does.
    pub fn make(
        task: Task,
        planner: &mut dyn Planner,
        encoder: &mut dyn Encoder,
        axis: &Axis,
    ) -> Result<Self> {
        let Task { root, limits, compared, plies } = task;
        let asked_depth = limits.depth;
        let control = &mut Control::without_signals(limits);
        let report = planner.search(&root, control, &mut |_| ())?;
        let early_end = control.early_end(asked_depth, &report);
        let explanation = planner.explain(plies)?.context("the search left nothing to explain")?;
        let quiet = QuietPositions::of(root.board(), &explanation.moves, encoder, axis)?;
        let mut moves = first_sight(explanation, encoder, axis)?;
        let chosen = report.pv.first().copied().context("the search chose no move")?;
        search_compared(planner, &root, &report, &compared, &mut moves)?;
        rank(chosen, &mut moves);
        let cosine = cosines(encoder, axis, &[root.board().clone()])?[0];
        let static_value = planner.evaluate(&root)?;
        Ok(Self { root, static_value, cosine, report, early_end, moves, quiet })
    }

    /// The chosen move.
    pub fn chosen(&self) -> &StudiedMove {
        &self.moves[0]
    }

    /// Whether the planner verified the moves.
    pub fn verifies(&self) -> bool {
        self.moves.iter().any(|studied| studied.explained.verified.is_some())
    }

    /// The verified lines of the moves whose values are known, the moves themselves included, each with the quiet
    /// position that it leads to.
    pub fn quiet_lines(&self) -> Vec<(Vec<Move>, QuietPosition)> {
        let ranked = self.moves.iter().filter(|studied| studied.rank_after.is_some());
        let line = |StudiedMove { explained, .. }: &StudiedMove| {
            let line = [&[explained.mv][..], &explained.verified.as_ref()?.line].concat();
            Some((line, self.quiet.behind(self.root.board(), explained)?))
        };
        ranked.filter_map(line).collect()
    }

    /// The best of the others whose values are known.
    pub fn runner_up(&self) -> Option<&StudiedMove> {
        self.moves.get(1).filter(|studied| studied.value().is_some())
    }
}

/// The moves with their cosines, the best at first sight first.
fn first_sight(
    explanation: Explanation,
    encoder: &mut dyn Encoder,
    axis: &Axis,
) -> Result<Vec<StudiedMove>> {
    let Explanation { root, mut moves } = explanation;
    moves.sort_by(|a, b| b.static_value.order(a.static_value));
    let after: Vec<Board> = moves.iter().map(|known| board_after(root.board(), known.mv)).collect();
    let cosines = cosines(encoder, axis, &after)?;
    let studied = |((place, explained), cosine): ((usize, ExplainedMove), f32)| StudiedMove {
        explained,
        // The other side is to move there.
        cosine: -cosine,
        rank_before: place + 1,
        rank_after: None,
        own_search: None,
    };
    Ok(moves.into_iter().enumerate().zip(cosines).map(studied).collect())
}

/// A search of a move's own ends at so many times the nodes of the whole search.
const OWN_SEARCH_NODES: u64 = 4;

/// Searches the runner-up, the first moves at first sight and those that were asked for, where their values are not
/// known, as deep as the chosen one.
fn search_compared(
    planner: &mut dyn Planner,
    root: &Position,
    report: &Report,
    compared: &[Move],
    moves: &mut [StudiedMove],
) -> Result<()> {
    let chosen = report.pv.first().copied();
    // By a clock a search would answer at once where there is but one move.
    let nodes = Some(report.nodes.saturating_mul(OWN_SEARCH_NODES));
    let limits = Limits { depth: Some(report.depth), nodes, ..Limits::default() };
    let mut search = |search_moves: Vec<Move>| -> Result<Report> {
        let limits = Limits { search_moves, ..limits.clone() };
        planner.search(root, &mut Control::without_signals(limits), &mut |_| ())
    };
    let others: Vec<Move> =
        legal_moves(root.board()).into_iter().filter(|&mv| Some(mv) != chosen).collect();
    let runner_up = if others.is_empty() { None } else { Some(search(others)?) };
    for studied in moves {
        let mv = studied.explained.mv;
        let of_runner_up = runner_up.as_ref().filter(|report| report.pv.first() == Some(&mv));
        let wanted = studied.rank_before <= FIRST_SIGHT_MOVES || compared.contains(&mv);
        let own = match of_runner_up {
            Some(report) => Some(report.clone()),
            None if Some(mv) != chosen && wanted && studied.value().is_none() => {
                Some(search(vec![mv])?)
            }
            None => None,
        };
        studied.own_search = own.map(|report| SearchedMove {
            mv,
            value: report.value,
            bound: Bound::Exact,
            depth: report.depth,
        });
    }
    Ok(())
}

/// Puts the chosen move first, then those whose values are known, then the others, each by value.
fn rank(chosen: Move, moves: &mut [StudiedMove]) {
    let best_known =
        |studied: &StudiedMove| studied.found().map_or(Value::MIN, |found| found.value);
    moves.sort_by(|a, b| {
        let is_chosen = |studied: &StudiedMove| studied.explained.mv == chosen;
        let is_known = |studied: &StudiedMove| studied.value().is_some();
        is_chosen(b)
            .cmp(&is_chosen(a))
            .then(is_known(b).cmp(&is_known(a)))
            .then(best_known(b).order(best_known(a)))
            .then(a.rank_before.cmp(&b.rank_before))
    });
    for (place, studied) in (1..).zip(moves) {
        let known = studied.explained.mv == chosen || studied.value().is_some();
        studied.rank_after = known.then_some(place);
    }
}
