//! Checkpoints of the paper's authors, written and read by PyTorch: the embeddings are equal in
//! both programs, and no code in a checkpoint is run.

use std::path::{Path, PathBuf};

use anyhow::Result;
use azimuth_chess::position::Position;
use azimuth_chess::tokens::tokenize;
use azimuth_network::Inputs;
use azimuth_network::weights::Weights;
use azimuth_tests::{pytorch, text, trainer};
use candle_core::{DType, Device};

const TOLERANCE: f64 = 1e-5;

const FENS: [&str; 4] = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R b Kq - 7 19",
    "8/8/8/8/8/2k5/7p/2K5 b - - 99 300",
    "rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPP1PPP/RNBQKBNR w KQkq f6 0 3",
];

fn boards() -> Result<Vec<Position>> {
    FENS.into_iter().map(Position::from_fen).collect()
}

fn tokens() -> Result<String> {
    let tokens: Vec<Vec<u8>> = boards()?
        .iter()
        .map(|position| tokenize(position.board(), position.halfmove_clock()).to_vec())
        .collect();
    Ok(serde_json::to_string(&tokens)?)
}

fn embeddings(weights: &Path) -> Result<Vec<f32>> {
    let mut encoder =
        azimuth_search::encoder::build(&Weights::read(weights)?, &Device::Cpu, DType::F32)?;
    let positions = boards()?;
    let boards = positions.iter().map(Position::board);
    Ok(encoder.encode(&Inputs::of(encoder.attributes().input, boards))?)
}

fn assert_close(ours: &[f32], theirs: &str) -> Result<()> {
    let theirs: Vec<Vec<f64>> = serde_json::from_str(theirs.trim())?;
    let theirs: Vec<f64> = theirs.into_iter().flatten().collect();
    assert_eq!(ours.len(), theirs.len());
    let far = ours.iter().zip(&theirs).map(|(a, b)| (f64::from(*a) - b).abs()).fold(0.0, f64::max);
    assert!(far < TOLERANCE, "{far}");
    Ok(())
}

/// Imports a checkpoint from `folder`.
fn import(folder: &Path, checkpoint: &str, more: &[&str]) -> Result<PathBuf> {
    let out = folder.join(format!("{checkpoint}.safetensors"));
    let [checkpoint, white, black] =
        [checkpoint, "white.npy", "black.npy"].map(|name| text(&folder.join(name)));
    let to = text(&out);
    let command = ["import", "--checkpoint", &checkpoint, "--white-mean", &white];
    trainer(&[&command[..], &["--black-mean", &black, "--out", &to], more].concat())?;
    Ok(out)
}

#[test]
fn embeddings_are_pytorchs_both_ways() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let folder = folder.path();
    let theirs = pytorch("solis.py", &["make", &text(folder)], &tokens()?)?;
    // The number of heads does not follow from the shapes; Lightning's settings contain it.
    let imported = import(folder, "solis.pth", &["--heads", "4"])?;
    assert_close(&embeddings(&imported)?, &theirs)?;
    for (checkpoint, more) in [("wrapped.pth", &["--heads", "4"][..]), ("solis.ckpt", &[])] {
        assert_close(&embeddings(&import(folder, checkpoint, more)?)?, &theirs)?;
    }

    let back = folder.join("back.pth");
    let (weights, out) = (text(&imported), text(&back));
    trainer(&["export", "--format", "solis", "--weights", &weights, "--out", &out])?;
    let read = pytorch("solis.py", &["embed", &out], &tokens()?)?;
    assert_close(&embeddings(&imported)?, &read)?;
    // Imports the export again, with the means that were written next to it.
    let [white, black] =
        ["white", "black"].map(|name| text(&folder.join(format!("back.{name}_mean.npy"))));
    let again = folder.join("again.safetensors");
    let command = ["import", "--checkpoint", &out, "--heads", "4", "--out", &text(&again)];
    trainer(&[&command[..], &["--white-mean", &white, "--black-mean", &black]].concat())?;
    let (first, second) = (Weights::read(&imported)?, Weights::read(&again)?);
    assert_eq!(first.axis.white_mean, second.axis.white_mean);
    assert_eq!(embeddings(&imported)?, embeddings(&again)?);
    Ok(())
}

#[test]
fn code_in_a_checkpoint_is_refused_and_not_run() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let folder = folder.path();
    pytorch("solis.py", &["make", &text(folder)], &tokens()?)?;
    let refused = |checkpoint: &str| -> Result<String> {
        let error =
            import(folder, checkpoint, &["--heads", "4"]).expect_err(checkpoint).to_string();
        assert_eq!(error.trim().lines().count(), 1, "{error}");
        assert!(!folder.join(format!("{checkpoint}.safetensors")).exists());
        Ok(error)
    };
    let error = refused("code.pth")?;
    assert!(error.contains("mkdir', which is code"), "{error}");
    assert!(!folder.join("ran").exists());

    let whole = std::fs::read(folder.join("solis.pth"))?;
    for (name, bytes, part) in [
        ("short.pth", &whole[..whole.len() / 2], "not a checkpoint"),
        ("empty.pth", &[][..], "not a checkpoint"),
        ("text.pth", b"cos\nsystem\n(S'ls'\ntR.", "not a checkpoint"),
    ] {
        std::fs::write(folder.join(name), bytes)?;
        let error = refused(name)?;
        assert!(error.contains(part) && error.contains(name), "{error}");
    }
    // A number of heads that does not divide the width.
    let error = import(folder, "solis.pth", &["--heads", "5"]).expect_err("5 of 32").to_string();
    assert!(error.contains("not a multiple of the 5 heads"), "{error}");
    // A mean of another space, and a missing mean.
    std::fs::copy(folder.join("solis.pth"), folder.join("white.npy"))?;
    assert!(refused("solis.pth")?.contains("white.npy"));
    Ok(())
}
