//! The configuration of a training run, and the options of `train` in a TOML file: the file of
//! `--config`, and the file that a run writes beside its weights.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail, ensure};
use azimuth_cli::say;
use azimuth_network::Architecture;
use azimuth_network::replace_file::{read_if_exists, replace_file};
use candle_core::{DType, Device};
use clap::{Arg, ArgMatches, Command};
use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use crate::beginning::Origin;
use crate::data::dataset::DataFile;
use crate::data::sampler::Sampling;
use crate::loss::Losses;
use crate::optimizer::Schedule;
use crate::training::Checkpoint;

/// The configuration of a run; a checkpoint is valid only for equal configurations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Config {
    pub architecture: Architecture,
    /// The weights file with the initial parameters; random ones if `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Origin>,
    pub sampling: Sampling,
    pub losses: Losses,
    /// Dropout of the transformer.
    pub dropout: f32,
    pub schedule: Schedule,
    /// The largest gradient norm; longer gradients are scaled down to it.
    pub clip: Option<f64>,
    /// Number of validations without an improvement after which the run stops; the best parameters
    /// become the final weights.
    pub patience: Option<u64>,
    /// Number of steps between validations; 0 for none during the run.
    pub validate_every: u64,
    /// Seed of the initial parameters, the order of positions, the sampling and dropout.
    pub seed: u64,
    pub data: Vec<DataFile>,
    /// The changes of the number of steps during the run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub extended: Vec<Extension>,
    /// Whether [`Schedule::warmup`] follows from the number of steps, because no option gave it. A
    /// continued run keeps its value.
    #[serde(skip)]
    pub is_default_warmup: bool,
    /// The same of [`Config::validate_every`].
    #[serde(skip)]
    pub is_default_validate_every: bool,
}

/// A change of the number of steps during a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extension {
    /// The number of steps that the run had done.
    pub done: u64,
    /// The number of steps before the change.
    pub steps: u64,
}

impl Config {
    /// The configuration stored in a checkpoint. Fails if another version wrote it.
    pub fn of(checkpoint: &Checkpoint) -> Result<Self> {
        serde_json::from_str(&checkpoint.config)
            .context("the checkpoint's configuration is not of this version")
    }

    /// The configuration for continuing the run of `checkpoint` with the options in `self`. If
    /// `self` has more steps than the run so far, records an [`Extension`]. Fails if any other
    /// option differs. Entries that follow from the number of steps remain those of the run.
    pub fn continuing(&self, checkpoint: &Checkpoint) -> Result<Self> {
        let before = Self::of(checkpoint)?;
        let mut continued = Self { extended: before.extended, ..self.clone() };
        if self.is_default_warmup {
            continued.schedule.warmup = before.schedule.warmup;
        }
        if self.is_default_validate_every {
            continued.validate_every = before.validate_every;
        }
        let (steps, done) = (before.schedule.steps, checkpoint.step);
        let mut as_before = continued.clone();
        if self.schedule.steps > steps {
            as_before.schedule.steps = steps;
            continued.extended.push(Extension { done, steps });
        }
        checkpoint.check_config(&serde_json::to_string(&as_before)?)?;
        Ok(continued)
    }
}

/// Device and precision of a run; it may be resumed with different ones.
pub struct Compute {
    pub device: Device,
    /// Precision of a transformer's network; its master weights are always f32.
    pub dtype: DType,
}

const OPTION: &str = "--config";

/// First line of the file of a run. Other files are the user's own.
const HEADER: &str = "# The options of a run of azimuth-train; train --config FILE repeats it.\n";

/// Options that do not belong to the run that is repeated.
const NOT_WRITTEN: [&str; 2] = ["config", "stop-after"];

/// If there is a `--config` in `words` from the index `first` on, inserts the options of its file at
/// this index, and returns true. A parser in which later options override earlier ones then lets the
/// command line override the file. `command` knows the options.
pub fn insert_options(words: &mut Vec<OsString>, first: usize, command: &Command) -> Result<bool> {
    let Some(path) = named(&words[first..]) else { return Ok(false) };
    let name = || format!("{OPTION} '{}'", path.display());
    let mut table = read_file(&path).with_context(name)?;
    // A list of the command line would be added to that of the file.
    table.retain(|key, value| !value.is_array() || !is_given(key, &words[first..]));
    let options = words_of(&table, command).with_context(name)?;
    words.splice(first..first, options.into_iter().map(OsString::from));
    Ok(true)
}

/// The file that `words` name; `None` without the option.
fn named(words: &[OsString]) -> Option<PathBuf> {
    let mut files = words.iter().enumerate().filter_map(|(index, word)| {
        if word == OPTION {
            return words.get(index + 1).map(PathBuf::from);
        }
        word.to_str()?.strip_prefix(OPTION)?.strip_prefix('=').map(PathBuf::from)
    });
    files.next_back()
}

fn is_given(key: &str, words: &[OsString]) -> bool {
    let rest =
        |word: &OsString| word.to_str()?.strip_prefix("--")?.strip_prefix(key).map(String::from);
    words.iter().filter_map(rest).any(|rest| rest.is_empty() || rest.starts_with('='))
}

fn read_file(path: &Path) -> Result<Table> {
    let text = fs::read_to_string(path)?;
    toml::from_str(&text).map_err(|error| {
        let start = error.span().map_or(0, |span| span.start.min(text.len()));
        let line = 1 + text.as_bytes()[..start].iter().filter(|&&byte| byte == b'\n').count();
        anyhow!("line {line}: {}", error.message().replace('\n', ", "))
    })
}

/// The options in `table` as words of a command line.
fn words_of(table: &Table, command: &Command) -> Result<Vec<String>> {
    let mut words = Vec::new();
    for (key, value) in table {
        let known = |option: &&Arg| option.get_long() == Some(key) && key != "config";
        let option = command.get_arguments().find(known).with_context(|| {
            format!("'{key}' is no option of train; `azimuth-train train --help` lists them")
        })?;
        match value {
            Value::Boolean(chosen) if is_flag(option) => {
                words.extend(chosen.then(|| format!("--{key}")));
            }
            _ if is_flag(option) => bail!("'{key}' is true or false"),
            Value::Array(values) if is_list(option) => {
                ensure!(!values.is_empty(), "'{key}' is empty");
                words.push(format!("--{key}"));
                for value in values {
                    words.push(word(key, value)?);
                }
            }
            _ => words.push(format!("--{key}={}", word(key, value)?)),
        }
    }
    Ok(words)
}

fn is_flag(option: &Arg) -> bool {
    !option.get_action().takes_values()
}

fn is_list(option: &Arg) -> bool {
    option.get_num_args().is_some_and(|count| count.max_values() > 1)
}

fn word(key: &str, value: &Value) -> Result<String> {
    Ok(match value {
        Value::String(text) => text.clone(),
        Value::Integer(number) => number.to_string(),
        Value::Float(number) => number.to_string(),
        other => bail!("'{key}': {} is no value of this option", other.type_str()),
    })
}

/// The options of `command` that were parsed, with their defaults.
pub fn parsed_options(matches: &ArgMatches, command: &Command) -> Table {
    let mut table = Table::new();
    for option in command.get_arguments() {
        let name = option.get_long().filter(|name| !NOT_WRITTEN.contains(name));
        let Some(name) = name else { continue };
        let Some(words) = matches.get_raw(option.get_id().as_str()) else { continue };
        let mut values: Vec<Value> = words.map(|word| value(option, word)).collect();
        if is_list(option) {
            table.insert(name.to_owned(), Value::Array(values));
        } else if let Some(value) = values.pop() {
            table.insert(name.to_owned(), value);
        }
    }
    table
}

/// A word of a command line as a value.
fn value(option: &Arg, word: &OsStr) -> Value {
    let text = word.to_string_lossy().into_owned();
    if is_flag(option) {
        return Value::Boolean(text == "true");
    }
    // The name of a file may look like a number.
    let numbers = [text.parse().map(Value::Integer).ok(), text.parse().map(Value::Float).ok()];
    let mut exact = numbers.into_iter().flatten().filter(|number| match number {
        Value::Integer(number) => number.to_string() == text,
        Value::Float(number) => number.is_finite() && number.to_string() == text,
        _ => false,
    });
    exact.next().unwrap_or(Value::String(text))
}

/// Writes the options of a run beside its weights, unless there is a file that no run wrote.
pub fn write_options(options: &Table, config: &Config, weights: &Path) -> Result<()> {
    let path = weights.with_extension("toml");
    let name = || format!("'{}'", path.display());
    let before = read_if_exists(&path).with_context(name)?;
    if before.is_some_and(|bytes| !bytes.starts_with(HEADER.as_bytes())) {
        let text = "no run wrote it, so the options of this run do not replace it";
        say(format_args!("{}: {text}", name()));
        return Ok(());
    }
    let mut options = options.clone();
    // Defaults that depend on other options.
    for (option, value) in [
        ("warmup", Value::try_from(config.schedule.warmup)),
        ("learning-rate", Value::try_from(config.schedule.learning_rate)),
        ("validate-every", Value::try_from(config.validate_every)),
    ] {
        if !options.contains_key(option) {
            options.insert(option.to_owned(), value?);
        }
    }
    replace_file(&path, format!("{HEADER}{}", toml::to_string(&options)?).as_bytes())
}

#[cfg(test)]
mod tests {
    use clap::FromArgMatches;

    use super::*;
    use crate::options::TrainOptions;

    fn config(options: &str) -> Result<Config> {
        TrainOptions::with_options(options)?.config()
    }

    #[test]
    fn a_run_keeps_the_defaults_with_which_it_began() -> Result<()> {
        let before = "--steps 300 --warmup 500 --validate-every 10000";
        let began = serde_json::to_string(&config(before)?)?;
        let checkpoint = Checkpoint::new(7, began, Vec::new());
        for steps in [300, 900] {
            let now = config(&format!("--steps {steps}"))?.continuing(&checkpoint)?;
            assert_eq!((now.schedule.warmup, now.validate_every), (500, 10_000));
            assert_eq!(now.schedule.steps, steps);
        }
        for (option, expected) in [
            ("--warmup 30", "--warmup 500 (now 30)"),
            ("--validate-every 100", "--validate-every 10000 (now 100)"),
        ] {
            let other = config(&format!("--steps 300 {option}"))?.continuing(&checkpoint);
            let error = other.expect_err(option).to_string();
            assert!(error.contains(expected), "{error}");
        }
        Ok(())
    }

    /// The options that a command line gives, as the program parses it.
    fn parse(line: &str) -> Result<TrainOptions> {
        let mut words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        let overrides = TrainOptions::insert_file(&mut words, 1)?;
        let matches =
            TrainOptions::command().args_override_self(overrides).try_get_matches_from(words)?;
        let mut options = TrainOptions::from_arg_matches(&matches)?;
        options.remember(&matches);
        Ok(options)
    }

    /// The configuration that the options determine.
    fn meaning(options: &TrainOptions) -> Result<String> {
        let (config, output) = (serde_json::to_string(&options.config()?)?, options.output());
        let pace = output.pace.checkpoint_every;
        let files = [&output.weights, &output.checkpoint];
        Ok(format!("{config} {:?} {files:?} {pace:?} {}", options.data.data, output.log_every))
    }

    #[test]
    fn the_command_line_overrides_the_file() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("run.toml");
        let text = "data = ['a.azd', 'b.azd']\nout = 'x.safetensors'\nsteps = 300\nno-mirror = true\n\
                    delta-equal = 0.02\nfeatures = 'piece-square'\n";
        fs::write(&path, text)?;
        let file = path.display();
        let plain = "train --data a.azd b.azd --out x.safetensors --steps 300 --no-mirror \
                     --delta-equal 0.02 --features piece-square";
        assert_eq!(meaning(&parse(&format!("train --config {file}"))?)?, meaning(&parse(plain)?)?);
        let found = parse(&format!("train --data c.azd --steps 9 --config={file} --seed 5"))?;
        let expected = "train --data c.azd --out x.safetensors --steps 9 --no-mirror \
                        --delta-equal 0.02 --features piece-square --seed 5";
        assert_eq!(meaning(&found)?, meaning(&parse(expected)?)?);
        Ok(())
    }

    #[test]
    fn the_written_file_repeats_the_run() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let (weights, written) =
            (folder.path().join("x.safetensors"), folder.path().join("x.toml"));
        let seed = u64::MAX;
        let line = format!(
            "train --data 007 a.azd --out {} --steps 300 --learning-rate 1e-3 --clip 5 --no-mirror \
             --checkpoint-every 90s --stop-after 9 --seed {seed} --positives 2",
            weights.display()
        );
        let options = parse(&line)?;
        let config = options.config()?;
        write_options(&options.output().options, &config, &weights)?;
        let again = parse(&format!("train --config {}", written.display()))?;
        assert_eq!(meaning(&again)?, meaning(&options)?);
        assert!(options.output().pace.stop_after.is_some());
        assert!(again.output().pace.stop_after.is_none());
        let text = fs::read_to_string(&written)?;
        for entry in ["warmup = 30\n", "validate-every = 100\n", "accumulator = 256\n"] {
            assert!(text.contains(entry), "{entry}: {text}");
        }
        fs::write(&written, "steps = 5 # the user's own\n")?;
        write_options(&options.output().options, &config, &weights)?;
        assert_eq!(fs::read_to_string(&written)?, "steps = 5 # the user's own\n");
        Ok(())
    }

    #[test]
    fn what_is_no_option_is_refused_by_name() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("run.toml");
        let line = format!("train --config {}", path.display());
        for (text, expected) in [
            ("batch = 128", "'batch' is no option of train; `azimuth-train train --help`"),
            ("config = 'x.toml'", "'config' is no option of train"),
            ("no-mirror = 1", "'no-mirror' is true or false"),
            ("steps = true", "'steps': boolean is no value of this option"),
            ("steps = [1, 2]", "'steps': array is no value of this option"),
            ("data = []", "'data' is empty"),
            ("steps = 1\nseed 2\n", "line 2: "),
        ] {
            fs::write(&path, text)?;
            let error = format!("{:#}", parse(&line).err().context(text)?);
            assert!(error.starts_with(&format!("--config '{}': ", path.display())), "{error}");
            assert!(error.contains(expected) && !error.contains('\n'), "{error}");
        }
        fs::remove_file(&path)?;
        let error = format!("{:#}", parse(&line).err().context("no file")?);
        assert!(error.contains("run.toml'"), "{error}");
        Ok(())
    }
}
