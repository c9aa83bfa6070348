//! A space: an encoder, its axis and its calibration.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::Result;
use azimuth::embedded_weights;
use azimuth_network::calibration::Calibration;
use azimuth_network::weights::{Metadata, Weights};
use azimuth_network::{Inputs, Perspective};
use azimuth_search::DefaultWeights;
use azimuth_search::model::{Model, Space};
use candle_core::{DType, Device};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::{PyMemoryError, PyRuntimeError, PyUnicodeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::board::{Pov, Sources};
use crate::compute::{Wanted, all_threads, compute, pool};
use crate::python_error;

/// Number of positions per thread between two checks for Ctrl-C, for a fast encoder.
const PART: usize = 1_024;

/// An encoder with its axis and calibration. The functions release Python's lock while they
/// compute, so any number of Python threads can use one space.
#[pyclass(frozen, module = "azimuth_chess._native")]
pub struct NativeSpace {
    /// Copied for each call. Its lock is only taken together with Python's: so no other thread has
    /// it when Python forks the process.
    model: Mutex<Model>,
    space: Arc<Space>,
    metadata: Metadata,
}

impl NativeSpace {
    fn of(weights: &Weights) -> Result<Self> {
        let model = Model::new(weights, &Device::Cpu, DType::F32)?;
        let space = model.space().clone();
        Ok(Self { model: Mutex::new(model), space, metadata: weights.metadata.clone() })
    }

    fn model(&self) -> MutexGuard<'_, Model> {
        // A model has no state that a panic could leave half-written but its buffers.
        self.model.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The error with the index of its position.
fn at(py: Python<'_>, index: usize, error: &PyErr) -> PyErr {
    let message = format!("position {index}: {}", error.value(py));
    // A UnicodeError has other arguments.
    match error.is_instance_of::<PyUnicodeError>(py) {
        true => PyValueError::new_err(message),
        false => PyErr::from_type(error.get_type(py), message),
    }
}

/// Win probabilities of cosines by the knots of a calibration.
#[pyfunction]
pub fn calibrated<'py>(
    py: Python<'py>,
    knots: (PyReadonlyArray1<'py, f32>, PyReadonlyArray1<'py, f32>),
    cosines: PyReadonlyArray1<'py, f32>,
) -> PyResult<Bound<'py, PyArray1<f32>>> {
    let [x, y] = [knots.0, knots.1].map(|knots| knots.as_array().to_vec());
    let calibration = Calibration::new(x, y).map_err(|error| python_error(&error))?;
    let cosines = cosines.as_array();
    let calibrated = cosines.iter().map(|&cosine| calibration.win_probability(cosine));
    Ok(PyArray1::from_vec(py, calibrated.collect()))
}

#[pymethods]
impl NativeSpace {
    /// The space of a weights file.
    #[new]
    fn read(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        py.detach(|| Self::of(&Weights::read(&path)?)).map_err(|error| python_error(&error))
    }

    /// The space of the weights that ship as `beam`.
    #[staticmethod]
    fn beam_weights(py: Python<'_>) -> PyResult<Self> {
        py.detach(|| Self::of(&embedded_weights::read(DefaultWeights::Beam)?))
            .map_err(|error| python_error(&error))
    }

    /// The space of the weights that ship as `selective`.
    #[staticmethod]
    fn selective_weights(py: Python<'_>) -> PyResult<Self> {
        py.detach(|| Self::of(&embedded_weights::read(DefaultWeights::Selective)?))
            .map_err(|error| python_error(&error))
    }

    /// The `wanted` numbers of all positions, f32: `embeddings`, one after the other, `cosines` or
    /// `win probabilities`. `progress` is called with the number of positions of each part.
    #[pyo3(signature = (positions, wanted, pov, threads=None, progress=None))]
    fn numbers<'py>(
        &self,
        py: Python<'py>,
        positions: &Bound<'py, PyAny>,
        wanted: &str,
        pov: Pov,
        threads: Option<usize>,
        progress: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArray1<f32>>> {
        let wanted = match wanted {
            "embeddings" => Wanted::Embeddings,
            "cosines" => Wanted::Cosines(pov),
            "win probabilities" => Wanted::WinProbabilities(pov),
            _ => return Err(PyValueError::new_err(format!("no numbers are called '{wanted}'"))),
        };
        // More threads than processors would only need more copies of the model.
        let threads = threads.map_or_else(all_threads, |threads| threads.min(all_threads()));
        if threads == 0 {
            return Err(PyValueError::new_err("threads must be at least 1"));
        }
        let model = self.model();
        let width = wanted.width(&model);
        let copies: Option<Vec<Model>> = (0..threads).map(|_| model.for_caller()).collect();
        let is_fast = copies.is_some();
        let size = match is_fast {
            true => PART.saturating_mul(threads),
            false => model.attributes().recommended_batch,
        };
        let copies = copies.or_else(|| Some(vec![model.copy()?]));
        let mut models =
            copies.ok_or_else(|| PyRuntimeError::new_err("the encoder is not on the CPU"))?;
        drop(model);
        let mut numbers: Vec<f32> = Vec::new();
        let expected = positions.len().unwrap_or(0).saturating_mul(width);
        let too_large = |_| PyMemoryError::new_err(format!("{expected} numbers of f32"));
        numbers.try_reserve_exact(expected).map_err(too_large)?;
        let mut remaining = positions.try_iter()?;
        let (mut part, mut before) = (Sources::default(), 0);
        loop {
            part.clear();
            for (index, object) in remaining.by_ref().take(size).enumerate() {
                part.push(&object?).map_err(|error| at(py, before + index, &error))?;
            }
            if part.len() == 0 {
                return Ok(PyArray1::from_vec(py, numbers));
            }
            let start = numbers.len();
            numbers.resize(start + part.len() * width, 0.0);
            let output = &mut numbers[start..];
            // A slow encoder divides the work itself, among the threads of a pool.
            let pool = (!is_fast).then(|| pool(py)).transpose()?;
            let done = py.detach(|| {
                let mut run = || compute(&mut models, wanted, &part, output);
                match &pool {
                    Some(pool) => pool.install(run),
                    None => run(),
                }
            });
            done.map_err(|failure| at(py, before + failure.index, &python_error(&failure.error)))?;
            before += part.len();
            py.check_signals()?;
            if let Some(progress) = progress {
                progress.call1((part.len(),))?;
            }
        }
    }

    /// The encoder's input for one position: the active rows of its features in the side to move's
    /// view and in the opponent's, or its 77 tokens.
    fn inputs<'py>(
        &self,
        py: Python<'py>,
        position: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let mut only = Sources::default();
        only.push(position)?;
        let boards = only.positions().iter().map(|source| only.board(source));
        let boards = boards.collect::<Result<Vec<_>>>().map_err(|error| python_error(&error))?;
        let inputs = Inputs::of(self.metadata.architecture.input_kind(), &boards);
        let inputs = match &inputs {
            Inputs::Tokens(all) => {
                all.first().map(|all| Ok(PyArray1::from_slice(py, all).into_any()))
            }
            Inputs::Features(batch) => batch.iter().next().map(|features| {
                let views = [features.own, features.other];
                Ok(PyTuple::new(py, views.map(|rows| PyArray1::from_slice(py, rows)))?.into_any())
            }),
        };
        inputs.unwrap_or_else(|| Err(PyValueError::new_err("no position")))
    }

    /// Dimension of the embeddings.
    #[getter]
    fn dim(&self) -> usize {
        self.metadata.architecture.embedding_dim()
    }

    /// The axis, a unit vector.
    #[getter]
    fn axis<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f32>> {
        PyArray1::from_slice(py, self.space.axis.unit())
    }

    /// The difference of the mean embeddings of both sides' mates: the paper's direction, not
    /// normalised.
    #[getter]
    fn mates<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f32>> {
        let (white, black) = (&self.space.axis.white_mean, &self.space.axis.black_mean);
        PyArray1::from_vec(py, white.iter().zip(black).map(|(w, b)| w - b).collect())
    }

    /// The calibration's knots: cosines and win probabilities.
    #[getter]
    fn knots<'py>(
        &self,
        py: Python<'py>,
    ) -> (Bound<'py, PyArray1<f32>>, Bound<'py, PyArray1<f32>>) {
        let calibration = &self.space.calibration;
        let [cosines, probabilities] = [calibration.cosines(), calibration.win_probabilities()];
        (PyArray1::from_slice(py, cosines), PyArray1::from_slice(py, probabilities))
    }

    /// The side whose win a cosine of 1 means: `"turn"` or `"white"`.
    #[getter]
    fn pov(&self) -> &'static str {
        match self.metadata.architecture.perspective() {
            Perspective::SideToMove => "turn",
            Perspective::White => "white",
        }
    }

    /// A short name of the encoder, such as `sparse 512` or `mini`.
    #[getter]
    fn architecture(&self) -> String {
        self.metadata.architecture.to_string()
    }

    /// The name of the encoder's input: a set of features or a tokeniser.
    #[getter]
    fn input(&self) -> &str {
        &self.metadata.input
    }

    /// The metadata of the weights file, as JSON.
    #[getter]
    fn metadata(&self) -> PyResult<String> {
        let text = serde_json::to_string(&self.metadata);
        text.map_err(|error| PyValueError::new_err(error.to_string()))
    }
}
