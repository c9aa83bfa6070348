//! The Syzygy tables of three and four pieces, which are embedded in the program.

use anyhow::Result;
use azimuth_search::{EmbeddedTables, Tablebases};

/// Both files of each table, with their names.
macro_rules! tables {
    ($($material:literal)*) => {
        &[$(
            (concat!($material, ".rtbw"), include_bytes!(concat!("../../syzygy/", $material, ".rtbw"))),
            (concat!($material, ".rtbz"), include_bytes!(concat!("../../syzygy/", $material, ".rtbz"))),
        )*]
    };
}

pub static TABLES: EmbeddedTables = tables![
    "KBBvK" "KBNvK" "KBPvK" "KBvK" "KBvKB" "KBvKN" "KBvKP" "KNNvK" "KNPvK" "KNvK" "KNvKN"
    "KNvKP" "KPPvK" "KPvK" "KPvKP" "KQBvK" "KQNvK" "KQPvK" "KQQvK" "KQRvK" "KQvK" "KQvKB"
    "KQvKN" "KQvKP" "KQvKQ" "KQvKR" "KRBvK" "KRNvK" "KRPvK" "KRRvK" "KRvK" "KRvKB" "KRvKN"
    "KRvKP" "KRvKR"
];

/// Opens the embedded tables and those in `folders`, a list separated as in `PATH`. `notice` shows
/// messages to the user. Fails if no folder has a table.
pub fn open(
    folders: Option<&str>,
    notice: impl Fn(&str) + Send + Sync + 'static,
) -> Result<Tablebases> {
    let tables = Tablebases::embedded(TABLES, notice);
    match folders {
        Some(folders) => tables.with_folders(folders),
        None => Ok(tables),
    }
}

#[cfg(test)]
mod tests {
    use anyhow::Context;
    use azimuth_chess::position::Position;
    use cozy_chess::{Board, BoardBuilder, Color, Piece, Square};

    use super::*;

    /// A position with this material in which White can move and is not in check.
    fn position(material: &str) -> Option<Board> {
        let (white, black) = material.split_once('v')?;
        let sides = [(Color::White, white), (Color::Black, black)];
        let pieces: Vec<(Color, Piece)> = sides
            .into_iter()
            .flat_map(|(color, names)| names.chars().map(move |name| (color, name)))
            .map(|(color, name)| Some((color, name.to_ascii_lowercase().try_into().ok()?)))
            .collect::<Option<_>>()?;
        (0..1_000_000_usize).find_map(|number| {
            let mut builder = BoardBuilder::empty();
            for (index, &piece) in pieces.iter().enumerate() {
                let square = Square::index(number >> (5 * index) & 31);
                let square = Square::new(square.file(), square.rank().flip());
                if builder.square(square).is_some() {
                    return None;
                }
                *builder.square_mut(square) = Some((piece.1, piece.0));
            }
            let board = builder.build().ok()?;
            let position = Position::from_fen(&board.to_string()).ok()?;
            (board.checkers().is_empty() && position.has_legal_move()).then_some(board)
        })
    }

    #[test]
    fn every_material_of_up_to_four_pieces_is_known() -> Result<()> {
        let tables = Tablebases::embedded(TABLES, |problem: &str| panic!("{problem}"));
        assert_eq!((tables.max_pieces(), TABLES.len()), (4, 70));
        for (name, _) in TABLES {
            let material = name.split('.').next().context("a name")?;
            let board = position(material).with_context(|| material.to_owned())?;
            assert!(tables.distance_to_zeroing(&board).is_some(), "{name}: {board}");
        }
        Ok(())
    }
}
