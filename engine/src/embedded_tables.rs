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
    use cozy_chess::{Board, BoardBuilder, Color, Piece, Square};

    use super::*;

    /// A position with this material in which White can move and no side is in check.
    fn position(material: &str) -> Option<Board> {
        let (white, black) = material.split_once('v')?;
        let mut builder = BoardBuilder::empty();
        for (color, names, squares) in [
            (Color::White, white, [Square::A1, Square::B3, Square::C3]),
            (Color::Black, black, [Square::H6, Square::E7, Square::D7]),
        ] {
            for (name, square) in names.chars().zip(squares) {
                let piece: Piece = name.to_ascii_lowercase().try_into().ok()?;
                *builder.square_mut(square) = Some((piece, color));
            }
        }
        builder.build().ok()
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
