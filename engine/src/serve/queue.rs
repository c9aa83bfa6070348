//! The seats of searches, and the pages that wait for one: first come, first served.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{oneshot, watch};

/// Seats of any type, lent to one page each.
pub struct Queue<S> {
    state: Mutex<State<S>>,
}

struct State<S> {
    free: Vec<S>,
    waiting: VecDeque<Waiting<S>>,
}

struct Waiting<S> {
    seat: oneshot::Sender<S>,
    place: watch::Sender<usize>,
}

/// A place in the queue. Dropping it leaves the queue.
pub struct Ticket<S> {
    queue: Arc<Queue<S>>,
    /// Gets the seat.
    seat: oneshot::Receiver<S>,
    /// The page's position in the queue, from 1; 0 once it has a seat.
    place: watch::Receiver<usize>,
}

impl<S> Queue<S> {
    pub fn new(seats: Vec<S>) -> Self {
        Self { state: Mutex::new(State { free: seats, waiting: VecDeque::new() }) }
    }

    pub fn enter(self: &Arc<Self>) -> Ticket<S> {
        let (give, seat) = oneshot::channel();
        let (tell, place) = watch::channel(0);
        let mut state = self.lock();
        match state.free.pop() {
            // The receiver exists, so sending succeeds.
            Some(free) => drop(give.send(free)),
            None => {
                tell.send_replace(state.waiting.len() + 1);
                state.waiting.push_back(Waiting { seat: give, place: tell });
            }
        }
        Ticket { queue: self.clone(), seat, place }
    }

    /// Returns a seat, which goes to the next page.
    pub fn give_back(&self, seat: S) {
        let mut state = self.lock();
        let mut seat = Some(seat);
        while let Some(free) = seat.take() {
            match state.waiting.pop_front() {
                None => state.free.push(free),
                Some(next) => seat = next.seat.send(free).err(),
            }
        }
        state.tell_places();
    }

    pub fn is_waited_for(&self) -> bool {
        !self.lock().waiting.is_empty()
    }

    fn lock(&self) -> MutexGuard<'_, State<S>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<S> State<S> {
    fn tell_places(&self) {
        for (place, waiting) in (1..).zip(&self.waiting) {
            waiting.place.send_replace(place);
        }
    }
}

impl<S> Ticket<S> {
    /// Waits for a seat. Calls `tell` with each new place in the queue. `None` if the queue was
    /// dropped.
    pub async fn wait(&mut self, mut tell: impl FnMut(usize)) -> Option<S> {
        let mut told = 0;
        loop {
            let place = *self.place.borrow_and_update();
            if place != told {
                tell(place);
                told = place;
            }
            tokio::select! {
                biased;
                seat = &mut self.seat => return seat.ok(),
                Ok(()) = self.place.changed() => {}
            }
        }
    }
}

impl<S> Drop for Ticket<S> {
    fn drop(&mut self) {
        self.seat.close();
        if let Ok(seat) = self.seat.try_recv() {
            self.queue.give_back(seat);
            return;
        }
        let mut state = self.queue.lock();
        state.waiting.retain(|waiting| !waiting.seat.is_closed());
        state.tell_places();
    }
}

#[cfg(test)]
mod tests {
    use tokio::runtime::Builder;

    use super::*;

    #[test]
    fn seats_go_round_and_nobody_who_left_gets_one() {
        let queue = Arc::new(Queue::new(vec!["seat"]));
        let mut first = queue.enter();
        let [mut second, third, mut fourth] = [(); 3].map(|()| queue.enter());
        let runtime = Builder::new_current_thread().build().expect("a runtime");
        let mut places = Vec::new();
        let seat = runtime.block_on(first.wait(|place| places.push(place)));
        assert!(places.is_empty() && queue.is_waited_for());
        drop(third);
        queue.give_back(seat.expect("a seat"));
        let seat = runtime.block_on(second.wait(|place| places.push(place)));
        queue.give_back(seat.expect("a seat"));
        assert_eq!(*fourth.place.borrow(), 1);
        // The fourth page has the seat, but has not taken it yet.
        assert!(!queue.is_waited_for());
        let mut fifth = queue.enter();
        assert_eq!(*fifth.place.borrow(), 1);
        drop(std::mem::replace(&mut fourth, queue.enter()));
        assert!(runtime.block_on(fifth.wait(|place| places.push(place))).is_some());
        // The first page never waited. The second and the fifth were first in the queue when they
        // began to wait.
        assert_eq!(places, [1, 1]);
    }
}
