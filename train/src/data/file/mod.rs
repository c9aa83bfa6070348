//! The dataset file: positions, labels, families and splits in about four bytes a label.

pub mod dataset_file;
pub mod family_code;
pub mod writer;
