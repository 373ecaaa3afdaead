//! Other databases' SQL, said in SQLite's: one table from what SQLite complains about to what to write.

use regex::RegexBuilder;

/// One habit of another dialect.
struct Habit {
    /// What SQLite's message holds; empty where the text alone tells.
    message: &'static str,
    /// What the statement holds: a regular expression, any case.
    text: &'static str,
    /// What to write.
    write: &'static str,
}

const fn habit(message: &'static str, text: &'static str, write: &'static str) -> Habit {
    Habit { message, text, write }
}

const MONTH: &str = "For the month write strftime('%Y-%m', x), for the year strftime('%Y', x), for the start of the month \
    date(x, 'start of month').";
const NOW: &str = "For the present moment write datetime('now'), for today date('now').";
const PARTS: &str = "For a part of a date write CAST(strftime('%Y', x) AS INTEGER): %Y year, %m month, %d day, %H hour, \
    %w weekday (0 is Sunday).";
const SHIFT: &str = "To shift a date write date(x, '-1 month'), date(x, '+7 days'); go to 'start of month' first when you \
    shift months.";
const DAYS: &str = "For days between two dates write julianday(a) - julianday(b).";
const FORMAT: &str = "To format a date write strftime('%Y-%m-%d', x); for a number printf('%.2f', x).";
const PARSE: &str = "Dates are text like '2026-06-30' here: compare them as text, or write date(x).";
const LIKE: &str = "Write LIKE: it ignores case already (for ASCII letters).";
const COALESCE: &str = "Write coalesce(x, y); to test for NULL write x IS NULL.";
const LIMIT: &str = "Write LIMIT n at the end of the statement.";
const FIRST_PER_GROUP: &str = "Number the rows in a subquery with row_number() OVER (PARTITION BY … ORDER BY …) AS n and \
    filter it outside with WHERE n = 1.";
const ROLLUP: &str = "Write one SELECT with GROUP BY for each level and join them with UNION ALL.";
const POSITION: &str = "For the place of a text in another write instr(text, part).";
const SPREAD: &str = "For the standard deviation write sqrt(avg(x * x) - avg(x) * avg(x)); add 1.0 * to integers.";
const PATTERN: &str = "For patterns write x LIKE '%part%' or x GLOB '*part*'.";
const GREATEST: &str = "With several arguments write max(a, b) or min(a, b); with one they are aggregates.";
const COLLECT: &str = "Write group_concat(x, ', ') or json_group_array(x).";
const SERIES: &str =
    "Write WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10) SELECT i FROM n.";

/// The first that fits counts, so the particular stand before the general.
const HABITS: &[Habit] = &[
    habit("no such function: date_trunc", "", MONTH),
    habit("no such function: last_day", "", "Write date(x, 'start of month', '+1 month', '-1 day')."),
    habit("no such function: eomonth", "", "Write date(x, 'start of month', '+1 month', '-1 day')."),
    habit(
        "no such column: ",
        r"\b(datediff|date_diff|timestampdiff)\s*\(\s*(second|minute|hour|day|week|month|quarter|year)",
        DAYS,
    ),
    habit(
        "no such column: ",
        r"\b(dateadd|timestampadd)\s*\(\s*(second|minute|hour|day|week|month|quarter|year)",
        SHIFT,
    ),
    habit("", r"\bdatediff\s*\(|\bdate_diff\s*\(|\btimestampdiff\s*\(", DAYS),
    habit("", r"\bdate_?(add|sub)\s*\(|\badd_months\s*\(|\btimestampadd\s*\(", SHIFT),
    habit("", r"\bextract\s*\(\s*\w+\s+from\b|\bdate_?part\s*\(", PARTS),
    habit("", r"\binterval\s+('|\d|\w+\s+(day|week|month|year)s?\b)", SHIFT),
    habit("", r"\b(date|timestamp|datetime)\s+'", "Leave the type before the text out: '2026-06-30'."),
    habit("no such function: ", r"\b(now|getdate|sysdate|curdate|current_timestamp|today|localtimestamp)\s*\(", NOW),
    habit("no such column: sysdate", "", NOW),
    habit(
        "no such function: ",
        r"\b(year|month|day|hour|minute|week|quarter|weekday|dayofweek|monthname|dayname)\s*\(",
        PARTS,
    ),
    habit("no such function: ", r"\b(date_format|to_char|format_date|to_varchar)\s*\(", FORMAT),
    habit(
        "no such function: ",
        r"\b(to_date|str_to_date|to_timestamp|parse_date|safe_cast|from_iso8601_date)\s*\(",
        PARSE,
    ),
    habit(
        "no such function: ",
        r"\b(from_unixtime|to_unixtime|unix_timestamp)\s*\(",
        "For seconds since 1970 write unixepoch(x); back again datetime(x, 'unixepoch').",
    ),
    habit("", r"\bilike\b", LIKE),
    habit("unrecognized token: \":\"", "::", "Write CAST(x AS INTEGER), CAST(x AS REAL) or CAST(x AS TEXT)."),
    habit("near \":\"", "::", "Write CAST(x AS INTEGER), CAST(x AS REAL) or CAST(x AS TEXT)."),
    habit("", r"\bselect\s+(distinct\s+)?top\s*\(?\s*\d", LIMIT),
    habit("syntax error", r"\bfetch\s+(first|next)\b|\blimit\s+\d+\s+percent\b", LIMIT),
    habit("syntax error", r"\bqualify\b", FIRST_PER_GROUP),
    habit("", r"\bdistinct\s+on\s*\(", FIRST_PER_GROUP),
    habit("", r"\b(isnull|nvl)\s*\(", COALESCE),
    habit(
        "wrong number of arguments to function count",
        r"count\s*\(\s*distinct\b",
        "Write SELECT count(*) FROM (SELECT DISTINCT a, b FROM …).",
    ),
    habit(
        "DISTINCT aggregates must have exactly one argument",
        r"count\s*\(\s*distinct\b",
        "Write SELECT count(*) FROM (SELECT DISTINCT a, b FROM …).",
    ),
    habit(
        "DISTINCT aggregates must have exactly one argument",
        "",
        "Write group_concat(x) over a subquery that selects DISTINCT x.",
    ),
    habit("", r"\b(with\s+rollup|rollup\s*\(|cube\s*\(|grouping\s+sets)", ROLLUP),
    habit(
        "",
        r"\b(lateral|(cross|outer)\s+apply)\b",
        "Write a correlated subquery in the SELECT list, or a CTE with row_number() that you join.",
    ),
    habit("syntax error", r"\bpivot\s*\(", "Write one sum(CASE WHEN x = 'a' THEN y END) for each column."),
    habit("syntax error", r"\bsimilar\s+to\b|\brlike\b|\s!?~\*?\s*'", PATTERN),
    habit("no such function: ", r"\bregexp_\w+\s*\(|\bcontains\s*\(|\bstarts_?with\s*\(|\bends_?with\s*\(", PATTERN),
    habit(
        "syntax error",
        r"\b(left|right)\s*\(",
        "Write substr(x, 1, n) for the first n characters, substr(x, -n) for the last.",
    ),
    habit(
        "no such function: ",
        r"\b(left|right)\s*\(",
        "Write substr(x, 1, n) for the first n characters, substr(x, -n) for the last.",
    ),
    habit("no such function: ", r"\b(len|char_length|character_length|datalength)\s*\(", "Write length(x)."),
    habit("", r"\b(charindex|strpos|locate)\s*\(|\bposition\s*\(\s*'[^']*'\s+in\b", POSITION),
    habit(
        "no such function: ",
        r"\b(split_part|split|string_split|substring_index)\s*\(",
        "For a part before a separator write substr(x, 1, instr(x, '-') - 1).",
    ),
    habit("no such function: ", r"\b(stddev\w*|stdev\w*|variance|var_(pop|samp))\s*\(", SPREAD),
    habit("no such function: ", r"\b(greatest|least)\s*\(", GREATEST),
    habit("no such function: ", r"\b(array_agg|listagg|collect_list)\s*\(", COLLECT),
    habit("no such table", r"\b(generate_series|unnest)\s*\(", SERIES),
    habit(
        "no such function: ",
        r"\b(try_cast|convert|to_number|decode)\s*\(",
        "Write CAST(x AS INTEGER) or CAST(x AS REAL), and CASE WHEN … THEN … END for a choice.",
    ),
    habit("no such function: any_value", "", "Write min(x): in a group of equal values it is that value."),
    habit(
        "no such function: ",
        r"\b(count_?if|sum_?if|approx_count_distinct)\s*\(",
        "Write count(*) FILTER (WHERE …), sum(x) FILTER (WHERE …), or count(DISTINCT x).",
    ),
    habit("no such function: rand", "", "Write random()."),
    habit("syntax error", r"\bdiv\b", "Write a / b: between integers it is whole, with 1.0 * a it is not."),
    habit(
        "syntax error",
        r"\bfrom\s+dual\b|\bnolock\b|\bwith\s*\(",
        "Leave the table hint out: write FROM table alone.",
    ),
    habit(
        "syntax error",
        r"\b(is\s+not\s+|is\s+)?(any|all|some)\s*\(",
        "Write x IN (…) or a comparison with (SELECT max(…) …).",
    ),
    habit("ambiguous column name", "", "Put the table's name or alias before the column: t.column."),
    habit(
        "misuse of aggregate",
        "",
        "An aggregate can't stand in WHERE, GROUP BY or inside another one: filter with HAVING, or aggregate in a subquery.",
    ),
    habit("misuse of window function", "", "Compute the window function in a subquery and filter or group outside."),
    habit("integer overflow", "", "The sum is beyond 64 bits: write sum(CAST(x AS REAL)) or total(x)."),
    habit("do not have the same number of result columns", "", "Give every SELECT of the UNION as many columns."),
    habit("sub-select returns", "", "Select one column inside IN (…) or a comparison."),
    habit("may not be used as a table-valued function", "", "Select from a table or view that list_tables shows."),
    habit("LIKE or GLOB pattern too complex", "", "Write a shorter pattern."),
    habit("malformed JSON", "", "Some values are not JSON: add WHERE json_valid(x)."),
    habit("syntax error", r"=\s*=\s*=|&&|\|\|\s*\(", "Write AND, OR, = and <>."),
    habit(
        "no such function: ",
        "",
        "SQLite has no such function: use its own (strftime, date, substr, instr, coalesce, iif, round, total, printf …).",
    ),
];

/// What to write instead, if the complaint comes from a habit of another dialect.
pub(super) fn hint(message: &str, sql: &str) -> Option<&'static str> {
    let message = message.to_ascii_lowercase();
    // Where a name is missing, the rest of the text is no clue: only what fits that message counts.
    let name_missing = message.starts_with("no such table") || message.starts_with("no such column");
    let code = without_strings(sql);
    HABITS
        .iter()
        .filter(|habit| !(name_missing && habit.message.is_empty()))
        .find(|habit| message.contains(&habit.message.to_ascii_lowercase()) && fits(habit.text, &code))
        .map(|habit| habit.write)
}

/// The text with every string empty, so that what a string says is not taken for SQL.
fn without_strings(sql: &str) -> String {
    sql.split('\'').step_by(2).collect::<Vec<_>>().join("''")
}

fn fits(pattern: &str, sql: &str) -> bool {
    pattern.is_empty()
        || RegexBuilder::new(pattern).case_insensitive(true).build().is_ok_and(|pattern| pattern.is_match(sql))
}
