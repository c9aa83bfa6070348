//! `bench` must visit the recorded number of nodes on every instruction set of this machine, and in
//! WebAssembly, so that no commit changes play without saying so.

use std::fs;
use std::process::{Child, Command, Output, Stdio};

use anyhow::{Context, Result, ensure};
use azimuth_search::DefaultWeights;
use azimuth_search::encoder::sparse::Kernels;
use azimuth_tests::{binary, printed, refused, root};

/// The file with the recorded numbers of nodes.
const FILE: &str = "tests/bench-signature.txt";

/// Set by `make signature`: the numbers of the best instruction set become the record.
const UPDATE: &str = "AZIMUTH_UPDATE_SIGNATURE";

const INSTRUCTION_SET: &str = "AZIMUTH_INSTRUCTION_SET";

/// The first lines of the file.
const HEADER: &str = "\
# The nodes of `azimuth bench`, the same on every instruction set. A commit that changes play says so and
# updates them: make signature
";

/// Starts `bench` with an instruction set.
fn begin(kernels: Kernels) -> Result<Child> {
    let mut command = Command::new(binary("azimuth")?);
    command.arg("bench").env(INSTRUCTION_SET, kernels.to_string());
    Ok(command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?)
}

/// The content of the file that the output of `bench` gives.
fn signature(bench: Output) -> Result<String> {
    let text = printed(bench)?;
    let nodes = |line: &str| -> Result<u64> {
        let number = line.split(' ').next().unwrap_or_default();
        number.parse().with_context(|| format!("no nodes in '{line}'"))
    };
    let of = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
        nodes(line.with_context(|| format!("no line of the {name}"))?)
    };
    let (beam, verified) = (of("beam")?, of("verified beam")?);
    let selective = nodes(text.lines().last().context("no lines")?)?;
    let total = beam + verified + selective;
    Ok(format!(
        "{HEADER}beam {beam}\nverified-beam {verified}\nselective {selective}\ntotal {total}\n"
    ))
}

#[test]
fn bench_has_the_nodes_on_record() -> Result<()> {
    // All run concurrently, because plain Rust is by far the slowest.
    let begun = Kernels::available().into_iter().map(|kernels| Ok((kernels, begin(kernels)?)));
    let begun: Vec<(Kernels, Child)> = begun.collect::<Result<_>>()?;
    let path = root().join(FILE);
    for (number, (kernels, bench)) in begun.into_iter().enumerate() {
        let found = signature(bench.wait_with_output()?).with_context(|| kernels.to_string())?;
        if number == 0 && std::env::var_os(UPDATE).is_some() {
            fs::write(&path, &found)?;
        }
        let recorded = fs::read_to_string(&path).context(FILE)?;
        ensure!(
            found == recorded,
            "{FILE} has\n{recorded}and bench on {kernels}\n{found}\
             If play was to change, say so in the commit and run make signature."
        );
    }
    Ok(())
}

// The script needs a POSIX shell.
#[cfg(unix)]
#[test]
#[ignore = "builds the engine in WebAssembly"]
fn bench_in_webassembly_has_the_nodes_on_record() -> Result<()> {
    let module = root().join("target/azimuth.wasm");
    printed(Command::new(root().join("scripts/build-wasm")).arg(&module).output()?)?;
    let mut bench = Command::new("node");
    bench.arg(root().join("tests/wasm/run.mjs")).arg(&module);
    bench.args([DefaultWeights::Beam, DefaultWeights::Selective].map(DefaultWeights::path));
    let found = signature(bench.arg("bench").output()?)?;
    assert_eq!(found, fs::read_to_string(root().join(FILE))?);
    Ok(())
}

#[test]
fn an_instruction_set_that_is_not_there_is_refused_at_the_start() -> Result<()> {
    let foreign = if cfg!(target_arch = "x86_64") { "neon" } else { "avx2" };
    for name in [foreign, "nonsense", ""] {
        for arguments in [&[][..], &["bench"]] {
            let mut command = Command::new(binary("azimuth")?);
            let output = command.args(arguments).env(INSTRUCTION_SET, name).output()?;
            assert!(output.stdout.is_empty(), "{name}: {output:?}");
            let error = refused(output)?;
            assert!(error.contains(&format!("has no '{name}', only ")), "{error}");
        }
    }
    Ok(())
}
