//! Atomic replacement of files, and locks that allow only one process at a time to write a file.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Write, stderr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, ensure};
use azimuth_chess::text::printable;
use tempfile::{Builder, NamedTempFile};

/// Suffix of an unfinished file, after the final name and random letters.
const SUFFIX: &str = ".partial";

/// Number of random letters in the name of an unfinished file.
const RANDOM: usize = 6;

/// Age from which an unfinished file that nobody has locked is abandoned.
const ABANDONED_AFTER: Duration = Duration::from_secs(60);

/// Writes `bytes` to `path` atomically: readers see the old file or the new one.
pub fn replace_file(path: &Path, bytes: &[u8]) -> Result<()> {
    written(path, bytes)?.finish()
}

/// Writes files that belong together: replaces all of them, or none if one cannot be written.
pub fn replace_files(files: &[(PathBuf, Vec<u8>)]) -> Result<()> {
    let files = files.iter().map(|(path, bytes)| written(path, bytes));
    Replacement::finish_all(files.collect::<Result<_>>()?)
}

/// A file that only needs its final name.
fn written(path: &Path, bytes: &[u8]) -> Result<Replacement> {
    let mut file = Replacement::new(path)?;
    file.write_all(bytes)?;
    Ok(file)
}

/// Fails if an output cannot be written or is one of the inputs. Commands call it before they
/// start, so that no work is lost.
pub fn check_output(path: &Path, inputs: &[&Path]) -> Result<()> {
    drop(Replacement::new(path)?);
    if let Ok(found) = fs::canonicalize(path) {
        let is_read =
            inputs.iter().any(|input| fs::canonicalize(input).is_ok_and(|input| input == found));
        ensure!(!is_read, "output '{}' is also an input; choose another name", path.display());
    }
    Ok(())
}

/// Fails if two of a command's `outputs`, which need not exist, are the same file.
pub fn check_different(outputs: &[&Path]) -> Result<()> {
    for (number, output) in outputs.iter().enumerate() {
        let is_used = outputs[..number].iter().any(|other| place(other) == place(output));
        ensure!(!is_used, "output '{}' is needed twice; choose another name", output.display());
    }
    Ok(())
}

/// The absolute path of an output, which need not exist.
fn place(output: &Path) -> PathBuf {
    let output = resolved(output);
    let folder = folder(&output);
    let folder = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    folder.join(output.file_name().unwrap_or_default())
}

/// Removes the unfinished files that killed processes left beside `path`. The caller holds a lock,
/// so that no other process writes `path` at this time.
pub fn remove_unfinished(path: &Path) {
    for file in unfinished(&resolved(path)) {
        // A file that cannot be removed takes up space, but does no other harm.
        let _ = fs::remove_file(file);
    }
}

/// Removes the unfinished files of `path` that no process writes any more: a process locks its own.
fn remove_abandoned(path: &Path) {
    for file in unfinished(path) {
        let is_old = fs::metadata(&file)
            .and_then(|metadata| metadata.modified())
            .is_ok_and(|modified| modified.elapsed().is_ok_and(|age| age > ABANDONED_AFTER));
        // A new file may not be locked yet.
        let is_abandoned = is_old && File::open(&file).is_ok_and(|file| file.try_lock().is_ok());
        if is_abandoned {
            let _ = fs::remove_file(file);
        }
    }
}

/// The unfinished files beside a path.
fn unfinished(path: &Path) -> impl Iterator<Item = PathBuf> {
    let start = start_of_names(path);
    let is_unfinished = move |name: &OsStr| {
        let rest = name.as_encoded_bytes().strip_prefix(start.as_encoded_bytes());
        let random = rest.and_then(|rest| rest.strip_suffix(SUFFIX.as_bytes()));
        random.is_some_and(|random| {
            random.len() == RANDOM && random.iter().all(u8::is_ascii_alphanumeric)
        })
    };
    let entries = fs::read_dir(folder(path)).into_iter().flatten().flatten();
    entries.filter(move |entry| is_unfinished(&entry.file_name())).map(|entry| entry.path())
}

/// Opens a file for reading and writing, or creates it, and locks it until it is closed. `None` if
/// another process has locked it. Some network file systems do not support locks; work continues
/// there without one.
pub fn open_locked(path: &Path) -> Result<Option<File>> {
    check_regular(path)?;
    let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => {
            let name = path.display().to_string();
            let name = printable(&name);
            let fault = format!("lock of '{name}': {error}");
            let _ = writeln!(stderr(), "{fault}; make sure that no other process writes it");
            Ok(Some(file))
        }
    }
}

/// The bytes of a file that this program may have written before; `None` if there is none.
pub fn read_if_exists(path: &Path) -> Result<Option<Vec<u8>>> {
    check_regular(path)?;
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Fails if there is a pipe or a device at `path`: to open it could block for ever.
pub fn check_regular(path: &Path) -> Result<()> {
    let special = fs::metadata(path).is_ok_and(|metadata| !metadata.is_file());
    ensure!(!special, "not a regular file; remove it or choose another name");
    Ok(())
}

/// A file that replaces another once it is complete. Until then it has another name in the same
/// folder; if it is dropped unfinished, it is removed.
#[derive(Debug)]
pub struct Replacement {
    path: PathBuf,
    file: NamedTempFile,
}

impl Replacement {
    /// Creates a file that will replace `path` or, if `path` is a link, the link's target. Its
    /// permissions are those of the replaced file, or else those of any new file.
    pub fn new(path: &Path) -> Result<Self> {
        let resolved = resolved(path);
        Self::begin(resolved).with_context(|| cannot_write(path))
    }

    fn begin(path: PathBuf) -> Result<Self> {
        let replaced = match fs::metadata(&path) {
            Ok(metadata) => Some(metadata),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(error.into()),
        };
        // Otherwise an administrator could replace /dev/null with a file.
        let is_file = replaced.as_ref().is_none_or(Metadata::is_file);
        ensure!(is_file, "it is not a regular file");
        remove_abandoned(&path);
        let file =
            new_file(&path, replaced.as_ref()).map_err(|error| of_folder(folder(&path), &error))?;
        // Some network file systems have no locks; then the file may be left after a kill.
        let _ = file.as_file().try_lock();
        Ok(Self { path, file })
    }

    /// Syncs the file to disk and gives it its final name.
    pub fn finish(self) -> Result<()> {
        Self::finish_all(vec![self])
    }

    /// Finishes all files. All of them are on disk before the first one gets its final name, because
    /// some file systems notice only then that the disk is full.
    fn finish_all(files: Vec<Self>) -> Result<()> {
        for Self { path, file } in &files {
            file.as_file().sync_all().with_context(|| cannot_write(path))?;
        }
        for Self { path, file } in files {
            let renamed = file.persist(&path).map_err(io::Error::from);
            renamed
                .and_then(|_| sync_folder(folder(&path)))
                .with_context(|| cannot_write(&path))?;
        }
        Ok(())
    }
}

impl Write for Replacement {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.as_file_mut().write(bytes).map_err(|error| named(&self.path, &error))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.as_file_mut().flush().map_err(|error| named(&self.path, &error))
    }
}

/// The error with the file's name, which callers that write through a buffer or an encoder could
/// not add.
fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", cannot_write(path)))
}

/// The error of creating an unfinished file in `folder`, without the file's name, which the user
/// did not choose.
fn of_folder(folder: &Path, error: &io::Error) -> anyhow::Error {
    let folder = folder.display();
    match error.kind() {
        ErrorKind::NotFound => anyhow!("folder '{folder}' does not exist; create it first"),
        kind => anyhow!("folder '{folder}': {kind}"),
    }
}

fn cannot_write(path: &Path) -> String {
    format!("cannot write '{}'", path.display())
}

/// Maximum number of links from a path to a file that does not exist, as in Linux.
const MOST_LINKS: usize = 40;

/// The target of a link, which need not exist; any other path unchanged.
fn resolved(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        if let Ok(found) = fs::canonicalize(&path) {
            return found;
        }
        match fs::read_link(&path) {
            Ok(target) => path = folder(&path).join(target),
            Err(_) => break,
        }
    }
    path
}

fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}

/// Common prefix of the names of the unfinished files of `path`.
fn start_of_names(path: &Path) -> OsString {
    let mut start = path.file_name().unwrap_or_default().to_owned();
    start.push(".");
    start
}

/// An unfinished file beside `path`. On Unix it has the permissions of the replaced file, or else
/// those that the umask leaves.
fn new_file(path: &Path, replaced: Option<&Metadata>) -> io::Result<NamedTempFile> {
    let start = start_of_names(path);
    let mut builder = Builder::new();
    builder.prefix(&start).suffix(SUFFIX).rand_bytes(RANDOM);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let file = builder.tempfile_in(folder(path))?;
    if let Some(replaced) = replaced.filter(|_| cfg!(unix)) {
        file.as_file().set_permissions(replaced.permissions())?;
    }
    Ok(file)
}

/// Syncs the folder, so that the new name survives a power failure, if the system supports that.
fn sync_folder(folder: &Path) -> io::Result<()> {
    match File::open(folder).and_then(|folder| folder.sync_all()) {
        Err(error)
            if [ErrorKind::PermissionDenied, ErrorKind::InvalidInput, ErrorKind::Unsupported]
                .contains(&error.kind()) =>
        {
            Ok(())
        }
        synced => synced,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names in a folder, sorted.
    fn names(folder: &Path) -> Result<Vec<String>> {
        let names = fs::read_dir(folder)?
            .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()));
        let mut names = names.collect::<Result<Vec<_>>>()?;
        names.sort_unstable();
        Ok(names)
    }

    #[test]
    fn files_of_killed_processes_are_removed() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("out.csv");
        let old = std::time::SystemTime::now() - 2 * ABANDONED_AFTER;
        let left = |random: &str| -> Result<(PathBuf, File)> {
            let mut name = start_of_names(&path);
            name.push(random);
            name.push(SUFFIX);
            let path = folder.path().join(name);
            let file = File::create(&path)?;
            file.set_modified(old)?;
            Ok((path, file))
        };
        let (abandoned, _) = left("abcdef")?;
        let (written, file) = left("ghijkl")?;
        assert!(file.try_lock().is_ok());
        replace_file(&path, b"x")?;
        assert!(!abandoned.exists() && written.exists() && path.exists());
        Ok(())
    }

    #[test]
    fn writers_at_the_same_time_never_mix() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("shared");
        std::thread::scope(|scope| {
            let write = |letter: u8| {
                let path = &path;
                move || (0..50).try_for_each(|_| replace_file(path, &vec![letter; 1 << 18]))
            };
            let writers = [b'a', b'b', b'c'].map(|letter| scope.spawn(write(letter)));
            writers.into_iter().try_for_each(|writer| writer.join().expect("no panic"))
        })?;
        let bytes = fs::read(&path)?;
        assert!(bytes.len() == 1 << 18 && bytes.iter().all(|&byte| byte == bytes[0]));
        assert_eq!(names(folder.path())?, ["shared"]);
        Ok(())
    }

    #[test]
    fn an_output_is_refused_before_the_work() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let at = |name: &str| folder.path().join(name);
        fs::write(at("data"), "positions")?;
        check_output(&at("weights"), &[&at("data")])?;
        let refused = |path: &Path, part: &str| {
            let error = format!("{:#}", check_output(path, &[&at("data")]).expect_err(part));
            assert!(error.contains(part) && !error.contains('\n'), "{error}");
        };
        refused(&at("data"), "is also an input");
        refused(&folder.path().join(".").join("data"), "is also an input");
        let missing = format!("folder '{}' does not exist; create it first", at("none").display());
        refused(&at("none/weights"), &missing);
        refused(folder.path(), "not a regular file");
        assert_eq!(names(folder.path())?, ["data"]);

        check_different(&[&at("a"), &at("b"), &at("data")])?;
        let again = folder.path().join(".").join("a");
        let error = check_different(&[&at("a"), &at("b"), &again]).expect_err("twice").to_string();
        assert!(error.ends_with("a' is needed twice; choose another name"), "{error}");
        check_different(&[Path::new("none/a"), Path::new("nothing/a")])?;
        Ok(())
    }

    #[test]
    fn what_a_killed_process_left_is_removed_and_nothing_else() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let at = |name: &str| folder.path().join(name);
        let left = Replacement::new(&at("run.json"))?;
        let (_, left) = left.file.keep()?;
        for name in ["run.json.partial", "run.json.mine.partial", "other.json.Ab12Cd.partial"] {
            fs::write(at(name), "kept")?;
        }
        remove_unfinished(&at("run.json"));
        assert!(!left.exists());
        assert_eq!(names(folder.path())?.len(), 3);
        Ok(())
    }

    #[cfg(unix)]
    #[test]
    fn links_and_permissions_are_kept() -> Result<()> {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let [folder, elsewhere] = [tempfile::tempdir()?, tempfile::tempdir()?];
        let at = |name: &str| folder.path().join(name);
        let mode =
            |path: &Path| -> Result<u32> { Ok(fs::metadata(path)?.permissions().mode() & 0o777) };
        fs::write(at("any"), "a file with the mode that the umask leaves")?;
        replace_file(&at("new"), b"new")?;
        assert_eq!(mode(&at("new"))?, mode(&at("any"))?);
        for kept in [0o600, 0o640, 0o444] {
            fs::set_permissions(at("new"), fs::Permissions::from_mode(kept))?;
            replace_file(&at("new"), b"newer")?;
            assert_eq!(mode(&at("new"))?, kept);
        }
        let target = elsewhere.path().join("target");
        fs::write(&target, "old")?;
        symlink(&target, at("link"))?;
        replace_file(&at("link"), b"new")?;
        assert_eq!(fs::read(&target)?, b"new");
        assert!(fs::symlink_metadata(at("link"))?.is_symlink());
        symlink(elsewhere.path().join("none yet"), at("second"))?;
        symlink("second", at("early"))?;
        replace_file(&at("early"), b"first")?;
        assert_eq!(fs::read(elsewhere.path().join("none yet"))?, b"first");
        assert!(fs::symlink_metadata(at("early"))?.is_symlink());
        // A fixed name such as this one could be a link, and writing to it would overwrite the
        // link's target.
        symlink(&target, at("new.partial"))?;
        replace_file(&at("new"), b"other")?;
        assert_eq!(fs::read(&target)?, b"new");
        symlink("/dev/null", at("null"))?;
        let error = replace_file(&at("null"), b"").expect_err("a device");
        assert!(format!("{error:#}").contains("not a regular file"), "{error:#}");
        Ok(())
    }
}
