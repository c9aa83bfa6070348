//! Inference workers, each started on first use.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use anyhow::Result;

use super::output::Output;
use crate::embedded_weights::EmbeddedWeights;
use crate::inference::{ModelSource, Worker};

/// One worker for each set of embedded weights, or a single worker under the key `None` if a
/// weights file is set.
#[derive(Default)]
pub struct Workers(BTreeMap<Option<EmbeddedWeights>, Worker>);

impl Workers {
    /// The worker for the embedded weights `which`, or for the weights file that replaces them.
    /// Messages about its device go to `output`.
    pub fn get(
        &mut self,
        source: &ModelSource,
        which: EmbeddedWeights,
        output: &Output,
    ) -> Result<&Worker> {
        let key = source.weights.is_none().then_some(which);
        Ok(match self.0.entry(key) {
            Entry::Occupied(worker) => worker.into_mut(),
            Entry::Vacant(place) => {
                let output = output.clone();
                place.insert(source.start(which, move |text| output.inform(text))?)
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inference::Backend;

    #[test]
    fn a_weights_file_takes_the_place_of_all_embedded_ones() -> Result<()> {
        let mini = concat!(env!("CARGO_MANIFEST_DIR"), "/../weights/mini.safetensors");
        for (weights, workers_expected) in [(None, 2), (Some(mini.into()), 1)] {
            let source = ModelSource { weights, backend: Backend::Cpu, ..ModelSource::default() };
            let mut workers = Workers::default();
            for which in [EmbeddedWeights::Beam, EmbeddedWeights::Selective, EmbeddedWeights::Beam]
            {
                workers.get(&source, which, &Output::new(std::io::sink()))?;
            }
            assert_eq!(workers.0.len(), workers_expected);
        }
        Ok(())
    }
}
