//! What there is to say of a position: a search, what it saw in every move, and searches of their own for the moves that
//! a person would compare.

use anyhow::{Context, Result};
use azimuth_chess::position::{Position, board_after, legal_moves};
use cozy_chess::{Board, Move};

use super::quiet::{QuietPosition, QuietPositions};
use crate::inference::ModelClient;
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
    /// The moves that were asked for.
    pub compared: Vec<Move>,
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
    /// The best line that begins with it; empty where no search told one.
    pub line: Vec<Move>,
}

impl StudiedMove {
    /// The best that is known of it: its value where a search found one, else a bound.
    pub fn found(&self) -> Option<SearchedMove> {
        self.own_search.or(self.explained.searched)
    }

    /// Its value, where that is known and no bound.
    pub fn value(&self) -> Option<Value> {
        self.found().filter(|found| found.bound == Bound::Exact).map(|found| found.value)
    }
}

impl StudiedMove {
    fn take_in(&mut self, own: Report) {
        let Report { value, depth, pv, .. } = own;
        let mv = self.explained.mv;
        self.own_search = Some(SearchedMove { mv, value, bound: Bound::Exact, depth });
        self.line = pv;
    }
}

impl Study {
    /// Searches. Fails where the model does.
    pub fn make(task: Task, planner: &mut dyn Planner, model: &mut ModelClient) -> Result<Self> {
        let Task { root, limits, compared, plies } = task;
        let asked_depth = limits.depth;
        let control = &mut Control::without_signals(limits);
        let report = planner.search(&root, control, &mut |_| ())?;
        let early_end = control.early_end(asked_depth, &report);
        let explanation = planner.explain(plies)?.context("the search left nothing to explain")?;
        let quiet = QuietPositions::of(root.board(), &explanation.moves, model)?;
        let mut moves = first_sight(explanation, model)?;
        let chosen = report.pv.first().copied().context("the search chose no move")?;
        if let Some(studied) = moves.iter_mut().find(|studied| studied.explained.mv == chosen) {
            studied.line.clone_from(&report.pv);
        }
        search_compared(planner, &root, &report, &compared, &mut moves)?;
        search_chosen_again(planner, &root, &report, chosen, &mut moves)?;
        rank(chosen, report.value, &mut moves);
        let cosine = model.cosines(&[root.board().clone()])?[0];
        let static_value = planner.evaluate(&root)?;
        Ok(Self { root, static_value, cosine, report, early_end, moves, compared, quiet })
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

    /// What is known of the chosen move: the value of the search that chose it, or of a search of its own after that.
    pub fn value_of_chosen(&self) -> Value {
        self.chosen().own_search.map_or(self.report.value, |own| own.value)
    }

    /// Plies of the search that this value comes from.
    pub fn depth_of_chosen(&self) -> u32 {
        self.chosen().own_search.map_or(self.report.depth, |own| own.depth)
    }

    /// The best of the others whose values are known.
    pub fn runner_up(&self) -> Option<&StudiedMove> {
        self.moves.get(1).filter(|studied| studied.value().is_some())
    }

    /// The runner-up and its value, where a search of its own finds it better than the move that was chosen.
    pub fn missed(&self) -> Option<(&StudiedMove, Value)> {
        let runner_up = self.runner_up()?;
        let value = runner_up.value()?;
        is_better(value, self.value_of_chosen()).then_some((runner_up, value))
    }
}

/// Whether a value is better than another by as much as is shown: a tenth of a point, or a shorter mate.
fn is_better(value: Value, other: Value) -> bool {
    let shown = |value: Value| (1000.0 * value.win_probability()).round();
    value > other && (shown(value) > shown(other) || value.moves_to_mate() != other.moves_to_mate())
}

/// The moves with their cosines, the best at first sight first.
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
    let mut search =
        |search_moves: Vec<Move>| search_alone(planner, root, report, search_moves, report.depth);
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
        if let Some(own) = own {
            studied.take_in(own);
        }
    }
    Ok(())
}

/// Searches the chosen move by itself where a search of its own finds another one better, no less deep than that: so that
/// the two are compared alike.
fn search_chosen_again(
    planner: &mut dyn Planner,
    root: &Position,
    report: &Report,
    chosen: Move,
    moves: &mut [StudiedMove],
) -> Result<()> {
    let others = moves.iter().filter(|studied| studied.explained.mv != chosen);
    let better = others.filter(|studied| studied.value().is_some_and(|value| value > report.value));
    let depths = better.filter_map(|studied| Some(studied.found()?.depth));
    let Some(deepest) = depths.max() else { return Ok(()) };
    let own = search_alone(planner, root, report, vec![chosen], deepest.max(report.depth))?;
    if let Some(studied) = moves.iter_mut().find(|studied| studied.explained.mv == chosen)
        && own.depth >= report.depth
    {
        studied.take_in(own);
    }
    Ok(())
}

/// Searches some of the moves to `depth` plies, at most with so many times the nodes of the whole search.
fn search_alone(
    planner: &mut dyn Planner,
    root: &Position,
    whole: &Report,
    search_moves: Vec<Move>,
    depth: u32,
) -> Result<Report> {
    // By a clock a search would answer at once where there is but one move.
    let nodes = Some(whole.nodes.saturating_mul(OWN_SEARCH_NODES));
    let limits = Limits { depth: Some(depth), nodes, search_moves, ..Limits::default() };
    planner.search(root, &mut Control::without_signals(limits), &mut |_| ())
}

/// Puts the chosen move first, then those whose values are known, then the others, each by value. `value` is what the
/// search that chose the move came to.
fn rank(chosen: Move, value: Value, moves: &mut [StudiedMove]) {
    let known = |studied: &StudiedMove| match studied.explained.mv == chosen {
        true => Some(studied.own_search.map_or(value, |own| own.value)),
        false => studied.value(),
    };
    let best_known =
        |studied: &StudiedMove| studied.found().map_or(Value::MIN, |found| found.value);
    moves.sort_by(|a, b| {
        let is_chosen = |studied: &StudiedMove| studied.explained.mv == chosen;
        is_chosen(b)
            .cmp(&is_chosen(a))
            .then(known(b).is_some().cmp(&known(a).is_some()))
            .then(best_known(b).order(best_known(a)))
            .then(a.rank_before.cmp(&b.rank_before))
    });
    let values: Vec<Option<Value>> = moves.iter().map(known).collect();
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
