//! The range of a network's sizes, from the command line and from weights files.

use std::ops::RangeInclusive;

use anyhow::{Result, ensure};
use serde_json::Value;

/// Sizes that are accepted. The largest is above the sizes of all rivals, and small enough that the
/// product of two sizes does not overflow.
const SIZES: RangeInclusive<u64> = 1..=1 << 14;

/// Fails if a number in `sizes` is out of range. `name` is the option or metadata key, for the
/// error.
pub fn check_sizes(name: &str, sizes: &Value) -> Result<()> {
    match sizes {
        Value::Number(number) => {
            let is_size = number.as_u64().is_some_and(|number| SIZES.contains(&number));
            let (least, most) = SIZES.into_inner();
            ensure!(is_size, "{name} {number}: a size is {least} to {most}");
            Ok(())
        }
        Value::Array(values) => values.iter().try_for_each(|value| check_sizes(name, value)),
        Value::Object(values) => {
            values.iter().try_for_each(|(key, value)| check_sizes(&format!("{name} {key}"), value))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn sizes_out_of_range_are_named() {
        let good = json!({"blocks": 1, "channels": [1, 16384], "squares": true});
        assert!(check_sizes("--size", &good).is_ok());
        for bad in [json!(0), json!(16385), json!(-1), json!(1.5), json!(u64::MAX)] {
            let error = check_sizes("--size", &json!({"channels": [8, bad]}));
            let error = error.expect_err("out of range").to_string();
            assert_eq!(error, format!("--size channels {bad}: a size is 1 to 16384"));
        }
    }
}
