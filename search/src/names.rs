//! Names of enumeration values. They are clap's, so that the command line, UCI options and messages
//! share one list.

use anyhow::{Result, anyhow};
use clap::ValueEnum;

/// The name of a value.
///
/// ```
/// use azimuth_search::names::{name_of, named, names_of};
/// use azimuth_search::PlannerKind;
///
/// assert_eq!(name_of(&PlannerKind::Beam), "beam");
/// assert_eq!(names_of::<PlannerKind>(), ["beam", "selective"]);
/// assert_eq!(named::<PlannerKind>("planner", "Beam")?, PlannerKind::Beam);
/// let error = named::<PlannerKind>("planner", "wide").unwrap_err().to_string();
/// assert_eq!(error, "planner 'wide': expected beam, selective");
/// # Ok::<(), anyhow::Error>(())
/// ```
pub fn name_of<T: ValueEnum>(choice: &T) -> String {
    choice.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
}

/// The names of all values.
pub fn names_of<T: ValueEnum>() -> Vec<String> {
    T::value_variants().iter().map(name_of).collect()
}

/// The value with a name, ignoring case. The error starts with `what`, the setting's name.
pub fn named<T: ValueEnum>(what: &str, name: &str) -> Result<T> {
    let expected = |_| anyhow!("{what} '{name}': expected {}", names_of::<T>().join(", "));
    T::from_str(name, true).map_err(expected)
}
