//! The command line of `azimuth explain`, and the arguments that select a position: a FEN, or a
//! position of a game.

use std::fmt;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use anyhow::{Context, Error, Result, bail, ensure};
use azimuth_chess::pgn::{Game, MOST_MOVES, Reader, open_text, pgn_files};
use azimuth_chess::position::{Position, castles_as_in_chess960, dropped_rights_notice};
use azimuth_chess::san::parse_move;
use azimuth_network::replace_file::check_output;
use azimuth_search::inference::{Backend, ModelSource};
use azimuth_search::{
    BeamSettings, BeamVerify, Limits, PlannerKind, PlannerSettings, Resources, StopSwitch,
    TimeLimit,
};
use clap::Args;
use cozy_chess::Color;

use super::study::{Study, Task};
use super::{json, text_and_html};
use crate::session::{Models, Plan, notice};

/// Search time if no limit is given.
const DEFAULT_TIME: Duration = Duration::from_secs(1);

/// Explains why the engine chose a move, in a few sentences. It also lists the cosine, the scores
/// and the rank of every legal move before and after the search, the quiet position that verifies a
/// move, the best line and the search tree.
#[derive(Args)]
pub struct ExplainCommand {
    #[command(flatten)]
    subject: Subject,
    /// Moves to compare with the chosen move, separated by commas: Nf3,g1f3
    #[arg(long, value_delimiter = ',')]
    moves: Vec<String>,
    /// Search depth in plies.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=64))]
    depth: Option<u32>,
    /// Maximum number of positions to search.
    #[arg(long)]
    nodes: Option<u64>,
    /// Search time, for example 500ms or 10s [default: 1s if no limit is given]. Further searches
    /// compare other moves at the same depth and take extra time.
    #[arg(long, value_parser = humantime::parse_duration)]
    time: Option<Duration>,
    /// Search to use [default: beam with a --depth of up to 6, otherwise selective]
    #[arg(long, value_enum)]
    planner: Option<PlannerKind>,
    /// How the beam verifies a child before it keeps or drops it. With none, the child's embedding
    /// gives its score, as in the paper. With quiescence, a quiescence search does. A number from 1
    /// to 4 adds an alpha-beta search to that number of plies beyond the beam's last ply.
    #[arg(long, value_enum, default_value_t = BeamSettings::default().verify)]
    verify: BeamVerify,
    /// Number of plies of the search tree to show.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=6))]
    tree: u32,
    /// Weights file [default: the embedded weights of the search]
    #[arg(long)]
    weights: Option<PathBuf>,
    /// Folders with Syzygy tables of more than four pieces, separated as in PATH.
    #[arg(long)]
    syzygy: Option<String>,
    /// Size of the score cache and transposition table together, in MB.
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    hash: u32,
    /// Device that runs the encoder.
    #[arg(long, value_enum, default_value_t = Backend::Auto)]
    device: Backend,
    /// Print one JSON object (described in docs/explain.md) instead of text.
    #[arg(long)]
    json: bool,
    /// Write a self-contained HTML page to this file instead of printing text.
    #[arg(long, conflicts_with = "json")]
    html: Option<PathBuf>,
}

impl ExplainCommand {
    /// Searches, and writes the explanation to `output`. Fails with a one-line error if the
    /// position, a move or a file is invalid.
    pub fn run(&self, mut output: impl Write) -> Result<()> {
        let root = self.subject.position()?;
        ensure!(
            root.has_legal_move(),
            "'{}': there is no legal move to explain, {}",
            root.fen(castles_as_in_chess960(root.board())),
            if root.board().checkers().is_empty() { "stalemate" } else { "checkmate" }
        );
        let compared = self.moves.iter().map(|text| parse_move(&root, text.trim()));
        let compared = compared.collect::<Result<Vec<_>>>().context("--moves")?;
        let limits = self.limits();
        if let Some(path) = &self.html {
            check_output(path, self.subject.pgn.as_deref().as_slice())?;
        }
        let beam = BeamSettings { verify: self.verify, ..BeamSettings::default() };
        let settings = PlannerSettings { beam, ..PlannerSettings::default() };
        let kind = self.planner.unwrap_or(match settings.is_for_the_beam(&limits) {
            true => PlannerKind::Beam,
            false => PlannerKind::Selective,
        });
        let weights = self.weights.clone();
        let source = ModelSource { weights, backend: self.device, ..ModelSource::default() };
        let models = Models::open(source, self.syzygy.as_deref())?;
        let resources = Resources { hash_mb: self.hash as usize, threads: 1 };
        let plan = Plan::of(kind, settings);
        let mut planner = models.planner(plan, resources)?;
        let mut model = models.model(plan.embedded())?;
        let stop = StopSwitch::default();
        let task = Task { root, limits, compared, plies: self.tree, stop };
        let study = Study::make(task, &mut *planner, &mut model)?;
        if let Some(early_end) = &study.early_end {
            notice(early_end);
        }
        match &self.html {
            Some(path) => text_and_html::write_page(&study, kind, path),
            None if self.json => json::write(&study, kind, &mut output),
            None => text_and_html::write_text(&study, kind, &mut output),
        }
    }

    fn limits(&self) -> Limits {
        let unlimited = self.depth.is_none() && self.nodes.is_none();
        let time = self.time.or(unlimited.then_some(DEFAULT_TIME)).map(TimeLimit::exactly);
        Limits { depth: self.depth, nodes: self.nodes, time, ..Limits::default() }
    }
}

/// The arguments that select a position.
#[derive(Args)]
pub struct Subject {
    /// The position: a FEN or startpos [default: startpos unless --pgn is given]
    fen: Option<String>,
    /// Take the position from a game in a PGN file (plain or .zst), in a folder of PGN files, or
    /// from standard input (-).
    #[arg(long, conflicts_with = "fen")]
    pgn: Option<PathBuf>,
    /// Number of the game, from 1.
    #[arg(long, default_value_t = 1, requires = "pgn", value_parser = clap::value_parser!(u64).range(1..))]
    game: u64,
    /// Take the position after this number of half-moves [default: the end of the game]
    #[arg(long, requires = "pgn")]
    ply: Option<usize>,
    /// Take the position before this move: 29w is White's 29th move, 29b Black's.
    #[arg(long = "move", value_name = "MOVE", requires = "pgn", conflicts_with = "ply")]
    before: Option<MoveNumber>,
}

impl Subject {
    /// The position with the history of its game.
    pub fn position(&self) -> Result<Position> {
        match (&self.pgn, &self.fen) {
            (Some(path), _) => {
                let name = || format!("game {} of '{}'", self.game, path.display());
                self.position_of_game(path).with_context(name)
            }
            (None, Some(fen)) if fen != "startpos" => {
                let (position, dropped) = Position::read_fen(fen)?;
                tell_dropped(dropped.as_deref());
                Ok(position)
            }
            _ => Ok(Position::default()),
        }
    }

    /// The selected position; games are numbered across all files.
    fn position_of_game(&self, path: &Path) -> Result<Position> {
        let mut games = 0;
        for file in pgn_files(path)? {
            let mut reader = Reader::new(open_text(&file)?).with_most_plies(self.most_plies());
            while games + 1 < self.game && reader.skip_game()? {
                games += 1;
            }
            if games + 1 == self.game
                && let Some(position) = self.read_game(&mut reader)?
            {
                return Ok(position);
            }
        }
        bail!(
            "there {}",
            match games {
                0 => "is no game in it".to_owned(),
                1 => "is only 1 game in it".to_owned(),
                games => format!("are only {games} games in it"),
            }
        )
    }

    fn read_game(&self, reader: &mut Reader<impl Read>) -> Result<Option<Position>> {
        let Some(read) = reader.read_game::<Game>()? else { return Ok(None) };
        // The caller adds the file name and the game's number to the error.
        let game = read.map_err(|bad| bad.fault)?;
        // Any text can be read as games without moves.
        let is_game = !game.tags.is_empty() || !game.moves.is_empty();
        ensure!(is_game, "there is no move and no tag: this is no PGN");
        tell_dropped(game.dropped_rights.as_deref());
        if let Some(bad) = &game.fault {
            ensure!(!game.moves.is_empty(), "{}", bad.fault);
            notice(&format!("{bad}; only the moves before it are read"));
        }
        let plies = game.moves.len();
        let mut position = game.start.clone();
        let Some(before) = self.before else {
            let ply = self.ply.unwrap_or(plies);
            ensure!(ply <= plies, "--ply {ply}: the game has {plies} half-moves");
            game.moves[..ply].iter().for_each(|played| position.play(played.mv));
            return Ok(Some(position));
        };
        for played in &game.moves {
            if before.is_next_in(&position) {
                break;
            }
            position.play(played.mv);
        }
        let found = before.is_next_in(&position);
        // Only this number of half-moves is read.
        let is_whole = plies < self.most_plies() as usize;
        let length =
            if is_whole { format!("the game has {plies} half-moves, ") } else { String::new() };
        ensure!(found, "--move {before}: {length}no such move");
        Ok(Some(position))
    }

    /// Number of half-moves to read; later moves are irrelevant.
    fn most_plies(&self) -> u32 {
        let before = self.before.map(|before| 2 * usize::from(before.number));
        let most = self.ply.or(before).and_then(|plies| u32::try_from(plies).ok());
        // A first move shows that the text is a game.
        most.unwrap_or(MOST_MOVES).max(1)
    }
}

/// Tells the castling rights of a FEN that are dropped, if any.
fn tell_dropped(rights: Option<&str>) {
    if let Some(rights) = rights {
        notice(&dropped_rights_notice(rights));
    }
}

/// The number of a move and the side that plays it, as on a score sheet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct MoveNumber {
    number: u16,
    side: Color,
}

impl MoveNumber {
    fn is_next_in(self, position: &Position) -> bool {
        let board = position.board();
        board.fullmove_number() == self.number && board.side_to_move() == self.side
    }
}

impl FromStr for MoveNumber {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let (number, side) = match text.strip_suffix(['w', 'W']) {
            Some(number) => (number, Color::White),
            None => (text.strip_suffix(['b', 'B']).unwrap_or_default(), Color::Black),
        };
        let number = number.parse().ok().filter(|&number| number > 0);
        Ok(Self { number: number.context("expected a move as 29w or 29b")?, side })
    }
}

impl fmt::Display for MoveNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.number, if self.side == Color::White { 'w' } else { 'b' })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moves_are_numbered_as_on_score_sheets() {
        let white = MoveNumber { number: 29, side: Color::White };
        assert_eq!("29w".parse::<MoveNumber>().ok(), Some(white));
        assert_eq!(white.to_string(), "29w");
        let black = "7B".parse::<MoveNumber>().expect("valid");
        assert_eq!(black.to_string(), "7b");
        for text in ["", "w", "29", "0w", "-3b", "x w", "29.w"] {
            assert!(text.parse::<MoveNumber>().is_err(), "{text}");
        }
    }
}
