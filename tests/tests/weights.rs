//! Weights files that are not right are refused with a line that names file, key and expectation.

use std::path::Path;

use anyhow::Result;
use azimuth::embedded_weights::Embedded;
use azimuth_network::parameters::Parameters;
use azimuth_network::weights::Weights;
use candle_core::{DType, Device, Tensor};

fn refusal(path: &Path) -> String {
    let error = Weights::read(path).expect_err("this file is not right");
    let line = format!("{error:#}");
    assert!(!line.contains('\n') && line.contains(&*path.to_string_lossy()), "{line}");
    line
}

#[test]
fn what_is_written_reads_back() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("copy.safetensors");
    let weights = Embedded::Beam.weights()?;
    weights.write(&path)?;
    let copy = Weights::read(&path)?;
    assert_eq!(copy.metadata.architecture, weights.metadata.architecture);
    assert_eq!(copy.axis.white_mean, weights.axis.white_mean);
    assert_eq!(copy.calibration.cosines(), weights.calibration.cosines());
    for (name, tensor) in weights.parameters.iter() {
        let difference = (tensor - copy.parameters.get(name)?)?.abs()?.max_all()?;
        assert_eq!(difference.to_scalar::<f32>()?, 0.0, "{name}");
    }
    Ok(())
}

#[test]
fn broken_files_are_refused() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("weights.safetensors");
    let good = Embedded::Beam.weights()?;
    good.write(&path)?;
    let bytes = std::fs::read(&path)?;

    for length in [0, 7, 100, bytes.len() / 2, bytes.len() - 1] {
        std::fs::write(&path, &bytes[..length])?;
        assert!(refusal(&path).contains("not a complete safetensors file"), "{length}");
    }
    let mut huge = bytes.clone();
    huge[..8].copy_from_slice(&10_000_000_000u64.to_le_bytes());
    std::fs::write(&path, &huge)?;
    assert!(refusal(&path).contains("not a complete safetensors file"));

    let replaced = |name: &str, tensor: Tensor| -> Result<Weights> {
        let mut weights = good.clone();
        let others = good.parameters.iter().filter(|(other, _)| *other != name);
        let all = others.map(|(n, t)| (n.clone(), t.clone())).chain([(name.to_owned(), tensor)]);
        weights.parameters = Parameters::new(all);
        Ok(weights)
    };
    replaced("hidden.bias", Tensor::zeros(31, DType::F32, &Device::Cpu)?)?.write(&path)?;
    assert!(refusal(&path).contains("'hidden.bias' has shape [31], expected [32]"));
    let nan = Tensor::full(f32::NAN, 32, &Device::Cpu)?;
    replaced("hidden.bias", nan)?.write(&path)?;
    assert!(refusal(&path).contains("'hidden.bias' holds a value that is not finite"));

    let integers = Tensor::zeros(32, DType::U8, &Device::Cpu)?;
    replaced("hidden.bias", integers)?.write(&path)?;
    assert!(refusal(&path).contains("'hidden.bias' has dtype U8, expected F32, F16 or BF16"));

    let mut newer = good.clone();
    newer.metadata.format_version = 99;
    newer.write(&path)?;
    assert!(refusal(&path).contains("format version 99, expected 1"));
    Ok(())
}
