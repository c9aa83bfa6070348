//! A PyTorch checkpoint: an input that begins as a zip file does is the file; any other is the
//! pickle of one, beside storages of zeros.

#![no_main]

use std::fs;
use std::io::{Cursor, Write};

use azimuth_train::solis::Pth;
use libfuzzer_sys::fuzz_target;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// Storages beside a pickle, and their bytes.
const STORAGES: usize = 4;
const STORAGE: usize = 4096;

fuzz_target!(|bytes: &[u8]| {
    let file = tempfile::Builder::new().suffix(".pth").tempfile_in("/dev/shm").expect("a file");
    let archive = if bytes.starts_with(b"PK") { bytes.to_vec() } else { with_pickle(bytes) };
    fs::write(&file, archive).expect("written");
    match Pth::read(file.path()) {
        Ok(pth) => assert!(!pth.tensors.is_empty()),
        Err(error) => assert!(format!("{error:#}").contains(&*file.path().to_string_lossy())),
    }
});

fn with_pickle(pickle: &[u8]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let mut add = |name: &str, bytes: &[u8]| {
        zip.start_file(name, SimpleFileOptions::default()).expect("started");
        zip.write_all(bytes).expect("written");
    };
    add("archive/data.pkl", pickle);
    for storage in 0..STORAGES {
        add(&format!("archive/data/{storage}"), &[0; STORAGE]);
    }
    zip.finish().expect("finished").into_inner()
}
