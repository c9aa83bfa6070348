//! The dataset file: positions, labels, families and splits in about four bytes a label.

pub mod block;
pub mod dataset_file;
pub mod description;
pub mod family_code;
pub mod journal;
pub mod layout;
pub mod writer;
