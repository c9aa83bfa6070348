//! Small messages that keep the ranks together.

use anyhow::{Context, Result, ensure};

use super::Ranks;

/// The `bytes` of the first rank; those of the other ranks are ignored.
pub fn from_first(ranks: &dyn Ranks, bytes: &[u8]) -> Result<Vec<u8>> {
    if ranks.count() == 1 {
        return Ok(bytes.to_vec());
    }
    let mut own = Vec::new();
    if ranks.is_first() {
        own.push(u32::try_from(bytes.len() % 4)?);
        let whole = bytes.chunks(4).map(|bytes| {
            let mut word = [0; 4];
            word[..bytes.len()].copy_from_slice(bytes);
            u32::from_le_bytes(word)
        });
        own.extend(whole);
    }
    let messages = ranks.gather(own)?;
    let (&rest, words) = messages[0].split_first().context("the first rank sent nothing")?;
    let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    if rest > 0 {
        bytes.truncate(bytes.len() - 4 + rest as usize);
    }
    Ok(bytes)
}

/// Fails if the `text` of a rank differs from that of the first, naming the rank and `thing`.
pub fn agree_on(ranks: &dyn Ranks, thing: &str, text: &str) -> Result<()> {
    let first = from_first(ranks, text.as_bytes())?;
    ensure!(
        first == text.as_bytes(),
        "its {thing} differ from those of rank 0; give all ranks the same"
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::threads::on_threads;
    use super::*;

    #[test]
    fn the_first_rank_is_heard_by_all() -> Result<()> {
        for length in 0..10u8 {
            let said: Vec<u8> = (0..length).collect();
            let heard = on_threads(3, |ranks| match ranks.rank() {
                0 => from_first(ranks, &said),
                _ => from_first(ranks, b"something else"),
            })?;
            assert_eq!(heard, vec![said; 3]);
        }
        Ok(())
    }

    #[test]
    fn a_rank_with_other_options_fails() -> Result<()> {
        let errors = on_threads(3, |ranks| {
            let text = if ranks.rank() == 1 { "b" } else { "a" };
            Ok(agree_on(ranks, "options", text).err().map(|error| error.to_string()))
        })?;
        let line = "its options differ from those of rank 0; give all ranks the same".to_owned();
        assert_eq!(errors, [None, Some(line), None]);
        Ok(())
    }
}
