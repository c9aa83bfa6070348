//! What a search asks of the inference thread, and what comes back.

use anyhow::{Result, anyhow};
use crossbeam_channel::{Receiver, Sender};

use azimuth_network::Inputs;

/// Win probabilities of one request's positions, and the request's buffer for reuse.
pub(super) struct Response {
    pub(super) inputs: Inputs,
    pub(super) win_probabilities: Result<Vec<f32>>,
}

/// A batch that a search wants scored.
pub(super) struct Request {
    pub(super) inputs: Inputs,
    pub(super) response: Sender<Response>,
}

impl Request {
    pub(super) fn respond(self, win_probabilities: Result<Vec<f32>>) {
        // A search that has gone away needs no response.
        let _ = self.response.send(Response { inputs: self.inputs, win_probabilities });
    }
}

/// The response to a batch on its way.
pub(super) enum PendingResponse {
    OnThread(Receiver<Response>),
    Ready(Response),
}

impl PendingResponse {
    /// Waits for the batch's scores.
    pub(super) fn wait(self) -> Result<Response> {
        match self {
            Self::OnThread(response) => response.recv().map_err(|_| thread_ended()),
            Self::Ready(response) => Ok(response),
        }
    }
}

/// Says that nobody is left to respond.
pub(super) fn thread_ended() -> anyhow::Error {
    anyhow!("the inference thread has ended")
}
