//! The project's files: text of a sane size, or a reason why not.

use std::fs::{self, File};
use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use super::ResourceError;

/// Bytes of one file: four times the longest playbook anybody should make a model read.
pub(super) const MAX_FILE_BYTES: u64 = 128 * 1024;
/// Bytes of all files together: they travel in one message to the agent.
pub(super) const MAX_TOTAL_BYTES: u64 = 1024 * 1024;
/// Entries of one directory: each skill's description costs tokens in every prompt.
pub(super) const MAX_ENTRIES: usize = 256;

/// A project's `.pi` directory, or none.
pub(super) struct Files {
    root: Option<PathBuf>,
    bytes_left: u64,
}

impl Files {
    pub(super) fn of(project: Option<&Path>) -> Result<Self, ResourceError> {
        match project {
            Some(root) if !root.is_dir() => Err(ResourceError::NoDirectory(root.to_owned())),
            _ => Ok(Self { root: project.map(ToOwned::to_owned), bytes_left: MAX_TOTAL_BYTES }),
        }
    }

    /// Where a file is, for messages.
    pub(super) fn path(&self, relative: &str) -> PathBuf {
        self.root.as_deref().unwrap_or(Path::new(".pi")).join(relative)
    }

    /// A file's text, with plain line ends and no byte-order mark; none when it isn't there.
    pub(super) fn read(&mut self, relative: &str) -> Result<Option<String>, ResourceError> {
        match &self.root {
            Some(root) => self.read_path(root.join(relative)),
            None => Ok(None),
        }
    }

    /// The same, for a file beside the directory.
    pub(super) fn read_beside(&mut self, name: &str) -> Result<Option<String>, ResourceError> {
        let absolute = self.root.as_deref().and_then(|root| std::path::absolute(root).ok());
        match absolute.as_deref().and_then(Path::parent) {
            Some(parent) => self.read_path(parent.join(name)),
            None => Ok(None),
        }
    }

    fn read_path(&mut self, path: PathBuf) -> Result<Option<String>, ResourceError> {
        let bytes = match self.read_bytes(&path) {
            Ok(bytes) => bytes,
            // Absent is fine; a link that leads nowhere is somebody's mistake.
            Err(ResourceError::Unreadable { source, .. })
                if source.kind() == ErrorKind::NotFound && path.symlink_metadata().is_err() =>
            {
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        let text = String::from_utf8(bytes)
            .map_err(|error| ResourceError::NotText { path, offset: error.utf8_error().valid_up_to() })?;
        Ok(Some(text.trim_start_matches('\u{feff}').replace("\r\n", "\n")))
    }

    fn read_bytes(&mut self, path: &Path) -> Result<Vec<u8>, ResourceError> {
        let unreadable = |source| ResourceError::Unreadable { path: path.to_owned(), source };
        // Asked before opening: opening a pipe waits for its other end.
        if !fs::metadata(path).map_err(unreadable)?.is_file() {
            return Err(ResourceError::NotAFile(path.to_owned()));
        }
        let mut bytes = Vec::new();
        let file = File::open(path).map_err(unreadable)?;
        let length = file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)? as u64;
        if length > MAX_FILE_BYTES {
            return Err(ResourceError::TooLarge(path.to_owned()));
        }
        self.bytes_left = self.bytes_left.checked_sub(length).ok_or_else(|| ResourceError::TooMuch(path.to_owned()))?;
        Ok(bytes)
    }

    /// The names in a directory, sorted, hidden ones left out; none when it isn't there.
    pub(super) fn names(&self, relative: &str) -> Result<Vec<String>, ResourceError> {
        let Some(root) = &self.root else { return Ok(Vec::new()) };
        let path = root.join(relative);
        let unreadable = |source| ResourceError::Unreadable { path: path.clone(), source };
        let entries = match fs::read_dir(&path) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound && path.symlink_metadata().is_err() => {
                return Ok(Vec::new());
            }
            Err(error) => return Err(unreadable(error)),
        };
        let mut names = Vec::new();
        for entry in entries {
            let name = entry.map_err(unreadable)?.file_name();
            let name = name.into_string().map_err(|name| {
                let offset = name.as_encoded_bytes().utf8_chunks().next().map_or(0, |chunk| chunk.valid().len());
                ResourceError::NotText { path: path.join(name), offset }
            })?;
            if names.len() == MAX_ENTRIES {
                return Err(ResourceError::TooMany(path));
            }
            if !name.starts_with('.') {
                names.push(name);
            }
        }
        names.sort_unstable();
        Ok(names)
    }
}
