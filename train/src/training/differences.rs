//! The options in which two runs differ, by their configurations.

use std::collections::BTreeMap;

use serde_json::Value;

/// Keys of a configuration that are not the names of their options.
const OPTIONS: [(&str, &str); 4] = [
    ("architecture.kind", "encoder"),
    ("schedule.rule", "optimizer"),
    ("losses.margin.delta", "delta"),
    ("losses.margin.delta_equal", "delta-equal"),
];

/// The options that differ between two configurations in JSON, each with both of its values:
/// `--steps 9 (now 8)`.
pub fn differences(before: &Value, now: &Value) -> Vec<String> {
    let mut found = Vec::new();
    compare("", before, now, &mut found);
    found
}

/// Adds the differences of the values of `key`, the dotted path of a configuration's entry.
fn compare(key: &str, before: &Value, now: &Value, found: &mut Vec<String>) {
    if before == now {
        return;
    }
    if let (Value::Object(one), Value::Object(other)) = (before, now) {
        // The sizes of encoders of different kinds have nothing in common.
        if one.get("kind") != other.get("kind") {
            return compare(&format!("{key}.kind"), &before["kind"], &now["kind"], found);
        }
        if one.contains_key("sha256") {
            return found.push(files(key, before, now));
        }
        let keys: BTreeMap<_, _> = one.iter().chain(other).collect();
        for name in keys.into_keys() {
            let inner = if key.is_empty() { name.clone() } else { format!("{key}.{name}") };
            compare(&inner, &before[name], &now[name], found);
        }
        return;
    }
    let is_files = [before, now].into_iter().any(|value| !names(value).is_empty());
    found.push(match (key, is_files) {
        (_, true) => files(key, before, now),
        // The option is the opposite of the entry.
        ("sampling.mirror", _) => {
            format!("--no-mirror {} (now {})", before == false, now == false)
        }
        _ => format!("--{} {} (now {})", option(key), shown(before), shown(now)),
    });
}

/// The difference of an entry that describes a file or several.
fn files(key: &str, before: &Value, now: &Value) -> String {
    let [one, other] = [names(before), names(now)].map(|names| names.join(" "));
    let or_none = |names: &str| if names.is_empty() { "none".to_owned() } else { names.to_owned() };
    let option = option(key);
    match one == other {
        true => format!("--{option} {one} (now with other content)"),
        false => format!("--{option} {} (now {})", or_none(&one), or_none(&other)),
    }
}

/// The names of a file or several; none if the value describes something else.
fn names(value: &Value) -> Vec<&str> {
    let files = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
    files.iter().filter_map(|file| file.get("name")?.as_str()).collect()
}

/// The option that sets an entry: by its last name, except for [`OPTIONS`] and the sizes of rivals.
fn option(key: &str) -> String {
    if let Some(size) = key.strip_prefix("config.") {
        return format!("size {size}");
    }
    match OPTIONS.iter().find(|(known, _)| *known == key) {
        Some((_, option)) => (*option).to_owned(),
        None => key.rsplit('.').next().unwrap_or(key).replace('_', "-"),
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => "none".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_difference_has_its_option_and_both_values() {
        let config = json!({
            "architecture": {"kind": "sparse", "accumulator": 256, "heads": 1},
            "sampling": {"anchors": 64, "mirror": true},
            "losses": {"margin": {"delta": 0.05, "delta_equal": 0.02}},
            "schedule": {"rule": "adamw", "learning_rate": 0.002, "steps": 9},
            "config": {"blocks": 3},
            "clip": null,
            "data": [{"name": "a.azd", "sha256": "12"}, {"name": "b.azd", "sha256": "34"}],
        });
        assert!(differences(&config, &config).is_empty());
        for (pointer, value, expected) in [
            ("/architecture/accumulator", json!(512), "--accumulator 256 (now 512)"),
            (
                "/architecture",
                json!({"kind": "transformer", "heads": 8}),
                "--encoder sparse (now transformer)",
            ),
            ("/sampling/mirror", json!(false), "--no-mirror false (now true)"),
            ("/losses/margin/delta_equal", json!(0.05), "--delta-equal 0.02 (now 0.05)"),
            ("/schedule/rule", json!("sgd"), "--optimizer adamw (now sgd)"),
            ("/schedule/learning_rate", json!(0.001), "--learning-rate 0.002 (now 0.001)"),
            ("/config/blocks", json!(4), "--size blocks 3 (now 4)"),
            ("/clip", json!(5.0), "--clip none (now 5.0)"),
            ("/data", json!([{"name": "a.azd", "sha256": "12"}]), "--data a.azd b.azd (now a.azd)"),
            ("/data/1/sha256", json!("56"), "--data a.azd b.azd (now with other content)"),
        ] {
            let mut other = config.clone();
            *other.pointer_mut(pointer).expect("it is there") = value;
            assert_eq!(differences(&config, &other), [expected]);
        }
        let mut other = config.clone();
        other["from"] = json!({"name": "w.safetensors", "sha256": "78"});
        assert_eq!(differences(&config, &other), ["--from none (now w.safetensors)"]);
        let mut changed = other.clone();
        changed["from"]["sha256"] = json!("9a");
        let content = "--from w.safetensors (now with other content)";
        assert_eq!(differences(&other, &changed), [content]);
        assert_eq!(differences(&other, &config), ["--from w.safetensors (now none)"]);
    }
}
