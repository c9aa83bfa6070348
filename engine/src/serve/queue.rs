//! The seats of searches, and the pages that wait for one: first come, first served.

use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::{Semaphore, watch};

/// Seats of any type, lent to one page each.
pub struct Queue<S> {
    seats: Mutex<Vec<S>>,
    /// Counts the seats, and hands them out in turn.
    free: Semaphore,
    /// The numbers of the tickets that wait, in rising order.
    waiting: watch::Sender<Vec<u64>>,
    /// Number of searches that end for a page that waits.
    leaving: AtomicUsize,
}

/// A search that ends for a page that waits. Dropped once its seat has been given back.
pub struct Leaving<'a>(&'a AtomicUsize);

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}

/// A place in the queue. Dropping it leaves the queue.
struct Ticket<'a> {
    number: u64,
    waiting: &'a watch::Sender<Vec<u64>>,
}

impl Drop for Ticket<'_> {
    fn drop(&mut self) {
        self.waiting.send_modify(|numbers| numbers.retain(|&number| number != self.number));
    }
}

impl<S> Queue<S> {
    pub fn new(seats: Vec<S>) -> Self {
        let free = Semaphore::new(seats.len());
        let leaving = AtomicUsize::new(0);
        Self { seats: Mutex::new(seats), free, waiting: watch::Sender::default(), leaving }
    }

    /// Waits for a seat. Calls `tell` with each new place in the queue, from 1, unless a seat is
    /// free. `None` if the semaphore is closed, which never happens. Dropping the future leaves the
    /// queue.
    pub async fn seat(&self, mut tell: impl FnMut(usize)) -> Option<S> {
        let permit = match self.free.try_acquire() {
            Ok(permit) => permit,
            Err(_) => {
                let ticket = self.ticket();
                let mut waiting = self.waiting.subscribe();
                let mut permit = pin!(self.free.acquire());
                let mut told = 0;
                loop {
                    let before =
                        |numbers: &[u64]| numbers.partition_point(|&it| it < ticket.number);
                    let place = 1 + before(&waiting.borrow_and_update());
                    if place != told {
                        tell(place);
                        told = place;
                    }
                    tokio::select! {
                        biased;
                        permit = &mut permit => break permit.ok()?,
                        Ok(()) = waiting.changed() => {}
                    }
                }
            }
        };
        permit.forget();
        self.lock().pop()
    }

    /// Returns a seat, which goes to the next page.
    pub fn give_back(&self, seat: S) {
        self.lock().push(seat);
        self.free.add_permits(1);
    }

    /// Ends a search for a page that waits; `None` if there is none, or another search ends for it.
    pub fn leave(&self) -> Option<Leaving<'_>> {
        self.is_waited_for().then(|| {
            self.leaving.fetch_add(1, Relaxed);
            Leaving(&self.leaving)
        })
    }

    /// Whether a page waits that has not been given a seat, and for which no search ends.
    fn is_waited_for(&self) -> bool {
        // While pages wait, each of these seats has been given to one that has not taken it yet.
        let given = self.lock().len();
        self.waiting.borrow().len() > given + self.leaving.load(Relaxed)
    }

    fn ticket(&self) -> Ticket<'_> {
        let mut number = 0;
        self.waiting.send_modify(|numbers| {
            number = numbers.last().map_or(0, |last| last + 1);
            numbers.push(number);
        });
        Ticket { number, waiting: &self.waiting }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<S>> {
        self.seats.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::task::{Context, Poll, Waker};

    use super::*;

    #[test]
    fn seats_go_round_and_nobody_who_left_gets_one() {
        let (queue, places) = (Queue::new(vec!["seat"]), RefCell::new(Vec::new()));
        let told = &places;
        let enter = |page| Box::pin(queue.seat(move |place| told.borrow_mut().push((page, place))));
        let mut context = Context::from_waker(Waker::noop());
        assert_eq!(enter(1).as_mut().poll(&mut context), Poll::Ready(Some("seat")));
        let [mut second, mut third, mut fourth] = [2, 3, 4].map(enter);
        for page in [&mut second, &mut third, &mut fourth] {
            assert!(page.as_mut().poll(&mut context).is_pending());
        }
        drop(third);
        assert!(fourth.as_mut().poll(&mut context).is_pending());
        queue.give_back("seat");
        assert!(queue.is_waited_for());
        // The second page has the seat, but has not taken it yet.
        drop(second);
        assert_eq!(fourth.as_mut().poll(&mut context), Poll::Ready(Some("seat")));
        assert!(!queue.is_waited_for());
        assert_eq!(*places.borrow(), [(2, 1), (3, 2), (4, 3), (4, 2)]);
    }

    #[test]
    fn one_search_ends_for_a_page_that_waits() {
        let queue = Queue::new(vec!["one", "other"]);
        let mut context = Context::from_waker(Waker::noop());
        let enter = || Box::pin(queue.seat(|_| ()));
        let [mut first, mut second, mut third] = [enter(), enter(), enter()];
        assert!(first.as_mut().poll(&mut context).is_ready());
        assert!(second.as_mut().poll(&mut context).is_ready());
        assert!(third.as_mut().poll(&mut context).is_pending());
        let leaving = queue.leave();
        assert!(leaving.is_some() && queue.leave().is_none());
        queue.give_back("one");
        drop(leaving);
        assert!(queue.leave().is_none());
        assert_eq!(third.as_mut().poll(&mut context), Poll::Ready(Some("one")));
    }

    #[test]
    fn a_page_that_has_been_given_a_seat_waits_no_longer() {
        let queue = Queue::new(vec!["seat"]);
        let mut context = Context::from_waker(Waker::noop());
        let enter = || Box::pin(queue.seat(|_| ()));
        let [mut first, mut second] = [enter(), enter()];
        assert_eq!(first.as_mut().poll(&mut context), Poll::Ready(Some("seat")));
        assert!(second.as_mut().poll(&mut context).is_pending());
        assert!(queue.is_waited_for());
        queue.give_back("seat");
        // The second page has not taken it yet.
        assert!(!queue.is_waited_for());
        assert_eq!(second.as_mut().poll(&mut context), Poll::Ready(Some("seat")));
    }
}
