//! Tokens compared with python-chess's FENs.

use anyhow::{Context, Result, ensure};
use azimuth_chess::position::Position;
use azimuth_chess::tokens::tokenize;
use azimuth_tests::python;

const POSITIONS: usize = 10_000;

#[test]
fn tokens_equal_those_made_from_python_chess_fens() -> Result<()> {
    let printed = python("tokens.py", &[&POSITIONS.to_string(), "1"])?;
    let (mut checked, mut en_passant, mut chess960, mut late) = (0, 0, 0, 0);
    for line in printed.lines() {
        let (fen, tokens) = line.split_once('\t').context("no tab")?;
        let expected: Vec<u8> =
            tokens.split(',').map(str::parse).collect::<Result<_, _>>().context("not a number")?;
        let position = Position::from_fen(fen)?;
        let found = tokenize(position.board(), position.halfmove_clock());
        ensure!(found.as_slice() == expected, "{fen}: {found:?}, expected {expected:?}");
        checked += 1;
        en_passant += usize::from(expected[69] != 32);
        let fields: Vec<&str> = fen.split(' ').collect();
        let outer_rooks = fields[0].starts_with('r') && fields[0].contains("k2r/");
        chess960 += usize::from(fields[2] != "-" && !outer_rooks);
        late += usize::from(fields[4].len() > 3 || fields[5].len() > 3);
    }
    assert_eq!(checked, POSITIONS);
    // The sample must contain the difficult cases.
    assert!(en_passant > 20 && chess960 > 500 && late > 500, "{en_passant} {chess960} {late}");
    Ok(())
}
