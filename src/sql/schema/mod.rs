//! Belt 3: the live schema, looked up by name and never interpolated.
//!
//! A name from outside is only ever bound as a parameter. What goes into a statement's text is the spelling that the
//! schema itself gave back, quoted ([`TableName::quoted`]).

mod count;
mod describe;
mod keys;
mod list;
mod name;
mod nearest;
mod profile;
mod quote;

pub use count::CountBudget;
pub use describe::{DescribeOptions, describe};
pub use list::{LARGEST_PAGE, list};
pub use name::TableName;
pub(in crate::sql) use name::{text, text_or_null};
pub(crate) use name::{visible_columns, visible_tables};
pub use nearest::nearest;
pub use quote::quote;
