//! Writes an explanation as text for the terminal.

use std::io::Write;

use anstyle::{AnsiColor, Style};
use anyhow::Result;
use azimuth_chess::board_diagram::board_diagram;
use azimuth_chess::san::san_of_move;
use azimuth_search::names::name_of;
use azimuth_search::{Bound, PlannerKind};

use super::chess_terms::{numbered, side_name};
use super::html::{Branch, Quiet, bounded, chances, latent, quiet, tree};
use super::reason::reason;
use super::study::{StudiedMove, Study};

/// Maximum number of replies that the tree shows per position; the rest are counted.
const SHOWN_REPLIES: usize = 3;

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const GOOD: Style = AnsiColor::Green.on_default();
const BAD: Style = AnsiColor::Red.on_default();

/// Writes the board, the table of moves, the tree, the best line and the reason.
pub fn write(study: &Study, planner: PlannerKind, output: &mut impl Write) -> Result<()> {
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
    write_quiet_positions(study, output)?;
    write_tree(study, output)?;
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
        let san = san_of_move(study.root.board(), studied.explained.mv);
        let style = if std::ptr::eq(studied, study.chosen()) { BOLD } else { Style::new() };
        writeln!(
            output,
            "{style}{san:8}  {:>4}  {:>+7.4}  {:>9}    {}{}{style:#}",
            studied.rank_before,
            studied.cosine,
            latent(studied.explained.static_value),
            verification(study, studied),
            outcome(study, studied),
        )?;
    }
    if study.moves.iter().any(|studied| studied.own_search.is_some()) {
        writeln!(output, "{DIM}* scored by a separate search{DIM:#}")?;
    }
    Ok(())
}

/// The cosine of a move's quiet position, and the verified latent score.
fn verification(study: &Study, studied: &StudiedMove) -> String {
    let Some(verified) = &studied.explained.verified else { return String::new() };
    let quiet = study.quiet(study.root.board(), &studied.explained);
    let cosine = quiet.and_then(|quiet| quiet.cosine);
    let cosine = cosine.map_or("-".to_owned(), |cosine| format!("{cosine:+.4}"));
    format!("{cosine:>7}  {:>9}    ", latent(verified.value))
}

/// Writes the quiet positions of the moves that the search ranked.
fn write_quiet_positions(study: &Study, output: &mut impl Write) -> Result<()> {
    let quiet = quiet(study);
    if !quiet.is_empty() {
        writeln!(output, "\n{BOLD}The quiet positions{BOLD:#} of the verified moves:")?;
    }
    for Quiet { line, fen } in quiet {
        writeln!(output, "  {line}\n    {DIM}{fen}{DIM:#}")?;
    }
    Ok(())
}

/// The rank and value of a move after the search.
fn outcome(study: &Study, studied: &StudiedMove) -> String {
    let rank = studied.rank_after.map_or("-".to_owned(), |rank| rank.to_string());
    let Some(found) = studied.found() else { return format!("{rank:>4}      -  dropped") };
    let own = if studied.own_search.is_some() { " *" } else { "" };
    let style = match found.bound {
        Bound::Exact if found.value > studied.explained.static_value => GOOD,
        Bound::Exact if found.value < studied.explained.static_value => BAD,
        Bound::Exact => Style::new(),
        _ => DIM,
    };
    let score = bounded(&study.wdl, study.root.board(), found.value, found.bound);
    let (share, score) = score.split_once("  ").unwrap_or((&score, ""));
    format!("{rank:>4}  {:>5}  {style}{share:>9}  {score}{style:#}{own}", found.depth)
}

fn write_tree(study: &Study, output: &mut impl Write) -> Result<()> {
    let tree = tree(study, SHOWN_REPLIES);
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
    Ok(())
}
