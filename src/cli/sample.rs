//! `pi-sql sample PATH`: a database to try things on.

use std::io::Write as _;
use std::path::PathBuf;

use crate::cli::{ExitKind, Failure};
use crate::sql::sample::{self, SampleError};

/// Writes a sample database: two years of a small software company, the same bytes each time.
#[derive(Debug, clap::Args)]
pub(super) struct Sample {
    /// Where to write it.
    pub(super) path: PathBuf,
    /// Replace the file that is there.
    #[arg(long)]
    pub(super) force: bool,
}

/// Writes it, and says so on stderr.
pub(super) fn run(arguments: &Sample) -> Result<(), Failure> {
    sample::write(&arguments.path, arguments.force)?;
    // Nobody may be listening; the file is there all the same.
    let _ = writeln!(std::io::stderr(), "{} written: ask it something with --db", arguments.path.display());
    Ok(())
}

impl From<SampleError> for Failure {
    fn from(error: SampleError) -> Self {
        let kind = match error {
            SampleError::Exists(_) | SampleError::NotAFile { .. } | SampleError::Leftover(_) => ExitKind::Usage,
            SampleError::NoDirectory(_) | SampleError::Unwritable { .. } | SampleError::Sqlite { .. } => {
                ExitKind::Output
            }
        };
        Self::new(kind, error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(path: &std::path::Path) -> Option<ExitKind> {
        run(&Sample { path: path.to_owned(), force: false }).err().map(|failure| failure.kind())
    }

    #[test]
    fn a_taken_path_is_a_usage_error_and_an_unwritable_one_an_output_error() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("sample.db");
        assert_eq!(kind(&path), None);
        assert_eq!(kind(&path), Some(ExitKind::Usage));
        assert_eq!(kind(&directory.path().join("nowhere/sample.db")), Some(ExitKind::Output));
        assert_eq!(kind(std::path::Path::new("/proc/sample.db")), Some(ExitKind::Output));
    }
}
