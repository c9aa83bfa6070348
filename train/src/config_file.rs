//! The options of `train` in a TOML file: the file of `--config`, and the file that a run writes
//! beside its weights.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail, ensure};
use azimuth_cli::say;
use azimuth_network::replace_file::{read_if_exists, replace_file};
use clap::{Arg, ArgMatches, Command};
use toml::{Table, Value};

use crate::config::Config;

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
    let mut table = read(&path).with_context(name)?;
    // A list of the command line would be added to that of the file.
    table.retain(|key, value| !value.is_array() || !is_given(key, &words[first..]));
    let options = options(&table, command).with_context(name)?;
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

fn read(path: &Path) -> Result<Table> {
    let text = fs::read_to_string(path)?;
    toml::from_str(&text).map_err(|error| {
        let start = error.span().map_or(0, |span| span.start.min(text.len()));
        let line = 1 + text.as_bytes()[..start].iter().filter(|&&byte| byte == b'\n').count();
        anyhow!("line {line}: {}", error.message().replace('\n', ", "))
    })
}

/// The options in `table` as words of a command line.
fn options(table: &Table, command: &Command) -> Result<Vec<String>> {
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
pub fn parsed(matches: &ArgMatches, command: &Command) -> Table {
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
pub fn write(options: &Table, config: &Config, weights: &Path) -> Result<()> {
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
        write(&options.output().options, &config, &weights)?;
        let again = parse(&format!("train --config {}", written.display()))?;
        assert_eq!(meaning(&again)?, meaning(&options)?);
        assert!(options.output().pace.stop_after.is_some());
        assert!(again.output().pace.stop_after.is_none());
        let text = fs::read_to_string(&written)?;
        for entry in ["warmup = 30\n", "validate-every = 100\n", "accumulator = 256\n"] {
            assert!(text.contains(entry), "{entry}: {text}");
        }
        fs::write(&written, "steps = 5 # the user's own\n")?;
        write(&options.output().options, &config, &weights)?;
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
