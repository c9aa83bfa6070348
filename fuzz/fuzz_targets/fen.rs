//! A FEN, and everything that is computed from the position that it describes.

#![no_main]

use azimuth_chess::board_diagram::board_diagram;
use azimuth_chess::check_squares::{CheckSquares, attacked_squares};
use azimuth_chess::placement::Placement;
use azimuth_chess::position::{
    Position, fen_of, insufficient_material, legal_moves, repetition_key, uci_move,
};
use azimuth_chess::san::{parse_move, san_of_move};
use azimuth_chess::see::StaticExchange;
use azimuth_chess::tokens::{placement, tokenize};
use azimuth_network::sparse::features::{FeatureBatch, FeatureSet};
use cozy_chess::Color;
use libfuzzer_sys::fuzz_target;

/// Every kind of feature once.
const FEATURES: [&str; 3] = [
    "piece-square+king-buckets-10+attackers",
    "exchange-states-16+king-mirror+threats",
    "piece-square+king-buckets-4",
];

fuzz_target!(|text: &str| {
    let Ok(position) = Position::from_fen(text) else { return };
    let board = position.board();
    for fen in [position.fen(true), fen_of(board)] {
        let again = Position::from_fen(&fen).expect("its own FEN is read");
        assert_eq!(again.fen(true).split(' ').next(), fen.split(' ').next());
        // An en-passant square is written only where a capture is legal.
        assert_eq!(repetition_key(again.board()), repetition_key(board), "{fen}");
    }
    board_diagram(&position, false);
    insufficient_material(board);
    for color in Color::ALL {
        attacked_squares(board, color);
    }
    let pieces = Placement::of(board);
    assert_eq!(placement(&tokenize(board, position.halfmove_clock())), pieces);
    for features in FEATURES {
        let set: FeatureSet = features.parse().expect("a feature set");
        assert_eq!(FeatureBatch::of(set, [board]).len(), 1);
    }
    let exchanges = StaticExchange::new(&pieces);
    let checks = CheckSquares::new(board);
    for mv in legal_moves(board) {
        exchanges.see_of_move(mv);
        let mut after = position.clone();
        after.play(mv);
        let in_check = !after.board().checkers().is_empty();
        assert_eq!(checks.gives_check(board, mv), in_check, "{mv}");
        let san = san_of_move(board, mv);
        assert_eq!(parse_move(&position, &san).expect("a legal move's SAN is read"), mv);
        let uci = uci_move(board, mv, true);
        assert_eq!(position.parse_move(&uci).expect("a legal move's UCI is read"), mv);
    }
});
