//! The clock and the threads of the operating system; or, in WebAssembly, the clock of the page
//! around it, which also ends a search, and work that runs when it is waited for.
//! Helper threads of a search: if the system refuses one, the search goes on without it.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::{Builder, Scope};

use crate::inference::Notice;

#[cfg(not(target_family = "wasm"))]
pub use native::{Instant, Thread};
#[cfg(target_family = "wasm")]
pub use page::{Instant, Thread};

/// Whether the page asks the running task to end. Only WebAssembly has to ask: it has no other
/// thread that could hear the page.
#[cfg(not(target_family = "wasm"))]
pub(crate) fn asks_to_stop() -> bool {
    false
}
#[cfg(target_family = "wasm")]
pub(crate) use page::asks_to_stop;

/// Starts a thread for each of `helpers` until the system refuses one. In that case `refusal`, which
/// is told only once, gets the number of search threads, including the main one.
pub(crate) fn start_helpers<'scope, 'env, F: FnOnce() + Send + 'scope>(
    scope: &'scope Scope<'scope, 'env>,
    helpers: Vec<F>,
    refusal: &mut Option<Notice>,
) {
    let wanted = helpers.len() + 1;
    for (threads, helper) in (1..).zip(helpers) {
        #[cfg(test)]
        let refused = crate::test_support::refuses().then(|| std::io::ErrorKind::WouldBlock.into());
        #[cfg(not(test))]
        let refused = None;
        let started = refused.map_or_else(|| Builder::new().spawn_scoped(scope, helper), Err);
        if let Err(error) = started {
            if let Some(notice) = refusal.take() {
                notice(&format!(
                    "{threads} of {wanted} threads search: cannot start more ({error})"
                ));
            }
            break;
        }
    }
}

/// Sets a flag when dropped, so that threads that check it stop even if the main thread panics.
pub(crate) struct StopOnDrop<'a>(pub &'a AtomicBool);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

#[cfg(not(target_family = "wasm"))]
mod native {
    use std::io;
    use std::thread::{Builder, JoinHandle};
    pub use std::time::Instant;

    /// Work in a thread.
    pub struct Thread<T>(JoinHandle<T>);

    impl<T: Send + 'static> Thread<T> {
        /// Starts a thread. Fails if the system refuses it.
        pub fn start(name: &str, work: impl FnOnce() -> T + Send + 'static) -> io::Result<Self> {
            Builder::new().name(name.to_owned()).spawn(work).map(Self)
        }

        /// Waits for the result; `None` if the work panicked.
        pub fn join(self) -> Option<T> {
            self.0.join().ok()
        }
    }
}

#[cfg(target_family = "wasm")]
mod page {
    use std::io;
    use std::sync::atomic::AtomicU64;
    use std::sync::atomic::Ordering::Relaxed;
    use std::time::Duration;

    #[link(wasm_import_module = "env")]
    unsafe extern "C" {
        /// Milliseconds since some moment.
        safe fn now() -> f64;
        /// 1 if the running task has to end.
        safe fn stopped() -> i32;
    }

    /// Milliseconds between two calls of `stopped`, each of which may take some.
    const LOOK_INTERVAL: f64 = 30.0;

    pub fn asks_to_stop() -> bool {
        static LAST_LOOK: AtomicU64 = AtomicU64::new(0);
        let now = now();
        if now - f64::from_bits(LAST_LOOK.load(Relaxed)) < LOOK_INTERVAL {
            return false;
        }
        LAST_LOOK.store(now.to_bits(), Relaxed);
        stopped() != 0
    }

    /// A moment, as that of `std`, which has no clock here.
    #[derive(Clone, Copy, Debug)]
    pub struct Instant(f64);

    impl Instant {
        /// This moment.
        pub fn now() -> Self {
            Self(now())
        }

        /// The time since then.
        pub fn elapsed(&self) -> Duration {
            Duration::from_secs_f64((now() - self.0).max(0.0) / 1000.0)
        }
    }

    /// Work that begins when its result is asked for.
    pub struct Thread<T>(Box<dyn FnOnce() -> T>);

    impl<T: 'static> Thread<T> {
        /// Keeps the work.
        pub fn start(_name: &str, work: impl FnOnce() -> T + 'static) -> io::Result<Self> {
            Ok(Self(Box::new(work)))
        }

        /// Does the work.
        pub fn join(self) -> Option<T> {
            Some((self.0)())
        }
    }
}
