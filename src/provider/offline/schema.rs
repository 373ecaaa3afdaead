//! The database as far as tool results have shown it.

use serde::Deserialize;
use serde_json::Value;

use super::stem::singular;

/// A table's place in [`Schema::tables`].
pub(super) type TableId = usize;

/// A column: its table's place and its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Col {
    /// The table.
    pub table: TableId,
    /// The column's place in the table.
    pub column: usize,
}

/// A page of `list_tables`, as much of it as is needed.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct TablePage {
    /// How many there are in all.
    pub total: usize,
    /// This page.
    pub tables: Vec<Listed>,
    /// Where the next page starts.
    #[serde(default)]
    pub next_offset: Option<usize>,
}

/// One table of a page.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Listed {
    /// Its name.
    pub name: String,
    /// Its name ready for SQL.
    pub quoted: String,
    /// `table`, `view` or `virtual`.
    #[serde(default)]
    pub kind: String,
}

/// What `describe_table` tells, as much of it as is needed.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Described {
    /// The table's name.
    pub table: String,
    /// Its name ready for SQL.
    pub quoted: String,
    /// Its columns.
    pub columns: Vec<DescribedColumn>,
    /// Its foreign keys.
    #[serde(default)]
    pub foreign_keys: Vec<DescribedKey>,
    /// Foreign keys of other tables that point here.
    #[serde(default)]
    pub referenced_by: Vec<DescribedKey>,
}

/// One column as described.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct DescribedColumn {
    /// Its name.
    pub name: String,
    /// Its name ready for SQL.
    pub quoted: String,
    /// Its declared type.
    #[serde(rename = "type", default)]
    pub declared: String,
    /// Storage classes seen, most frequent first.
    #[serde(default)]
    pub storage: Vec<String>,
    /// Its position in the primary key, from 1.
    #[serde(default)]
    pub primary_key: u32,
    /// A few values.
    #[serde(default)]
    pub samples: Vec<Value>,
    /// Whether `samples` holds all values.
    #[serde(default)]
    pub samples_complete: bool,
}

/// One foreign key as described.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct DescribedKey {
    /// The columns that point.
    pub columns: Vec<String>,
    /// The other table.
    pub table: String,
    /// The columns pointed at.
    #[serde(default)]
    pub to: Vec<String>,
}

/// One table, with columns once it has been described.
#[derive(Clone, Debug)]
pub(super) struct Table {
    /// Its name.
    pub name: String,
    /// Its name ready for SQL.
    pub quoted: String,
    /// The words of its name, singular.
    pub words: Vec<String>,
    /// Its columns; empty until described.
    pub columns: Vec<Column>,
    /// Whether it has been described.
    pub described: bool,
    /// Whether it is a view, which mostly shows again what tables hold.
    pub view: bool,
    /// Names of tables that point here.
    pub referenced_by: Vec<String>,
    keys: Vec<DescribedKey>,
}

/// One column.
#[derive(Clone, Debug)]
pub(super) struct Column {
    /// What the tool said about it.
    pub about: DescribedColumn,
    /// The words of its name, singular and without `of`.
    pub words: Vec<String>,
}

/// A join: a column that points at another table's column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Key {
    /// The column that points.
    pub from: Col,
    /// What it points at.
    pub to: Col,
}

/// Everything known so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Schema {
    /// The tables, in the order listed.
    pub tables: Vec<Table>,
    /// Joins between them.
    pub keys: Vec<Key>,
}

impl Schema {
    /// The schema that these listings and descriptions show.
    pub(super) fn of(listed: &[Listed], described: &[Described]) -> Self {
        let mut tables: Vec<Table> = Vec::new();
        for entry in listed {
            if tables.iter().all(|known| known.name != entry.name) {
                tables.push(Table {
                    name: entry.name.clone(),
                    quoted: entry.quoted.clone(),
                    words: name_words(&entry.name),
                    columns: Vec::new(),
                    described: false,
                    view: entry.kind == "view",
                    referenced_by: Vec::new(),
                    keys: Vec::new(),
                });
            }
        }
        for entry in described {
            let Some(table) = tables.iter_mut().find(|known| known.name.eq_ignore_ascii_case(&entry.table)) else {
                continue;
            };
            table.described = true;
            table.quoted.clone_from(&entry.quoted);
            table.columns = entry
                .columns
                .iter()
                .map(|column| Column { about: column.clone(), words: name_words(&column.name) })
                .collect();
            table.keys.clone_from(&entry.foreign_keys);
            table.referenced_by = entry.referenced_by.iter().map(|key| key.table.clone()).collect();
        }
        for key in described.iter().flat_map(|entry| &entry.foreign_keys) {
            let Some(table) = tables.iter_mut().find(|known| known.name.eq_ignore_ascii_case(&key.table)) else {
                continue;
            };
            if let ([name], false, true) = (key.to.as_slice(), table.described, table.columns.is_empty()) {
                table.columns.push(Column::pointed_at(name));
            }
        }
        let mut schema = Self { tables, keys: Vec::new() };
        schema.keys = schema.find_keys();
        schema
    }

    /// A column.
    pub(super) fn column(&self, col: Col) -> &Column {
        &self.tables[col.table].columns[col.column]
    }

    /// The columns of a table.
    pub(super) fn columns(&self, table: TableId) -> impl Iterator<Item = Col> {
        (0..self.tables[table].columns.len()).map(move |column| Col { table, column })
    }

    /// `table.column`, as a person is told.
    pub(super) fn label(&self, col: Col) -> String {
        format!("{}.{}", self.tables[col.table].name, self.column(col).about.name)
    }

    /// The column with that label.
    pub(super) fn labelled(&self, label: &str) -> Option<Col> {
        (0..self.tables.len()).flat_map(|table| self.columns(table)).find(|&col| self.label(col) == label)
    }

    /// The single-column primary key.
    pub(super) fn primary_key(&self, table: TableId) -> Option<Col> {
        let mut parts = self.columns(table).filter(|&col| self.column(col).about.primary_key > 0);
        parts.next().filter(|_| parts.next().is_none())
    }

    /// What identifies a row: the primary key, else a column named `id` or `TABLE_id`.
    pub(super) fn identity(&self, table: TableId) -> Option<Col> {
        self.primary_key(table).or_else(|| {
            self.columns(table).find(|&col| {
                let words = &self.column(col).words;
                words.last().is_some_and(|last| last == "id")
                    && is_own(&words[..words.len() - 1], &self.tables[table].words)
            })
        })
    }

    /// The column that names a row for a person: `name`, `title`, the table's own name …, else the first text that is no key.
    pub(super) fn display(&self, table: TableId) -> Option<Col> {
        let own = &self.tables[table].words;
        let named = |wanted: &str| {
            self.columns(table).find(|&col| {
                let words = &self.column(col).words;
                words.last().is_some_and(|last| last == wanted) && is_own(&words[..words.len() - 1], own)
            })
        };
        ["name", "title", "label"]
            .into_iter()
            .find_map(named)
            .or_else(|| self.columns(table).find(|&col| self.column(col).words == *own))
            .or_else(|| {
                self.columns(table).find(|&col| {
                    let column = self.column(col);
                    column.words.last().is_some_and(|last| last == "name" || last == "title") && column.is_text()
                })
            })
    }

    /// Whether the column is a key: part of the primary key or pointing at another table.
    pub(super) fn is_key(&self, col: Col) -> bool {
        self.column(col).about.primary_key > 0 || self.keys.iter().any(|key| key.from == col)
    }

    /// Tables that keys join with those described.
    pub(super) fn neighbours(&self) -> Vec<TableId> {
        let mut names: Vec<&str> = Vec::new();
        for table in self.tables.iter().filter(|table| table.described) {
            names.extend(table.keys.iter().map(|key| key.table.as_str()));
            names.extend(table.referenced_by.iter().map(String::as_str));
        }
        (0..self.tables.len())
            .filter(|&table| names.iter().any(|name| name.eq_ignore_ascii_case(&self.tables[table].name)))
            .collect()
    }

    fn find_keys(&self) -> Vec<Key> {
        let mut keys = Vec::new();
        for (table, about) in self.tables.iter().enumerate() {
            for declared in about.keys.iter().filter(|key| key.columns.len() == 1) {
                let Some(from) = self.named(table, &declared.columns[0]) else { continue };
                let Some(other) = self.tables.iter().position(|known| known.name.eq_ignore_ascii_case(&declared.table))
                else {
                    continue;
                };
                let to = match declared.to.first() {
                    Some(name) => self.named(other, name),
                    None => self.primary_key(other),
                };
                keys.extend(to.map(|to| Key { from, to }));
            }
        }
        for table in 0..self.tables.len() {
            for col in self.columns(table) {
                if keys.iter().all(|key| key.from != col) {
                    keys.extend(self.implied(col).map(|to| Key { from: col, to }));
                }
            }
        }
        keys
    }

    /// Where `account_id` points when no key was declared: the identity of the table `accounts`.
    fn implied(&self, col: Col) -> Option<Col> {
        let words = &self.column(col).words;
        let (last, role) = words.split_last()?;
        if last != "id" || role.is_empty() || self.primary_key(col.table) == Some(col) {
            return None;
        }
        let mut others = (0..self.tables.len()).filter(|&other| other != col.table && self.tables[other].words == role);
        let other = others.next().filter(|_| others.next().is_none())?;
        self.identity(other)
    }

    /// The column of that name.
    pub(super) fn named(&self, table: TableId, name: &str) -> Option<Col> {
        self.columns(table).find(|&col| self.column(col).about.name.eq_ignore_ascii_case(name))
    }
}

impl Column {
    /// All that a key tells about the column it points at, of a table that has not been described.
    fn pointed_at(name: &str) -> Self {
        Self {
            about: DescribedColumn {
                name: name.to_owned(),
                quoted: format!("\"{}\"", name.replace('"', "\"\"")),
                declared: String::new(),
                storage: Vec::new(),
                primary_key: 1,
                samples: Vec::new(),
                samples_complete: false,
            },
            words: name_words(name),
        }
    }

    /// Whether it holds text, by what was seen, else by what was declared.
    pub(super) fn is_text(&self) -> bool {
        if let Some(class) = self.about.storage.iter().find(|class| *class != "null") {
            class == "text"
        } else {
            let declared = self.about.declared.to_uppercase();
            ["CHAR", "TEXT", "CLOB"].iter().any(|part| declared.contains(part))
        }
    }

    /// Whether its texts are all numbers, as far as was seen.
    pub(super) fn is_numeric_text(&self) -> bool {
        let mut texts = self.about.samples.iter().filter_map(Value::as_str).peekable();
        texts.peek().is_some() && texts.all(|text| text.trim().parse::<f64>().is_ok())
    }

    /// Whether it holds texts and not one of those seen is a number.
    pub(super) fn is_wordy(&self) -> bool {
        let mut texts = self.about.samples.iter().filter_map(Value::as_str).peekable();
        self.is_text() && texts.peek().is_some() && texts.all(|text| text.trim().parse::<f64>().is_err())
    }

    /// Whether it holds numbers.
    pub(super) fn is_number(&self) -> bool {
        if let Some(class) = self.about.storage.iter().find(|class| *class != "null") {
            class == "integer" || class == "real"
        } else {
            let declared = self.about.declared.to_uppercase();
            ["INT", "REAL", "FLOA", "DOUB", "NUM", "DEC"].iter().any(|part| declared.contains(part))
        }
    }
}

/// Whether these words are none, or the table's own (`Singer` in `Singer_ID` of `singer`).
pub(super) fn is_own(words: &[String], table: &[String]) -> bool {
    words.is_empty() || words == table || (words.len() == 1 && table.last() == words.first())
}

/// The words of a name: cut at `_`, blanks and changes of case, in the singular, without `of` and `the`.
pub(super) fn name_words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut current = String::new();
    let mut before: Option<char> = None;
    for c in name.chars() {
        let lower_before = before.is_some_and(char::is_lowercase);
        if !c.is_alphanumeric() || (c.is_uppercase() && lower_before) {
            words.push(std::mem::take(&mut current));
        }
        if c.is_alphanumeric() {
            current.extend(c.to_lowercase());
        }
        before = Some(c);
    }
    words.push(current);
    words
        .into_iter()
        .filter(|word| !word.is_empty() && word != "of" && word != "the")
        .flat_map(|word| match word.as_str() {
            "fname" | "firstname" => vec!["first".to_owned(), "name".to_owned()],
            "lname" | "lastname" | "surname" => vec!["last".to_owned(), "name".to_owned()],
            _ => vec![word],
        })
        .map(|word| match word.as_str() {
            "num" | "nbr" | "cnt" => "number".to_owned(),
            "qty" => "quantity".to_owned(),
            "amt" => "amount".to_owned(),
            _ => singular(&word),
        })
        .collect()
}
