//! Transformers and their tokens in other programs: ONNX Runtime and PyTorch compute the same
//! embeddings, and no code in a checkpoint is run.

use anyhow::{Context, Result, ensure};
use azimuth_chess::position::Position;
use azimuth_chess::tokens::tokenize;
use azimuth_network::Inputs;
use azimuth_network::weights::Weights;
use azimuth_search::model::Space;
use azimuth_tests::{Folder, python, pytorch, root, text};
use candle_core::{DType, Device};

/// Positions of random games whose tokens are compared.
const POSITIONS: usize = 10_000;

const FENS: [&str; 5] = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R b Kq - 7 19",
    "8/8/8/8/8/2k5/7p/2K5 b - - 99 300",
    "rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPP1PPP/RNBQKBNR w KQkq f6 0 3",
    "8/8/8/4k3/8/4K3/4Q3/8 w - - 0 1",
];

fn positions() -> Result<Vec<Position>> {
    FENS.into_iter().map(Position::from_fen).collect()
}

/// The tokens of the positions, as JSON.
fn tokens() -> Result<String> {
    let tokens_of =
        |position: &Position| tokenize(position.board(), position.halfmove_clock()).to_vec();
    let tokens: Vec<Vec<u8>> = positions()?.iter().map(tokens_of).collect();
    Ok(serde_json::to_string(&tokens)?)
}

/// The embeddings of the positions.
fn embeddings(weights: &Weights) -> Result<Vec<f32>> {
    let mut encoder = azimuth_search::encoder::build(weights, &Device::Cpu, DType::F32)?;
    let positions = positions()?;
    let boards = positions.iter().map(Position::board);
    Ok(encoder.encode(&Inputs::of(encoder.attributes().input, boards))?)
}

fn assert_close(ours: &[f32], theirs: &[f64], tolerance: f64) {
    assert_eq!(ours.len(), theirs.len());
    let far = ours.iter().zip(theirs).map(|(a, b)| (f64::from(*a) - b).abs()).fold(0.0, f64::max);
    assert!(far < tolerance, "{far}");
}

#[test]
fn tokens_equal_those_made_from_python_chess_fens() -> Result<()> {
    let printed = python("tokens.py", &[&POSITIONS.to_string(), "1"])?;
    let (mut checked, mut en_passant, mut chess960, mut late) = (0, 0, 0, 0);
    for line in printed.lines() {
        let (fen, tokens) = line.split_once('\t').context("no tab")?;
        let expected: Vec<u8> =
            tokens.split(',').map(str::parse).collect::<Result<_, _>>().context("not a number")?;
        let position = Position::from_fen(fen)?;
        let found = tokenize(position.board(), position.halfmove_clock());
        ensure!(found.as_slice() == expected, "{fen}: {found:?}, expected {expected:?}");
        checked += 1;
        en_passant += usize::from(expected[69] != 32);
        let fields: Vec<&str> = fen.split(' ').collect();
        let outer_rooks = fields[0].starts_with('r') && fields[0].contains("k2r/");
        chess960 += usize::from(fields[2] != "-" && !outer_rooks);
        late += usize::from(fields[4].len() > 3 || fields[5].len() > 3);
    }
    assert_eq!(checked, POSITIONS);
    // The sample must contain the difficult cases.
    assert!(en_passant > 20 && chess960 > 500 && late > 500, "{en_passant} {chess960} {late}");
    Ok(())
}

#[test]
fn embeddings_are_those_of_onnx_runtime() -> Result<()> {
    let folder = Folder::new()?;
    // Sizes that differ from each other, so that no two can be confused.
    let sizes = "--encoder mini --layers 2 --hidden 96 --heads 4 --mlp 80 --embedding-dim 32";
    let short = "--steps 2 --anchors 8 --sample 100 --out @other.safetensors";
    folder.trainer(&format!("train --data GAMES {sizes} {short}"))?;
    for (name, path) in [
        ("ROOT/weights/mini.safetensors", root().join("weights/mini.safetensors")),
        ("@other.safetensors", folder.at("other.safetensors")),
    ] {
        folder.trainer(&format!("export --format onnx --weights {name} --out @model.onnx"))?;
        let model = text(&folder.at("model.onnx"));
        let read = python("onnx_embeddings.py", &[&model, &tokens()?])?;
        let [theirs, cosines, probabilities]: [Vec<f64>; 3] = serde_json::from_str(read.trim())?;
        let weights = Weights::read(&path)?;
        let ours = embeddings(&weights)?;
        let space = Space::of(&weights);
        let scores = space.axis.cosines(&ours);
        let p: Vec<f32> =
            scores.iter().map(|&cosine| space.calibration.win_probability(cosine)).collect();
        assert_close(&ours, &theirs, 1e-4);
        assert_close(&scores, &cosines, 1e-4);
        assert_close(&p, &probabilities, 1e-4);
    }
    Ok(())
}

#[test]
fn other_encoders_and_names_are_no_onnx_models() -> Result<()> {
    let folder = Folder::new()?;
    for (options, part) in [
        ("beam.safetensors --out x.onnx", "these weights are a sparse encoder"),
        ("mini.safetensors --out x.pth", "the name must end in .onnx"),
        ("mini.safetensors --out x.onnx --stored f16", "--stored: other formats"),
    ] {
        let export = format!("export --format onnx --weights ROOT/weights/{options}");
        let error = folder.trainer_error(&export)?;
        assert!(error.contains(part), "{error}");
    }
    Ok(())
}

/// The command that imports a checkpoint of the paper's authors.
fn import(checkpoint: &str, out: &str, more: &str) -> String {
    let means = "--white-mean @white.npy --black-mean @black.npy";
    format!("import --checkpoint @{checkpoint} {means} --out @{out}.safetensors {more}")
}

/// PyTorch makes the checkpoints once: it takes seconds to start.
#[test]
fn checkpoints_are_read_and_written_as_by_pytorch() -> Result<()> {
    let folder = Folder::new()?;
    let theirs = pytorch("solis.py", &["make", &text(folder.path())], &tokens()?)?;
    code_in_a_checkpoint_is_refused_and_not_run(&folder)?;
    embeddings_are_pytorchs_both_ways(&folder, &theirs)
}

fn embeddings_are_pytorchs_both_ways(folder: &Folder, theirs: &str) -> Result<()> {
    let read = |name: &str| Weights::read(&folder.at(&format!("{name}.safetensors")));
    let assert_same = |name: &str, theirs: &str| -> Result<()> {
        let theirs: Vec<Vec<f64>> = serde_json::from_str(theirs.trim())?;
        assert_close(&embeddings(&read(name)?)?, &theirs.concat(), 1e-5);
        Ok(())
    };
    // The number of heads does not follow from the shapes; Lightning's settings contain it.
    for (checkpoint, more) in
        [("solis.pth", "--heads 4"), ("wrapped.pth", "--heads 4"), ("solis.ckpt", "")]
    {
        folder.trainer(&import(checkpoint, checkpoint, more))?;
        assert_same(checkpoint, theirs)?;
    }

    folder.trainer("export --format solis --weights @solis.pth.safetensors --out @back.pth")?;
    let back = pytorch("solis.py", &["embed", &text(&folder.at("back.pth"))], &tokens()?)?;
    assert_same("solis.pth", &back)?;
    // Imports the export again, with the means that were written next to it.
    let means = "--white-mean @back.white_mean.npy --black-mean @back.black_mean.npy";
    let out = "--heads 4 --out @again.safetensors";
    folder.trainer(&format!("import --checkpoint @back.pth {means} {out}"))?;
    let (first, second) = (read("solis.pth")?, read("again")?);
    assert_eq!(first.axis.white_mean, second.axis.white_mean);
    assert_eq!(embeddings(&first)?, embeddings(&second)?);
    Ok(())
}

fn code_in_a_checkpoint_is_refused_and_not_run(folder: &Folder) -> Result<()> {
    let whole = std::fs::read(folder.at("solis.pth"))?;
    folder.write("short.pth", &whole[..whole.len() / 2])?;
    folder.write("empty.pth", "")?;
    folder.write("text.pth", "cos\nsystem\n(S'ls'\ntR.")?;
    folder.write("other.npy", whole)?;
    let import = |checkpoint, heads| import(checkpoint, "none", heads);
    for (command, name, part) in [
        (import("code.pth", "--heads 4"), "", "mkdir', which is code"),
        (import("short.pth", "--heads 4"), "short.pth", "not a checkpoint"),
        (import("empty.pth", "--heads 4"), "empty.pth", "not a checkpoint"),
        (import("text.pth", "--heads 4"), "text.pth", "not a checkpoint"),
        // A number of heads that does not divide the width.
        (import("solis.pth", "--heads 5"), "", "not a multiple of the 5 heads"),
        // A mean of another space.
        (import("solis.pth", "--heads 4").replace("@white", "@other"), "", "other.npy"),
    ] {
        let error = folder.refusal("azimuth-train", &command)?;
        assert!(error.contains(part) && error.contains(name), "{error}");
        assert!(!folder.at("none.safetensors").exists());
    }
    assert!(!folder.at("ran").exists());
    Ok(())
}
