//! The state of a UCI session, and the execution of its commands by a [`Program`]. A command that
//! fails changes nothing.

use anyhow::{Context, Error, Result, anyhow, bail, ensure};
use azimuth_chess::board_diagram::board_diagram;
use azimuth_chess::position::{Position, dropped_rights_notice, uci_move};
use azimuth_chess::san::parse_move;
use azimuth_search::encoder::sparse::Kernels;
use azimuth_search::inference::device_name;
use azimuth_search::{DefaultWeights, Explanation, Limits, Planner, Value};
use shakmaty::fen::Fen;

use super::command::{ANY_MATE, Bench, BenchPositions, Command, GenFens, Go, quoted};
use super::options::{Options, SessionOptions, text_line};
use super::output::{self, Output};
use super::running_search::{Answer, Background, Finished, HeldAnswer, Running, any_move};
use super::time_management::{self, NodeClock, paced};
use crate::embedded_weights;

/// An engine with planners, which [`Engine`] drives by UCI. By default it has no options. A method
/// that fails changes nothing.
pub trait Program {
    /// Name and version for `id name`.
    fn name(&self) -> String;

    /// The `option` lines of the engine's options.
    fn options(&self) -> Vec<String> {
        Vec::new()
    }

    /// Sets an option, and loads the file that it names.
    fn set_option(&mut self, name: &str, _value: Option<&str>) -> Result<()> {
        bail!("unknown option '{}'", quoted(name))
    }

    /// Applies options that limit a search from `position`. `analyses` is true if the GUI analyses
    /// and does not play.
    fn limit(&self, _limits: &mut Limits, _position: &Position, _analyses: bool) {}

    /// Prepares the engine, so that the first move takes no longer than later ones.
    fn warm_up(&mut self, analyses: bool) -> Result<()>;

    /// Takes out the planner for a search; [`Self::put_back`] returns it.
    fn take_planner(&mut self, limits: &Limits) -> Result<Box<dyn Planner>>;

    /// Returns the planner; `None` if its search failed.
    fn put_back(&mut self, planner: Option<Box<dyn Planner>>);

    fn new_game(&mut self);

    /// The static scores of a position and its moves.
    fn evaluate(&mut self, position: &Position, chess960: bool) -> Result<String>;

    /// The root moves of the last search with their results; `None` before the first search.
    fn explain(&mut self) -> Result<Option<Explanation>>;

    /// Searches a set of positions, which may be the `current` one. The last line of output has the
    /// nodes, and the nodes per second.
    fn bench(&mut self, bench: &Bench, current: &Position, output: &Output) -> Result<()>;
}

/// The state of a UCI session.
pub struct Engine {
    output: Output,
    /// Name of the program on the command line.
    command: &'static str,
    program: Box<dyn Program>,
    options: SessionOptions,
    position: Position,
    /// Why the last `position` has no board; it is then not that of `position`.
    refused: Option<String>,
    debug: bool,
    running: Option<Running>,
    /// The clock of `nodestime`.
    node_clock: NodeClock,
}

impl Engine {
    pub fn new(output: Output, command: &'static str, program: Box<dyn Program>) -> Self {
        Self {
            output,
            command,
            program,
            options: SessionOptions::default(),
            position: Position::default(),
            refused: None,
            debug: false,
            running: None,
            node_clock: NodeClock::default(),
        }
    }

    /// Executes a command. The caller handles `quit`.
    pub fn execute(&mut self, command: Command) -> Result<()> {
        match command {
            Command::Uci => self.introduce(),
            Command::Debug(on) => self.debug = on,
            Command::IsReady => {
                let ready = match self.running {
                    Some(_) => Ok(()),
                    None => self.program.warm_up(self.options.analyse_mode),
                };
                self.output.say("readyok");
                ready?;
            }
            Command::SetOption { name, value } => {
                self.await_idle("setoption")?;
                self.set_option(&name, value.as_deref())?;
            }
            Command::NewGame => {
                self.await_idle("ucinewgame")?;
                self.node_clock = NodeClock::default();
                self.program.new_game();
            }
            Command::Position { fen, moves } => {
                let set = set_up(fen.as_deref(), &moves);
                let (position, notices) = set.map_err(|error| self.refuse_position(error))?;
                self.refused = None;
                // A running search keeps its own position.
                self.position = position;
                notices.iter().for_each(|notice| self.output.inform(notice));
            }
            Command::Go { go, unknown } => {
                self.await_idle("go")?;
                if let Some(word) = unknown {
                    self.output.inform(&format!("go: unknown argument '{word}', passed over"));
                }
                self.go(go);
            }
            Command::Perft(depth) => {
                self.await_idle("go")?;
                self.require_position().context("go perft")?;
                let (root, output) = (self.position.clone(), self.output.clone());
                let perft = Background::perft(root, depth, self.options.chess960, output)?;
                self.running = Some(Running::Perft(perft));
            }
            Command::Stop => {
                let running = self.running.as_mut().filter(|running| !running.is_ending());
                running.context("stop: no search is running")?.stop();
            }
            Command::PonderHit => {
                let running = self.running.as_mut().filter(|running| {
                    !running.is_ending() && !matches!(running, Running::Perft(_))
                });
                running.context("ponderhit: no search is running")?.ponder_hit();
            }
            Command::Display => {
                self.output.say(&board_diagram(&self.position, self.options.chess960));
            }
            Command::Eval => {
                self.await_idle("eval")?;
                self.require_position()?;
                let scores = self.program.evaluate(&self.position, self.options.chess960)?;
                self.output.say(&scores);
            }
            Command::Explain => {
                self.await_idle("explain")?;
                let explanation = self.program.explain()?;
                let explanation = explanation.context("explain: there is no search to explain")?;
                self.output.say(&output::explanation(&explanation, self.options.chess960));
            }
            Command::Flip => {
                self.await_idle("flip")?;
                self.require_position()?;
                self.position = flipped(&self.position)?;
            }
            Command::Compiler => {
                self.output.say(&self.program.name());
                build_facts().iter().for_each(|line| self.output.say(line));
            }
            Command::Help => {
                let (name, command) = (self.program.name(), self.command);
                let help = include_str!("help.txt").trim_end();
                let usage = format!("On the command line: {command} --help");
                self.output.say(&format!("{name} speaks UCI. {help}\n{usage}"));
            }
            Command::Bench(bench) => {
                self.await_idle("bench")?;
                if let Bench::Searches { positions: BenchPositions::Current, .. } = bench {
                    self.require_position().context("bench")?;
                }
                self.program.bench(&bench, &self.position, &self.output)?;
            }
            Command::GenFens(asked) => {
                self.await_idle("genfens")?;
                self.generate_fens(&asked)?;
            }
            Command::Quit => {}
        }
        Ok(())
    }

    /// Stops the search, if any, and waits for its answer. A perft counts to its end, as
    /// Stockfish's does, so that `go perft 5` and `quit` can come from a pipe.
    pub fn quit(&mut self) {
        if let Some(running @ (Running::Search(_) | Running::Held(_))) = &mut self.running {
            running.stop();
        }
        self.finish_running();
    }

    fn introduce(&self) {
        let name = self.program.name();
        self.output.say(&format!("id name {name}"));
        self.output.say("id author the Azimuth developers");
        let licence = env!("CARGO_PKG_LICENSE");
        let about = text_line("UCI_EngineAbout", &format!("{name}, {licence}"));
        let options = [self.program.options(), SessionOptions::describe(), vec![about]].concat();
        options.iter().for_each(|option| self.output.say(option));
        self.output.say("uciok");
    }

    /// Waits for a search or perft that is ending. Fails if one is still running.
    fn await_idle(&mut self, command: &str) -> Result<()> {
        if let Some(running) = &self.running {
            ensure!(running.is_ending(), "{command}: a search is running, send stop first");
            self.finish_running();
        }
        Ok(())
    }

    /// Waits for the search or perft to end.
    pub fn finish_running(&mut self) {
        match self.running.take() {
            Some(Running::Search(search)) => {
                let Finished { planner, used } = search.finish();
                self.program.put_back(planner);
                if let Some(used) = used {
                    self.node_clock.take(used);
                }
            }
            Some(Running::Perft(perft)) => drop(perft.finish()),
            Some(Running::Held(_)) | None => {}
        }
    }

    fn set_option(&mut self, name: &str, value: Option<&str>) -> Result<()> {
        let mut changed = self.options.clone();
        if !changed.set(name, value)? {
            return self.program.set_option(name, value);
        }
        if changed.log_file != self.options.log_file {
            self.output.log_to(changed.log_file.as_deref())?;
            if let Some(opponent) = &changed.opponent {
                self.output.note(&format!("the opponent is {opponent}"));
            }
        }
        if changed.nodes_per_ms != self.options.nodes_per_ms {
            self.node_clock = NodeClock::default();
        }
        self.options = changed;
        Ok(())
    }

    fn generate_fens(&mut self, asked: &GenFens) -> Result<()> {
        let mut planner = self.program.take_planner(&GenFens::check())?;
        let generated = asked.run(&mut *planner, |line| {
            self.output.say(line);
            !self.output.has_failed()
        });
        self.program.put_back(generated.is_ok().then_some(planner));
        generated
    }

    /// Starts a search. Every call leads to a `bestmove`, even after an error.
    fn go(&mut self, go: Go) {
        let Go { ponder, infinite, .. } = go;
        if self.refused.is_none() && !self.position.has_legal_move() {
            let mated = !self.position.board().checkers().is_empty();
            let value = if mated { Value::mated_in(0) } else { Value::DRAW };
            self.output.say(&format!("info depth 0 score {value}"));
            self.output.inform(if mated { "go: checkmate" } else { "go: stalemate" });
        } else {
            let Err(error) = self.begin_search(go) else { return };
            // An illegal or missing move forfeits the game, so play any legal move.
            self.output.inform(&format!("{error:#}"));
        }
        let (answer, output) = (self.any_move(), self.output.clone());
        if ponder || infinite {
            let answer = Some(answer);
            self.running = Some(Running::Held(HeldAnswer { answer, output, infinite }));
        } else {
            output.say(&answer);
        }
    }

    /// Answers a malformed `go` with any legal move, because the client waits for one.
    pub fn refuse_go(&mut self, error: &Error) -> Result<()> {
        self.await_idle("go")?;
        self.output.inform(&format!("{error:#}"));
        self.output.say(&self.any_move());
        Ok(())
    }

    /// Refuses a malformed `position`: no `go` may search the last position in its place.
    pub fn refuse_position(&mut self, error: Error) -> Error {
        self.refused = Some(format!("{error:#}"));
        error
    }

    fn any_move(&self) -> String {
        match self.refused {
            // A move in another position would be wrong, and a client waits for an answer.
            Some(_) => "bestmove 0000".to_owned(),
            None => any_move(&self.position, self.options.chess960),
        }
    }

    /// Fails if the last `position` was refused.
    fn require_position(&self) -> Result<()> {
        match &self.refused {
            Some(reason) => bail!("there is no position: {reason}"),
            None => Ok(()),
        }
    }

    fn begin_search(&mut self, mut go: Go) -> Result<()> {
        self.require_position().context("go")?;
        let side = self.position.board().side_to_move();
        if self.options.nodes_per_ms.is_some() {
            self.node_clock.replace(&mut go, side);
        }
        let limits = self.limits(&go);
        let planner = self.program.take_planner(&limits)?;
        let answer = Answer {
            root: self.position.clone(),
            chess960: self.options.chess960,
            show_wdl: self.options.show_wdl,
            debug: self.debug,
            asked_depth: go.depth,
            mate: go.mate.filter(|_| limits.handicap.is_none()),
            pace: paced(&go, &limits),
            output: self.output.clone(),
        };
        let search = Background::search(answer, planner, limits);
        let search = search.inspect_err(|_| self.program.put_back(None))?;
        self.running = Some(Running::Search(search));
        Ok(())
    }

    fn limits(&self, go: &Go) -> Limits {
        let moves = go.search_moves.iter().map(|text| self.position.parse_move(text));
        let (moves, illegal): (Vec<_>, Vec<_>) = moves.partition(Result::is_ok);
        if let Some(Err(error)) = illegal.first() {
            self.output.inform(&format!("go: searchmoves: {error:#}"));
        }
        let side = self.position.board().side_to_move();
        // A mate in n moves is at most 2n - 1 plies away.
        let mate = go.mate.filter(|&moves| moves < ANY_MATE);
        let mate_depth = mate.map(|moves| moves.saturating_mul(2).saturating_sub(1));
        let time = time_management::budget(go, side, self.options.move_overhead);
        let mut limits = Limits {
            depth: go.depth.or(mate_depth),
            nodes: go.nodes,
            time: time.map(|time| time_management::slowed(time, self.options.slow_mover)),
            infinite: go.infinite,
            ponder: go.ponder,
            search_moves: moves.into_iter().flatten().collect(),
            multipv: self.options.multipv,
            handicap: None,
            nodes_per_ms: self.options.nodes_per_ms,
        };
        self.program.limit(&mut limits, &self.position, self.options.analyse_mode);
        limits
    }
}

/// Sets up a position, and returns it with the messages about what was changed or left out. Drops
/// castling rights that cannot be, and the moves from the first illegal one on. Fails if the FEN is
/// no legal position.
fn set_up(fen: Option<&str>, moves: &[String]) -> Result<(Position, Vec<String>)> {
    let mut notices = Vec::new();
    let (mut position, dropped) = fen.map_or_else(|| Ok(Default::default()), Position::read_fen)?;
    notices.extend(dropped.map(|rights| format!("position: {}", dropped_rights_notice(&rights))));
    if let Err(error) = play_moves(&mut position, moves.iter().map(String::as_str)) {
        notices.push(format!("position: {error:#}; this move and those after it are left out"));
    }
    Ok((position, notices))
}

/// Plays moves in UCI notation up to the first illegal one, which the error names.
pub fn play_moves<'a>(
    position: &mut Position,
    moves: impl IntoIterator<Item = &'a str>,
) -> Result<()> {
    for (number, text) in (1..).zip(moves) {
        let mv = position.parse_move(text).map_err(|error| {
            let meant = parse_move(position, text).map_or(String::new(), |mv| {
                format!("; UCI writes it as {}", uci_move(position.board(), mv, false))
            });
            anyhow!("moves, number {number}: {error:#}{meant}")
        })?;
        position.play(mv);
    }
    Ok(())
}

/// Exchanges the sides: mirrors the ranks, and exchanges the colours and the side to move. The
/// score for the side to move must not change. The history of the game is dropped.
fn flipped(position: &Position) -> Result<Position> {
    let setup = position.fen(true).parse::<Fen>()?.into_setup().into_mirrored();
    // Nothing is lost: a setup from a FEN fits into one.
    let fen = Fen::try_from_setup(setup).unwrap_or_else(|lossy| lossy.ignore());
    Position::from_fen(&fen.to_string())
}

/// The greeting in a terminal: one line with the name, the version, the encoder and device of the
/// planner for timed games, and the commands to try.
pub fn greeting() -> Result<String> {
    let model = Options::default().model;
    let weights = embedded_weights::read(DefaultWeights::Selective)?;
    let architecture = &weights.metadata.architecture;
    let (device, _) = model.backend.open(model.precision, architecture, |_| ())?;
    let (version, device) = (env!("CARGO_PKG_VERSION"), device_name(&device));
    Ok(format!("Azimuth {version}, encoder {architecture} on {device}. UCI; type help or quit"))
}

/// Lines with the commit (if known), the compiler, the target, and the instruction set that the
/// encoder uses.
pub fn build_facts() -> Vec<String> {
    let commit = option_env!("AZIMUTH_COMMIT").map(|commit| format!("Commit: {commit}"));
    let kernels = match Kernels::chosen() {
        Ok(kernels) => kernels.to_string(),
        Err(error) => format!("{error:#}"),
    };
    let facts = [
        format!("Compiler: {}", env!("AZIMUTH_COMPILER")),
        format!("Target: {}", env!("AZIMUTH_TARGET")),
        format!("Instruction set: {kernels}"),
    ];
    commit.into_iter().chain(facts).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_other_side_has_the_same_position_and_twice_is_back() -> Result<()> {
        for (fen, other) in [
            (
                "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQk - 3 20",
                "r3k2r/pppbbppp/2n2q1P/1P2p3/3pn3/BN2PNP1/P1PPQPB1/R3K2R b Kkq - 3 20",
            ),
            (
                "rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPP1PPP/RNBQKBNR w KQkq f6 0 3",
                "rnbqkbnr/pppp1ppp/8/8/3PpP2/8/PPP1P1PP/RNBQKBNR b KQkq f3 0 3",
            ),
        ] {
            let position = Position::from_fen(fen)?;
            let flip = flipped(&position)?;
            assert_eq!(flip.fen(false), other);
            assert_eq!(flipped(&flip)?.fen(false), fen);
        }
        let chess960 = "1rk3r1/8/8/8/8/8/8/1RK3R1 w Gb - 0 1";
        let flip = flipped(&Position::from_fen(chess960)?)?;
        assert_eq!(flip.fen(true), "1rk3r1/8/8/8/8/8/8/1RK3R1 b Bg - 0 1");
        Ok(())
    }
}
