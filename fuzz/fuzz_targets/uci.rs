//! A UCI session: each line of the input is a line from the GUI, sent without a wait for the answers
//! to those before. Every `go` has its one answer.

#![no_main]

use std::io::{Cursor, Write};
use std::sync::{Arc, LazyLock, Mutex};

use azimuth_chess::pgn::decode;
use azimuth_network::Architecture;
use azimuth_network::axis::{Axis, Direction};
use azimuth_network::parameters::{Init, Parameters};
use azimuth_network::sparse::SparseConfig;
use azimuth_network::weights::Weights;
use candle_core::{Device, Tensor};
use libfuzzer_sys::fuzz_target;
use tempfile::TempDir;

/// Lines of a session at most.
const MOST_LINES: usize = 60;

/// A folder for every file that a session may write, with a small network: it takes far less time to
/// read than the ones that ship.
static FOLDER: LazyLock<TempDir> = LazyLock::new(|| {
    let folder = tempfile::tempdir_in("/dev/shm").expect("a folder");
    small_network().write(&folder.path().join("small.safetensors")).expect("written");
    std::env::set_current_dir(&folder).expect("entered");
    folder
});

fuzz_target!(|text: &str| {
    let _ = FOLDER.path();
    let lines = text.lines().filter(|line| !is_costly(line)).take(MOST_LINES);
    let lines: Vec<&str> = std::iter::once("setoption name WeightsFile value small.safetensors")
        .chain(std::iter::once("setoption name Hash value 1"))
        .chain(lines)
        .collect();
    let output = Output::default();
    azimuth::uci::run(Cursor::new(lines.join("\n")), output.clone()).expect("memory is written");
    let output = output.0.lock().expect("no writer panicked");
    let said = std::str::from_utf8(&output).expect("UTF-8");
    assert!(!said.contains("search failed") && !said.contains("internal error"), "{said}");

    let read = lines.iter().map(|line| decode(line.as_bytes()));
    let ran = read.take_while(|line| line.trim() != "quit");
    let asked = ran.filter(|line| line.split_whitespace().next() == Some("go")).count();
    let answers = ["bestmove ", "Nodes searched: ", "info string go perft: "];
    let refusals = ["info string go: a search is running", "info string go: no search begins"];
    let begin_with = |starts: &[&str]| {
        said.lines().filter(|line| starts.iter().any(|start| line.starts_with(start))).count()
    };
    assert_eq!(begin_with(&answers) + begin_with(&refusals), asked, "{said}");
});

/// Whether a line asks for much time or memory, or for a file outside the folder.
fn is_costly(line: &str) -> bool {
    let lower = decode(line.as_bytes()).to_ascii_lowercase();
    let words = || lower.split_whitespace();
    let first = words().next().unwrap_or_default();
    let large = words().any(|word| word.trim_start_matches('0').len() > 2);
    match first {
        "bench" | "genfens" => true,
        // The end of the input waits for a count.
        "go" => {
            let deep = words().any(|word| word.parse().is_ok_and(|plies: u64| plies > 4));
            deep && words().any(|word| word == "perft")
        }
        "setoption" => {
            lower.contains(['/', '\\'])
                || lower.contains("..")
                || lower.contains("embedded")
                || lower.contains("weightsfile")
                || (lower.contains("hash") || lower.contains("threads")) && large
        }
        _ => false,
    }
}

/// The engine's output.
#[derive(Clone, Default)]
struct Output(Arc<Mutex<Vec<u8>>>);

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("no writer panicked").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// A sparse encoder as small as one may be, whose scores differ from position to position.
fn small_network() -> Weights {
    let features = "piece-square".parse().expect("a feature set");
    let config =
        SparseConfig { features, accumulator: 128, embedding_dim: 8, heads: 1, middle_layers: 0 };
    let architecture = Architecture::Sparse(config);
    let parameters = architecture.parameters().into_iter().map(|spec| {
        let size: usize = spec.shape.iter().product();
        let value = |index: usize| match spec.init {
            Init::Constant(value) => value,
            _ => ((index * 7919 % 1999) as f32 / 999.0 - 1.0) / 20.0,
        };
        let values: Vec<f32> = (0..size).map(value).collect();
        let tensor = Tensor::from_vec(values, spec.shape.as_slice(), &Device::Cpu);
        (spec.name, tensor.expect("as many values as the shape says"))
    });
    let direction = |sign: f32| (0..8).map(|index| sign * (index as f32 - 3.2)).collect();
    let (won, lost) = (direction(1.0), direction(-1.0));
    let parameters = Parameters::new(parameters);
    let mut weights = Weights::without_space(architecture, parameters).expect("weights");
    weights.axis = Axis::new(won, lost, None, Direction::Mates).expect("an axis");
    weights
}
