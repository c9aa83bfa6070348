//! The gradient of a table, for bags that contain few of its rows.

use std::sync::{Arc, Mutex};

use super::bags::Bags;
use super::kernels;

/// Gradient of an embedding table, only for the rows that some position used.
#[derive(Debug)]
pub struct RowGradients {
    width: usize,
    values: Vec<f32>,
    touched: Vec<bool>,
    rows: Vec<u32>,
}

impl RowGradients {
    /// An empty gradient for a table of `rows` x `width`.
    pub fn new(rows: usize, width: usize) -> Self {
        let values = vec![0.0; rows * width];
        Self { width, values, touched: vec![false; rows], rows: Vec::new() }
    }

    /// Passes the gradient of every row that has one to `visit`, lowest row first, and clears the
    /// gradients.
    pub fn drain(&mut self, mut visit: impl FnMut(usize, &mut [f32])) {
        self.rows.sort_unstable();
        for row in self.rows.drain(..).map(|row| row as usize) {
            let gradient = &mut self.values[row * self.width..][..self.width];
            visit(row, gradient);
            gradient.fill(0.0);
            self.touched[row] = false;
        }
    }

    /// The rows that have a gradient, each once, in any order.
    pub fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// All gradients (rows x width); those of the other rows are 0.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// Takes out all gradients (rows x width), until [`Self::put_back`]. Then no row has a
    /// gradient.
    pub fn take(&mut self) -> Vec<f32> {
        for row in self.rows.drain(..) {
            self.touched[row as usize] = false;
        }
        std::mem::take(&mut self.values)
    }

    /// Returns the buffer of [`Self::take`], zeroed.
    pub fn put_back(&mut self, values: Vec<f32>) {
        self.values = values;
    }

    /// Adds to the gradient of a row.
    pub fn add(&mut self, row: usize, gradient: &[f32]) {
        self.touch(row);
        let sums = &mut self.values[row * self.width..][..self.width];
        sums.iter_mut().zip(gradient).for_each(|(sum, value)| *sum += value);
    }

    /// Adds the gradient of each bag, a row of `gradients`, to all table rows in the bag.
    pub(super) fn add_bags(&mut self, bags: &Bags, gradients: &[f32]) {
        bags.rows().iter().for_each(|&row| self.touch(row.into()));
        kernels::add_to_rows(bags, gradients, &mut self.values);
    }

    fn touch(&mut self, row: usize) {
        if !std::mem::replace(&mut self.touched[row], true) {
            self.rows.push(row as u32);
        }
    }
}

/// Receives a table's gradient from backward passes.
pub type GradientSink = Arc<Mutex<RowGradients>>;
