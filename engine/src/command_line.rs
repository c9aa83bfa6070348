//! What the command lines of the programs have in common.

use std::io::{self, ErrorKind, Write, stdout};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Error, Result};
use clap::{Command, Subcommand};
use clap_complete::Shell;

/// What a program tells of itself.
#[derive(Subcommand)]
pub enum Manual {
    /// Print a shell's completions of this program.
    Completions {
        /// The shell.
        shell: Shell,
    },
    /// Write this program's manual pages, one for each command, into a folder.
    Man {
        /// An existing folder.
        folder: PathBuf,
    },
}

impl Manual {
    /// Prints or writes it. Fails where the folder cannot be written to.
    pub fn run(self, mut program: Command) -> Result<()> {
        match self {
            Self::Completions { shell } => {
                let (name, mut script) = (program.get_name().to_owned(), Vec::new());
                clap_complete::generate(shell, &mut program, name, &mut script);
                stdout().write_all(&script).context("completions")
            }
            Self::Man { folder } => {
                let name = || format!("manual pages in '{}'", folder.display());
                clap_mangen::generate_to(program, &folder).with_context(name)
            }
        }
    }
}

/// A program's end: an error is said in one line, after the program's name. That nobody reads on is no error: the reader,
/// `head` for one, has had enough.
pub fn exit(program: &str, done: Result<()>) -> ExitCode {
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{program}: {error:#}");
            ExitCode::FAILURE
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
