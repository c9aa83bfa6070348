//! A session's state, and what each command does to it. A command that fails changes nothing.

use anyhow::{Context, Result, ensure};
use azimuth_chess::board_diagram::board_diagram;
use azimuth_chess::position::Position;

use super::command::{Command, Go};
use super::output::Output;
use super::program::Program;
use super::running_search::{Answer, RunningSearch, any_move};
use super::session_options::SessionOptions;
use super::{display, time_management};
use crate::search::{Limits, Signal, Value};

/// What the commands act on.
pub struct Engine {
    output: Output,
    program: Box<dyn Program>,
    options: SessionOptions,
    position: Position,
    debug: bool,
    search: Option<RunningSearch>,
}

impl Engine {
    /// A session with a program.
    pub fn new(output: Output, program: Box<dyn Program>) -> Self {
        Self {
            output,
            program,
            options: SessionOptions::default(),
            position: Position::default(),
            debug: false,
            search: None,
        }
    }

    /// Executes one command, `quit` apart, which is the caller's.
    pub fn execute(&mut self, command: Command) -> Result<()> {
        match command {
            Command::Uci => self.introduce(),
            Command::Debug(on) => self.debug = on,
            Command::IsReady => {
                let ready = match self.search {
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
                self.program.new_game();
            }
            Command::Position { fen, moves } => {
                self.await_idle("position")?;
                self.position = set_up(fen.as_deref(), &moves)?;
            }
            Command::Go { go, problem } => {
                self.await_idle("go")?;
                if let Some(problem) = problem {
                    self.output.inform(&problem);
                }
                self.go(&go);
            }
            Command::Stop => self.signal("stop", Signal::Stop)?,
            Command::PonderHit => self.signal("ponderhit", Signal::PonderHit)?,
            Command::Display => {
                self.output.say(&board_diagram(&self.position, self.options.chess960));
            }
            Command::Eval => {
                self.await_idle("eval")?;
                let scores = self.program.evaluate(&self.position, self.options.chess960)?;
                self.output.say(&scores);
            }
            Command::Explain => {
                self.await_idle("explain")?;
                let explanation = self.program.explain()?;
                let explanation = explanation.context("explain: there is no search to explain")?;
                self.output.say(&display::explanation(&explanation, self.options.chess960));
            }
            Command::Help => {
                let (name, command) = (self.program.name(), self.program.command());
                let common = include_str!("help.txt").trim_end();
                let text =
                    format!("{name} speaks UCI. {common}\nOn the command line: {command} --help");
                self.output.say(&text);
            }
            Command::Bench(depth) => {
                self.await_idle("bench")?;
                let output = self.output.clone();
                self.program.bench(depth, &mut |line| output.say(line))?;
            }
            Command::Quit => {}
        }
        Ok(())
    }

    /// Stops the search, if any, and waits for its answer.
    pub fn quit(&mut self) {
        if let Some(search) = &mut self.search {
            search.signal(Signal::Stop);
        }
        self.finish_search();
    }

    fn introduce(&self) {
        self.output.say(&format!("id name {}", self.program.name()));
        self.output.say("id author the Azimuth developers");
        let options = [self.program.options(), SessionOptions::describe()].concat();
        options.iter().for_each(|option| self.output.say(option));
        self.output.say("uciok");
    }

    /// Takes the planner back from a search that has answered, or was told to. Fails while one is
    /// still running.
    fn await_idle(&mut self, command: &str) -> Result<()> {
        if let Some(search) = &self.search {
            ensure!(search.is_ending(), "{command}: a search is running, send stop first");
            self.finish_search();
        }
        Ok(())
    }

    fn finish_search(&mut self) {
        if let Some(search) = self.search.take() {
            self.program.put_back(search.finish());
        }
    }

    fn signal(&mut self, command: &str, signal: Signal) -> Result<()> {
        let running = self.search.as_mut().filter(|search| !search.is_ending());
        running.with_context(|| format!("{command}: no search is running"))?.signal(signal);
        Ok(())
    }

    fn set_option(&mut self, name: &str, value: Option<&str>) -> Result<()> {
        let mut changed = self.options.clone();
        if !changed.set(name, value)? {
            return self.program.set_option(name, value);
        }
        if changed.log_file != self.options.log_file {
            self.output.log_to(changed.log_file.as_deref())?;
        }
        self.options = changed;
        Ok(())
    }

    /// Begins a search; whatever comes in its way, there is an answer.
    fn go(&mut self, go: &Go) {
        if !self.position.has_legal_move() {
            let mated = !self.position.board().checkers().is_empty();
            let value = if mated { Value::mated_in(0) } else { Value::DRAW };
            self.output.say(&format!("info depth 0 score {value}"));
            self.output.inform(if mated { "go: checkmate" } else { "go: stalemate" });
            self.output.say(&any_move(&self.position, self.options.chess960));
        } else if let Err(error) = self.begin_search(go) {
            self.output.inform(&format!("{error:#}"));
            self.output.say(&any_move(&self.position, self.options.chess960));
        }
    }

    fn begin_search(&mut self, go: &Go) -> Result<()> {
        let limits = self.limits(go);
        let planner = self.program.take_planner(&limits)?;
        let answer = Answer {
            root: self.position.clone(),
            chess960: self.options.chess960,
            show_wdl: self.options.show_wdl,
            debug: self.debug,
            output: self.output.clone(),
        };
        match RunningSearch::begin(answer, planner, limits) {
            Ok(search) => self.search = Some(search),
            Err(error) => {
                // A game goes on even where no thread can be had: any legal move beats a forfeit.
                self.program.put_back(None);
                self.output.inform(&format!("{error:#}"));
                self.output.say(&any_move(&self.position, self.options.chess960));
            }
        }
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
        let mate_depth = go.mate.map(|moves| moves.saturating_mul(2).saturating_sub(1));
        let mut limits = Limits {
            depth: go.depth.or(mate_depth),
            nodes: go.nodes,
            time: time_management::budget(go, side, self.options.move_overhead),
            infinite: go.infinite,
            ponder: go.ponder,
            search_moves: moves.into_iter().flatten().collect(),
            multipv: self.options.multipv,
            handicap: None,
        };
        self.program.limit(&mut limits, self.options.analyse_mode);
        limits
    }
}

fn set_up(fen: Option<&str>, moves: &[String]) -> Result<Position> {
    let mut position = match fen {
        Some(fen) => Position::from_fen(fen)?,
        None => Position::default(),
    };
    for mv in moves {
        let mv = position.parse_move(mv)?;
        position.play(mv);
    }
    Ok(position)
}
