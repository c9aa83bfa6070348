//! Helper threads of a search. If the system refuses a thread, the search continues without it.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::{Builder, Scope};

use crate::inference::Notice;

/// Starts a thread for each of `helpers` until the system refuses one. In that case `refusal`, which
/// is told only once, gets the number of search threads, including the main one.
pub fn start_helpers<'scope, 'env, F: FnOnce() + Send + 'scope>(
    scope: &'scope Scope<'scope, 'env>,
    helpers: Vec<F>,
    refusal: &mut Option<Notice>,
) {
    let wanted = helpers.len() + 1;
    for (threads, helper) in (1..).zip(helpers) {
        if let Err(error) = start(scope, helper) {
            if let Some(notice) = refusal.take() {
                notice(&format!(
                    "{threads} of {wanted} threads search: cannot start more ({error})"
                ));
            }
            break;
        }
    }
}

fn start<'scope, F: FnOnce() + Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    helper: F,
) -> io::Result<()> {
    #[cfg(test)]
    if crate::test_support::refuses() {
        return Err(io::ErrorKind::WouldBlock.into());
    }
    Builder::new().spawn_scoped(scope, helper).map(|_| ())
}

/// Sets a flag when dropped, so that threads that check it stop even if the main thread panics.
pub struct StopOnDrop<'a>(pub &'a AtomicBool);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}
