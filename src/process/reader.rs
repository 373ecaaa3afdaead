//! The reader: opens the database, runs what it is sent, one thing at a time. It can do nothing else.

use crate::process::channel::{Channel, ChannelError};
use crate::process::descriptor::inherited_channel;
use crate::process::message::{FromReader, ReaderReady, ReaderRefused, ToReader, Unusable};
use crate::process::role::RoleArguments;
use crate::sandbox::{Grants, Role, lock_down};
use crate::sql::connection::{Database, Hide, Limits, OpenError};
use crate::sql::gate::RefusalKind;
use crate::sql::hints;

/// Runs a reader until the supervisor is gone.
pub(crate) fn run(arguments: &RoleArguments) -> Result<(), ChannelError> {
    let mut channel = Channel::blocking(inherited_channel()?);
    let grants = Grants {
        database: arguments.database_directories.clone(),
        belts: arguments.belts.clone(),
        ..Grants::default()
    };
    let report = match lock_down(Role::Reader, &grants, arguments.strictness) {
        Ok(report) => report,
        Err(error) => return channel.send(&FromReader::Refused(ReaderRefused::Sandbox(error.to_string()))),
    };
    if let Some(order) = &arguments.trial {
        // The same as below, but for what it waits for: its database is open when it attempts what it is told.
        let _open = Database::open(&arguments.database, &Limits::default());
        return channel.send(&order.obey(&arguments.database)?);
    }
    let Some(hide) = begin(&mut channel)? else { return Ok(()) };
    let mut database = match Database::open_hiding(&arguments.database, &Limits::default(), &hide) {
        Ok(database) => database,
        Err(error) => {
            let unusable = Unusable { reason: error.to_string(), refusal: hints::database_refusal(&error) };
            let hides_nothing = matches!(error, OpenError::NothingToHide(_));
            let refused = if hides_nothing { ReaderRefused::Hide(unusable) } else { ReaderRefused::Database(unusable) };
            return channel.send(&FromReader::Refused(refused));
        }
    };
    let ready = ReaderReady { report, database: database.identity().clone(), hidden: database.hidden() };
    channel.send(&FromReader::Ready(Box::new(ready)))?;
    serve(&mut channel, &mut database)
}

/// Waits for the first message; none when the supervisor is gone, or says something else first.
fn begin(channel: &mut Channel) -> Result<Option<Hide>, ChannelError> {
    loop {
        match channel.receive() {
            Ok(messages) => match messages.into_iter().next() {
                Some(ToReader::Begin { hide }) => return Ok(Some(hide)),
                Some(ToReader::Run { .. }) => return Ok(None),
                None => {}
            },
            Err(ChannelError::Closed) => return Ok(None),
            Err(error) => return Err(error),
        }
    }
}

fn serve(channel: &mut Channel, database: &mut Database) -> Result<(), ChannelError> {
    loop {
        let messages = match channel.receive() {
            Ok(messages) => messages,
            Err(ChannelError::Closed) => return Ok(()),
            Err(error) => return Err(error),
        };
        for message in messages {
            // What is hidden was settled before the database was opened: a second word on it ends the reader.
            let ToReader::Run { id, errand, settings } = message else { return Ok(()) };
            let before = database.identity().clone();
            let outcome = errand.run(database, &settings);
            if *database.identity() != before {
                channel.send(&FromReader::Changed(Box::new(database.identity().clone())))?;
            }
            let failed = matches!(&outcome, Err(refusal) if refusal.kind == RefusalKind::Database);
            channel.send(&FromReader::Done { id, outcome })?;
            if failed && matches!(database.refresh(), Err(OpenError::NothingToHide(_))) {
                // The next reader tells the supervisor what is missing; those who ask must not learn the name.
                return Ok(());
            }
        }
    }
}
