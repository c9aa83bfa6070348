//! A dataset file. An input that begins as one does is the file. Any other is the content of one:
//! the number of blocks of each part (a byte each), for each block its length (two bytes) and its
//! bytes after the checksum, and then the description; checksums and lengths are made right, so that
//! the readers behind them are reached.

#![no_main]

use std::fs;

use azimuth_train::data::dataset::read_all;
use libfuzzer_sys::fuzz_target;

// The layout that `train/src/data/file/mod.rs` reads.
const BLOCK: usize = 4096;
const MAGIC: &[u8] = b"azimuth-data";
const HEADER: usize = 56;

/// Blocks of a part at most.
const MOST_BLOCKS: u8 = 3;

fuzz_target!(|bytes: &[u8]| {
    let is_file = bytes.get(4..16) == Some(MAGIC);
    let file = if is_file { bytes.to_vec() } else { file_of(bytes).unwrap_or_default() };
    let on_disk = tempfile::Builder::new().suffix(".azd").tempfile_in("/dev/shm").expect("a file");
    fs::write(&on_disk, file).expect("written");
    for limit in [1, usize::MAX] {
        if let Ok(read) = read_all(&[on_disk.path().to_owned()], limit) {
            assert_eq!(read.positions.len(), read.parents.len());
            for position in &read.positions {
                position.board().expect("only legal positions are read");
                position.placement();
            }
        }
    }
});

fn file_of(bytes: &[u8]) -> Option<Vec<u8>> {
    let (parts, mut rest) = bytes.split_at_checked(3)?;
    let parts = [parts[0], parts[1], parts[2]].map(|blocks| blocks.min(MOST_BLOCKS));
    let mut file = vec![0; BLOCK];
    for _ in 0..parts.iter().sum() {
        let (length, after) = rest.split_at_checked(2)?;
        let length = usize::from(u16::from_le_bytes([length[0], length[1]])) % (BLOCK - 3);
        let (content, after) = after.split_at_checked(length)?;
        let mut block = vec![0; BLOCK];
        block[4..4 + length].copy_from_slice(content);
        seal(&mut block);
        file.extend(block);
        rest = after;
    }
    file[4..16].copy_from_slice(MAGIC);
    file[16..20].copy_from_slice(&1u32.to_le_bytes());
    for (at, blocks) in (20..).step_by(8).zip(parts) {
        file[at..at + 8].copy_from_slice(&u64::from(blocks).to_le_bytes());
    }
    file[44..52].copy_from_slice(&(rest.len() as u64).to_le_bytes());
    file[52..HEADER].copy_from_slice(&crc32fast::hash(rest).to_le_bytes());
    seal(&mut file[..BLOCK]);
    file.extend(rest);
    Some(file)
}

fn seal(block: &mut [u8]) {
    let checksum = crc32fast::hash(&block[4..]);
    block[..4].copy_from_slice(&checksum.to_le_bytes());
}
