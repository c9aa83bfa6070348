//! The transformer against PyTorch: the fixture comes from `tests/python/make_transformer_fixture.py`.

use azimuth::encoder::parameters::Parameters;
use azimuth::encoder::transformer::{Dropout, Inference, Transformer, TransformerConfig};
use candle_core::{DType, Device, Result, Tensor, safetensors};

const FIXTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/transformer.safetensors");

/// Claims to drop, so that nothing is fused.
struct DropNothing;

impl Dropout for DropNothing {
    fn active(&self) -> bool {
        true
    }

    fn apply(&mut self, x: Tensor) -> Result<Tensor> {
        Ok(x)
    }
}

fn config() -> TransformerConfig {
    TransformerConfig { layers: 2, hidden: 16, heads: 4, mlp: 24, embedding_dim: 12 }
}

fn largest_difference(dropout: &mut impl Dropout) -> anyhow::Result<f32> {
    let tensors = safetensors::load(FIXTURE, &Device::Cpu)?;
    let tokens = tensors["test.tokens"].to_dtype(DType::U32)?;
    let expected = tensors["test.embeddings"].clone();
    let network = Transformer::new(&config(), &Parameters::new(tensors))?;
    let embeddings = network.forward(&tokens, dropout)?;
    Ok((embeddings - expected)?.abs()?.max_all()?.to_scalar()?)
}

#[test]
fn embeddings_equal_pytorchs() -> anyhow::Result<()> {
    let inference = largest_difference(&mut Inference)?;
    assert!(inference < 1e-5, "inference differs by {inference}");
    // The same through candle's own operations, which other devices and dropout need.
    let composed = largest_difference(&mut DropNothing)?;
    assert!(composed < 1e-5, "composed attention differs by {composed}");
    Ok(())
}

#[test]
fn sizes_are_the_papers() {
    for (config, millions) in [
        (TransformerConfig::mini(), 0.8),
        (TransformerConfig::small(), 9.8),
        (TransformerConfig::base(), 39.0),
    ] {
        let count: usize =
            config.parameters().iter().map(|spec| spec.shape.iter().product::<usize>()).sum();
        let found = count as f64 / 1e6;
        assert!((found - millions).abs() < 0.05 * millions, "{config:?}: {found}M");
    }
}
