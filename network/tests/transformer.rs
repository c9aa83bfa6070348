//! The transformer against PyTorch: the fixture comes from
//! `tests/python/make_transformer_fixture.py`.

use azimuth_chess::tokens::Tokens;
use azimuth_network::fused::Operations;
use azimuth_network::parameters::Parameters;
use azimuth_network::transformer::{Transformer, TransformerConfig, token_ids};
use candle_core::{DType, Device, safetensors};

const FIXTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/transformer.safetensors");

fn config() -> TransformerConfig {
    TransformerConfig { layers: 2, hidden: 16, heads: 4, mlp: 24, embedding_dim: 12 }
}

fn largest_difference(dtype: DType, operations: Operations) -> anyhow::Result<f32> {
    let tensors = safetensors::load(FIXTURE, &Device::Cpu)?;
    let tokens: Vec<Vec<u32>> = tensors["test.tokens"].to_dtype(DType::U32)?.to_vec2()?;
    let tokens = tokens.iter().map(|ids| std::array::from_fn(|place| ids[place] as u8));
    let ids = token_ids(&tokens.collect::<Vec<Tokens>>(), &Device::Cpu)?;
    let expected = tensors["test.embeddings"].clone();
    let parameters = Parameters::new(tensors).to(&Device::Cpu, dtype)?;
    let embeddings = Transformer::new(&config(), &parameters)?.with(operations).forward(&ids)?;
    Ok((embeddings - expected)?.abs()?.max_all()?.to_scalar()?)
}

#[test]
fn embeddings_equal_pytorchs() -> anyhow::Result<()> {
    // No operation is fused in 64 bits.
    for (dtype, operations) in [
        (DType::F32, Operations::Fused),
        (DType::F32, Operations::Composed),
        (DType::F64, Operations::Fused),
    ] {
        let difference = largest_difference(dtype, operations)?;
        assert!(difference < 1e-5, "{dtype:?}, {operations:?}: differs by {difference}");
    }
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
