//! Transformers as ONNX models: ONNX Runtime computes the same embeddings.

use anyhow::Result;
use azimuth_chess::position::Position;
use azimuth_chess::tokens::tokenize;
use azimuth_network::Inputs;
use azimuth_network::weights::Weights;
use azimuth_search::space::Space;
use azimuth_tests::{GAMES, python, root, text, trainer};
use candle_core::{DType, Device};

const TOLERANCE: f32 = 1e-4;

const FENS: [&str; 5] = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R b Kq - 7 19",
    "8/8/8/8/8/2k5/7p/2K5 b - - 99 300",
    "rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPP1PPP/RNBQKBNR w KQkq f6 0 3",
    "8/8/8/4k3/8/4K3/4Q3/8 w - - 0 1",
];

fn assert_close(ours: &[f32], theirs: &[f32]) {
    assert_eq!(ours.len(), theirs.len());
    let far = ours.iter().zip(theirs).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(far < TOLERANCE, "{far}");
}

#[test]
fn embeddings_are_those_of_onnx_runtime() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let at = |name: &str| folder.path().join(name);
    // Sizes that differ from each other, so that no two can be confused.
    let sizes = "--encoder mini --layers 2 --hidden 96 --heads 4 --mlp 80 --embedding-dim 32";
    let sizes: Vec<&str> = sizes.split_whitespace().collect();
    let other = at("other.safetensors");
    let short = ["--steps", "2", "--anchors", "8", "--sample", "100", "--out", &text(&other)];
    trainer(&[&["train", "--data", GAMES], &sizes[..], &short].concat())?;
    let positions = FENS.map(Position::from_fen).into_iter().collect::<Result<Vec<_>>>()?;
    let tokens: Vec<Vec<u8>> = positions
        .iter()
        .map(|position| tokenize(position.board(), position.halfmove_clock()).to_vec())
        .collect();
    for path in [root().join("weights/mini.safetensors"), other] {
        let model = text(&at("model.onnx"));
        trainer(&["export", "--format", "onnx", "--weights", &text(&path), "--out", &model])?;
        let read = python("onnx_embeddings.py", &[&model, &serde_json::to_string(&tokens)?])?;
        let [embeddings, cosines, probabilities]: [Vec<f32>; 3] =
            serde_json::from_str(read.trim())?;
        let weights = Weights::read(&path)?;
        let mut encoder = azimuth_search::encoder::build(&weights, &Device::Cpu, DType::F32)?;
        let boards = positions.iter().map(Position::board);
        let ours = encoder.encode(&Inputs::of(encoder.attributes().input, boards))?;
        assert_close(&ours, &embeddings);
        let space = Space::of(&weights);
        let scores = space.axis.cosines(&ours);
        assert_close(&scores, &cosines);
        let p: Vec<f32> =
            scores.iter().map(|&cosine| space.calibration.win_probability(cosine)).collect();
        assert_close(&p, &probabilities);
    }
    Ok(())
}

#[test]
fn other_encoders_and_names_are_refused() -> Result<()> {
    let sparse = text(&root().join("weights/beam.safetensors"));
    let mini = text(&root().join("weights/mini.safetensors"));
    for (weights, more, part) in [
        (&sparse, &["--out", "x.onnx"][..], "these weights are a sparse encoder"),
        (&mini, &["--out", "x.pth"], "the name must end in .onnx"),
        (&mini, &["--out", "x.onnx", "--stored", "f16"], "--stored: other formats"),
    ] {
        let export = ["export", "--format", "onnx", "--weights", weights];
        let error = trainer(&[&export[..], more].concat()).expect_err(part);
        assert!(error.to_string().contains(part), "{error}");
    }
    Ok(())
}
