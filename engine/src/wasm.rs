//! The engine in WebAssembly: the page of `serve` without a server. The page calls the exported
//! functions, one at a time, and each returns when its work is done. Texts and files are bytes in the
//! module's memory: the page asks for room with `allocate`, fills it, and passes it on.

use std::io::{self, LineWriter, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

use anyhow::Result;
use azimuth_search::inference::ModelSource;
use azimuth_search::{DefaultWeights, Resources, StopSwitch};

use crate::session::{Allowance, Models, Seat};
use crate::tasks::games::read_games as games_of;
use crate::tasks::protocol::{Answer, Event, Message, Reason, Request};
use crate::tasks::{Outlet, PlayedLine, perform};
use crate::{embedded_weights, uci};

#[link(wasm_import_module = "env")]
unsafe extern "C" {
    #[link_name = "send"]
    fn send_to_page(at: *const u8, length: usize);
    #[link_name = "print"]
    fn print_to_page(at: *const u8, length: usize);
    fn random(at: *mut u8, length: usize);
}

/// Sends a message to the page.
fn send(json: &[u8]) {
    // SAFETY: the page reads the bytes before the call returns.
    unsafe { send_to_page(json.as_ptr(), json.len()) }
}

/// Shows a line of text.
fn print(line: &[u8]) {
    // SAFETY: as above.
    unsafe { print_to_page(line.as_ptr(), line.len()) }
}

/// The source of all random numbers, under the name by which `getrandom` calls it.
#[unsafe(no_mangle)]
unsafe extern "Rust" fn __getrandom_v03_custom(
    at: *mut u8,
    length: usize,
) -> Result<(), getrandom::Error> {
    // SAFETY: the caller owns the bytes, and the page fills them before the call returns.
    unsafe { random(at, length) };
    Ok(())
}

/// Memory for a text or a file. A function that takes it frees it.
#[unsafe(no_mangle)]
pub extern "C" fn allocate(length: usize) -> *mut u8 {
    Box::into_raw(vec![0_u8; length].into_boxed_slice()).cast()
}

/// # Safety
/// `at` is from [`allocate`] with this length, and nothing has taken it.
unsafe fn taken(at: *mut u8, length: usize) -> Box<[u8]> {
    // SAFETY: `allocate` made such a box.
    unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(at, length)) }
}

/// The only seat. It is made for the first task.
static SEAT: Mutex<Option<Seat>> = Mutex::new(None);

/// A page's memory is limited, and it has one thread.
const ALLOWANCE: Allowance = Allowance {
    usual: Resources { hash_mb: 64, threads: 1 },
    most: Resources { hash_mb: 256, threads: 1 },
};

fn seat() -> MutexGuard<'static, Option<Seat>> {
    SEAT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes the weights of the beam (0) or of the selective search (1). Returns 1 if they are none.
///
/// # Safety
/// The bytes are from [`allocate`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn set_weights(which: u32, at: *mut u8, length: usize) -> u32 {
    // SAFETY: the caller guarantees it.
    let bytes = unsafe { taken(at, length) };
    let which = if which == 0 { DefaultWeights::Beam } else { DefaultWeights::Selective };
    match embedded_weights::give(which, &bytes) {
        Ok(()) => {
            *seat() = None;
            0
        }
        Err(error) => {
            print(format!("{error:#}").as_bytes());
            1
        }
    }
}

/// Greets the page.
#[unsafe(no_mangle)]
pub extern "C" fn start() {
    std::panic::set_hook(Box::new(|panic| print(panic.to_string().as_bytes())));
    answer(None, Event::welcome(&ALLOWANCE, None));
}

/// Does a task to its end. The page ends it through `stopped`.
///
/// # Safety
/// The message is from [`allocate`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn receive(at: *mut u8, length: usize) {
    // SAFETY: the caller guarantees it.
    let message = unsafe { taken(at, length) };
    match serde_json::from_slice(&message) {
        Ok(Message::Run(request)) => {
            let id = request.id;
            answer(Some(id), Event::end_of(run(request)));
        }
        Ok(Message::Stop {}) => {}
        Err(error) => answer(None, Event::unreadable(&error)),
    }
}

fn run(request: Request) -> Result<Reason> {
    let line = PlayedLine::of(&request)?;
    let outlet = Page { id: request.id, switch: StopSwitch::default() };
    let mut seat = seat();
    let seat = match &mut *seat {
        Some(seat) => seat,
        none => {
            let models = Models::open(ModelSource::default(), None)?;
            none.insert(Seat::new(models.into(), ALLOWANCE))
        }
    };
    outlet.send(Event::Begun);
    perform(seat, &line, request.task, &outlet)?;
    Ok(if outlet.switch.is_stopped() { Reason::Stopped } else { Reason::Done })
}

/// Sends the games of the file with this name.
///
/// # Safety
/// The name and the file are from [`allocate`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn read_games(
    name_at: *mut u8,
    name_length: usize,
    at: *mut u8,
    length: usize,
) {
    // SAFETY: the caller guarantees it.
    let (name, file) = unsafe { (taken(name_at, name_length), taken(at, length)) };
    match games_of(&String::from_utf8_lossy(&name), file) {
        Ok(json) => send(&json),
        Err(error) => print(format!("{error:#}").as_bytes()),
    }
}

/// Runs a command of UCI to its end, and prints its lines.
///
/// # Safety
/// The line is from [`allocate`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn run_command(at: *mut u8, length: usize) {
    // SAFETY: the caller guarantees it.
    let line = unsafe { taken(at, length) };
    let output = LineWriter::new(Lines);
    if let Err(error) = uci::run_command(&String::from_utf8_lossy(&line), output) {
        print(format!("{error:#}").as_bytes());
    }
}

/// Prints whole lines.
struct Lines;

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        print(bytes.strip_suffix(b"\n").unwrap_or(bytes));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The page that waits for the events of a task.
struct Page {
    id: u32,
    switch: StopSwitch,
}

impl Outlet for Page {
    fn show(&self, event: Event) {
        self.send(event);
    }

    fn send(&self, event: Event) {
        answer(Some(self.id), event);
    }

    fn switch(&self) -> &StopSwitch {
        &self.switch
    }
}

fn answer(id: Option<u32>, event: Event) {
    match serde_json::to_vec(&Answer { id, event }) {
        Ok(json) => send(&json),
        Err(error) => print(error.to_string().as_bytes()),
    }
}
