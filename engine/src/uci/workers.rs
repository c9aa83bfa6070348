//! The encoders at work, each loaded when it is first needed.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use anyhow::Result;

use super::options::Model;
use super::output::Output;
use crate::embedded_weights::Embedded;
use crate::inference::Worker;

/// One worker for each of the embedded weights, or one for all, under no key, where a weights file is
/// named.
#[derive(Default)]
pub struct Workers(BTreeMap<Option<Embedded>, Worker>);

impl Workers {
    /// The worker of the embedded weights `which`, or of the file that takes their place. Messages about its device go
    /// to `output`.
    pub fn get(&mut self, model: &Model, which: Embedded, output: &Output) -> Result<&Worker> {
        let key = model.weights.is_none().then_some(which);
        Ok(match self.0.entry(key) {
            Entry::Occupied(worker) => worker.into_mut(),
            Entry::Vacant(place) => place.insert(load(model, which, output)?),
        })
    }
}

fn load(model: &Model, which: Embedded, output: &Output) -> Result<Worker> {
    let weights = which.or_read(model.weights.as_deref())?;
    let architecture = &weights.metadata.architecture;
    let (device, dtype) =
        model.backend.open(model.precision, architecture, |text| output.inform(text))?;
    let output = output.clone();
    let notice = Box::new(move |text: &str| output.inform(text));
    Worker::start(Arc::new(weights), &device, dtype, notice)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inference::Backend;

    #[test]
    fn a_weights_file_takes_the_place_of_all_embedded_ones() -> Result<()> {
        let mini = concat!(env!("CARGO_MANIFEST_DIR"), "/../weights/mini.safetensors");
        for (weights, workers_expected) in [(None, 2), (Some(mini.into()), 1)] {
            let model = Model { weights, backend: Backend::Cpu, ..Model::default() };
            let mut workers = Workers::default();
            for which in [Embedded::Beam, Embedded::Selective, Embedded::Beam] {
                workers.get(&model, which, &Output::new(std::io::sink()))?;
            }
            assert_eq!(workers.0.len(), workers_expected);
        }
        Ok(())
    }
}
