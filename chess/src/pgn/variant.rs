//! Variants whose rules are those of chess.

/// Their names in lower case, as lichess, chess.com, cutechess and fastchess write them. Chess960
/// differs in the start alone, which the `FEN` tag names.
const CHESS: [&str; 6] =
    ["standard", "chess", "from position", "chess960", "fischerandom", "fischer random"];

/// The name, in lower case, of a variant with other rules.
pub fn other_variant(name: &str) -> Option<String> {
    let name = name.to_lowercase();
    (!CHESS.contains(&name.as_str())).then_some(name)
}
