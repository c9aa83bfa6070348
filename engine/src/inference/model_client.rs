//! One thread's access to a model: a copy that it runs itself, or a connection to the thread that
//! runs it.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use azimuth_network::{InputKind, Inputs};
use cozy_chess::{Board, Color};
use crossbeam_channel::{Sender, bounded};

use super::evaluate::{Evaluate, EvaluateAttributes};
use super::position_key::PositionKey;
use super::request::{PendingResponse, Request, Response, Wanted, thread_ended};
use crate::encoder::Attributes;
use crate::model::Model;
use crate::space::Space;

/// The thread that runs the model.
pub(super) enum Route {
    /// The calling thread.
    Here(Model),
    /// The inference thread, which counts its clients.
    Thread { requests: Sender<Request>, _clients: Arc<()> },
}

/// Evaluates positions with a model, and returns their embeddings and cosines.
pub struct ModelClient {
    route: Route,
    space: Arc<Space>,
    attributes: Attributes,
    queue: Inputs,
    /// Side to move of each enqueued position.
    sides: Vec<Color>,
    in_flight: VecDeque<PendingResponse>,
    /// Buffers for reuse.
    spare: Vec<Inputs>,
    waited: Duration,
}

impl ModelClient {
    pub(super) fn new(route: Route, space: Arc<Space>, attributes: Attributes) -> Self {
        Self {
            route,
            space,
            attributes,
            queue: Inputs::new(attributes.input),
            sides: Vec::new(),
            in_flight: VecDeque::new(),
            spare: Vec::new(),
            waited: Duration::ZERO,
        }
    }

    /// The space of the embeddings.
    pub fn space(&self) -> &Arc<Space> {
        &self.space
    }

    /// Unit embeddings of `boards`, row by row.
    pub fn embeddings(&mut self, boards: &[Board]) -> Result<Vec<f32>> {
        self.numbers(boards, Wanted::Embeddings)
    }

    /// Cosines of `boards` with the axis, each from the view of its side to move.
    pub fn cosines(&mut self, boards: &[Board]) -> Result<Vec<f32>> {
        let mut cosines = self.numbers(boards, Wanted::Cosines)?;
        for (cosine, board) in cosines.iter_mut().zip(boards) {
            *cosine = self.space.cosine_for_side_to_move(*cosine, board.side_to_move());
        }
        Ok(cosines)
    }

    fn numbers(&mut self, boards: &[Board], wanted: Wanted) -> Result<Vec<f32>> {
        let inputs = Inputs::of(self.attributes.input, boards);
        self.submit(inputs, wanted)?.wait()?.numbers
    }

    /// Sends a batch, and waits while the queue is full; or computes it at once on the calling
    /// thread.
    pub(super) fn submit(&mut self, inputs: Inputs, wanted: Wanted) -> Result<PendingResponse> {
        match &mut self.route {
            Route::Thread { requests, .. } => {
                let (response, pending) = bounded(1);
                requests.send(Request { inputs, wanted, response }).map_err(|_| thread_ended())?;
                Ok(PendingResponse::OnThread(pending))
            }
            Route::Here(model) => {
                let largest = self.attributes.maximum_batch;
                let numbers = match wanted {
                    Wanted::Cosines => model.cosines(&inputs, largest),
                    Wanted::Embeddings => model.embeddings(&inputs, largest),
                };
                let numbers = numbers.map_err(Into::into);
                Ok(PendingResponse::Ready(Response { inputs, numbers }))
            }
        }
    }

    fn send(&mut self) -> Result<()> {
        let mut next = self.spare.pop().unwrap_or_else(|| Inputs::new(self.attributes.input));
        next.clear();
        let inputs = std::mem::replace(&mut self.queue, next);
        let asked = Instant::now();
        let pending = self.submit(inputs, Wanted::Cosines)?;
        // A model on the calling thread has computed, not waited.
        if matches!(pending, PendingResponse::OnThread(_)) {
            self.waited += asked.elapsed();
        }
        self.in_flight.push_back(pending);
        Ok(())
    }

    fn forget_enqueued(&mut self) {
        self.sides.clear();
        self.in_flight.clear();
        self.queue.clear();
    }

    fn wait_for_all(&mut self) -> Result<Vec<f32>> {
        if !self.queue.is_empty() {
            self.send()?;
        }
        let mut values = Vec::with_capacity(self.sides.len());
        while let Some(pending) = self.in_flight.pop_front() {
            let asked = Instant::now();
            let response = pending.wait()?;
            self.waited += asked.elapsed();
            self.spare.push(response.inputs);
            for cosine in response.numbers? {
                values.push(self.space.value(cosine, self.sides[values.len()]));
            }
        }
        Ok(values)
    }
}

impl Evaluate for ModelClient {
    fn attributes(&self) -> EvaluateAttributes {
        EvaluateAttributes {
            immediate: matches!(self.route, Route::Here(_)),
            recommended_batch: self.attributes.recommended_batch,
            key: match self.attributes.input {
                InputKind::Features(_) => PositionKey::WithoutEnPassant,
                InputKind::Tokens => PositionKey::WithClocks,
            },
        }
    }

    fn evaluate(&mut self, board: &Board) -> Result<f32> {
        if let Route::Here(model) = &mut self.route {
            return Ok(self.space.value(model.cosine(board)?, board.side_to_move()));
        }
        self.enqueue(board)?;
        self.collect()?.first().copied().context("the model evaluated nothing")
    }

    fn enqueue(&mut self, board: &Board) -> Result<()> {
        self.queue.push(board);
        self.sides.push(board.side_to_move());
        if self.queue.len() < self.attributes.recommended_batch {
            return Ok(());
        }
        self.send().inspect_err(|_| self.forget_enqueued())
    }

    fn collect(&mut self) -> Result<Vec<f32>> {
        let outcome = self.wait_for_all();
        self.forget_enqueued();
        outcome
    }

    fn waited(&self) -> Duration {
        self.waited
    }
}
