//! Datasets: reads every format from files written by its own library, refuses hostile files, and
//! compares runs that are killed repeatedly with one that is not: the resulting bytes are equal.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use azimuth_tests::kills::Run;
use azimuth_tests::{Folder, GAMES, limited, notices, python, refused, text, trainer_refused};

/// The lines of a dataset as CSV, sorted, because datasets order them differently.
fn lines(folder: &Folder, dataset: &str) -> Result<Vec<String>> {
    let csv = format!("{dataset}.out.csv");
    folder.trainer(&format!("data @{dataset} --out @{csv}"))?;
    let lines = folder.read(&csv)?;
    std::fs::remove_file(folder.at(&csv))?;
    Ok(sorted(lines.lines().skip(1)))
}

fn sorted<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut lines: Vec<String> = lines.map(str::to_owned).collect();
    lines.sort_unstable();
    lines
}

/// The lines without the move counters, which some formats omit.
fn without_counters(lines: &[String]) -> Vec<String> {
    let shorter = lines.iter().map(|line| {
        let (fen, label) = line.rsplit_once(',').unwrap_or_default();
        let fields: Vec<&str> = fen.split(' ').take(4).collect();
        format!("{},{label}", fields.join(" "))
    });
    let shorter: Vec<String> = shorter.collect();
    sorted(shorter.iter().map(String::as_str))
}

#[test]
fn every_format_is_read_as_its_library_wrote_it() -> Result<()> {
    let folder = Folder::new()?;
    let expected = python("write_data.py", &[&text(folder.path())])?;
    let expected = sorted(expected.lines());
    assert!(expected.len() > 2_000, "{}", expected.len());
    for (name, more) in [
        ("games.pgn", ""),
        ("zipped.pgn.zst", ""),
        ("positions.csv", ""),
        ("probabilities.csv", "--view side-to-move"),
        ("positions.epd", ""),
        ("positions.bag", ""),
        ("positions.bagz", ""),
    ] {
        folder.trainer(&format!("data @{name} --out @{name}.azd {more}"))?;
        assert_same(&lines(&folder, &format!("{name}.azd"))?, &expected, name);
    }
    folder.trainer("data @positions.jsonl.zst --out @lichess.azd")?;
    let lichess = lines(&folder, "lichess.azd")?;
    assert_same(&without_counters(&lichess), &without_counters(&expected), "lichess");

    // Packed together they equal the first one, because the others only repeat its positions.
    folder.trainer("data @games.pgn @positions.bag @positions.epd --out @all.azd")?;
    assert_same(&lines(&folder, "all.azd")?, &lines(&folder, "games.pgn.azd")?, "all");
    let [all, one] = ["all.azd", "games.pgn.azd"].map(|name| duplicates(&folder, name));
    assert_eq!(all?, one? + 2 * expected.len());
    Ok(())
}

/// Number of duplicates that `data --info` reports.
fn duplicates(folder: &Folder, dataset: &str) -> Result<usize> {
    let info = folder.trainer(&format!("data --info @{dataset}"))?;
    let line = info.lines().find_map(|line| line.trim().strip_prefix("duplicates"));
    let number = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    number.with_context(|| info.clone())
}

/// Reports only the first difference.
fn assert_same(found: &[String], expected: &[String], name: &str) {
    let differ = found.iter().zip(expected).find(|(found, expected)| found != expected);
    assert_eq!(differ, None, "{name}");
    assert_eq!(found.len(), expected.len(), "{name}");
}

#[test]
fn a_dataset_goes_out_and_comes_back() -> Result<()> {
    let folder = Folder::new()?;
    folder.trainer("data GAMES --out @packed.azd")?;
    let whole = lines(&folder, "packed.azd")?;
    for name in ["back.pgn", "back.pgn.zst", "back.csv", "back.csv.zst"] {
        folder.trainer(&format!("data @packed.azd --out @{name}"))?;
        folder.trainer(&format!("data @{name} --out @{name}.azd"))?;
        assert_same(&lines(&folder, &format!("{name}.azd"))?, &whole, name);
    }

    // The kept positions meet the conditions. Of all positions that meet those on score and ply,
    // only the few in check are missing.
    let filters = "--filter cp=-200..200,ply=20.. --filter not-in-check";
    folder.trainer(&format!("data @packed.azd --out @quiet.azd {filters}"))?;
    let kept = lines(&folder, "quiet.azd")?;
    let wanted = |line: &&String| {
        let (fen, label) = line.rsplit_once(',').unwrap_or_default();
        let number = fen.rsplit(' ').next().and_then(|number| number.parse::<u32>().ok());
        label.parse::<i32>().is_ok_and(|value| value.abs() <= 200) && number > Some(10)
    };
    let expected = whole.iter().filter(wanted).count();
    assert!(kept.iter().all(|line| wanted(&line)) && kept.len() <= expected);
    assert!(kept.len() > expected * 8 / 10, "{} of {expected}", kept.len());

    // Two halves, merged, equal the whole.
    folder.trainer("data @packed.azd --out @first.azd --filter cp=..10")?;
    folder.trainer("data @packed.azd --out @second.azd --filter cp=11.. --merge")?;
    folder.trainer("data @first.azd @second.azd @first.azd --out @merged.azd --merge")?;
    let mates = whole.iter().filter(|line| line.contains('#')).count();
    assert_eq!(lines(&folder, "merged.azd")?.len() + mates, whole.len());

    let head = folder.trainer("data --head 3 @packed.azd")?;
    assert_eq!(head.lines().count(), 3, "{head}");
    for (command, part) in [
        ("data GAMES --merge --out @x.azd", "not a dataset"),
        ("data @packed.azd --out @packed.azd", "it exists"),
        ("data @packed.azd --out @back.pgn", "it exists"),
        ("data @packed.azd --out @x.azd.zst", "the name must end in .azd"),
    ] {
        let error = folder.trainer_error(command)?;
        assert!(error.contains(part), "{error}");
    }
    Ok(())
}

#[test]
fn training_on_a_dataset_is_training_on_its_games() -> Result<()> {
    let folder = Folder::new()?;
    folder.trainer("data GAMES --out @packed.azd")?;
    let measured = ["GAMES", "@packed.azd"].map(|data| -> Result<String> {
        let options = "--steps 20 --anchors 64 --positives 2 --out @run.safetensors";
        let printed = folder.trainer(&format!("train --data {data} {options}"));
        std::fs::remove_file(folder.at("run.checkpoint"))?;
        printed
    });
    let [games, packed] = measured;
    assert_eq!(games?, packed?);
    Ok(())
}

/// The trainer's error about a file that it refuses, within limits of memory and time.
fn refusal(folder: &Folder, name: &str) -> Result<String> {
    let line = folder.words(&format!("data @{name} --out @{name}.refused.azd"))?;
    let asked = Instant::now();
    // Four times the memory that the program maps itself; its data are limited to some megabytes.
    let output = limited("-v 4000000", "azimuth-train")?.args(line).output()?;
    let out = folder.at(&format!("{name}.refused.azd"));
    ensure!(!out.exists(), "something stands under the final name");
    ensure!(asked.elapsed() < Duration::from_secs(120), "it took too long");
    let error = refused(output)?;
    ensure!(error.contains(name), "{error}");
    Ok(error)
}

/// zstd frames that decompress to `start`, followed by 8,000 MiB of `byte`.
fn bomb(start: &str, byte: u8) -> Result<Vec<u8>> {
    let frame = zstd::encode_all(vec![byte; 1 << 20].as_slice(), 1)?;
    let mut bytes = zstd::encode_all(start.as_bytes(), 1)?;
    (0..8_000).for_each(|_| bytes.extend_from_slice(&frame));
    Ok(bytes)
}

#[test]
fn hostile_files_are_refused() -> Result<()> {
    let folder = Folder::new()?;
    folder.trainer("data GAMES --out @packed.azd")?;
    let whole = std::fs::read(folder.at("packed.azd"))?;
    let damaged = |place: usize| {
        let mut bytes = whole.clone();
        bytes[place] ^= 1;
        bytes
    };
    let index =
        |places: &[u64]| places.iter().flat_map(|place| place.to_le_bytes()).collect::<Vec<u8>>();
    let (kings, empty) = ("4k3/8/8/8/8/8/8/4K3 w - - 0 1", "8/8/8/8/8/8/8/8 w - - 0 1");
    let record = |fen: &[u8], p: f64| [&[fen.len() as u8], fen, &p.to_be_bytes()].concat();
    let one = |record: Vec<u8>| {
        [record.clone(), index(&[record.len() as u64, record.len() as u64])].concat()
    };
    let half = |bytes: Vec<u8>| bytes[..bytes.len() / 2].to_vec();
    let far = [record(b"x", 0.5), index(&[1 << 63, 10])].concat();
    let zipped = |bytes: &[u8]| zstd::encode_all(bytes, 1);
    let csv = |rows: String| format!("fen,cp\n{rows}\n").into_bytes();
    let mut board = vec![0u8; 32];
    board[0] = 0x10;
    for (name, bytes, part) in [
        ("short.azd", whole[..whole.len() - 7].to_vec(), "not complete"),
        ("long.azd", [whole.clone(), vec![0]].concat(), "not complete"),
        ("header.azd", damaged(30), "block 0: its checksum differs"),
        ("block.azd", damaged(5_000), "block 1: its checksum differs"),
        ("description.azd", damaged(whole.len() - 9), "the description's checksum differs"),
        ("newer.azd", damaged(16), "version 0, expected 1"),
        ("empty.azd", Vec::new(), "too short"),
        ("text.azd", vec![b'x'; 9_000], "not a dataset"),
        ("empty.bag", Vec::new(), "too short for a bag"),
        ("short.bag", half(one(record(kings.as_bytes(), 0.5))), "not a bag, or not complete"),
        ("index.bag", index(&[1 << 63]), "not a bag, or not complete"),
        ("far.bag", far, "record 0: the index says bytes 0 to 9223372036854775808"),
        ("length.bag", one([&[0xff; 9][..], &[0]].concat()), "record 0: it ends within its length"),
        ("longer.bag", one([&[0x7f][..], &[b'8'; 20]].concat()), "a FEN of 127 bytes"),
        ("utf8.bag", one(record(b"\xff\xfe", 0.5)), "record 0: the FEN is not UTF-8"),
        ("illegal.bag", one(record(empty.as_bytes(), 0.5)), "record 0: FEN '8/8"),
        ("chance.bag", one(record(kings.as_bytes(), f64::NAN)), "win probability NaN"),
        ("plain.bagz", one(record(kings.as_bytes(), 0.5)), "record 0: not zstd"),
        ("bomb.bagz", one(zipped(vec![0; 1 << 26].as_slice())?), "record 0: not zstd of at most"),
        ("illegal.pgn", format!("[FEN \"{empty}\"]\n\n1. e4 *").into_bytes(), "game 1: FEN '8/8"),
        (
            "move.pgn",
            b"1. e4 { [%eval 1] } e4 *".to_vec(),
            "game 1: half-move 2: move 'e4' is not legal",
        ),
        ("short.pgn.zst", half(std::fs::read(GAMES)?), "incomplete frame"),
        ("bomb.pgn.zst", bomb("1. e4 { ", b'x')?, "half-move 2: a comment has no end"),
        ("bomb.csv.zst", bomb("fen,cp\n", b'x')?, "line 2: longer than"),
        ("utf8.csv", b"fen,cp\n\xff\xff,1\n".to_vec(), "line 2: FEN 'ÿÿ'"),
        ("illegal.csv", csv(format!("{kings},1\n{kings} w,1")), "line 3: FEN"),
        ("number.csv", csv(format!("{kings},1e999")), "line 2: '1e999': not centipawns"),
        ("headings.csv", b"a,b\n".to_vec(), "the headings name no column 'fen'"),
        ("label.csv", b"fen,score\n".to_vec(), "the headings name"),
        ("illegal.epd", b"8/8/8/8/8/8/8/8 w - - ce 1;\n".to_vec(), "line 1: FEN"),
        (
            "number.epd",
            b"4k3/8/8/8/8/8/8/4K3 w - - ce 99999999999;\n".to_vec(),
            "line 1: ce '99999999999'",
        ),
        ("bomb.epd.zst", bomb("", b'/')?, "line 1: longer than"),
        ("broken.jsonl", b"{\"fen\": \"".to_vec(), "line 1: EOF"),
        ("deep.jsonl", vec![b'['; 100_000], "line 1: "),
        (
            "illegal.jsonl.zst",
            zipped(b"{\"fen\":\"8/8/8/8/8/8/8/8 w - -\",\"evals\":[]}")?,
            "line 1: FEN",
        ),
        ("magic.binpack", b"BIMP\x04\0\0\0aaaa".to_vec(), "Invalid magic"),
        ("short.binpack", b"BINP\xff\xff\0\0aaaa".to_vec(), "fill whole buffer"),
        ("large.binpack", b"BINP\xff\xff\xff\xffaaaa".to_vec(), "Chunk size larger"),
        ("noise.binpack", [&b"BINP\xc0\x12\0\0"[..], &[0x5a; 4800]].concat(), "game 1"),
        ("short.bullet", vec![0; 33], "position 0"),
        ("tail.bullet", [board.clone(), vec![0; 5]].concat(), "position 0: not a legal position"),
        ("noise.bullet", vec![0xee; 64], "position 0: "),
        ("short.viri", vec![0; 20], "game 1: damaged"),
        ("noise.viri", vec![0xee; 640], "game 1: "),
        ("endless.viri.zst", bomb("", 0x55)?, "game 1: "),
        ("what.xyz", b"x".to_vec(), "the format does not follow from the name"),
    ] {
        folder.write(name, bytes)?;
        let error = refusal(&folder, name).with_context(|| name.to_owned())?;
        assert!(error.contains(part), "{name}: {error}");
    }
    assert!(refusal(&folder, "missing.pgn")?.contains("No such file"));

    // Bad records can be skipped and are counted; a truncated file cannot be skipped.
    folder.write("mixed.csv", csv(format!("{kings},1\n{empty},1\n{kings} w,1")))?;
    folder.trainer("data @mixed.csv @move.pgn @illegal.bag --out @mixed.azd --skip-illegal")?;
    assert_eq!(lines(&folder, "mixed.azd")?, [format!("{kings},1")]);
    let info = folder.trainer("data --info @mixed.azd")?;
    assert!(info.contains("left out   2: not legal or not readable"), "{info}");
    let error = folder.trainer_error("data @short.pgn.zst --out @short.azd.azd --skip-illegal")?;
    assert!(error.contains("incomplete frame"), "{error}");
    Ok(())
}

#[test]
fn killed_packing_goes_on_to_the_same_bytes() -> Result<()> {
    Run::data(&Folder::new()?)?.kill_and_continue()
}

/// A limit on file sizes acts like a full disk: a write fails. It sends a signal, too, which would end
/// a process that does not handle it.
#[cfg(unix)]
#[test]
fn packing_goes_on_after_a_disk_was_full() -> Result<()> {
    let folder = Folder::new()?;
    folder.trainer("data GAMES --out @straight.azd")?;
    let straight = std::fs::read(folder.at("straight.azd"))?;
    // The parts and the journal fit into the limit, the finished file does not.
    let limit = format!("-f {}", straight.len() / 512 * 3 / 4);
    let mut pack = limited(&limit, "azimuth-train")?;
    pack.args(folder.words("data GAMES --out @out.azd --commit-every 1ms")?);
    // The disk is still full at the second attempt, which loses nothing.
    for _ in 0..2 {
        let line = trainer_refused(pack.output()?)?;
        assert!(line.contains("the same command resumes"), "{line}");
        assert!(line.contains("File too large") && !folder.at("out.azd").exists(), "{line}");
    }
    let said = notices(folder.run("azimuth-train", "data GAMES --out @out.azd")?)?;
    assert!(said.contains("continuing with file"), "{said}");
    assert!(std::fs::read(folder.at("out.azd"))? == straight);
    assert_eq!(folder.names()?, ["out.azd", "straight.azd"]);
    Ok(())
}

/// A process may be killed while it checks that the output can be written.
#[test]
fn a_file_of_a_killed_check_is_removed_at_once() -> Result<()> {
    let folder = Folder::new()?;
    folder.write("out.azd.Ab12Cd.partial", "")?;
    folder.write("out.azd.journal.Ef34Gh.partial", "")?;
    folder.trainer("data GAMES --out @out.azd")?;
    assert_eq!(folder.names()?, ["out.azd"]);
    Ok(())
}

#[test]
fn killed_labelling_goes_on_to_the_same_bytes() -> Result<()> {
    Run::label(&Folder::new()?)?.kill_and_continue()
}
