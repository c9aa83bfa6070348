//! The trainer's views of a space and of its runs: embeddings for NumPy, neighbours, and curves.

use std::fs::File;

use anyhow::Result;
use azimuth::embedded_weights;
use azimuth_search::DefaultWeights;
use azimuth_tests::{Folder, printed, python, refusal, run, text};

#[test]
fn embeddings_are_unit_vectors_with_what_is_known_of_them() -> Result<()> {
    let folder = Folder::new()?;
    let command = "embed --data GAMES --sample 300 --out @a.npy";
    folder.trainer(command)?;
    let weights = embedded_weights::read(DefaultWeights::Beam)?;
    let dim = weights.axis.dim();
    let array = npyz::NpyFile::new(File::open(folder.at("a.npy"))?)?;
    let shape = array.shape().to_vec();
    let embeddings = array.into_vec::<f32>()?;
    assert!(shape[1] == dim as u64 && shape[0] > 200, "{shape:?}");
    let mut rows = csv::Reader::from_path(folder.at("a.csv"))?;
    assert_eq!(rows.headers()?, vec!["fen", "label", "cosine", "win_probability"]);
    let mut count = 0;
    for (row, embedding) in rows.records().zip(embeddings.chunks_exact(dim)) {
        let (row, length) = (row?, embedding.iter().map(|z| z * z).sum::<f32>());
        let number = |field: usize| row[field].parse::<f32>();
        let (label, cosine, p) = (number(1)?, number(2)?, number(3)?);
        assert!((length - 1.0).abs() < 1e-4, "{length}");
        assert!((weights.axis.cosine(embedding) - cosine).abs() < 1e-6, "{row:?}");
        assert!((weights.calibration.win_probability(cosine) - p).abs() < 1e-6, "{row:?}");
        assert!((0.0..=1.0).contains(&label) && row[0].split(' ').count() == 6, "{row:?}");
        count += 1;
    }
    assert_eq!(count, shape[0]);
    let again = folder.refusal("azimuth-train", command)?;
    assert!(again.contains("it exists; remove it first"), "{again}");
    let other = folder.refusal("azimuth-train", "embed --data GAMES --out a.txt")?;
    assert!(other.contains("the name must end in .npy"), "{other}");
    Ok(())
}

#[test]
fn positions_without_labels_are_embedded_in_their_order() -> Result<()> {
    const FENS: [&str; 3] = [
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "8/8/8/4k3/8/4K3/4Q3/8 w - - 12 70",
        "6k1/5ppp/8/8/8/8/5PPP/6K1 b - - 0 1",
    ];
    let folder = Folder::new()?;
    let lines = FENS.join("\n");
    let games = "1. e4 e5 2. Nf3 *\n\n[FEN \"8/8/8/4k3/8/4K3/4Q3/8 w - - 0 1\"]\n\n1. Qe1 *\n";
    let start = &FENS[0][..FENS[0].len() - 4];
    let records = format!("{start} bm e4;\n\n{} ce -20;\n", &FENS[2][..FENS[2].len() - 4]);
    let compressed = zstd::encode_all(lines.as_bytes(), 3)?;
    let embed = |name: &str, bytes: &[u8]| -> Result<Vec<[String; 2]>> {
        folder.write(name, bytes)?;
        folder.trainer(&format!("embed --data @{name} --out @{name}.npy"))?;
        let out = folder.at(&format!("{name}.npy"));
        let shape = npyz::NpyFile::new(File::open(&out)?)?.shape().to_vec();
        let mut rows = csv::Reader::from_path(out.with_extension("csv"))?;
        let rows = rows.records().map(|row| row.map(|row| [0, 1].map(|at| row[at].to_owned())));
        let rows = rows.collect::<Result<Vec<_>, _>>()?;
        assert_eq!(rows.len() as u64, shape[0]);
        Ok(rows)
    };
    for (name, bytes) in [("a.fen", lines.as_bytes()), ("a.txt", lines.as_bytes())] {
        assert_eq!(embed(name, bytes)?, FENS.map(|fen| [fen.to_owned(), String::new()]));
    }
    assert_eq!(embed("b.fen.zst", &compressed)?.len(), 3);
    let rows = embed("c.epd", records.as_bytes())?;
    assert_eq!(rows[0], [FENS[0].to_owned(), String::new()]);
    assert!(rows[1][0] == FENS[2] && rows[1][1].parse::<f32>()? > 0.4, "{rows:?}");
    let rows = embed("d.pgn", games.as_bytes())?;
    assert_eq!(rows.len(), 4 + 2);
    assert_eq!(rows[0], [FENS[0].to_owned(), String::new()]);
    assert!(rows[5][0].starts_with("8/8/8/4k3/8/4K3/8/4Q3 b"), "{rows:?}");

    for (name, content, expected) in [
        ("empty.fen", "\n", "there is no position in it"),
        ("empty.pgn", "", "there is no position in it"),
        ("bad.fen", "8/8/8/8/8/8/8/8 w - - 0 1\n", "bad.fen': line 1: FEN '8/8"),
    ] {
        folder.write(name, content)?;
        let error = folder.trainer_error(&format!("embed --data @{name} --out @none.npy"))?;
        assert!(error.contains(expected), "{error}");
        assert!(!folder.at("none.npy").exists());
    }
    folder.write("c.epd", format!("{start} bm e4;"))?;
    let command = ["neighbours", FENS[0], "--data", &text(&folder.at("c.epd"))];
    let error = printed(run("azimuth-train", &command)?).expect_err("no label").to_string();
    assert!(error.contains("none with the label that this command needs"), "{error}");
    Ok(())
}

#[test]
fn a_position_is_its_own_nearest_neighbour() -> Result<()> {
    let folder = Folder::new()?;
    let fens = [
        "r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3",
        "8/8/8/4k3/8/4K3/4Q3/8 w - - 0 1",
        "8/8/8/4k3/8/4K3/4R3/8 w - - 0 1",
        "6k1/5ppp/8/8/8/8/5PPP/6K1 b - - 0 1",
    ];
    let rows: String = fens.iter().map(|fen| format!("{fen},900\n")).collect();
    // One of the positions repeats, with other counters.
    let again = fens[1].replace("0 1", "4 7");
    folder.write("positions.csv", format!("fen,cp\n{rows}{again},900\n"))?;
    let data = text(&folder.at("positions.csv"));
    let command = ["neighbours", fens[1], "--data", &data, "--count", "3"];
    let found = printed(run("azimuth-train", &command)?)?;
    let lines: Vec<&str> = found.lines().skip(1).collect();
    assert_eq!(lines.len(), 3, "{found}");
    assert!(lines[0].starts_with("1.0000") && lines[0].contains("4Q3"), "{found}");
    // An extra rook is nearest to an extra queen.
    assert!(lines[1].contains("4R3"), "{found}");
    let wrong = refusal("azimuth-train", &["neighbours", "hello", "--data", &data])?;
    assert!(wrong.contains("FEN 'hello'"), "{wrong}");
    Ok(())
}

#[test]
fn a_map_is_drawn_and_its_page_works() -> Result<()> {
    let folder = Folder::new()?;
    let out = text(folder.path());
    let map = "map --data GAMES --out @.";
    folder.trainer(&format!("{map} --games ROOT/docs/examples/three-games.pgn"))?;
    for (name, expected) in [
        ("space.svg", "win probability of the side to move"),
        ("games.svg", "Byrne – Fischer, 0-1"),
        ("mates.svg", "plies to mate"),
        ("depths.svg", "no search"),
    ] {
        let svg = folder.read(name)?;
        assert!(svg.starts_with("<svg") && svg.contains(expected), "{name}: {:.300}", svg);
    }
    let printed = python("map_page.py", &[&text(&folder.at("space.html")), &out])?;
    assert!(printed.ends_with("the map is as it should be\n"), "{printed}");
    let without = folder.refusal("azimuth-train", &format!("{map} --figures games"))?;
    assert!(without.contains("--games names the PGN file"), "{without}");
    Ok(())
}

#[test]
fn runs_are_drawn_side_by_side() -> Result<()> {
    let folder = Folder::new()?;
    let options = "--steps 6 --anchors 16 --sample 100 --validate-every 2";
    folder.trainer(&format!("train --data GAMES --out @one.safetensors {options}"))?;
    std::fs::copy(folder.at("one.jsonl"), folder.at("two.jsonl"))?;
    let plot = "plot @one.jsonl @two.jsonl --out @curves.svg";
    folder.trainer(plot)?;
    let svg = folder.read("curves.svg")?;
    let panels = ["rms of win probability", "Kendall tau", "regression loss", "positions/s"];
    for expected in panels.into_iter().chain(["one", "two"]) {
        assert!(svg.contains(expected), "{expected}");
    }
    // Both runs have two points in each panel of metrics, and six in each panel of losses or speed.
    let points = svg.matches("<circle").count();
    assert!(points >= 2 * (3 * 2 + 3 * 6), "{points}");
    folder.write("two.jsonl", "{\"run\":{}}\n")?;
    let broken = folder.refusal("azimuth-train", plot)?;
    assert!(broken.contains("two.jsonl', line 1: no run.step"), "{broken}");
    assert_eq!(folder.read("curves.svg")?, svg);
    Ok(())
}

#[test]
fn a_sample_of_nothing_is_refused() -> Result<()> {
    let folder = Folder::new()?;
    for command in
        ["map --out @.", "embed --out @a.npy", "neighbours 8/8/8/4k3/8/4K3/4Q3/8", "eval"]
    {
        let line = format!("{command} --data GAMES --sample 0");
        let error = folder.refusal("azimuth-train", &line)?;
        assert!(error.contains("--sample must be at least 1"), "{error}");
    }
    Ok(())
}
