//! The trainer's views of a space and of its runs: embeddings for NumPy, neighbours, and curves.

use std::fs::File;

use anyhow::Result;
use azimuth::embedded_weights;
use azimuth_search::DefaultWeights;
use azimuth_tests::{GAMES, python, root, text, trainer};

fn refusal(arguments: &[&str]) -> Result<String> {
    azimuth_tests::refusal("azimuth-train", arguments)
}

#[test]
fn embeddings_are_unit_vectors_with_what_is_known_of_them() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let (array, table) = (folder.path().join("a.npy"), folder.path().join("a.csv"));
    let arguments = ["embed", "--data", GAMES, "--sample", "300", "--out", &text(&array)];
    trainer(&arguments)?;
    let weights = embedded_weights::read(DefaultWeights::Beam)?;
    let dim = weights.axis.dim();
    let array = npyz::NpyFile::new(File::open(&array)?)?;
    let shape = array.shape().to_vec();
    let embeddings = array.into_vec::<f32>()?;
    assert!(shape[1] == dim as u64 && shape[0] > 200, "{shape:?}");
    let mut rows = csv::Reader::from_path(&table)?;
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
    let again = refusal(&arguments)?;
    assert!(again.contains("it exists; remove it first"), "{again}");
    let other = refusal(&["embed", "--data", GAMES, "--out", "a.txt"])?;
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
    let folder = tempfile::tempdir()?;
    let lines = FENS.join("\n");
    let games = "1. e4 e5 2. Nf3 *\n\n[FEN \"8/8/8/4k3/8/4K3/4Q3/8 w - - 0 1\"]\n\n1. Qe1 *\n";
    let records = format!("{} bm e4;\n\n{} ce -20;\n", &FENS[0][..FENS[0].len() - 4], FENS[2])
        .replace("- - 0 1 ce", "- - ce");
    let compressed = zstd::encode_all(lines.as_bytes(), 3)?;
    let embed = |name: &str, bytes: &[u8]| -> Result<Vec<[String; 2]>> {
        let (data, out) = (folder.path().join(name), folder.path().join(format!("{name}.npy")));
        std::fs::write(&data, bytes)?;
        trainer(&["embed", "--data", &text(&data), "--out", &text(&out)])?;
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

    let out = text(&folder.path().join("none.npy"));
    for (name, bytes, expected) in [
        ("empty.fen", "\n", "there is no position in it"),
        ("empty.pgn", "", "there is no position in it"),
        ("bad.fen", "8/8/8/8/8/8/8/8 w - - 0 1\n", "bad.fen': line 1: FEN '8/8"),
    ] {
        let data = folder.path().join(name);
        std::fs::write(&data, bytes)?;
        let command = ["embed", "--data", &text(&data), "--out", &out];
        let error = trainer(&command).expect_err(name).to_string();
        // Packing a file reports its progress before.
        assert!(error.lines().any(|line| line.contains(expected)), "{error}");
        assert!(!std::path::Path::new(&out).exists());
    }
    let fens = text(&folder.path().join("c.epd"));
    std::fs::write(&fens, format!("{} bm e4;", &FENS[0][..FENS[0].len() - 4]))?;
    let error = trainer(&["neighbours", FENS[0], "--data", &fens]).expect_err("no label");
    let error = error.to_string();
    assert!(error.contains("none with the label that this command needs"), "{error}");
    Ok(())
}

#[test]
fn a_position_is_its_own_nearest_neighbour() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let data = folder.path().join("positions.csv");
    let fens = [
        "r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3",
        "8/8/8/4k3/8/4K3/4Q3/8 w - - 0 1",
        "8/8/8/4k3/8/4K3/4R3/8 w - - 0 1",
        "6k1/5ppp/8/8/8/8/5PPP/6K1 b - - 0 1",
    ];
    let rows: String = fens.iter().map(|fen| format!("{fen},900\n")).collect();
    // One of the positions repeats, with other counters.
    let again = fens[1].replace("0 1", "4 7");
    std::fs::write(&data, format!("fen,cp\n{rows}{again},900\n"))?;
    let printed = trainer(&["neighbours", fens[1], "--data", &text(&data), "--count", "3"])?;
    let lines: Vec<&str> = printed.lines().skip(1).collect();
    assert_eq!(lines.len(), 3, "{printed}");
    assert!(lines[0].starts_with("1.0000") && lines[0].contains("4Q3"), "{printed}");
    // An extra rook is nearest to an extra queen.
    assert!(lines[1].contains("4R3"), "{printed}");
    let wrong = refusal(&["neighbours", "hello", "--data", &text(&data)])?;
    assert!(wrong.contains("FEN 'hello'"), "{wrong}");
    Ok(())
}

#[test]
fn a_map_is_drawn_and_its_page_works() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let (out, games) = (text(folder.path()), text(&root().join("docs/examples/three-games.pgn")));
    trainer(&["map", "--data", GAMES, "--games", &games, "--out", &out])?;
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name));
    for (name, expected) in [
        ("space.svg", "win probability of the side to move"),
        ("games.svg", "Byrne – Fischer, 0-1"),
        ("mates.svg", "plies to mate"),
        ("depths.svg", "no search"),
    ] {
        let svg = read(name)?;
        assert!(svg.starts_with("<svg") && svg.contains(expected), "{name}: {:.300}", svg);
    }
    let printed = python("map_page.py", &[&text(&folder.path().join("space.html")), &out])?;
    assert!(printed.ends_with("the map is as it should be\n"), "{printed}");
    let without = refusal(&["map", "--data", GAMES, "--figures", "games", "--out", &out])?;
    assert!(without.contains("--games names the PGN file"), "{without}");
    Ok(())
}

#[test]
fn runs_are_drawn_side_by_side() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let logs = ["one", "two"].map(|name| folder.path().join(format!("{name}.jsonl")));
    for log in &logs {
        let weights = log.with_extension("safetensors");
        let run = ["train", "--data", GAMES, "--out", &text(&weights), "--steps", "6"];
        let more = ["--anchors", "16", "--sample", "100", "--validate-every", "2"];
        trainer(&[&run[..], &more].concat())?;
    }
    let out = folder.path().join("curves.svg");
    let [one, two] = logs.each_ref().map(|log| text(log));
    trainer(&["plot", &one, &two, "--out", &text(&out)])?;
    let svg = std::fs::read_to_string(&out)?;
    let panels = ["rms of win probability", "Kendall tau", "regression loss", "positions/s"];
    for expected in panels.into_iter().chain(["one", "two"]) {
        assert!(svg.contains(expected), "{expected}");
    }
    // Both runs have two points in each panel of metrics, and six in each panel of losses or speed.
    let points = svg.matches("<circle").count();
    assert!(points >= 2 * (3 * 2 + 3 * 6), "{points}");
    std::fs::write(&logs[1], "{\"run\":{}}\n")?;
    let broken = refusal(&["plot", &one, &two, "--out", &text(&out)])?;
    assert!(broken.contains("two.jsonl', line 1: no run.step"), "{broken}");
    assert_eq!(std::fs::read_to_string(&out)?, svg);
    Ok(())
}

#[test]
fn a_sample_of_nothing_is_refused() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let (map, array) = (text(folder.path()), text(&folder.path().join("a.npy")));
    for arguments in [
        &["map", "--data", GAMES, "--sample", "0", "--out", &map][..],
        &["embed", "--data", GAMES, "--sample", "0", "--out", &array],
        &["neighbours", "8/8/8/4k3/8/4K3/4Q3/8 w - - 0 1", "--data", GAMES, "--sample", "0"],
        &["eval", "--data", GAMES, "--sample", "0"],
    ] {
        let error = refusal(arguments)?;
        assert!(error.contains("--sample must be at least 1"), "{error}");
    }
    Ok(())
}
