//! Variants with the rules of chess.

/// Names of variants in lower case, as lichess, chess.com, cutechess and fastchess write them.
/// Chess960 differs only in the starting position, which the `FEN` tag gives.
const CHESS: [&str; 6] =
    ["standard", "chess", "from position", "chess960", "fischerandom", "fischer random"];

/// The name in lower case, if it is that of a variant with other rules.
pub fn other_variant(name: &str) -> Option<String> {
    let name = name.to_lowercase();
    (!CHESS.contains(&name.as_str())).then_some(name)
}
