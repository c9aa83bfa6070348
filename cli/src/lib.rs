//! Functions that the command lines of all programs share.

use std::fmt::Display;
use std::io::{self, ErrorKind, Write, stdout};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Error, Result};
use azimuth_chess::text::printable;
use clap::{Command, Subcommand};
use clap_complete::Shell;

/// Commands that generate a program's documentation.
#[derive(Subcommand)]
pub enum Manual {
    /// Print shell completions for this program.
    Completions {
        /// The shell to generate completions for.
        shell: Shell,
    },
    /// Write this program's manual pages to a folder, one page per command.
    Man {
        /// Existing folder to write them to.
        folder: PathBuf,
    },
}

impl Manual {
    /// Prints the completions or writes the manual pages. Fails if the folder cannot be written to.
    pub fn run(self, mut program: Command) -> Result<()> {
        match self {
            Self::Completions { shell } => {
                let (name, mut script) = (program.get_name().to_owned(), Vec::new());
                clap_complete::generate(shell, &mut program, name, &mut script);
                print_line(String::from_utf8_lossy(&script).trim_end())
            }
            Self::Man { folder } => {
                let name = || format!("manual pages in '{}'", folder.display());
                clap_mangen::generate_to(program, &folder).with_context(name)
            }
        }
    }
}

/// Prints a line on standard error. Control characters in it are escaped, because a part of the line
/// may be text from outside.
pub fn say(line: impl Display) {
    eprintln!("{}", printable(&line.to_string()));
}

/// Prints text on standard output, and a line break. Control characters in it are escaped, except
/// line breaks and tabs. Fails if it cannot be written, for example because the disk is
/// full; a closed pipe is not an error.
pub fn print_line(line: impl Display) -> Result<()> {
    let text = line.to_string();
    let lines: Vec<_> = text
        .split('\n')
        .map(|line| line.split('\t').map(printable).collect::<Vec<_>>().join("\t"))
        .collect();
    let mut out = stdout().lock();
    let printed = writeln!(out, "{}", lines.join("\n")).and_then(|()| out.flush());
    unless_closed(printed.context("standard output"))
}

/// Turns the error of a closed pipe into success. For the result of writing to standard output: an
/// engine in another process that closes its input is an error.
pub fn unless_closed(printed: Result<()>) -> Result<()> {
    match printed {
        Err(error) if is_closed_pipe(&error) => Ok(()),
        printed => printed,
    }
}

/// The program's exit code. Prints an error in one line, after the program's name.
pub fn exit(program: &str, done: Result<()>) -> ExitCode {
    if fails(program, done) { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Whether the program fails. Prints an error in one line, after the program's name.
pub fn fails(program: &str, done: Result<()>) -> bool {
    match done {
        Ok(()) => false,
        Err(error) => {
            say(format_args!("{program}: {error:#}"));
            true
        }
    }
}

fn is_closed_pipe(error: &Error) -> bool {
    error.chain().any(|cause| {
        let kind = cause.downcast_ref::<io::Error>().map(io::Error::kind);
        let kind = kind.or_else(|| cause.downcast_ref::<serde_json::Error>()?.io_error_kind());
        kind == Some(ErrorKind::BrokenPipe)
    })
}
