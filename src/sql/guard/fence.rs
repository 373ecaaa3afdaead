//! Takes one markdown fence off a text.

/// The text inside one markdown fence that surrounds the whole text; `None` when there is no such fence.
///
/// Models wrap SQL so out of habit. No query is changed by this: to SQLite a text that starts with a backtick starts
/// with a quoted name, which no statement does. The caller audits both texts.
pub fn strip_fence(text: &str) -> Option<&str> {
    let text = text.trim();
    let opened = text.trim_start_matches('`');
    let fence = text.get(..text.len() - opened.len()).filter(|fence| fence.len() >= MIN_BACKTICKS)?;
    let inside = opened.strip_suffix(fence).filter(|inside| !inside.ends_with('`'))?;
    let after_language = LANGUAGES.iter().find_map(|language| {
        let (head, rest) = inside.split_at_checked(language.len())?;
        (head.eq_ignore_ascii_case(language) && rest.starts_with(char::is_whitespace)).then_some(rest)
    });
    Some(after_language.unwrap_or(inside).trim())
}

/// What markdown calls a fence.
const MIN_BACKTICKS: usize = 3;

/// The words that name a language, not SQL's own first word.
const LANGUAGES: [&str; 3] = ["sqlite3", "sqlite", "sql"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_outer_fence_is_taken_off() {
        for fenced in [
            "```sql\nSELECT 1\n```",
            "```SQL\r\nSELECT 1\r\n```\r\n",
            "  ```sqlite\n\nSELECT 1```  ",
            "```\nSELECT 1\n```",
            "```sql SELECT 1 ```",
            "````sql\nSELECT 1\n````",
            "```SELECT 1```",
        ] {
            assert_eq!(strip_fence(fenced), Some("SELECT 1"), "{fenced:?}");
        }
        assert_eq!(strip_fence("```sql\nSELECT `a` FROM `t`\n```"), Some("SELECT `a` FROM `t`"));
        assert_eq!(strip_fence("```sql\n```sql\nSELECT 1\n```\n```"), Some("```sql\nSELECT 1\n```"));
    }

    #[test]
    fn anything_else_is_left_alone() {
        for text in [
            "",
            "`",
            "```",
            "``````",
            "SELECT 1",
            "SELECT '```sql' || '```'",
            "`SELECT 1`",
            "``SELECT 1``",
            "```sql\nSELECT 1",
            "SELECT 1\n```",
            "Here:\n```sql\nSELECT 1\n```",
            "```sql\nSELECT 1\n````",
            "```sql\nSELECT 1\n```\ndone",
        ] {
            assert_eq!(strip_fence(text), None, "{text:?}");
        }
    }
}
