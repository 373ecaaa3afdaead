//! Findings: what a model or a person chose to keep, one JSON object a line, append only.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::Serialize;

use crate::sql::gate::Finding;

/// The file's name in the output directory.
pub const FILE: &str = "findings.jsonl";

/// The findings file, open for appending.
#[derive(Debug)]
pub struct Findings {
    file: File,
    path: PathBuf,
}

/// The findings can't be kept.
#[derive(Debug, thiserror::Error)]
#[error("the findings file {path} can't be written: {source}. Make room there, or name another directory with --out")]
pub struct FindingsError {
    path: String,
    source: io::Error,
}

#[derive(Serialize)]
struct Line<'a> {
    time: String,
    question: Option<&'a str>,
    finding: &'a str,
    sql: &'a str,
    /// The audit record of the query that shows it.
    query_seq: u64,
    /// The audit record of the finding.
    audit_seq: u64,
}

impl Findings {
    /// Opens the file in this directory, making it if needed; readable by its owner only.
    pub fn open(directory: &Path) -> Result<Self, FindingsError> {
        let path = directory.join(FILE);
        let failed = |source| FindingsError { path: path.display().to_string(), source };
        // Not through a link to another file, and not into a pipe, where opening would wait for a reader.
        let file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .mode(0o600)
            .custom_flags(nix::libc::O_NOFOLLOW | nix::libc::O_NONBLOCK)
            .open(&path)
            .map_err(failed)?;
        if !file.metadata().map_err(failed)?.is_file() {
            return Err(failed(io::Error::other("it is not a file")));
        }
        // A link to somebody's file, the database for example, must not be added to.
        let mut first = [0];
        if file.read_at(&mut first, 0).map_err(failed)? == 1 && first != *b"{" {
            return Err(failed(io::Error::other("it holds something else; move it away")));
        }
        Ok(Self { file, path })
    }

    /// Appends one finding and waits until it is on disk.
    pub fn append(
        &mut self,
        question: Option<&str>,
        finding: &Finding,
        sql: &str,
        audit_seq: u64,
    ) -> Result<(), FindingsError> {
        let line = Line {
            time: Timestamp::now().to_string(),
            question,
            finding: &finding.finding,
            sql,
            query_seq: finding.audit_seq,
            audit_seq,
        };
        let write = || -> io::Result<()> {
            let mut bytes = serde_json::to_vec(&line)?;
            bytes.push(b'\n');
            (&self.file).write_all(&bytes)?;
            self.file.sync_data()
        };
        write().map_err(|source| FindingsError { path: self.path.display().to_string(), source })
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_file_that_holds_something_else_is_not_added_to() {
        let directory = tempfile::tempdir().unwrap();
        let (path, other) = (directory.path().join(FILE), directory.path().join("replica.db"));
        std::fs::write(&other, b"SQLite format 3\0").unwrap();
        std::fs::hard_link(&other, &path).unwrap();
        assert!(Findings::open(directory.path()).is_err());
    }

    #[test]
    fn a_finding_is_one_line_with_its_query_and_readable_by_its_owner_only() {
        let directory = tempfile::tempdir().unwrap();
        let mut findings = Findings::open(directory.path()).unwrap();
        let finding = Finding { finding: "two\nlines".into(), audit_seq: 4 };
        findings.append(Some("why?"), &finding, "SELECT 1", 6).unwrap();
        let path = directory.path().join(FILE);
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text.lines().count(), 1);
        let line: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(line["query_seq"], 4);
        assert_eq!(line["audit_seq"], 6);
        assert_eq!(line["sql"], "SELECT 1");
        assert_eq!(std::fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o600);
    }
}
