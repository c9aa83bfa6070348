//! Helper threads of a search. If the system refuses a thread, the search continues without it.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::{Builder, Scope};

use crate::inference::Notice;

/// Tells the user once that the system refuses threads.
pub struct RefusalNotice {
    notice: Notice,
    told: bool,
}

impl RefusalNotice {
    pub fn new(notice: &Notice) -> Self {
        Self { notice: notice.clone(), told: false }
    }
}

/// Starts a thread for each of `helpers`, `count` in number, until the system refuses one. In that
/// case `refusal` reports the number of search threads, including the main one.
pub fn start_helpers<'scope, 'env, F: FnOnce() + Send + 'scope>(
    scope: &'scope Scope<'scope, 'env>,
    helpers: impl Iterator<Item = F>,
    count: usize,
    refusal: &mut RefusalNotice,
) {
    for (started, helper) in helpers.enumerate() {
        if let Err(error) = start(scope, helper) {
            let (threads, wanted) = (started + 1, count + 1);
            if !std::mem::replace(&mut refusal.told, true) {
                (refusal.notice)(&format!(
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
    if crate::refusals::refuses() {
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
