//! The configuration, data and parameters of a training run.

use std::collections::BTreeMap;

use anyhow::{Result, anyhow};
use azimuth_train::claim::Claim;
use candle_core::{Device, Var};
use candle_nn::{VarBuilder, VarMap};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::first_parameters::first_parameters;
use super::learner::{Metrics, Plan};
use super::options::TrainOptions;
use crate::studies::Studies;
use crate::weights::{Metadata, RivalWeights};

/// The configuration, data and parameters of a training run.
pub struct Lesson<C> {
    /// The rival's name.
    rival: &'static str,
    /// The sizes of its networks.
    pub config: C,
    /// The optimisation schedule.
    pub plan: Plan,
    /// The data.
    pub studies: Studies,
    /// The device of the networks.
    pub device: Device,
    /// The trained parameters.
    pub parameters: VarMap,
    /// The seed of the initial parameters and of the sampling of examples.
    pub seed: u64,
    /// Converts the trained parameters to the form used in play.
    pub finish: fn(RivalWeights) -> Result<RivalWeights>,
    /// Claims on the run's files, held as long as it trains.
    _claims: Vec<Claim>,
}

impl<C: Serialize + DeserializeOwned> Lesson<C> {
    /// Reads the data and chooses sizes and plan from the options, the document's values and those
    /// of the small preset.
    pub fn read(
        rival: &'static str,
        options: &TrainOptions,
        document: (C, Plan),
        small: (C, Plan),
    ) -> Result<Self> {
        let config = options.config(document.0, small.0)?;
        let device = options.device()?;
        let _claims = options.claim()?;
        Ok(Self {
            rival,
            config,
            plan: options.plan(document.1, small.1),
            studies: Studies::read(&options.data)?,
            device,
            parameters: VarMap::new(),
            seed: options.seed,
            finish: Ok,
            _claims,
        })
    }

    /// The builder from which networks take their parameters.
    pub fn vb(&self) -> VarBuilder<'static> {
        first_parameters(&self.parameters, self.seed, &self.device)
    }

    /// Sets the conversion from trained parameters to the form used in play.
    pub fn finished_by(self, finish: fn(RivalWeights) -> Result<RivalWeights>) -> Self {
        Self { finish, ..self }
    }

    /// A description of the run, which must be the same when it is resumed.
    pub fn describe(&self) -> Result<String> {
        let Self { rival, config, plan, studies, seed, .. } = self;
        Ok(serde_json::to_string(&json!({
            "rival": rival,
            "config": config,
            "batch": plan.batch,
            "steps": plan.steps,
            "learning_rate": plan.learning_rate,
            "weight_decay": plan.weight_decay,
            "seed": seed,
            "data": studies.files,
        }))?)
    }

    /// The trained weights, with the training time in seconds and the last metrics.
    pub fn weights(&self, seconds: f64, metrics: &Metrics) -> Result<RivalWeights> {
        let mut training: Value = serde_json::from_str(&self.describe()?)?;
        training["seconds"] = seconds.round().into();
        training["trainer"] = concat!("azimuth-rivals ", env!("CARGO_PKG_VERSION")).into();
        let metadata = Metadata {
            rival: self.rival.to_owned(),
            config: serde_json::to_value(&self.config)?,
            training,
            metrics: metrics.iter().map(|&(name, value)| (name.to_owned(), json!(value))).collect(),
        };
        let tensor =
            |(name, variable): (String, Var)| Ok((name, variable.to_device(&Device::Cpu)?));
        let tensors = named(&self.parameters)?.into_iter().map(tensor).collect::<Result<_>>()?;
        Ok(RivalWeights { metadata, tensors })
    }
}

/// Parameters by name.
pub fn named(parameters: &VarMap) -> Result<BTreeMap<String, Var>> {
    let parameters = parameters.data().lock().map_err(|_| anyhow!("parameters are lost"))?;
    Ok(parameters.iter().map(|(name, variable)| (name.clone(), variable.clone())).collect())
}
