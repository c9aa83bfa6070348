//! Lines of the protocol as typed commands. Parsing is pure: it knows nothing of the engine.

use std::time::Duration;

use anyhow::{Result, anyhow, bail};

use azimuth_chess::text::shortened;

/// A line from the GUI.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// `uci`
    Uci,
    /// `isready`
    IsReady,
    /// `setoption name … [value …]`
    SetOption {
        /// The option's name as written.
        name: String,
        /// The rest of the line after `value`.
        value: Option<String>,
    },
    /// `ucinewgame`
    NewGame,
    /// `position startpos|fen … [moves …]`
    Position {
        /// The FEN; `None` for the starting position.
        fen: Option<String>,
        /// Moves in UCI notation.
        moves: Vec<String>,
    },
    /// `debug on|off`
    Debug(bool),
    /// `go …`
    Go {
        /// The arguments that were understood.
        go: Go,
        /// What was not, the first of it.
        problem: Option<String>,
    },
    /// `stop`
    Stop,
    /// `ponderhit`
    PonderHit,
    /// `quit`
    Quit,
    /// `d`: the board, for people.
    Display,
    /// `eval`: scores without a search, for people.
    Eval,
    /// `explain`: why the last search chose its move, for people.
    Explain,
    /// `help`: what can be typed, for people.
    Help,
    /// `bench`, with a depth in plies.
    Bench(Option<u32>),
}

/// The arguments of `go`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Go {
    /// Root moves to choose from, in UCI notation.
    pub search_moves: Vec<String>,
    /// The opponent's time runs.
    pub ponder: bool,
    /// White's and Black's clock.
    pub time: [Option<Duration>; 2],
    /// White's and Black's increment.
    pub increment: [Duration; 2],
    /// Moves to the next time control.
    pub moves_to_go: Option<u32>,
    /// Plies.
    pub depth: Option<u32>,
    /// Positions.
    pub nodes: Option<u64>,
    /// Moves in which to find a mate.
    pub mate: Option<u32>,
    /// Time for this move.
    pub move_time: Option<Duration>,
    /// Until `stop`.
    pub infinite: bool,
}

/// Words that begin an argument of `go`, so that `searchmoves` knows where its list ends.
const GO_WORDS: [&str; 12] = [
    "searchmoves",
    "ponder",
    "wtime",
    "btime",
    "winc",
    "binc",
    "movestogo",
    "depth",
    "nodes",
    "mate",
    "movetime",
    "infinite",
];

/// Reads a line. An empty line is no command.
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
        ["setoption", "name", rest @ ..] => set_option(rest),
        ["position", "startpos", rest @ ..] => Command::Position { fen: None, moves: moves(rest)? },
        ["position", "fen", rest @ ..] => {
            let end = rest.iter().position(|&word| word == "moves").unwrap_or(rest.len());
            let (fen, rest) = rest.split_at(end);
            Command::Position { fen: Some(fen.join(" ")), moves: moves(rest)? }
        }
        ["go", rest @ ..] => {
            let (go, problem) = go(rest);
            Command::Go { go, problem }
        }
        ["debug", "on"] => Command::Debug(true),
        ["debug", "off"] => Command::Debug(false),
        ["d"] => Command::Display,
        ["eval"] => Command::Eval,
        ["explain"] => Command::Explain,
        ["help" | "--help"] => Command::Help,
        ["bench"] => Command::Bench(None),
        ["bench", depth] => Command::Bench(Some(
            depth.parse().map_err(|_| anyhow!("bench: '{}' is no depth", quoted(depth)))?,
        )),
        ["position", ..] => bail!("position: expected 'startpos' or 'fen'"),
        ["setoption", ..] => bail!("setoption: expected 'name'"),
        ["debug", ..] => bail!("debug: expected 'on' or 'off'"),
        [word, ..] => bail!("unknown command '{}'; 'help' lists them", quoted(word)),
    }))
}

/// Enough of a word to recognise it by.
pub(super) fn quoted(word: &str) -> String {
    shortened(word, 80)
}

fn set_option(words: &[&str]) -> Command {
    let end = words.iter().position(|&word| word == "value");
    let name = words[..end.unwrap_or(words.len())].join(" ");
    Command::SetOption { name, value: end.map(|end| words[end + 1..].join(" ")) }
}

fn moves(words: &[&str]) -> Result<Vec<String>> {
    match words {
        [] => Ok(Vec::new()),
        ["moves", moves @ ..] => Ok(moves.iter().map(|&mv| mv.to_owned()).collect()),
        [word, ..] => bail!("expected 'moves', found '{}'", quoted(word)),
    }
}

/// Reads what can be understood, so that a search is begun and answered whatever else was asked for;
/// and says what could not.
fn go(mut words: &[&str]) -> (Go, Option<String>) {
    let mut go = Go::default();
    let mut problem = None;
    while let [name, rest @ ..] = words {
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
                let end = rest.iter().position(|word| GO_WORDS.contains(word));
                let (moves, rest) = rest.split_at(end.unwrap_or(rest.len()));
                go.search_moves = moves.iter().map(|&mv| mv.to_owned()).collect();
                rest
            }
            name if GO_WORDS.contains(&name) => match rest {
                [value, rest @ ..] if !GO_WORDS.contains(value) => {
                    if let Ok(number) = value.parse() {
                        set_limit(&mut go, name, number);
                    } else {
                        problem.get_or_insert_with(|| {
                            format!("go: '{name}' needs a number, found '{}'", quoted(value))
                        });
                    }
                    rest
                }
                _ => {
                    problem.get_or_insert_with(|| format!("go: '{name}' needs a number"));
                    rest
                }
            },
            name => {
                problem.get_or_insert_with(|| format!("go: unknown argument '{}'", quoted(name)));
                rest
            }
        };
    }
    (go, problem)
}

fn set_limit(go: &mut Go, name: &str, number: i64) {
    // GUIs send negative clocks when a side has overstepped its time: no time is left.
    let count = number.max(0) as u64;
    let small = u32::try_from(count).unwrap_or(u32::MAX);
    let time = Duration::from_millis(count);
    match name {
        "wtime" => go.time[0] = Some(time),
        "btime" => go.time[1] = Some(time),
        "winc" => go.increment[0] = time,
        "binc" => go.increment[1] = time,
        "movestogo" => go.moves_to_go = Some(small.max(1)),
        "depth" => go.depth = Some(small),
        "nodes" => go.nodes = Some(count),
        "mate" => go.mate = Some(small),
        _ => go.move_time = Some(time),
    }
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
        assert_eq!(command(line), Command::Go { go: expected, problem: None });
    }

    #[test]
    fn go_is_obeyed_as_far_as_it_is_understood() {
        for (line, depth, part) in [
            ("go depth", None, "'depth' needs a number"),
            ("go movetime depth 3", Some(3), "'movetime' needs a number"),
            ("go depth x nodes", None, "found 'x'"),
            ("go fast depth 3", Some(3), "unknown argument 'fast'"),
        ] {
            let expected = Go { depth, ..Go::default() };
            match command(line) {
                Command::Go { go, problem: Some(problem) } => {
                    assert_eq!(go, expected);
                    assert!(problem.contains(part), "{line}: {problem}");
                }
                other => panic!("{line}: {other:?}"),
            }
        }
    }

    #[test]
    fn names_and_values_keep_their_spaces() {
        let expected = Command::SetOption {
            name: "Move Overhead".to_owned(),
            value: Some("a path with spaces".to_owned()),
        };
        assert_eq!(command("setoption name Move Overhead value a path with spaces"), expected);
        let expected = Command::SetOption { name: "Clear Hash".to_owned(), value: None };
        assert_eq!(command("  setoption  name Clear Hash"), expected);
    }

    #[test]
    fn positions_carry_their_moves() {
        let fen = "8/8/8/8/8/2k5/8/2K5 b - - 0 1";
        let expected =
            Command::Position { fen: Some(fen.to_owned()), moves: vec!["c3d3".to_owned()] };
        assert_eq!(command(&format!("position fen {fen} moves c3d3")), expected);
        let expected = Command::Position { fen: None, moves: Vec::new() };
        assert_eq!(command("position startpos"), expected);
    }

    #[test]
    fn what_is_not_understood_is_named() {
        for (line, part) in [
            ("hello", "unknown command 'hello'"),
            ("debug", "'on' or 'off'"),
            ("bench x", "'x' is no depth"),
            ("setoption Hash 3", "expected 'name'"),
            ("position e2e4", "expected 'startpos' or 'fen'"),
            ("position startpos e2e4", "expected 'moves', found 'e2e4'"),
        ] {
            let error = parse(line).expect_err(line).to_string();
            assert!(error.contains(part), "{line}: {error}");
        }
        assert_eq!(parse("   ").expect("empty"), None);
    }
}
