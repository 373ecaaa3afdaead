//! The reader: opens the database, runs what it is sent, one thing at a time. It can do nothing else.

use crate::process::channel::{Channel, ChannelError};
use crate::process::descriptor::inherited_channel;
use crate::process::message::{FromReader, ReaderReady, ReaderRefused, ToReader};
use crate::process::role::RoleArguments;
use crate::sandbox::{Grants, Role, lock_down};
use crate::sql::connection::{Database, Limits};

/// Runs a reader until the supervisor is gone.
pub(crate) fn run(arguments: &RoleArguments) -> Result<(), ChannelError> {
    let mut channel = Channel::blocking(inherited_channel()?);
    let grants = Grants { database: arguments.database_directories.clone(), ..Grants::default() };
    let report = match lock_down(Role::Reader, &grants, arguments.strictness) {
        Ok(report) => report,
        Err(error) => return channel.send(&FromReader::Refused(ReaderRefused::Sandbox(error.to_string()))),
    };
    let mut database = match Database::open(&arguments.database, &Limits::default()) {
        Ok(database) => database,
        Err(error) => return channel.send(&FromReader::Refused(ReaderRefused::Database(error.to_string()))),
    };
    let ready = ReaderReady { report, database: database.identity().clone() };
    channel.send(&FromReader::Ready(Box::new(ready)))?;
    serve(&mut channel, &mut database)
}

fn serve(channel: &mut Channel, database: &mut Database) -> Result<(), ChannelError> {
    loop {
        let messages = match channel.receive() {
            Ok(messages) => messages,
            Err(ChannelError::Closed) => return Ok(()),
            Err(error) => return Err(error),
        };
        for message in messages {
            let ToReader::Run { id, errand, settings } = message;
            let before = database.identity().clone();
            let outcome = errand.run(database, &settings);
            if *database.identity() != before {
                channel.send(&FromReader::Changed(Box::new(database.identity().clone())))?;
            }
            channel.send(&FromReader::Done { id, outcome })?;
        }
    }
}
