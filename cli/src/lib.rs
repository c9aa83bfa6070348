//! The parts that the command lines of all programs share, and those that HTML pages share
//! ([`page`]).

pub mod page;

use std::fmt::Display;
use std::io::{self, ErrorKind, Write, stderr, stdout};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Error, Result};
use azimuth_chess::text::printable;
use azimuth_network::replace_file::replace_files;
use clap::{Command, Subcommand};
use clap_complete::Shell;
use clap_mangen::Man;

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
    /// Prints the completions or writes the manual pages: all of them, or none if one fails.
    pub fn run(self, mut program: Command) -> Result<()> {
        match self {
            Self::Completions { shell } => {
                let (name, mut script) = (program.get_name().to_owned(), Vec::new());
                clap_complete::generate(shell, &mut program, name, &mut script);
                print_line(String::from_utf8_lossy(&script).trim_end())
            }
            Self::Man { folder } => {
                let mut program = program.disable_help_subcommand(true);
                program.build();
                let render = |page: Man| {
                    let mut text = Vec::new();
                    page.render(&mut text)?;
                    Ok((folder.join(page.get_filename()), text))
                };
                let pages = pages(&program).into_iter().map(render).collect::<Result<Vec<_>>>()?;
                replace_files(&pages)
            }
        }
    }
}

/// The manual pages of a command and of those below it.
fn pages(command: &Command) -> Vec<Man> {
    let below = command.get_subcommands().filter(|below| !below.is_hide_set());
    below.flat_map(pages).chain([Man::new(command.clone())]).collect()
}

/// Prints a line on standard error. Control characters in it are escaped, because a part of the line
/// may be text from outside. A line that cannot be written is lost, because nobody could be told.
pub fn say(line: impl Display) {
    let _ = writeln!(stderr(), "{}", printable(&line.to_string()));
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

/// Runs a program and returns its exit code. Prints an error in one line, after the program's name.
pub fn exit(program: &str, run: impl FnOnce() -> Result<()>) -> ExitCode {
    handle_signals();
    if fails(program, run()) { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Makes two signals errors that are reported as others are: a file that reaches the limit of
/// `ulimit -f`, and a mapped file that is cut short.
#[cfg(unix)]
fn handle_signals() {
    extern "C" fn end(_signal: libc::c_int) {
        const LINE: &[u8] = b"a data file was cut short, or the disk is full: the program ends\n";
        // SAFETY: both functions may be called in a signal handler, and the bytes are static.
        unsafe {
            libc::write(libc::STDERR_FILENO, LINE.as_ptr().cast(), LINE.len());
            libc::_exit(1);
        }
    }
    // SAFETY: no other thread runs yet, and the handler has the type that the system expects.
    unsafe {
        // The write then fails with an error.
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
        libc::signal(libc::SIGBUS, end as extern "C" fn(libc::c_int) as libc::sighandler_t);
    }
}

#[cfg(not(unix))]
fn handle_signals() {}

/// Whether the program fails. Prints an error in one line, after the program's name.
pub fn fails(program: &str, done: Result<()>) -> bool {
    match done {
        Ok(()) => false,
        Err(error) => {
            say(format_args!("{program}: {}", in_one_line(&error)));
            true
        }
    }
}

/// An error and its causes. A cause that repeats the text around it is named once; of a cause with
/// several lines, such as a backtrace, the first one is kept.
fn in_one_line(error: &Error) -> String {
    let mut parts: Vec<String> = Vec::new();
    for cause in error.chain() {
        let text = cause.to_string();
        let text = text.lines().next().unwrap_or_default();
        match parts.last_mut() {
            Some(last) if last.ends_with(text) => {}
            Some(last) if text.starts_with(&format!("{last}: ")) => text.clone_into(last),
            _ => parts.push(text.to_owned()),
        }
    }
    parts.join(": ")
}

fn is_closed_pipe(error: &Error) -> bool {
    error.chain().any(|cause| {
        let kind = cause.downcast_ref::<io::Error>().map(io::Error::kind);
        let kind = kind.or_else(|| cause.downcast_ref::<serde_json::Error>()?.io_error_kind());
        kind == Some(ErrorKind::BrokenPipe)
    })
}

#[cfg(test)]
mod tests {
    use anyhow::anyhow;

    use super::*;

    #[test]
    fn an_error_is_one_line_that_repeats_nothing() {
        let full = io::Error::other("cannot write 'x': no space");
        let error = Error::new(full).context("cannot write 'x'").context("game 3");
        assert_eq!(in_one_line(&error), "game 3: cannot write 'x': no space");
        let short = io::Error::new(ErrorKind::UnexpectedEof, "failed to fill whole buffer");
        let error = Error::new(short).context("block 2: failed to fill whole buffer");
        assert_eq!(in_one_line(&error), "block 2: failed to fill whole buffer");
        let error = anyhow!("not a header\n | {{ no literal\n | ^").context("array 'x.npy'");
        assert_eq!(in_one_line(&error), "array 'x.npy': not a header");
        let error = anyhow!("data file 'a.csv': no columns").context("data file 'a.csv'");
        assert_eq!(in_one_line(&error), "data file 'a.csv': no columns");
    }
}
