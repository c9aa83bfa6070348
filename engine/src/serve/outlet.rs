//! The way of a task's events to its page.

use std::sync::Arc;

use tokio::sync::{Notify, mpsc};

use super::protocol::Event;
use crate::search::StopSwitch;

/// Sends a task's events, and knows whether the task has to end.
#[derive(Clone)]
pub struct Outlet {
    events: mpsc::Sender<Event>,
    /// Stops the task's searches.
    pub switch: StopSwitch,
    /// Wakes the task while it waits for a seat.
    pub stopped: Arc<Notify>,
}

impl Outlet {
    /// An outlet that fills `events`.
    pub fn new(events: mpsc::Sender<Event>) -> Self {
        Self { events, switch: StopSwitch::default(), stopped: Arc::default() }
    }

    /// Ends the task.
    pub fn stop(&self) {
        self.switch.stop();
        self.stopped.notify_one();
    }

    /// Sends an event that the next one of its kind replaces: if the page reads too slowly, it is
    /// dropped.
    pub fn show(&self, event: Event) {
        // A page that is gone needs no event.
        let _ = self.events.try_send(event);
    }

    /// Sends an event, and waits until there is room for it. For the threads of searches.
    pub fn send(&self, event: Event) {
        let _ = self.events.blocking_send(event);
    }

    /// The same for the server's own thread.
    pub async fn send_soon(&self, event: Event) {
        let _ = self.events.send(event).await;
    }
}
