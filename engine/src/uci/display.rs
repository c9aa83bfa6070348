//! Tables for the terminal: static scores, and the root moves of a search. Also `flip`.

use anyhow::Result;
use azimuth_chess::position::{Position, uci_move};
use azimuth_search::{Bound, Control, ExplainedMove, Explanation, Limits, Planner, Value};
use cozy_chess::Move;
use shakmaty::fen::Fen;

use crate::explain::side_name;

/// The score of the position and of each legal move, best first.
pub fn scores(planner: &mut dyn Planner, position: &Position, chess960: bool) -> Result<String> {
    let mut lines = Vec::new();
    if position.has_legal_move() {
        let limits = Limits { depth: Some(1), multipv: usize::MAX, ..Limits::default() };
        planner.search(position, &mut Control::without_signals(limits), &mut |report| {
            let mv = report.pv.first().map(|&mv: &Move| uci_move(position.board(), mv, chess960));
            lines.push(format!("{:8}{}", mv.unwrap_or_default(), score(report.value)));
        })?;
    }
    let own = planner.evaluate(position)?;
    let side = side_name(position.board().side_to_move());
    lines.push(format!("{:8}{} (the position itself; {side} is to move)", "", score(own)));
    Ok(lines.join("\n"))
}

/// A table of the root moves of a search, best first: static evaluation, verified value if any,
/// depth in plies, and score.
pub fn explanation(explanation: &Explanation, chess960: bool) -> String {
    let Explanation { root, moves } = explanation;
    let verifies = moves.iter().any(|explained| explained.verified.is_some());
    let column = if verifies { format!("{:>20}", "verified") } else { String::new() };
    let mut lines =
        vec![format!("{:8}{:>20}{column}  {:>6}  {:>22}", "move", "static", "plies", "backed up")];
    for ExplainedMove { mv, static_value, verified, searched, .. } in moves {
        let mv = uci_move(root.board(), *mv, chess960);
        let (plies, value) = match searched {
            None => ("-".to_owned(), "dropped".to_owned()),
            Some(found) => {
                let bound = match found.bound {
                    Bound::Exact => "",
                    Bound::Upper => "at most",
                    Bound::Lower => "at least",
                };
                (found.depth.to_string(), format!("{bound:>8}{}", score(found.value)))
            }
        };
        let verified = verified.as_ref().map_or(String::new(), |verified| score(verified.value));
        lines.push(format!("{mv:8}{}{verified}  {plies:>6}  {value}", score(*static_value)));
    }
    lines.join("\n")
}

fn score(value: Value) -> String {
    let p = value.win_probability();
    match value.moves_to_mate() {
        Some(moves) => format!("{:>10}  {:6.2}%", format!("mate {moves}"), 100.0 * p),
        None => format!("{:>+7} cp  {:6.2}%", value.centipawns(), 100.0 * p),
    }
}

/// Exchanges the sides: mirrors the ranks, and exchanges the colours and the side to move. The
/// score for the side to move must not change. The history of the game is dropped.
pub fn flipped(position: &Position) -> Result<Position> {
    let setup = position.fen(true).parse::<Fen>()?.into_setup().into_mirrored();
    // Nothing is lost: a setup from a FEN fits into one.
    let fen = Fen::try_from_setup(setup).unwrap_or_else(|lossy| lossy.ignore());
    Position::from_fen(&fen.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_of_tablebases_and_mates_are_those_of_uci() {
        let won = -Value::tablebase_loss_in(3);
        assert_eq!(score(won).trim(), "+19997 cp  100.00%");
        assert_eq!(score(Value::mated_in(4)).trim(), "mate -2    0.00%");
        assert_eq!(score(Value::DRAW).trim(), "+0 cp   50.00%");
    }

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
