//! Inserts tables into documents between their marks.

use anyhow::{Context, Result};

/// The end mark of every table.
const END: &str = "<!-- report:end -->";

/// `text` with each named table between `<!-- report:NAME -->` and the end mark. A table without a
/// mark is skipped. Fails if a mark has no end or no table.
pub fn with_tables(text: &str, tables: &[(&str, String)]) -> Result<String> {
    const START: &str = "<!-- report:";
    let (mut done, mut rest) = (String::new(), text);
    while let Some(place) = rest.find(START) {
        let (before, mark) = rest.split_at(place);
        let (name, _) = mark[START.len()..].split_once(" -->").context("a report mark is open")?;
        let (_, table) = tables
            .iter()
            .find(|(known, _)| *known == name)
            .with_context(|| format!("no table is called '{name}'"))?;
        let end = mark.find(END).with_context(|| format!("table '{name}': '{END}' is missing"))?;
        done.push_str(before);
        done.push_str(&format!("{START}{name} -->\n{table}{END}"));
        rest = &mark[end + END.len()..];
    }
    done.push_str(rest);
    Ok(done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_replaced_and_the_rest_stays() -> Result<()> {
        let tables = [("a", "| 1 |\n".to_owned()), ("b", "| 2 |\n".to_owned())];
        let text = "x\n<!-- report:b -->\nold\n<!-- report:end -->\ny\n";
        let once = with_tables(text, &tables)?;
        assert_eq!(once, "x\n<!-- report:b -->\n| 2 |\n<!-- report:end -->\ny\n");
        assert_eq!(with_tables(&once, &tables)?, once);
        for (text, part) in [
            ("<!-- report:c -->\n<!-- report:end -->", "no table is called 'c'"),
            ("<!-- report:a -->\n", "is missing"),
        ] {
            let error = with_tables(text, &tables).expect_err(text).to_string();
            assert!(error.contains(part), "{error}");
        }
        Ok(())
    }
}
