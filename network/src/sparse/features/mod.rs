//! The input features of the sparse encoder: every piece on its square with its state, such as its
//! attackers and defenders (see [`FeatureSet`]). Each position has a view for each side, with that
//! side's first rank at the bottom.

mod batch;
mod feature_set;
mod rows;
mod states;

pub use batch::{FeatureBatch, Features};
pub use feature_set::{FeatureSet, KingView, PIECE_SQUARES, States};
pub use rows::{Changes, PieceMap, RowChanges, RowList, View};
