//! The input features of the sparse encoder: every piece on its square with its state, such as its
//! attackers and defenders (see [`FeatureSet`]). Each position has a view for each side, with that
//! side's first rank at the bottom.

mod batch;
mod feature_set;
mod rows;
mod states;

pub use batch::{Attacked, EMPTY, FeatureBatch, Features, SLOTS, Slots, SlottedFeatures, ViewRows};
pub use feature_set::{FeatureSet, KINDS, KingView, PIECE_SQUARES, States};
