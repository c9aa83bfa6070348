//! `flip`: exchanges the sides. The score for the side to move must not change.

use anyhow::{Result, ensure};
use azimuth_chess::position::Position;

/// Mirrors the ranks and exchanges the colours and the side to move. The history of the game is
/// dropped.
pub fn flipped(position: &Position) -> Result<Position> {
    let fen = position.fen(true);
    let fields: Vec<&str> = fen.split(' ').collect();
    ensure!(fields.len() == 6, "flip: '{fen}' has no 6 fields");
    let rows: Vec<String> = fields[0].split('/').rev().map(exchanged).collect();
    let side = if fields[1] == "w" { "b" } else { "w" };
    let castling = exchanged(fields[2]);
    let en_passant =
        fields[3].replace(['3', '6'], if fields[3].ends_with('3') { "6" } else { "3" });
    Position::from_fen(&format!(
        "{} {side} {castling} {en_passant} {} {}",
        rows.join("/"),
        fields[4],
        fields[5]
    ))
}

/// Exchanges upper and lower case: White's and Black's pieces.
fn exchanged(text: &str) -> String {
    let exchange = |letter: char| match letter.is_ascii_uppercase() {
        true => letter.to_ascii_lowercase(),
        false => letter.to_ascii_uppercase(),
    };
    text.chars().map(exchange).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_other_side_has_the_same_position_and_twice_is_back() -> Result<()> {
        for (fen, other) in [
            (
                "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQk - 3 20",
                "r3k2r/pppbbppp/2n2q1P/1P2p3/3pn3/BN2PNP1/P1PPQPB1/R3K2R b Kkq - 3 20",
            ),
            (
                "rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPP1PPP/RNBQKBNR w KQkq f6 0 3",
                "rnbqkbnr/pppp1ppp/8/8/3PpP2/8/PPP1P1PP/RNBQKBNR b KQkq f3 0 3",
            ),
        ] {
            let position = Position::from_fen(fen)?;
            let flip = flipped(&position)?;
            assert_eq!(flip.fen(false), other);
            assert_eq!(flipped(&flip)?.fen(false), fen);
        }
        let chess960 = "1rk3r1/8/8/8/8/8/8/1RK3R1 w Gb - 0 1";
        let flip = flipped(&Position::from_fen(chess960)?)?;
        assert_eq!(flip.fen(true), "1rk3r1/8/8/8/8/8/8/1RK3R1 b Bg - 0 1");
        Ok(())
    }
}
