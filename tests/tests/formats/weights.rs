//! Invalid weights files are refused with a line that names the file, the key and the expected
//! value. The shipped weights are unchanged since their release.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use azimuth::embedded_weights;
use azimuth_chess::position::{Position, STARTPOS, legal_moves};
use azimuth_network::checksum::{self, hex};
use azimuth_network::parameters::Parameters;
use azimuth_network::weights::Weights;
use azimuth_search::DefaultWeights;
use azimuth_tests::{Folder, GAMES, root, text};
use candle_core::{DType, Device, Tensor};
use sha2::{Digest, Sha256};

fn refusal(path: &Path) -> String {
    let error = Weights::read(path).expect_err("this file is not right");
    let line = format!("{error:#}");
    assert!(!line.contains('\n') && line.contains(&*path.to_string_lossy()), "{line}");
    line
}

#[test]
fn what_is_written_reads_back() -> Result<()> {
    let folder = Folder::new()?;
    let path = folder.at("copy.safetensors");
    let weights = embedded_weights::read(DefaultWeights::Beam)?;
    weights.write(&path)?;
    let copy = Weights::read(&path)?;
    assert_eq!(copy.metadata.architecture, weights.metadata.architecture);
    assert_eq!(copy.axis.white_mean, weights.axis.white_mean);
    assert_eq!(copy.calibration.cosines(), weights.calibration.cosines());
    for (name, tensor) in weights.parameters.iter() {
        let difference = (tensor - copy.parameters.get(name)?)?.abs()?.max_all()?;
        assert_eq!(difference.to_scalar::<f32>()?, 0.0, "{name}");
    }
    let start = Position::from_fen(STARTPOS)?;
    let logits = |weights: &Weights| -> Result<Vec<f32>> {
        let policy = weights.policy.as_ref().context("no policy head")?;
        Ok(policy.logits(start.board(), &legal_moves(start.board())))
    };
    assert_eq!(logits(&copy)?, logits(&weights)?);
    Ok(())
}

#[test]
fn broken_files_are_refused() -> Result<()> {
    let folder = Folder::new()?;
    let path = folder.at("weights.safetensors");
    let good = embedded_weights::read(DefaultWeights::Beam)?;
    good.write(&path)?;
    let bytes = fs::read(&path)?;

    for length in [0, 7, 100, bytes.len() / 2, bytes.len() - 1] {
        fs::write(&path, &bytes[..length])?;
        assert!(refusal(&path).contains("not a complete safetensors file"), "{length}");
    }
    let mut damaged = bytes.clone();
    damaged[bytes.len() / 2] ^= 1;
    fs::write(&path, damaged)?;
    assert!(refusal(&path).contains("is damaged"));
    let mut huge = bytes.clone();
    huge[..8].copy_from_slice(&10_000_000_000u64.to_le_bytes());
    fs::write(&path, &huge)?;
    assert!(refusal(&path).contains("not a complete safetensors file"));

    let refused = |change: &dyn Fn(&mut Weights)| -> Result<String> {
        let mut weights = good.clone();
        change(&mut weights);
        weights.write(&path)?;
        Ok(refusal(&path))
    };
    for (bias, part) in [
        (Tensor::zeros(255, DType::F32, &Device::Cpu)?, "has shape [255], expected [256]"),
        (Tensor::full(f32::NAN, 256, &Device::Cpu)?, "holds a value that is not finite"),
        (Tensor::zeros(256, DType::U8, &Device::Cpu)?, "has dtype U8, expected F32, F16 or BF16"),
    ] {
        let line = refused(&|weights: &mut Weights| {
            let others = good.parameters.iter().filter(|(name, _)| *name != "hidden.bias");
            let others = others.map(|(name, tensor)| (name.clone(), tensor.clone()));
            let all = others.chain([("hidden.bias".to_owned(), bias.clone())]);
            weights.parameters = Parameters::new(all);
        })?;
        assert!(line.contains(&format!("'hidden.bias' {part}")), "{line}");
    }
    let line = refused(&|weights: &mut Weights| weights.axis.white_mean[0] = f32::NAN)?;
    assert!(line.contains("a value of the axis is not finite"), "{line}");
    let line = refused(&|weights: &mut Weights| weights.metadata.format_version = 99)?;
    assert!(line.contains("format version 99, expected 1"), "{line}");
    Ok(())
}

#[test]
fn files_of_other_kinds_are_named() -> Result<()> {
    let folder = Folder::new()?;
    folder.trainer("data GAMES --out @games.azd")?;
    let small = "--accumulator 128 --anchors 128 --steps 1 --sample 1000";
    folder.trainer(&format!("train --data @games.azd --out @own.safetensors {small}"))?;
    let mini = "--weights ROOT/weights/mini.safetensors";
    folder.trainer(&format!("export --format solis {mini} --out @authors.pth"))?;
    folder.write("stockfish.nnue", b"\x20\x2f\xf3\x7a a network")?;
    folder.write("games.pgn", "[Event \"a game\"]\n\n1. e4 *\n")?;
    for (path, kind, remedy) in [
        (
            folder.at("own.checkpoint"),
            "a training checkpoint",
            "export it first with `azimuth-train export --checkpoint",
        ),
        (
            root().join("rivals/weights/value.safetensors"),
            "the weights of a rival",
            "`azimuth-rivals play value --weights FILE`",
        ),
        (folder.at("games.azd"), "a dataset", "`azimuth-train train --data"),
        (folder.at("stockfish.nnue"), "a Stockfish network", "`azimuth-train label --network"),
        (folder.at("authors.pth"), "PyTorch checkpoint", "`azimuth-train import --checkpoint"),
        (folder.at("games.pgn"), "games", "`azimuth-train train --data"),
        (GAMES.into(), "games", "`azimuth-train train --data"),
    ] {
        let line = refusal(&path);
        assert!(line.contains(kind) && line.contains(remedy), "{line}");
    }
    // The error must not call a file of another kind a damaged checkpoint that the user may delete.
    let export = "export --checkpoint @own.safetensors --data GAMES --out x";
    let error = folder.trainer_error(export)?;
    assert!(
        error.contains("no checkpoint: it says no step") && !error.contains("delete"),
        "{error}"
    );
    Ok(())
}

#[test]
fn a_damaged_checkpoint_is_refused_and_one_of_an_older_version_is_taken() -> Result<()> {
    let folder = Folder::new()?;
    let train = "train --data GAMES --out @run.safetensors --anchors 8 --sample 100 --steps 9 \
                 --accumulator 128 --features piece-square";
    folder.trainer(&format!("{train} --stop-after 3"))?;
    let checkpoint = folder.at("run.checkpoint");
    let whole = fs::read(&checkpoint)?;
    let mut damaged = whole.clone();
    let last = damaged.len() - 1;
    damaged[last] ^= 1;
    fs::write(&checkpoint, &damaged)?;
    let line = folder.trainer_error(train)?;
    assert!(line.contains("run.checkpoint': the file is damaged"), "{line}");
    assert!(line.ends_with("use another copy, or delete it to begin anew"), "{line}");
    assert!(fs::read(&checkpoint)? == damaged, "it is left as it was");
    // The key of the checksum is renamed: the file then counts as one without a checksum, from an
    // older version.
    let key = whole.windows(8).position(|bytes| bytes == b"\"sha256\"").context("a checksum")?;
    let mut older = whole;
    older[key + 1..key + 7].copy_from_slice(b"others");
    fs::write(&checkpoint, older)?;
    folder.trainer(train).map(drop)
}

/// The checksums are verified here, not at each start of the engine.
#[test]
fn weights_that_ship_are_as_they_were_released() -> Result<()> {
    for folder in ["weights", "rivals/weights"] {
        let folder = root().join(folder);
        let sums = fs::read_to_string(folder.join("SHA256SUMS"))?;
        let sums: BTreeMap<&str, &str> =
            sums.lines().filter_map(|line| line.split_once("  ")).map(|(a, b)| (b, a)).collect();
        let mut files = 0;
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "safetensors") {
                let name = text(path.file_name().context("a name")?.as_ref());
                let mut bytes = fs::read(&path)?;
                let place = bytes.len() / 2;
                assert_eq!(
                    Some(&hex(&Sha256::digest(&bytes)).as_str()),
                    sums.get(name.as_str()),
                    "{name}"
                );
                // A flipped bit in a weight, as a bad disk leaves it.
                bytes[place] ^= 1;
                let error = checksum::check(&bytes).expect_err(&name).to_string();
                assert!(error.starts_with("the file is damaged"), "{name}: {error}");
                files += 1;
            }
        }
        assert!(files > 1 && files == sums.len(), "{}", folder.display());
    }
    for (embedded, name) in
        [(DefaultWeights::Beam, "beam"), (DefaultWeights::Selective, "selective")]
    {
        let file = fs::read(root().join(format!("weights/{name}.safetensors")))?;
        assert!(embedded_weights::bytes(embedded) == file, "{name}");
    }
    Ok(())
}
