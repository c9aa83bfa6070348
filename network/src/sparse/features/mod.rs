//! What the sparse encoder sees: every piece on its square, told apart by what attacks and defends it
//! and more (see [`FeatureSet`]), seen once by the side to move and once by the other side, each with
//! its own first rank at the bottom.

mod attacks;
mod batch;
mod feature_set;
mod states;
mod threats;
mod view;

pub use batch::{FeatureBatch, Features};
pub use feature_set::{CAPTURES, FeatureSet, KingView, PIECE_SQUARES, States};
