//! Recognises files that are not weights, to say in an error what they are and how to use them.

use serde_json::Value;

/// The number of bytes that [`by_start`] needs.
pub(crate) const START: usize = 16;

/// The kind of a file by its first bytes, and its use; `None` for a kind that is not known, or for
/// safetensors.
pub(crate) fn by_start(start: &[u8]) -> Option<&'static str> {
    match start {
        [
            _,
            _,
            _,
            _,
            b'a',
            b'z',
            b'i',
            b'm',
            b'u',
            b't',
            b'h',
            b'-',
            b'd',
            b'a',
            b't',
            b'a',
            ..,
        ] => {
            Some("a dataset; `azimuth-train train --data FILE --out WEIGHTS` trains weights on it")
        }
        // The version of all networks since Stockfish 12, without its lowest byte, which varies.
        [_, 0x2f, 0xf3, 0x7a, ..] => Some(
            "a Stockfish network; `azimuth-train label --network FILE` labels positions with it, \
             and `azimuth-bench` plays with it if its name ends in .nnue",
        ),
        [b'P', b'K', 3, 4, ..] => Some(
            "a zip archive; if it is a PyTorch checkpoint of the paper's authors, `azimuth-train \
             import --checkpoint FILE` writes a weights file from it",
        ),
        [0x28, 0xb5, 0x2f, 0xfd, ..] | [b'[', b'E', b'v', b'e', b'n', b't', b' ', ..] => Some(
            "games or other data; if they have labels, `azimuth-train train --data FILE --out \
             WEIGHTS` trains weights on them",
        ),
        _ => None,
    }
}

/// The kind of a safetensors file by metadata that weights do not have: `config` of a checkpoint,
/// or `rival` of a rival's weights.
pub(crate) fn by_metadata(config: Option<&String>, rival: Option<&String>) -> Option<String> {
    let rival_in = |text: &String| -> Option<String> {
        let value: Value = serde_json::from_str(text).ok()?;
        Some(value["rival"].as_str()?.to_owned())
    };
    match (config, rival) {
        (Some(config), _) => Some(match rival_in(config) {
            Some(rival) => format!(
                "a training checkpoint of the rival '{rival}'; `azimuth-rivals train {rival}` \
                 continues it"
            ),
            None => "a training checkpoint; export it first with `azimuth-train export \
                     --checkpoint FILE --data DATA --out WEIGHTS`"
                .to_owned(),
        }),
        (None, Some(text)) => {
            let rival = rival_in(text).unwrap_or_else(|| "RIVAL".to_owned());
            Some(format!(
                "the weights of a rival; play with them by `azimuth-rivals play {rival} --weights \
                 FILE`"
            ))
        }
        (None, None) => None,
    }
}
