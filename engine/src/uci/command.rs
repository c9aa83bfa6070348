//! Parses lines of the UCI protocol into typed commands. Parsing does not depend on the state of
//! the engine.

use std::fmt::Display;
use std::num::IntErrorKind;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail, ensure};
use azimuth_chess::notation::{Language, read_marks, read_move};
use azimuth_chess::text::shortened;
use azimuth_search::{Limits, TimeLimit};

/// A line from the GUI.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    Uci,
    IsReady,
    /// `setoption name … [value …]`; the value is the rest of the line.
    SetOption {
        name: String,
        value: Option<String>,
    },
    NewGame,
    /// `position startpos|fen … [moves …]`; without a FEN for `startpos`.
    Position {
        fen: Option<String>,
        moves: Vec<String>,
    },
    Debug(bool),
    /// `go …`, and its first unknown word, which is ignored if there is also a valid limit.
    Go {
        go: Go,
        unknown: Option<String>,
    },
    /// `go perft …`, with a depth in plies.
    Perft(u32),
    Stop,
    PonderHit,
    Quit,
    /// `d`: prints the board. Not part of UCI, like all commands below.
    Display,
    /// `eval`: prints static scores, without a search.
    Eval,
    /// `explain`: prints why the last search chose its move.
    Explain,
    /// `flip`: exchanges the sides of the position.
    Flip,
    /// `compiler`: prints the commit, compiler, target and instruction set.
    Compiler,
    /// `help`: lists the commands.
    Help,
    Bench(Bench),
    GenFens(GenFens),
}

/// The arguments of `bench`.
#[derive(Clone, Debug, PartialEq)]
pub enum Bench {
    /// `bench [depth]`: the fixed searches of the bench signature.
    Fixed(Option<u32>),
    /// `bench hash threads [limit] [fenfile] [limittype]`, with Stockfish's argument order and
    /// defaults.
    Searches { hash_mb: u64, threads: u64, positions: BenchPositions, task: BenchTask },
}

/// The positions that `bench` searches.
#[derive(Clone, Debug, PartialEq)]
pub enum BenchPositions {
    /// `default`: the built-in bench positions.
    Default,
    /// `current`: the current position.
    Current,
    /// A file with a FEN on each line.
    File(PathBuf),
}

/// The work of `bench` in each position.
#[derive(Clone, Debug, PartialEq)]
pub enum BenchTask {
    Search(Limits),
    /// Perft to this depth in plies.
    Perft(u32),
}

/// The arguments of `genfens`.
#[derive(Clone, Debug, PartialEq)]
pub struct GenFens {
    /// Number of positions.
    pub count: u32,
    /// The same seed gives the same positions.
    pub seed: u64,
    /// File of openings to start from; `None` for the starting position.
    pub book: Option<PathBuf>,
    /// Number of random plies; `None` for 8 or 9, so that each side has the move in half of the
    /// positions.
    pub plies: Option<u32>,
    /// Largest score for either side, in centipawns.
    pub score: i32,
}

/// The arguments of `go`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Go {
    /// Root moves to search, in UCI notation; empty for all.
    pub search_moves: Vec<String>,
    /// Search on the opponent's time until `ponderhit`.
    pub ponder: bool,
    /// Remaining time of White and Black.
    pub time: [Option<Duration>; 2],
    /// Increment per move of White and Black.
    pub increment: [Duration; 2],
    /// Number of moves to the next time control.
    pub moves_to_go: Option<u32>,
    /// Depth in plies.
    pub depth: Option<u32>,
    /// Number of positions.
    pub nodes: Option<u64>,
    /// Search for a mate in at most this number of moves; [`ANY_MATE`] without a number.
    pub mate: Option<u32>,
    /// Exact time for this move.
    pub move_time: Option<Duration>,
    /// Search until `stop`.
    pub infinite: bool,
}

/// The number of moves of a `go mate` without a number.
pub const ANY_MATE: u32 = u32::MAX;

/// Arguments of `go` with a number that GUIs send as a negative one, for example when a clock has
/// run out.
const MAY_BE_NEGATIVE: [&str; 6] = ["wtime", "btime", "winc", "binc", "movestogo", "movetime"];

/// Arguments of `go` with another number.
const COUNTS: [&str; 3] = ["depth", "nodes", "mate"];

/// Prefix of the error for a `go` command that starts no search.
const REFUSED: &str = "go: no search begins";

/// Maximum depth of a perft in plies. The count takes a stack frame for each ply, and the rules that
/// end a game do not end its lines, so a depth of many thousand plies would overflow the stack.
const MAX_PERFT_DEPTH: u32 = 128;

/// Default depth, in plies, of `bench hash threads`, as in Stockfish.
const DEFAULT_BENCH_DEPTH: u64 = 13;

/// Maximum number of positions of one `genfens`.
const MOST_POSITIONS: u32 = 1_000_000;

/// Maximum number of random plies of `genfens`.
const MOST_PLIES: u32 = 100;

/// Default of the largest score of `genfens`, in centipawns.
const LARGEST_SCORE: i32 = 200;

/// Maximum of the largest score of `genfens`, in centipawns.
const MOST_SCORE: i32 = 10_000;

/// Parses a line. Returns `None` for an empty line.
pub fn parse(line: &str) -> Result<Option<Command>> {
    let words: Vec<&str> = line.split_whitespace().collect();
    Ok(Some(match words.as_slice() {
        [] => return Ok(None),
        ["uci"] => Command::Uci,
        ["isready"] => Command::IsReady,
        ["ucinewgame"] => Command::NewGame,
        ["stop"] => Command::Stop,
        ["ponderhit"] => Command::PonderHit,
        ["quit"] => Command::Quit,
        ["setoption", "name", rest @ ..] => set_option(line, rest),
        ["position", "startpos", rest @ ..] => Command::Position { fen: None, moves: moves(rest)? },
        ["position", "fen", rest @ ..] => {
            let end = rest.iter().position(|&word| word == "moves").unwrap_or(rest.len());
            let (fen, rest) = rest.split_at(end);
            Command::Position { fen: Some(fen.join(" ")), moves: moves(rest)? }
        }
        ["go", "perft", rest @ ..] => Command::Perft(perft_depth(rest)?),
        ["go", rest @ ..] => go(rest).context(REFUSED)?,
        ["debug", "on"] => Command::Debug(true),
        ["debug", "off"] => Command::Debug(false),
        ["d"] => Command::Display,
        ["eval"] => Command::Eval,
        ["explain"] => Command::Explain,
        ["flip"] => Command::Flip,
        ["compiler"] => Command::Compiler,
        ["help" | "--help"] => Command::Help,
        ["bench", rest @ ..] => Command::Bench(bench(rest)?),
        ["genfens", rest @ ..] => Command::GenFens(GenFens::parse(rest)?),
        ["position", ..] => bail!("position: expected 'startpos' or 'fen'"),
        ["setoption", ..] => bail!("setoption: expected 'name'"),
        ["debug", ..] => bail!("debug: expected 'on' or 'off'"),
        [word] if looks_like_a_move(word) => bail!(
            "unknown command '{}'; a move goes into 'position startpos moves e2e4', then 'go' answers",
            quoted(word)
        ),
        [word, ..] => bail!("unknown command '{}'; 'help' lists them", quoted(word)),
    }))
}

/// Whether a word looks like a move in SAN or UCI notation: `e4`, `Nbxd7+`, `O-O`, `e7e8q`.
fn looks_like_a_move(word: &str) -> bool {
    read_move(word, Language::ENGLISH).is_some_and(|(_, marks)| read_marks(marks).is_some())
}

/// Shortens a word for an error message.
pub(super) fn quoted(word: &str) -> String {
    shortened(word, 80)
}

/// Parses a line of `setoption name`; `words` are those after the name of the command.
fn set_option(line: &str, words: &[&str]) -> Command {
    let end = words.iter().position(|&word| word == "value");
    let name = words[..end.unwrap_or(words.len())].join(" ");
    // A path may have several spaces in a row.
    let value = end.map(|end| after_words(line, 3 + end).trim().to_owned());
    Command::SetOption { name, value }
}

/// The rest of a line after its first `count` words.
fn after_words(line: &str, count: usize) -> &str {
    (0..count).fold(line, |rest, _| {
        rest.trim_start().split_once(char::is_whitespace).map_or("", |(_, rest)| rest)
    })
}

fn moves(words: &[&str]) -> Result<Vec<String>> {
    match words {
        [] => Ok(Vec::new()),
        ["moves", moves @ ..] => Ok(moves.iter().map(|&mv| mv.to_owned()).collect()),
        [word, ..] => bail!("expected 'moves', found '{}'", quoted(word)),
    }
}

/// Parses the arguments of `go`. Unknown words are ignored, as the protocol requires, but an
/// unknown word without a valid argument is an error. So is a missing or malformed number.
fn go(mut words: &[&str]) -> Result<Command> {
    let mut go = Go::default();
    let (mut known, mut unknown) = (words.is_empty(), None);
    while let [name, rest @ ..] = words {
        known |= is_argument(name);
        words = match *name {
            "ponder" => {
                go.ponder = true;
                rest
            }
            "infinite" => {
                go.infinite = true;
                rest
            }
            "searchmoves" => {
                let end = rest.iter().position(|word| is_argument(word));
                let (moves, rest) = rest.split_at(end.unwrap_or(rest.len()));
                go.search_moves = moves.iter().map(|&mv| mv.to_owned()).collect();
                rest
            }
            name if is_argument(name) => match rest {
                [value, rest @ ..] if !is_argument(value) => {
                    set_limit(&mut go, name, number(name, value)?);
                    rest
                }
                _ if name == "mate" => {
                    go.mate = Some(ANY_MATE);
                    rest
                }
                _ => bail!("'{name}' needs a number"),
            },
            name => {
                unknown.get_or_insert_with(|| quoted(name));
                rest
            }
        };
    }
    match unknown {
        Some(word) if !known => bail!("unknown argument '{word}'"),
        unknown => Ok(Command::Go { go, unknown }),
    }
}

/// Whether a word is an argument of `go`. An argument ends the move list of `searchmoves`.
fn is_argument(word: &str) -> bool {
    let words = ["searchmoves", "ponder", "infinite"];
    [&words[..], &MAY_BE_NEGATIVE, &COUNTS].iter().any(|words| words.contains(&word))
}

/// Parses the number of an argument of `go`, clamped to the range of `i64`. Decimals, which some
/// clients write, are cut off.
fn number(name: &str, text: &str) -> Result<i64> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    let is_decimal = decimals.bytes().all(|byte| byte.is_ascii_digit());
    let number = match if is_decimal { whole } else { text }.parse::<i64>() {
        Ok(number) => number,
        Err(error) if *error.kind() == IntErrorKind::PosOverflow => i64::MAX,
        Err(error) if *error.kind() == IntErrorKind::NegOverflow => i64::MIN,
        Err(_) => bail!("'{name}' needs a number, found '{}'", quoted(text)),
    };
    ensure!(
        number >= 0 || MAY_BE_NEGATIVE.contains(&name),
        "'{name}' needs a number from 0 on, found '{}'",
        quoted(text)
    );
    Ok(number)
}

fn set_limit(go: &mut Go, name: &str, number: i64) {
    let count = number.max(0) as u64;
    let small = u32::try_from(count).unwrap_or(u32::MAX);
    let time = Duration::from_millis(count);
    match name {
        "wtime" => go.time[0] = Some(time),
        "btime" => go.time[1] = Some(time),
        "winc" => go.increment[0] = time,
        "binc" => go.increment[1] = time,
        // GUIs send 0 if the clock is for the rest of the game.
        "movestogo" => go.moves_to_go = (small > 0).then_some(small),
        "depth" => go.depth = Some(small),
        "nodes" => go.nodes = Some(count),
        "mate" => go.mate = Some(small),
        _ => go.move_time = Some(time),
    }
}

fn perft_depth(words: &[&str]) -> Result<u32> {
    let found = words.join(" ");
    let depth = found.parse().ok().filter(|depth| (1..=MAX_PERFT_DEPTH).contains(depth));
    depth.with_context(|| {
        let found = quoted(&found);
        format!("{REFUSED}: 'perft' needs a depth from 1 to {MAX_PERFT_DEPTH}, found '{found}'")
    })
}

fn bench(words: &[&str]) -> Result<Bench> {
    let count = |name: &str, text: &str| -> Result<u64> {
        text.parse()
            .ok()
            .filter(|&count| count > 0)
            .with_context(|| format!("bench: expected {name} from 1 on, found '{}'", quoted(text)))
    };
    let (hash_mb, threads, rest) = match words {
        [] => return Ok(Bench::Fixed(None)),
        [depth] => {
            let depth = depth.parse();
            let depth = depth.map_err(|_| anyhow!("bench: '{}' is no depth", quoted(words[0])))?;
            return Ok(Bench::Fixed(Some(depth)));
        }
        [hash, threads, rest @ ..] => (count("a hash", hash)?, count("threads", threads)?, rest),
    };
    let limit = rest.first().map_or(Ok(DEFAULT_BENCH_DEPTH), |limit| count("a limit", limit))?;
    let positions = match rest.get(1) {
        None | Some(&"default") => BenchPositions::Default,
        Some(&"current") => BenchPositions::Current,
        Some(file) => BenchPositions::File(PathBuf::from(file)),
    };
    let (plies, unlimited) = (u32::try_from(limit).unwrap_or(u32::MAX), Limits::default());
    let task = match rest.get(2) {
        None | Some(&"depth") => BenchTask::Search(Limits { depth: Some(plies), ..unlimited }),
        Some(&"nodes") => BenchTask::Search(Limits { nodes: Some(limit), ..unlimited }),
        Some(&"movetime") => {
            let time = Some(TimeLimit::exactly(Duration::from_millis(limit)));
            BenchTask::Search(Limits { time, ..unlimited })
        }
        Some(&"perft") if plies > MAX_PERFT_DEPTH => {
            bail!("bench: perft needs a limit from 1 to {MAX_PERFT_DEPTH}, found {limit}")
        }
        Some(&"perft") => BenchTask::Perft(plies),
        Some(other) => {
            bail!("bench: expected depth, nodes, movetime or perft, found '{}'", quoted(other))
        }
    };
    if let Some(word) = rest.get(3) {
        bail!("bench: unknown argument '{}'", quoted(word));
    }
    Ok(Bench::Searches { hash_mb, threads, positions, task })
}

impl GenFens {
    /// Parses `N seed S book FILE|None [plies P] [score CP]`.
    pub fn parse(words: &[&str]) -> Result<Self> {
        let [count, "seed", seed, "book", book, extra @ ..] = words else {
            let form = "N seed S book FILE|None [plies P] [score CP]";
            bail!("genfens: expected {form}, found '{}'", quoted(&words.join(" ")));
        };
        let mut asked = Self {
            count: genfens_number("N", count, 1..=MOST_POSITIONS)?,
            seed: genfens_number("seed", seed, 0..=u64::MAX)?,
            book: (!book.eq_ignore_ascii_case("none")).then(|| PathBuf::from(book)),
            plies: None,
            score: LARGEST_SCORE,
        };
        for pair in extra.chunks(2) {
            match pair {
                ["plies", plies] => {
                    asked.plies = Some(genfens_number("plies", plies, 0..=MOST_PLIES)?)
                }
                ["score", score] => asked.score = genfens_number("score", score, 0..=MOST_SCORE)?,
                [name @ ("plies" | "score")] => bail!("genfens: '{name}' needs a number"),
                _ => {
                    let found = quoted(pair[0]);
                    bail!("genfens: unknown argument '{found}'; expected plies or score")
                }
            }
        }
        Ok(asked)
    }
}

fn genfens_number<T: FromStr + PartialOrd + Display>(
    name: &str,
    text: &str,
    range: RangeInclusive<T>,
) -> Result<T> {
    let number = text.parse().ok().filter(|number| range.contains(number));
    number.with_context(|| {
        let (from, to, found) = (range.start(), range.end(), quoted(text));
        format!("genfens: '{name}' needs a number from {from} to {to}, found '{found}'")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(line: &str) -> Command {
        parse(line).expect("valid").expect("a command")
    }

    #[test]
    fn go_reads_every_standard_argument() {
        let line = "go searchmoves e2e4 d2d4 ponder wtime 1000 btime -5 winc 10 binc 20 \
                    movestogo 40 depth 6 nodes 500 mate 3 movetime 50 infinite";
        let expected = Go {
            search_moves: vec!["e2e4".to_owned(), "d2d4".to_owned()],
            ponder: true,
            time: [Some(Duration::from_millis(1000)), Some(Duration::ZERO)],
            increment: [Duration::from_millis(10), Duration::from_millis(20)],
            moves_to_go: Some(40),
            depth: Some(6),
            nodes: Some(500),
            mate: Some(3),
            move_time: Some(Duration::from_millis(50)),
            infinite: true,
        };
        assert_eq!(command(line), Command::Go { go: expected, unknown: None });
    }

    #[test]
    fn a_clock_a_decimal_and_an_unknown_word_are_no_errors() {
        let spoken = Go { depth: Some(3), ..Go::default() };
        let expected = Command::Go { go: spoken, unknown: Some("fast".to_owned()) };
        assert_eq!(command("go fast depth 3"), expected);
        let endless = Go { depth: Some(u32::MAX), ..Go::default() };
        let expected = Command::Go { go: endless, unknown: None };
        assert_eq!(command("go depth 99999999999999999999"), expected);
        let expected = Command::Go { go: Go::default(), unknown: None };
        assert_eq!(command("go winc -3 movestogo 0"), expected);
        let go = Go { move_time: Some(Duration::ZERO), depth: Some(5), ..Go::default() };
        assert_eq!(command("go movetime -5 depth 5.7"), Command::Go { go, unknown: None });
        let go = Go { mate: Some(ANY_MATE), nodes: Some(9), ..Go::default() };
        assert_eq!(command("go mate nodes 9"), Command::Go { go, unknown: None });
        assert_eq!(command("go perft 5"), Command::Perft(5));
    }

    #[test]
    fn the_value_of_an_option_is_the_rest_of_the_line() {
        for (line, name, value) in [
            ("setoption name Clear Hash", "Clear Hash", None),
            ("setoption name Hash value", "Hash", Some("")),
            (" setoption  name Skill  Level value  3 ", "Skill Level", Some("3")),
            ("setoption name LogFile value /a  b/value c", "LogFile", Some("/a  b/value c")),
        ] {
            let value = value.map(str::to_owned);
            assert_eq!(command(line), Command::SetOption { name: name.to_owned(), value });
        }
    }

    #[test]
    fn the_arguments_of_genfens_are_openbenchs() -> Result<()> {
        let parsed = |line: &str| GenFens::parse(&line.split_whitespace().collect::<Vec<_>>());
        let plain = GenFens { count: 64, seed: 1, book: None, plies: None, score: LARGEST_SCORE };
        assert_eq!(parsed("64 seed 1 book None ")?, plain);
        let book = Some(PathBuf::from("Books/UHO_4060_v4.epd"));
        let long = GenFens { book, plies: Some(4), score: 50, ..plain };
        assert_eq!(parsed("64 seed 1 book Books/UHO_4060_v4.epd plies 4 score 50")?, long);
        for (line, part) in [
            ("", "expected N seed S book FILE|None [plies P] [score CP], found ''"),
            ("8 seed 1", "found '8 seed 1'"),
            ("0 seed 1 book None", "'N' needs a number from 1 to 1000000, found '0'"),
            ("8 seed -1 book None", "'seed' needs a number from 0 to 18446744073709551615"),
            ("8 seed 1 book None plies 101", "'plies' needs a number from 0 to 100, found '101'"),
            ("8 seed 1 book None score x", "'score' needs a number from 0 to 10000, found 'x'"),
            ("8 seed 1 book None score", "'score' needs a number"),
            ("8 seed 1 book None quiet yes", "unknown argument 'quiet'; expected plies or score"),
        ] {
            let error = parsed(line).expect_err(line).to_string();
            assert!(error.starts_with("genfens: ") && error.contains(part), "{error}");
        }
        Ok(())
    }
}
