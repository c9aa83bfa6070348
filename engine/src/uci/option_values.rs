//! Parses option values and formats `option` lines.

use std::fmt::Display;
use std::ops::RangeInclusive;

use anyhow::{Result, anyhow, ensure};
use clap::ValueEnum;

use super::command::quoted;
use crate::names::{name_of, names_of};

/// The value for no path.
pub const EMPTY: &str = "<empty>";

/// The `option` line of a number.
pub fn spin_line(name: &str, value: u64, range: &RangeInclusive<u64>) -> String {
    let (min, max) = (range.start(), range.end());
    format!("option name {name} type spin default {value} min {min} max {max}")
}

/// The `option` line of a switch.
pub fn check_line(name: &str, value: bool) -> String {
    format!("option name {name} type check default {value}")
}

/// The `option` line of an enumeration.
pub fn combo_line<T: ValueEnum>(name: &str, value: &T) -> String {
    choice_line(name, &name_of(value), &names_of::<T>())
}

/// The `option` line of a combo box with these choices.
pub fn choice_line(name: &str, value: &str, choices: &[String]) -> String {
    let choices: String = choices.iter().map(|choice| format!(" var {choice}")).collect();
    format!("option name {name} type combo default {value}{choices}")
}

/// The `option` line of a text.
pub fn text_line(name: &str, value: &str) -> String {
    format!("option name {name} type string default {value}")
}

/// The `option` line of a button.
pub fn button_line(name: &str) -> String {
    format!("option name {name} type button")
}

/// Parses a path; `None` if the text is empty or `none`.
pub fn path<'a>(value: &'a str, none: &str) -> Option<&'a str> {
    (!value.is_empty() && !value.eq_ignore_ascii_case(none)).then_some(value)
}

/// Reads a number.
pub fn spin<T>(name: &str, value: &str, range: RangeInclusive<T>) -> Result<T>
where
    T: std::str::FromStr + PartialOrd + Display,
{
    let wanted = || expected(name, &format!("{} to {}", range.start(), range.end()), value);
    let number: T = value.parse().map_err(|_| wanted())?;
    ensure!(range.contains(&number), wanted());
    Ok(number)
}

/// Reads `true` or `false`.
pub fn check(name: &str, value: &str) -> Result<bool> {
    match value.to_ascii_lowercase().as_str() {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(expected(name, "true or false", value)),
    }
}

/// Reads a choice.
pub fn combo<T: ValueEnum>(name: &str, value: &str) -> Result<T> {
    T::from_str(value, true).map_err(|_| expected(name, &names_of::<T>().join(", "), value))
}

/// The error for an invalid value.
pub fn expected(name: &str, wanted: &str, found: &str) -> anyhow::Error {
    anyhow!("option {name}: expected {wanted}, found '{}'", quoted(found))
}
