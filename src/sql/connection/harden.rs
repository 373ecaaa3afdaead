//! Turns an open connection into one that can only read.

use rusqlite::Connection;
use rusqlite::config::DbConfig;

use super::authorizer::Authorizer;
use super::limits::Limits;
use super::{regexp, text};

/// SQLite's switches, each as it must stand.
const SWITCHES: &[(DbConfig, bool)] = &[
    // No statement may damage the file on purpose, whatever else goes wrong.
    (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
    // The schema comes from the file and the file from anybody: its views may only call harmless functions.
    (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
    (DbConfig::SQLITE_DBCONFIG_WRITABLE_SCHEMA, false),
    (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
    (DbConfig::SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, false),
    (DbConfig::SQLITE_DBCONFIG_ENABLE_ATTACH_CREATE, false),
    (DbConfig::SQLITE_DBCONFIG_ENABLE_ATTACH_WRITE, false),
    // A misspelt "column" must be an error, not a string that quietly answers.
    (DbConfig::SQLITE_DBCONFIG_DQS_DML, false),
    (DbConfig::SQLITE_DBCONFIG_DQS_DDL, false),
    // Closing a connection that only read must not move the log into the file.
    (DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true),
    (DbConfig::SQLITE_DBCONFIG_RESET_DATABASE, false),
];

/// Everything that must hold before the file's schema is looked at.
pub(super) fn before_first_read(connection: &Connection, limits: &Limits) -> Result<(), Fault> {
    for &(switch, wanted) in SWITCHES {
        if connection.set_db_config(switch, wanted)? != wanted {
            return Err(Fault::NotInForce(format!("{switch:?}")));
        }
    }
    // A heap limit can be lowered but not raised, and holds for the whole process.
    let heap: i64 = connection.query_row(&format!("PRAGMA hard_heap_limit={}", limits.heap), [], |row| row.get(0))?;
    if heap <= 0 || heap > limits.heap {
        return Err(Fault::NotInForce("hard_heap_limit".into()));
    }
    set(connection, "query_only", 1)?;
    set(connection, "cell_size_check", 1)?;
    set(connection, "temp_store", 2)?;
    connection.pragma_update(None, "cache_size", -limits.cache_kib)?;
    Ok(())
}

/// Everything that needs the schema to have been read: the limits of a statement are tighter than those a schema was
/// written under, and a virtual table prepares writes of its own when it is first touched.
pub(super) fn after_first_read(connection: &mut Connection, limits: &Limits) -> Result<Authorizer, Fault> {
    text::register(connection, limits)?;
    regexp::register(connection, limits)?;
    touch_virtual_tables(connection)?;
    touch_lazy_files(connection)?;
    for (limit, wanted) in limits.for_sqlite() {
        connection.set_limit(limit, wanted)?;
        if connection.limit(limit)? > wanted {
            return Err(Fault::NotInForce(format!("{limit:?}")));
        }
    }
    let authorizer = Authorizer::default();
    let hook = authorizer.clone();
    connection.authorizer(Some(move |context: rusqlite::hooks::AuthContext<'_>| hook.answer(&context)))?;
    if connection.prepare("PRAGMA query_only=0").is_ok() {
        return Err(Fault::NotInForce("authorizer".into()));
    }
    authorizer.take_denial();
    Ok(authorizer)
}

/// Whether the one switch that a pragma could move still stands; asked after each reading.
pub(super) fn is_still_read_only(connection: &Connection) -> bool {
    connection.query_row("PRAGMA query_only", [], |row| row.get(0)).is_ok_and(|on: bool| on)
}

/// Why the hardening failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum Fault {
    #[error("{0} is not in force")]
    NotInForce(String),
    #[error(transparent)]
    Sqlite(#[from] rusqlite::Error),
}

fn set(connection: &Connection, pragma: &'static str, wanted: i64) -> Result<(), Fault> {
    connection.pragma_update(None, pragma, wanted)?;
    let now: i64 = connection.pragma_query_value(None, pragma, |row| row.get(0))?;
    if now == wanted { Ok(()) } else { Err(Fault::NotInForce(pragma.into())) }
}

/// Prepares a read of each virtual table. One that can't be read (an unknown module, damage) stays for whoever asks
/// for it, unless the file as a whole can't be read.
fn touch_virtual_tables(connection: &Connection) -> rusqlite::Result<()> {
    let mut statement =
        connection.prepare("SELECT name FROM pragma_table_list WHERE schema='main' AND type='virtual'")?;
    let names: Vec<String> = statement.query_map([], |row| row.get(0))?.filter_map(Result::ok).collect();
    for name in names {
        // The one place where a name becomes text: ours, from the schema, quoted, before anything from outside runs.
        let _ = connection.prepare(&format!("SELECT 1 FROM main.\"{}\"", name.replace('"', "\"\"")));
    }
    Ok(())
}

/// Has the files opened that SQLite and libc open late, while they still can be: the zone of local time, the seed of
/// the random numbers.
fn touch_lazy_files(connection: &Connection) -> rusqlite::Result<()> {
    connection.query_row("SELECT random(), datetime('now', 'localtime')", [], |_| Ok(()))
}
