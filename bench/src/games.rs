//! Games as PGN: written after each game, and read to continue a match, to rate and to report.
//! The notations of cutechess and fastchess for moves and clocks are read, too.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use azimuth_chess::pgn::{BadGame, Game, GameMove, Outcome, Reader, Writer, decompressed};
use azimuth_chess::position::{Position, STARTPOS};
use azimuth_cli::say;
use azimuth_network::replace_file::open_locked;
use cozy_chess::{Color, Move};

use crate::settings::TimeControl;

/// A score from White's view.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Evaluation {
    Centipawns(i32),
    /// Moves to mate; negative if White is mated.
    Mate(i32),
}

impl Evaluation {
    /// From the view of the side to move.
    pub fn seen_by(self, side: Color) -> Self {
        match (side, self) {
            (Color::White, _) => self,
            (Color::Black, Self::Centipawns(value)) => Self::Centipawns(value.saturating_neg()),
            (Color::Black, Self::Mate(moves)) => Self::Mate(moves.saturating_neg()),
        }
    }
}

/// A player as recorded in a game's tags.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Name {
    pub name: String,
    /// Words of `PlayerSettings::describe`; empty if the PGN has none.
    pub settings: String,
    pub elo: Option<f64>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct PlayedMove {
    pub mv: Move,
    /// The player's score, from White's view.
    pub evaluation: Option<Evaluation>,
    pub depth: Option<u32>,
    pub time: Option<Duration>,
}

impl PlayedMove {
    /// A move without a score and without a time.
    pub fn of(mv: Move) -> Self {
        Self { mv, evaluation: None, depth: None, time: None }
    }
}

/// Values of PGN's `Termination` tag.
pub mod termination {
    pub const NORMAL: &str = "normal";
    pub const ADJUDICATION: &str = "adjudication";
    pub const TIME_FORFEIT: &str = "time forfeit";
    pub const RULES_INFRACTION: &str = "rules infraction";
}

#[derive(Clone, Debug, PartialEq)]
pub struct GameRecord {
    pub white: Name,
    pub black: Name,
    /// FEN of the starting position.
    pub opening: String,
    /// Number of the opening in the match and of the game in its pair, both from 1.
    pub round: String,
    pub moves: Vec<PlayedMove>,
    pub outcome: Outcome,
    pub termination: String,
    /// Reason for the end of the game, in words.
    pub reason: String,
    /// Date and time of the start in UTC, in PGN's format.
    pub started: Option<(String, String)>,
    pub duration: Option<Duration>,
}

#[cfg(test)]
impl GameRecord {
    /// A game of which only the players and the result matter.
    pub fn between(white: Name, black: Name, outcome: Outcome) -> Self {
        Self {
            white,
            black,
            opening: String::new(),
            round: String::new(),
            moves: Vec::new(),
            outcome,
            termination: String::new(),
            reason: String::new(),
            started: None,
            duration: None,
        }
    }
}

impl GameRecord {
    /// The game as PGN, with the empty line after it. Fails if the opening is not a position.
    pub fn to_pgn(&self) -> Result<Vec<u8>> {
        let start = Position::from_fen(&self.opening)?;
        let elo = |player: &Name| player.elo.map(|elo| elo.to_string());
        let (date, time) = self.started.clone().unzip();
        let tags = [
            ("Event", Some("Azimuth match".to_owned())),
            ("Site", Some("?".to_owned())),
            ("Date", Some(date.clone().unwrap_or_else(|| "????.??.??".to_owned()))),
            ("Round", Some(self.round.clone())),
            ("White", Some(self.white.name.clone())),
            ("Black", Some(self.black.name.clone())),
            ("Result", Some(self.outcome.as_pgn().to_owned())),
            ("WhiteElo", elo(&self.white)),
            ("BlackElo", elo(&self.black)),
            ("WhiteSettings", Some(self.white.settings.clone())),
            ("BlackSettings", Some(self.black.settings.clone())),
            ("Termination", Some(self.termination.clone())),
            ("PlyCount", Some(self.moves.len().to_string())),
            ("UTCDate", date),
            ("UTCTime", time),
            ("GameDuration", self.duration.map(hours)),
        ];
        let tags = tags.iter().filter_map(|(name, value)| Some((*name, value.as_deref()?)));
        let mut text = Vec::new();
        let mut writer = Writer::new(&mut text);
        writer.begin(tags, &start)?;
        let mut board = start.board().clone();
        for played in &self.moves {
            writer.play(&board, played.mv)?;
            board.play_unchecked(played.mv);
            if let Some(comment) = comment(played) {
                writer.comment(&comment)?;
            }
        }
        if !self.reason.is_empty() {
            writer.comment(&self.reason)?;
        }
        writer.end(Some(self.outcome))?;
        Ok(text)
    }
}

/// `[%eval 0.25,6] [%emt 0:00:00.0021]`: lichess's and ChessBase's commands, as python-chess reads
/// them.
fn comment(mv: &PlayedMove) -> Option<String> {
    let evaluation = mv.evaluation.map(|evaluation| {
        let value = match evaluation {
            Evaluation::Centipawns(value) => format!("{:.2}", f64::from(value) / 100.0),
            Evaluation::Mate(moves) => format!("#{moves}"),
        };
        match mv.depth {
            Some(depth) => format!("[%eval {value},{depth}]"),
            None => format!("[%eval {value}]"),
        }
    });
    let time = mv.time.map(|time| format!("[%emt {}]", hours(time)));
    let parts: Vec<String> = evaluation.into_iter().chain(time).collect();
    (!parts.is_empty()).then(|| parts.join(" "))
}

/// `H:MM:SS.ffff`.
fn hours(time: Duration) -> String {
    let ticks = (time.as_secs_f64() * 1e4).round() as u64;
    let seconds = ticks / 10_000;
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    format!("{hours}:{minutes:02}:{:02}.{:04}", seconds % 60, ticks % 10_000)
}

/// The inverse of [`hours`]; also without a fraction.
fn duration(text: &str) -> Option<Duration> {
    let mut seconds = 0.0;
    for part in text.split(':') {
        seconds = seconds * 60.0 + part.parse::<f64>().ok()?;
    }
    Duration::try_from_secs_f64(seconds).ok()
}

/// A PGN file to which games are appended.
pub struct GameFile {
    file: File,
    name: String,
}

impl GameFile {
    /// Opens or creates the file, removes an incomplete game at its end, and returns its games.
    /// Fails if another match is writing to it.
    pub fn open(path: &Path) -> Result<(Self, Vec<GameRecord>)> {
        let name = format!("game file '{}'", path.display());
        let context = || name.clone();
        let file = open_locked(path).with_context(context)?;
        let mut file = file.with_context(|| format!("{name}: another match is writing to it"))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).with_context(context)?;
        let text = match std::str::from_utf8(&bytes) {
            Ok(text) => text,
            // The file ends within a UTF-8 character.
            Err(error) if error.error_len().is_none() => {
                str::from_utf8(&bytes[..error.valid_up_to()]).with_context(context)?
            }
            Err(error) => return Err(error).with_context(context),
        };
        let whole = end_of_last_game(text);
        let (games, rest) = text.split_at(whole);
        let rest = rest.trim_start();
        ensure!(
            (rest.starts_with("[Event ") || "[Event ".starts_with(rest))
                && rest.matches("[Event ").count() <= 1
                && !text.contains('\r'),
            "{name}: it is not a file of this program's games"
        );
        file.set_len(whole as u64).with_context(context)?;
        file.seek(SeekFrom::End(0)).with_context(context)?;
        let games = read_games(games.as_bytes()).with_context(context)?.into_iter();
        let games = games.collect::<Result<Vec<_>, _>>().with_context(context)?;
        Ok((Self { file, name }, games))
    }

    pub fn add(&mut self, game: &GameRecord) -> Result<()> {
        // A single write: an interruption leaves either the whole game or a recognisably incomplete
        // one.
        let text = game.to_pgn()?;
        self.file.write_all(&text).with_context(|| self.name.clone())
    }
}

/// Byte offset of the end of the last game that is complete with its empty line.
fn end_of_last_game(text: &str) -> usize {
    const RESULTS: [&str; 4] = ["1-0\n\n", "0-1\n\n", "1/2-1/2\n\n", "*\n\n"];
    let ends = RESULTS.iter().filter_map(|end| Some(text.rfind(end)? + end.len()));
    ends.max().unwrap_or(0)
}

/// The finished games of a PGN file, plain or `.zst`. Unfinished games are skipped; unreadable
/// games are skipped and reported on standard error.
pub fn read_file(path: &Path) -> Result<Vec<GameRecord>> {
    let name = || format!("game file '{}'", path.display());
    let file = File::open(path).with_context(name)?;
    let games = read_games(decompressed(path, file).with_context(name)?);
    let say = |bad: BadGame| say(format_args!("azimuth-bench: {}: {bad}; it is left out", name()));
    let read = games.with_context(name)?.into_iter();
    Ok(read.filter_map(|game| game.map_err(say).ok()).collect())
}

/// The games of several files, as [`read_file`] reads each.
pub fn read_files(paths: &[PathBuf]) -> Result<Vec<GameRecord>> {
    let games = paths.iter().map(|path| read_file(path)).collect::<Result<Vec<_>>>()?;
    Ok(games.concat())
}

/// The games of a PGN text, or the reason why a game cannot be read. Unfinished games are skipped.
fn read_games(source: impl Read) -> Result<Vec<Result<GameRecord, BadGame>>> {
    let mut reader = Reader::new(source);
    let mut games = Vec::new();
    while let Some(game) = reader.read_game::<Game>()? {
        let game = game.and_then(Game::complete);
        games.extend(game.map(|game| GameRecord::of(&game)).transpose());
    }
    Ok(games)
}

impl GameRecord {
    /// A finished game as written by this or another program.
    fn of(game: &Game) -> Option<Self> {
        let tag = |name: &str| game.tags.get(name).map(str::to_owned);
        let limit = || tag("TimeControl").and_then(|control| settings(&control));
        let player = |side: &str| Name {
            name: tag(side).unwrap_or_default(),
            settings: tag(&format!("{side}Settings")).or_else(limit).unwrap_or_default(),
            elo: tag(&format!("{side}Elo")).and_then(|elo| elo.parse().ok()),
        };
        let mut record = Self {
            white: player("White"),
            black: player("Black"),
            opening: game.tags.known("FEN").unwrap_or(STARTPOS).to_owned(),
            round: tag("Round").unwrap_or_default(),
            moves: Vec::with_capacity(game.moves.len()),
            outcome: game.result()?,
            termination: tag("Termination").unwrap_or_default(),
            reason: String::new(),
            started: tag("UTCDate").zip(tag("UTCTime")),
            duration: tag("GameDuration").and_then(|text| duration(&text)),
        };
        record.reason.extend(game.comments.last().map(|text| text.trim()));
        let mut mover = game.start.board().side_to_move();
        for GameMove { mv, comments } in &game.moves {
            record.moves.push(PlayedMove::of(*mv));
            comments.iter().for_each(|text| record.add_comment(mover, text.trim()));
            mover = !mover;
        }
        Some(record)
    }

    /// Reads a comment on the last move, made by `mover`, or on the end of the game.
    fn add_comment(&mut self, mover: Color, text: &str) {
        let Some(mv) = self.moves.last_mut() else { return };
        let (evaluation, time) = (command(text, "eval"), command(text, "emt"));
        if evaluation.or(time).is_some() {
            (mv.evaluation, mv.depth) = evaluation.map_or((None, None), read_evaluation);
            mv.time = time.and_then(duration);
        } else if let Some((evaluation, depth, time, reason)) = read_comment(text, mover) {
            (mv.evaluation, mv.depth, mv.time) = (evaluation, depth, time);
            self.reason = reason.to_owned();
        } else {
            self.reason = text.to_owned();
        }
    }
}

/// The text after `[%name ` in a comment.
fn command<'a>(comment: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = comment.split_once(&format!("[%{name} "))?;
    Some(rest.split_once(']')?.0)
}

fn read_evaluation(text: &str) -> (Option<Evaluation>, Option<u32>) {
    let (value, depth) = text.split_once(',').unwrap_or((text, ""));
    let evaluation = match value.strip_prefix('#') {
        Some(moves) => moves.parse().ok().map(Evaluation::Mate),
        None => {
            // ChessBase writes `25,20`: centipawns and a depth.
            let unit = if depth.is_empty() || value.contains('.') { 100.0 } else { 1.0 };
            let number = value.parse::<f64>().ok().filter(|number| number.is_finite());
            number.map(|number| Evaluation::Centipawns((number * unit).round() as i32))
        }
    };
    (evaluation, depth.parse().ok())
}

/// A comment of cutechess or fastchess, `+0.12/11 0.050s` or `-M6/8 0.002s, White mates`, on a move
/// of `mover`: its score, depth and time, and the reason for the end of the game. `None` for any
/// other comment.
type Comment<'a> = (Option<Evaluation>, Option<u32>, Option<Duration>, &'a str);

fn read_comment(text: &str, mover: Color) -> Option<Comment<'_>> {
    let (facts, reason) = text.split_once(", ").unwrap_or((text, ""));
    let mut words = facts.split_whitespace();
    let (score, depth) = words.next()?.split_once('/')?;
    let seconds = words.next()?.strip_suffix('s')?.parse().ok()?;
    let evaluation = read_score(score).map(|evaluation| evaluation.seen_by(mover));
    Some((evaluation, depth.parse().ok(), Duration::try_from_secs_f64(seconds).ok(), reason))
}

/// Pawns, or `M` and the number of plies to mate, with a sign.
fn read_score(score: &str) -> Option<Evaluation> {
    let (sign, unsigned) = match score.strip_prefix('-') {
        Some(unsigned) => (-1, unsigned),
        None => (1, score.strip_prefix('+').unwrap_or(score)),
    };
    match unsigned.strip_prefix('M') {
        Some(plies) => {
            let plies: u16 = plies.parse().ok()?;
            Some(Evaluation::Mate(sign * i32::from(plies.div_ceil(2))))
        }
        None => {
            let pawns = unsigned.parse().ok().filter(|pawns: &f64| *pawns >= 0.0)?;
            Some(Evaluation::Centipawns(sign * (pawns * 100.0).round() as i32))
        }
    }
}

/// The settings words of a `TimeControl` tag: `0.05/move`, `10+0.1`, `40/10`.
fn settings(time_control: &str) -> Option<String> {
    match time_control.strip_suffix("/move") {
        Some(seconds) => {
            let time = Duration::try_from_secs_f64(seconds.parse().ok()?).ok()?;
            Some(format!("movetime={}", time.as_millis()))
        }
        None => TimeControl::parse(time_control).ok().map(|control| format!("tc={control}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mv(uci: &str) -> Move {
        uci.parse().expect("a move")
    }

    fn record() -> GameRecord {
        let player = |name: &str, elo| Name {
            name: name.to_owned(),
            settings: "engine=x 'option.A B=\\1'".to_owned(),
            elo,
        };
        GameRecord {
            white: player("a \"quoted\" name", None),
            black: player("b", Some(1500.0)),
            opening: "rnbqkbnr/pppp1ppp/8/4p3/6P1/5P2/PPPPP2P/RNBQKBNR b KQkq - 0 2".to_owned(),
            round: "3.2".to_owned(),
            moves: vec![PlayedMove {
                mv: mv("d8h4"),
                evaluation: Some(Evaluation::Mate(-1)),
                depth: Some(6),
                time: Some(Duration::from_micros(52_300)),
            }],
            outcome: Outcome::BlackWins,
            termination: "normal".to_owned(),
            reason: "Black mates".to_owned(),
            started: Some(("2026.01.02".to_owned(), "03:04:05".to_owned())),
            duration: Some(Duration::from_millis(3_723_400)),
        }
    }

    fn read(text: impl AsRef<[u8]>) -> Result<Vec<GameRecord>> {
        Ok(read_games(text.as_ref())?.into_iter().collect::<Result<_, _>>()?)
    }

    #[test]
    fn the_largest_scores_change_their_sign() {
        let kinds: [fn(i32) -> Evaluation; 2] = [Evaluation::Centipawns, Evaluation::Mate];
        for kind in kinds {
            assert_eq!(kind(i32::MIN).seen_by(Color::Black), kind(i32::MAX));
        }
    }

    #[test]
    fn a_game_is_read_as_it_was_written() -> Result<()> {
        let mut long = record();
        long.white.settings = format!("engine=x set={}", "lmr-base:161,".repeat(100));
        let moves = [("g8f6", 31), ("b1c3", -5), ("f6g8", 0), ("c3b1", 1500)];
        long.moves = (0..100)
            .map(|ply| {
                let (uci, centipawns) = moves[ply % 4];
                let evaluation = (ply % 7 != 0).then_some(Evaluation::Centipawns(centipawns));
                PlayedMove {
                    mv: mv(uci),
                    depth: evaluation.map(|_| 4),
                    evaluation,
                    time: Some(Duration::from_micros(100 * ply as u64)),
                }
            })
            .collect();
        let games = vec![record(), long];
        let text = games.iter().map(GameRecord::to_pgn).collect::<Result<Vec<_>>>()?.concat();
        let text = String::from_utf8(text)?;
        assert!(text.contains("2... Qh4# { [%eval #-1,6] [%emt 0:00:00.0523] }"), "{text}");
        assert!(text.contains("[GameDuration \"1:02:03.4000\"]"));
        assert_eq!(read(&text)?, games);
        Ok(())
    }

    #[test]
    fn whole_numbers_with_a_depth_are_centipawns() {
        for (text, centipawns) in [("25,20", 25), ("0.25,20", 25), ("3", 300)] {
            assert_eq!(read_evaluation(text).0, Some(Evaluation::Centipawns(centipawns)), "{text}");
        }
        assert_eq!(read_evaluation("nan,20").0, None);
    }

    #[test]
    fn a_game_cut_short_is_dropped_wherever_the_cut_is() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("games.pgn");
        let mut game = record();
        game.white.name = "Würfel".to_owned();
        let one = game.to_pgn()?;
        for cut in 0..one.len() {
            std::fs::write(&path, [&one, &one[..cut]].concat())?;
            let (mut file, games) = GameFile::open(&path)?;
            assert_eq!(games, std::slice::from_ref(&game), "cut at {cut}");
            file.add(&game)?;
            drop(file);
            assert_eq!(std::fs::read(&path)?, one.repeat(2), "cut at {cut}");
        }
        Ok(())
    }

    #[test]
    fn a_file_is_not_shared_and_other_files_are_not_touched() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("games.pgn");
        let first = GameFile::open(&path)?;
        let error = GameFile::open(&path).err().context("opened twice")?.to_string();
        assert!(error.contains("another match is writing to it"), "{error}");
        drop(first);
        std::fs::write(&path, "a letter")?;
        let error = GameFile::open(&path).err().context("not games")?.to_string();
        assert!(error.contains("it is not a file of this program's games"), "{error}");
        assert_eq!(std::fs::read_to_string(&path)?, "a letter");
        Ok(())
    }

    #[test]
    fn games_of_other_programs_are_read() -> Result<()> {
        let text = "[White \"a\"]\n[Black \"b\"]\n[Result \"1/2-1/2\"]\n[TimeControl \"8+0.08\"]\n\n\
                    1. e4 {+0.30/6 0.052s} e5 {-0.1/5 0.01s, Draw by adjudication} 1/2-1/2\n\n\
                    [White \"a\"]\n[Black \"b\"]\n[Result \"*\"]\n\n1. e4 *\n\n";
        let games = read(text)?;
        assert_eq!(games.len(), 1);
        assert_eq!((games[0].outcome, games[0].moves.len()), (Outcome::Draw, 2));
        assert_eq!(
            (games[0].opening.as_str(), games[0].white.settings.as_str()),
            (STARTPOS, "tc=8+0.08")
        );
        assert_eq!(games[0].reason, "Draw by adjudication");
        let replied = &games[0].moves[1];
        // From White's view.
        assert_eq!(replied.evaluation, Some(Evaluation::Centipawns(10)));
        assert_eq!((replied.depth, replied.time), (Some(5), Some(Duration::from_millis(10))));
        Ok(())
    }

    #[test]
    fn a_bad_game_is_left_out_of_a_file_and_refuses_a_match() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("games.pgn");
        let good = record();
        let text = String::from_utf8(good.to_pgn()?)?;
        std::fs::write(&path, text.replace("Qh4#", "Qh5#") + &text)?;
        assert_eq!(read_file(&path)?, [good]);
        let error = GameFile::open(&path).err().context("a bad game")?;
        assert!(format!("{error:#}").contains("game 1: half-move 1: move 'Qh5#'"), "{error:#}");
        Ok(())
    }

    #[test]
    fn comments_are_read_as_they_are_meant() {
        let centipawns = |value| Some(Evaluation::Centipawns(value));
        let mate = |moves| Some(Evaluation::Mate(moves));
        let ms = |ms| Some(Duration::from_millis(ms));
        for (text, expected) in [
            ("+0.12/11 0.050s", Some((centipawns(12), Some(11), ms(50), ""))),
            ("-1.05/9 1.2s", Some((centipawns(-105), Some(9), ms(1200), ""))),
            ("0.00/1 0s", Some((centipawns(0), Some(1), ms(0), ""))),
            ("+M13/14 0.05s", Some((mate(7), Some(14), ms(50), ""))),
            ("-M6/8 0.002s", Some((mate(-3), Some(8), ms(2), ""))),
            ("+M1/1 0s, White mates", Some((mate(1), Some(1), ms(0), "White mates"))),
            ("+M2147483647/1 0s", Some((None, Some(1), ms(0), ""))),
            ("nan/1 0s", Some((None, Some(1), ms(0), ""))),
            ("book", None),
            ("White's best/worst idea", None),
            ("", None),
        ] {
            assert_eq!(read_comment(text, Color::White), expected, "{text}");
        }
    }

    #[test]
    fn clocks_are_read_as_they_are_meant() {
        for (tag, words) in [
            ("0.05/move", Some("movetime=50")),
            ("10+0.1", Some("tc=10+0.1")),
            ("40/10", Some("tc=40/10+0")),
            ("40/7200:3600", None),
            ("-", None),
            ("?", None),
        ] {
            assert_eq!(settings(tag).as_deref(), words, "{tag}");
        }
    }
}
