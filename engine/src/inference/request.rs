//! Requests from searches to the inference thread, and its responses.

use anyhow::{Result, anyhow};
use azimuth_network::Inputs;
use crossbeam_channel::{Receiver, Sender};

/// The numbers that a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// A cosine with the axis for each position.
    Cosines,
    /// An embedding for each position, row by row.
    Embeddings,
}

/// The numbers of one request, and its input buffer for reuse.
pub(super) struct Response {
    pub(super) inputs: Inputs,
    pub(super) numbers: Result<Vec<f32>>,
}

/// A batch of positions.
pub(super) struct Request {
    pub(super) inputs: Inputs,
    pub(super) wanted: Wanted,
    pub(super) response: Sender<Response>,
}

impl Request {
    pub(super) fn respond(self, numbers: Result<Vec<f32>>) {
        // A search that has ended needs no response.
        let _ = self.response.send(Response { inputs: self.inputs, numbers });
    }
}

/// The response to a request, not yet received.
pub(super) enum PendingResponse {
    OnThread(Receiver<Response>),
    Ready(Response),
}

impl PendingResponse {
    /// Waits for the response.
    pub(super) fn wait(self) -> Result<Response> {
        match self {
            Self::OnThread(response) => response.recv().map_err(|_| thread_ended()),
            Self::Ready(response) => Ok(response),
        }
    }
}

/// The error if the inference thread has ended.
pub(super) fn thread_ended() -> anyhow::Error {
    anyhow!("the inference thread has ended")
}
