//! Every function a statement may call.

/// The list, in byte order. A function that isn't on it is refused, so a later SQLite brings none in by itself.
#[rustfmt::skip]
pub const ALLOWED: &[&str] = &[
    "->", "->>", "abs", "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "avg", "bm25", "ceil", "ceiling",
    "char", "coalesce", "concat", "concat_ws", "cos", "cosh", "count", "cume_dist", "current_date", "current_time",
    "current_timestamp", "date", "datetime", "degrees", "dense_rank", "exp", "first_value", "floor", "format", "glob",
    "group_concat", "hex", "highlight", "if", "ifnull", "iif", "instr", "json", "json_array", "json_array_insert",
    "json_array_length", "json_error_position", "json_extract", "json_group_array", "json_group_object",
    "json_insert", "json_object", "json_pretty", "json_quote", "json_remove", "json_replace", "json_set", "json_type",
    "json_valid", "jsonb", "jsonb_array", "jsonb_array_insert", "jsonb_extract", "jsonb_group_array",
    "jsonb_group_object", "jsonb_insert", "jsonb_object", "jsonb_remove", "jsonb_replace", "jsonb_set", "julianday",
    "lag", "last_value", "lead", "length", "like", "likelihood", "likely", "ln", "log", "log10", "log2", "lower",
    "ltrim", "match", "matchinfo", "max", "median", "min", "mod", "nth_value", "ntile", "nullif", "octet_length",
    "offsets", "percent_rank", "percentile", "percentile_cont", "percentile_disc", "pi", "pow", "power", "printf",
    "quote", "radians", "random", "rank", "regexp", "replace", "round", "row_number", "rtrim", "sign", "sin", "sinh",
    "snippet", "soundex", "sqlite_version", "sqrt", "strftime", "string_agg", "substr", "substring", "sum", "tan",
    "tanh", "time", "timediff", "total", "trim", "trunc", "typeof", "unicode", "unixepoch", "unlikely", "upper",
];

/// Whether a function may be called; names are compared as SQLite compares them.
pub(super) fn is_allowed(name: &str) -> bool {
    ALLOWED.binary_search(&name.to_ascii_lowercase().as_str()).is_ok()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// What this build has and nobody may call, with the reason.
    const REFUSED: &[(&str, &str)] = &[
        ("changes", "tells of writes, of which there are none"),
        ("fts3_tokenizer", "takes and gives pointers"),
        ("fts5", "gives a pointer"),
        ("fts5_get_locale", "for writers of tokenizers"),
        ("fts5_insttoken", "for writers of tokenizers"),
        ("fts5_locale", "for writers"),
        ("fts5_source_id", "tells the build"),
        ("json_patch", "compares each key with each: minutes in one call that no deadline reaches"),
        ("jsonb_patch", "as json_patch"),
        ("last_insert_rowid", "tells of writes, of which there are none"),
        ("optimize", "writes to a full-text index"),
        ("randomblob", "memory for nothing"),
        ("rtreecheck", "reads a whole index in one call"),
        ("rtreedepth", "parses a blob that the caller makes up"),
        ("rtreenode", "parses a blob that the caller makes up"),
        ("sqlite_compileoption_get", "tells the build"),
        ("sqlite_compileoption_used", "tells the build"),
        ("sqlite_log", "writes to the program's log"),
        ("sqlite_source_id", "tells the build"),
        ("subtype", "tells SQLite's insides"),
        ("total_changes", "tells of writes, of which there are none"),
        ("unhex", "compares each byte with each: minutes in one call that no deadline reaches"),
        ("unistr", "escapes for dumps"),
        ("unistr_quote", "escapes for dumps"),
        ("zeroblob", "memory for nothing"),
    ];

    #[test]
    fn each_function_of_this_build_is_either_allowed_or_refused_for_a_reason() {
        let connection = rusqlite::Connection::open_in_memory().unwrap();
        let mut statement = connection.prepare("SELECT DISTINCT name FROM pragma_function_list").unwrap();
        let built: BTreeSet<String> = statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
        let refused: BTreeSet<&str> = REFUSED.iter().map(|&(name, _)| name).collect();
        let listed: BTreeSet<String> =
            ALLOWED.iter().chain(&refused).filter(|name| **name != "regexp").map(ToString::to_string).collect();
        assert_eq!(built, listed);
        assert!(refused.iter().all(|name| !is_allowed(name)));
    }

    #[test]
    fn the_list_is_in_order_and_found_in_any_case() {
        assert!(ALLOWED.is_sorted());
        assert!(is_allowed("SUM") && is_allowed("->>") && !is_allowed("LOAD_EXTENSION"));
    }
}
