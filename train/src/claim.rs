//! Locks that allow only one process at a time to write an output.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use azimuth_network::replace_file::{
    check_different, check_output, open_locked, remove_unfinished,
};

/// A lock on an output, held until it is dropped: a locked file `NAME.lock` beside the output.
pub struct Claim {
    path: PathBuf,
    _lock: File,
}

impl Claim {
    /// Claims `output`. Fails if another process has, if it is not writable, or if it is an input.
    pub fn new(output: &Path, inputs: &[&Path]) -> Result<Self> {
        check_output(output, inputs)?;
        let path = output.with_added_extension("lock");
        let name = || format!("lock '{}'", path.display());
        loop {
            let lock = open_locked(&path).with_context(name)?.with_context(|| {
                let output = output.display();
                format!("'{output}': another process writes it; wait for its end, or choose another name")
            })?;
            // The previous process may have removed the file after it was opened here.
            if is_at(&lock, &path).with_context(name)? {
                remove_unfinished(output);
                return Ok(Self { path, _lock: lock });
            }
        }
    }
}

impl Drop for Claim {
    /// Removes the lock file before unlocking it. A process that opened the file before finds by
    /// [`is_at`] that the path no longer names it.
    fn drop(&mut self) {
        if cfg!(unix) {
            // If the removal fails, the next process locks the remaining file.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Claims all `outputs`, which must differ from each other.
pub fn claim_all(outputs: &[&Path], inputs: &[&Path]) -> Result<Vec<Claim>> {
    check_different(outputs)?;
    outputs.iter().map(|output| Claim::new(output, inputs)).collect()
}

/// Whether `path` still names `file`.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> std::io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let key = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
    let opened = key(file.metadata()?);
    match fs::metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        there => Ok(key(there?) == opened),
    }
}

/// On other systems the lock file is never removed.
#[cfg(not(unix))]
fn is_at(_file: &File, _path: &Path) -> std::io::Result<bool> {
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_of_many_threads_never_overlap() -> Result<()> {
        use std::sync::atomic::{AtomicU32, Ordering};
        let folder = tempfile::tempdir()?;
        let output = folder.path().join("run.safetensors");
        let (holders, taken) = (AtomicU32::new(0), AtomicU32::new(0));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        if let Ok(_claim) = Claim::new(&output, &[]) {
                            assert_eq!(holders.fetch_add(1, Ordering::SeqCst), 0);
                            taken.fetch_add(1, Ordering::SeqCst);
                            holders.fetch_sub(1, Ordering::SeqCst);
                        }
                    }
                });
            }
        });
        assert!(taken.into_inner() > 0);
        Ok(())
    }
}
