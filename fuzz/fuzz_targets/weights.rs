//! A weights file. The input is its header, JSON, up to the first zero byte; the tensors hold the
//! bytes after that, again and again, up to the last offset that the header names. A network that is
//! read also plays.

#![no_main]

use azimuth_search::model::Model;
use azimuth_network::weights::Weights;
use azimuth_network::{Inputs, checksum};
use candle_core::{DType, Device};
use cozy_chess::Board;
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

/// Bytes of the tensors at most.
const MOST_DATA: u64 = 8 << 20;

const ENDGAME: &str = "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1";

fuzz_target!(|bytes: &[u8]| {
    let file = file_of(bytes);
    let checked = checksum::check(&file);
    let Ok(weights) = Weights::from_bytes(&file) else { return };
    if let Err(error) = checked {
        assert!(format!("{error:#}").contains("damaged"), "{error:#}");
    }
    let Ok(mut model) = Model::new(&weights, &Device::Cpu, DType::F32) else { return };
    let boards = [Board::default(), ENDGAME.parse().expect("a legal position")];
    let inputs = Inputs::of(weights.metadata.architecture.input_kind(), &boards);
    let cosines = model.cosines(&inputs, boards.len()).expect("the CPU computes");
    for cosine in cosines {
        let win_probability = weights.calibration.win_probability(cosine);
        assert!((0.0..=1.0).contains(&win_probability), "{cosine}: {win_probability}");
    }
});

fn file_of(bytes: &[u8]) -> Vec<u8> {
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    let (header, data) = bytes.split_at(end);
    let data = data.get(1..).filter(|data| !data.is_empty()).unwrap_or(&[0]);
    let length = last_offset(header).unwrap_or(0).min(MOST_DATA);
    let data = data.iter().copied().cycle().take(length as usize);
    let mut file = (header.len() as u64).to_le_bytes().to_vec();
    file.extend(header);
    file.extend(data);
    file
}

/// The last offset of any tensor.
fn last_offset(header: &[u8]) -> Option<u64> {
    let header: Value = serde_json::from_slice(header).ok()?;
    header.as_object()?.values().filter_map(|tensor| tensor["data_offsets"][1].as_u64()).max()
}
