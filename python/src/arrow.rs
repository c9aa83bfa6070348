//! Datasets as record batches of Apache Arrow.

use std::ops::Range;
use std::sync::Arc;

use anyhow::Result;
use arrow_array::types::Int8Type;
use arrow_array::{
    ArrayRef, BooleanArray, DictionaryArray, FixedSizeListArray, Float32Array, Int8Array,
    Int32Array, RecordBatch, RecordBatchReader, StringArray, UInt32Array,
};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use azimuth_train::data::DatasetFile;
use azimuth_train::data::family::Split;
use cozy_chess::Square;

use crate::columns::{Columns, SPLITS};

/// Length of the list of pieces.
const SQUARES: i32 = Square::NUM as i32;

/// The record batches of some splits, one split after the other.
pub struct Batches {
    file: Arc<DatasetFile>,
    /// The splits that are still to be read, in reverse order, and the positions left in each.
    left: Vec<(Split, Range<usize>)>,
    size: usize,
    schema: SchemaRef,
}

impl Batches {
    /// Batches of `size` positions.
    pub fn new(file: Arc<DatasetFile>, splits: Vec<Split>, size: usize) -> Self {
        let left = splits.into_iter().rev().map(|split| (split, 0..file.len(split))).collect();
        Self { file, left, size, schema: schema() }
    }

    fn read(&self, split: Split, range: Range<usize>) -> Result<RecordBatch> {
        let columns = Columns::read(&self.file, split, [range])?;
        let (name, _) = SPLITS[split as usize];
        let names = std::iter::repeat_n(name, columns.fens.len());
        let names: DictionaryArray<Int8Type> = names.collect();
        let pieces = Arc::new(Int8Array::from(columns.pieces));
        let arrays: Vec<ArrayRef> = vec![
            Arc::new(names),
            Arc::new(StringArray::from(columns.fens)),
            Arc::new(FixedSizeListArray::try_new(piece(), SQUARES, pieces, None)?),
            Arc::new(BooleanArray::from(columns.white_to_move)),
            Arc::new(Int32Array::from(columns.centipawns)),
            Arc::new(Int8Array::from(columns.mate)),
            Arc::new(Float32Array::from(columns.win_probability)),
            Arc::new(UInt32Array::from(columns.family)),
        ];
        Ok(RecordBatch::try_new(self.schema.clone(), arrays)?)
    }
}

impl Iterator for Batches {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.left.last().is_some_and(|(_, range)| range.is_empty()) {
            self.left.pop();
        }
        let (split, range) = self.left.last_mut()?;
        let end = range.start.saturating_add(self.size).min(range.end);
        let (split, part) = (*split, range.start..end);
        range.start = end;
        let batch = self.read(split, part);
        Some(batch.map_err(|error| ArrowError::ExternalError(error.into())))
    }
}

impl RecordBatchReader for Batches {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}

fn schema() -> SchemaRef {
    let split = DataType::Dictionary(Box::new(DataType::Int8), Box::new(DataType::Utf8));
    let columns = [
        ("split", split),
        ("fen", DataType::Utf8),
        ("pieces", DataType::FixedSizeList(piece(), SQUARES)),
        ("white_to_move", DataType::Boolean),
        ("centipawns", DataType::Int32),
        ("mate", DataType::Int8),
        ("win_probability", DataType::Float32),
        ("family", DataType::UInt32),
    ];
    let fields = columns.into_iter().map(|(name, of)| Field::new(name, of, false));
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

/// The type of a piece on a square.
fn piece() -> Arc<Field> {
    Arc::new(Field::new("item", DataType::Int8, false))
}
