//! Sends a task's events to its page.

use std::sync::Arc;

use tokio::sync::{Notify, mpsc};

use super::protocol::Event;
use crate::search::StopSwitch;

/// Sends a task's events, and holds the switches that end the task.
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

    /// Sends an event if there is room for it, otherwise drops it: for events that the next one of
    /// the same kind replaces.
    pub fn show(&self, event: Event) {
        // The next event replaces this one, and a page that is gone needs none.
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
