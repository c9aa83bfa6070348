//! Writes an explanation as text for the terminal, and as a self-contained HTML page.

use std::io::Write;
use std::path::Path;

use anstyle::{AnsiColor, Style};
use anyhow::Result;
use askama::Template;
use azimuth_chess::board_diagram::board_diagram;
use azimuth_chess::position::{board_after, fen_of};
use azimuth_chess::san::san_of_move;
use azimuth_cli::page::{BOARD_CREDIT, BOARD_SCRIPT, STYLE, policy};
use azimuth_network::replace_file::replace_file;
use azimuth_search::names::name_of;
use azimuth_search::{Bound, ExplainedMove, PlannerKind, Value, WdlModel};
use cozy_chess::{Board, Color};
use serde_json::json;

use super::chess_terms::{numbered, side_name};
use super::reason::reason;
use super::sentences::percent;
use super::study::{StudiedMove, Study};

/// Maximum number of replies that the page's tree shows per position; the rest are counted.
const SHOWN_ON_PAGE: usize = 5;

/// Maximum number of replies that the tree shows per position; the rest are counted.
const SHOWN_IN_TEXT: usize = 3;

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const GOOD: Style = AnsiColor::Green.on_default();
const BAD: Style = AnsiColor::Red.on_default();

/// The page's own style sheet.
const EXPLAIN_STYLE: &str = include_str!("../../pages/explain.css");

#[derive(Template)]
#[template(path = "explain.html")]
struct Page {
    policy: String,
    script: String,
    title: String,
    fen: String,
    summary: String,
    reason: String,
    line: String,
    verifies: bool,
    rows: Vec<Row>,
    quiet: Vec<Quiet>,
    tree: Vec<Branch>,
    data: serde_json::Value,
}

/// A row of the table of moves.
struct Row {
    san: String,
    chosen: bool,
    rank_before: usize,
    cosine: String,
    before: String,
    quiet_cosine: String,
    verified: String,
    rank_after: String,
    plies: String,
    after: String,
    own_search: bool,
}

/// A verified line and the position at its end.
struct Quiet {
    line: String,
    fen: String,
}

/// A line of the tree: a move, or a note on the moves that are not shown.
struct Branch {
    level: usize,
    /// The move; empty for a note alone.
    text: String,
    score: String,
    note: String,
}

/// Writes the board, the table of moves, the tree, the best line and the reason.
pub fn write_text(study: &Study, planner: PlannerKind, output: &mut impl Write) -> Result<()> {
    let (root, report) = (&study.root, &study.report);
    writeln!(output, "{}\n", board_diagram(root, study.chess960()))?;
    writeln!(
        output,
        "{} to move, by the {} planner: depth {}, {} nodes, {:.1} s. At first sight: latent score {}, cosine {:+.4}. \
         After the search: expected score {}, {}.\n",
        side_name(root.board().side_to_move()),
        name_of(&planner),
        report.depth,
        report.nodes,
        report.time.as_secs_f64(),
        latent(study.static_value),
        study.cosine,
        bounded(&study.wdl, root.board(), report.value, Bound::Exact),
        chances(study),
    )?;
    write_moves(study, output)?;
    let quiet = quiet(study);
    if !quiet.is_empty() {
        writeln!(output, "\n{BOLD}The quiet positions{BOLD:#} of the verified moves:")?;
    }
    for Quiet { line, fen } in quiet {
        writeln!(output, "  {line}\n    {DIM}{fen}{DIM:#}")?;
    }
    let tree = tree(study, SHOWN_IN_TEXT);
    if !tree.is_empty() {
        writeln!(output, "\n{BOLD}The tree{BOLD:#}, values for the side that moves:")?;
    }
    for Branch { level, text, score, note } in tree {
        let indent = "  ".repeat(level);
        match text.as_str() {
            "" => writeln!(output, "{indent}{DIM}{note}{DIM:#}")?,
            _ => writeln!(output, "{indent}{text:8} {score}  {DIM}{note}{DIM:#}")?,
        }
    }
    writeln!(output, "\nBest line: {}", numbered(root.board(), &report.pv))?;
    Ok(writeln!(output, "{BOLD}{}{BOLD:#}", reason(study))?)
}

fn write_moves(study: &Study, output: &mut impl Write) -> Result<()> {
    let (verified, columns) = match study.verifies() {
        true => ("verified               ", " cosine     latent    "),
        false => ("", ""),
    };
    writeln!(
        output,
        "{DIM}          at first sight              {verified}after the search\n\
         move      rank   cosine     latent    {columns}rank  plies   expected{DIM:#}"
    )?;
    for studied in &study.moves {
        let row = row(study, studied, "-");
        let style = if row.chosen { BOLD } else { Style::new() };
        let verified = match row.verified.as_str() {
            "" => String::new(),
            verified => format!("{:>7}  {verified:>9}    ", row.quiet_cosine),
        };
        writeln!(
            output,
            "{style}{:8}  {:>4}  {:>7}  {:>9}    {verified}{}{style:#}",
            row.san,
            row.rank_before,
            row.cosine,
            row.before,
            outcome(studied, &row),
        )?;
    }
    if study.moves.iter().any(|studied| studied.own_search.is_some()) {
        writeln!(output, "{DIM}* scored by a separate search{DIM:#}")?;
    }
    Ok(())
}

/// The rank and value of a move after the search.
fn outcome(studied: &StudiedMove, Row { rank_after, plies, after, .. }: &Row) -> String {
    let Some(found) = studied.found() else { return format!("{rank_after:>4}      -  {after}") };
    let own = if studied.own_search.is_some() { " *" } else { "" };
    let style = match found.bound {
        Bound::Exact if found.value > studied.explained.static_value => GOOD,
        Bound::Exact if found.value < studied.explained.static_value => BAD,
        Bound::Exact => Style::new(),
        _ => DIM,
    };
    let (share, score) = after.split_once("  ").unwrap_or((after, ""));
    format!("{rank_after:>4}  {plies:>5}  {style}{share:>9}  {score}{style:#}{own}")
}

/// Writes the page to a file.
pub fn write_page(study: &Study, planner: PlannerKind, path: &Path) -> Result<()> {
    let (root, report) = (&study.root, &study.report);
    let board = root.board();
    let script = format!("{BOARD_SCRIPT}\n{}", include_str!("../../pages/explain.js"));
    let chosen = study.chosen();
    let page = Page {
        policy: policy(&script),
        script,
        title: format!("Why {}", san_of_move(board, chosen.explained.mv)),
        fen: root.fen(study.chess960()),
        summary: format!(
            "{} to move, by Azimuth’s {} planner: depth {}, {} nodes. Latent score at first sight {}, expected score after the search {}: {}.",
            side_name(board.side_to_move()),
            name_of(&planner),
            report.depth,
            report.nodes,
            latent(study.static_value),
            bounded(&study.wdl, board, report.value, Bound::Exact),
            chances(study),
        ),
        reason: reason(study),
        line: numbered(board, &report.pv),
        verifies: study.verifies(),
        rows: study.moves.iter().map(|studied| row(study, studied, "–")).collect(),
        quiet: quiet(study),
        tree: tree(study, SHOWN_ON_PAGE),
        data: json!({
            "fen": root.fen(false),
            "black": board.side_to_move() == Color::Black,
            "from": chosen.explained.mv.from.to_string(),
            "to": chosen.explained.mv.to.to_string(),
        }),
    };
    replace_file(path, page.render()?.as_bytes())
}

/// The row of a move. `none` takes the place of a number that it lacks.
fn row(study: &Study, studied: &StudiedMove, none: &str) -> Row {
    let found = studied.found();
    let quiet = study.quiet(study.root.board(), &studied.explained);
    let cosine = quiet.and_then(|(_, cosine)| cosine);
    let verified = studied.explained.verified.as_ref();
    Row {
        san: san_of_move(study.root.board(), studied.explained.mv),
        chosen: std::ptr::eq(studied, study.chosen()),
        rank_before: studied.rank_before,
        cosine: format!("{:+.4}", studied.cosine),
        before: latent(studied.explained.static_value),
        quiet_cosine: cosine.map_or(none.to_owned(), |cosine| format!("{cosine:+.4}")),
        verified: verified.map_or(String::new(), |verified| latent(verified.value)),
        rank_after: studied.rank_after.map_or(none.to_owned(), |rank| rank.to_string()),
        plies: found.map_or(String::new(), |found| found.depth.to_string()),
        after: found.map_or("dropped".to_owned(), |found| {
            bounded(&study.wdl, study.root.board(), found.value, found.bound)
        }),
        own_search: studied.own_search.is_some(),
    }
}

/// The verified lines of the moves that the search ranked, and the quiet positions at their ends.
fn quiet(study: &Study) -> Vec<Quiet> {
    let board = study.root.board();
    let ranked = study.moves.iter().filter(|studied| studied.rank_after.is_some());
    let quiet = |StudiedMove { explained, .. }: &StudiedMove| {
        let line = [&[explained.mv][..], &explained.verified.as_ref()?.line].concat();
        let (end, _) = study.quiet(board, explained)?;
        Some(Quiet { line: numbered(board, &line), fen: fen_of(&end) })
    };
    ranked.filter_map(quiet).collect()
}

/// The tree with at most `shown` moves per position; empty if the study has no replies.
fn tree(study: &Study, shown: usize) -> Vec<Branch> {
    let mut tree = Vec::new();
    if study.moves.iter().any(|studied| !studied.explained.replies.is_empty()) {
        let moves: Vec<&ExplainedMove> = study.moves.iter().map(|m| &m.explained).collect();
        grow(&study.wdl, study.root.board(), &moves, 1, shown, &mut tree);
    }
    tree
}

fn grow(
    wdl: &WdlModel,
    board: &Board,
    moves: &[&ExplainedMove],
    level: usize,
    shown: usize,
    tree: &mut Vec<Branch>,
) {
    let looked_at = || moves.iter().filter_map(|explained| Some((*explained, explained.searched?)));
    for (explained, found) in looked_at().take(shown) {
        tree.push(Branch {
            level,
            text: san_of_move(board, explained.mv),
            score: bounded(wdl, board, found.value, found.bound),
            note: before_the_search(explained, found.depth),
        });
        let replies: Vec<&ExplainedMove> = explained.replies.iter().collect();
        grow(wdl, &board_after(board, explained.mv), &replies, level + 1, shown, tree);
    }
    let more = looked_at().count().saturating_sub(shown);
    let dropped = moves.iter().filter(|explained| explained.searched.is_none()).count();
    if more + dropped > 0 {
        let note = format!("{more} more looked at, {dropped} dropped");
        tree.push(Branch { level, text: String::new(), score: String::new(), note });
    }
}

/// The latent score of the side that moves: `53.2%`.
fn latent(value: Value) -> String {
    format!("{:.1}%", 100.0 * value.win_probability())
}

/// The expected score of the side to move on `board`: `53.2%  cp 35`, `≤53.2%  cp 35`.
fn bounded(wdl: &WdlModel, board: &Board, value: Value, bound: Bound) -> String {
    let sign = match bound {
        Bound::Exact => "",
        Bound::Upper => "≤",
        Bound::Lower => "≥",
    };
    format!("{sign}{:.1}%  {value}", percent(wdl, value, board))
}

/// `wins 41.2%, draws 23.9%, loses 34.9%`: the chances of the side to move after the search.
fn chances(study: &Study) -> String {
    let permille = study.wdl.permille(study.report.value, study.root.board());
    let [wins, draws, loses] = permille.map(|permille| f64::from(permille) / 10.0);
    format!("wins {wins:.1}%, draws {draws:.1}%, loses {loses:.1}%")
}

/// Search depth of a move of the tree and its latent scores before the search: `4 plies, latent
/// score 52.9% at first sight, 32.1% verified`.
fn before_the_search(explained: &ExplainedMove, plies: u32) -> String {
    let first = latent(explained.static_value);
    let first = format!("{plies} plies, latent score {first} at first sight");
    match &explained.verified {
        Some(verified) => format!("{first}, {} verified", latent(verified.value)),
        None => first,
    }
}
