//! Where a reader may open files.

use std::io;
use std::path::{Path, PathBuf};

use crate::process::supervisor::SupervisorError;

/// The directories a reader may open files in: the one the database is named in and, through links, the one it lies in.
pub(in crate::process) fn database_directories(database: &Path) -> Result<Vec<PathBuf>, SupervisorError> {
    let unusable = |error: io::Error| {
        let shown = database.display();
        let reason = if error.kind() == io::ErrorKind::NotFound && database.is_symlink() {
            format!("{shown} is a link to a file that does not exist: check that the replica was published")
        } else {
            format!(
                "the database {shown} can't be opened: {error}. Name an existing SQLite file with --db, or make the \
                 sample with `pi-sql sample PATH`"
            )
        };
        SupervisorError::Database(reason)
    };
    let resolved = std::fs::canonicalize(database).map_err(unusable)?;
    // Roles are told their paths as JSON.
    if [database, resolved.as_path()].iter().any(|path| path.to_str().is_none()) {
        let shown = database.display();
        let reason =
            format!("the path {shown} is not UTF-8, or leads to one that isn't: rename the file or its directory");
        return Err(SupervisorError::Database(reason));
    }
    let mut directories = Vec::new();
    for path in [database, resolved.as_path()] {
        let parent = match path.parent() {
            Some(parent) if parent.as_os_str().is_empty() => Path::new("."),
            Some(parent) => parent,
            None => continue,
        };
        let parent = std::fs::canonicalize(parent).map_err(unusable)?;
        if !directories.contains(&parent) {
            directories.push(parent);
        }
    }
    Ok(directories)
}
