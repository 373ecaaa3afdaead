//! What the planner does not know it says, and it never guesses.

use super::{ask, database, play};
use crate::session::Message;

#[track_caller]
fn declines(question: &str, part: &str) {
    let text = ask(&database(), question).text;
    assert!(text.starts_with("CANNOT:") && text.contains(part), "{question}: {text}");
}

#[test]
fn an_unknown_word_is_named() {
    declines("how many enterprise-y accounts are there?", "what “enterprise-y” means");
    declines("How many suppliers are there?", "suppliers");
    declines("How many customers like football?", "like");
    declines("What is the average weight of products?", "weight");
    declines("How many accounts churned angrily in June 2026?", "angrily");
    declines("How many customers in Atlantis?", "Atlantis");
}

#[test]
fn what_it_can_not_do_is_not_half_done() {
    declines("What percentage of customers are from France?", "percentage");
    declines("Why did accounts churn in June 2026?", "Why");
    declines("What is the average title of products?", "no numbers");
    declines("", "no question");
    declines("☃☃☃", "☃");
    declines("delete all customers", "delete");
    declines(&"how many customers ".repeat(200), "too long");
}

#[test]
fn another_tables_column_is_not_taken_for_ones_own() {
    let connection = rusqlite::Connection::open_in_memory().unwrap();
    connection
        .execute_batch(
            "CREATE TABLE departments (id INTEGER PRIMARY KEY, name TEXT);
             CREATE TABLE employees (id INTEGER PRIMARY KEY, first_name TEXT, last_name TEXT, department_id INTEGER);",
        )
        .unwrap();
    let text = ask(&connection, "What is the name of the employee with id 3?").text;
    assert!(text.starts_with("CANNOT: employees has no column"), "{text}");
    declines("Who signed up most recently?", "");
}

#[test]
fn two_readings_are_asked_about() {
    let text = ask(&database(), "how many leases in June 2026?").text;
    assert!(text.starts_with("ASK:"), "{text}");
}

#[test]
fn without_todays_date_it_asks_for_dates() {
    let played = play(&database(), vec![Message::user("how many orders last month?")], "You answer.");
    assert!(played.text.starts_with("CANNOT:") && played.text.contains("today"), "{}", played.text);
}

#[test]
fn a_query_that_fails_is_said_to_have_failed() {
    let connection = database();
    let played = ask(&connection, "How many customers are there?");
    connection.execute_batch("ALTER TABLE customers RENAME TO clients").unwrap();
    let mut messages = played.messages;
    messages.push(Message::user("How many customers are from France?"));
    let text = play(&connection, messages, "").text;
    assert!(text.starts_with("CANNOT:") && text.contains("no such table"), "{text}");
}

#[test]
fn it_is_stateless_and_replays_the_same() {
    let connection = database();
    let (first, second) =
        (ask(&connection, "How many orders per status?"), ask(&connection, "How many orders per status?"));
    assert_eq!((first.text, first.trail), (second.text, second.trail));
}

#[test]
fn and_is_not_guessed_where_it_can_not_hold() {
    declines("How many accounts churned in June 2026 and July 2026?", "and");
    declines("How many customers are from France and Spain?", "and");
    declines("How many customers are from France or older than 30 and have an email?", "");
}

#[test]
fn a_number_of_amounts_may_be_their_total() {
    let connection = database();
    let first = ask(&connection, "How many quantity are in order items?");
    assert!(
        first.text.starts_with("ASK:") && first.text.contains("- the total of order_items.quantity"),
        "{}",
        first.text
    );
    let mut messages = first.messages;
    messages.push(Message::user("1"));
    let second = play(&connection, messages, "");
    assert_eq!(second.trail, ["run_query(SELECT SUM(quantity) FROM order_items)"]);
}

#[test]
fn a_first_place_that_several_share_is_asked_about() {
    let connection = database();
    connection.execute_batch("UPDATE products SET price = 150.5 WHERE id = 3").unwrap();
    let first = ask(&connection, "How many order items are there for the product with the highest price?");
    assert!(first.text.starts_with("ASK:") && first.text.contains("- all of them together"), "{}", first.text);
    let mut messages = first.messages;
    messages.push(Message::user("all of them together"));
    let second = play(&connection, messages, "");
    assert_eq!(second.text, "There are 4 order items for the product with the highest price.");
}

/// Members with a desk for a while: a desk is taken from a day until it is given back, or is still taken.
const DESKS: &str = "CREATE TABLE members (id INTEGER PRIMARY KEY, name TEXT);
    CREATE TABLE rooms (id INTEGER PRIMARY KEY, name TEXT);
    CREATE TABLE rentals (id INTEGER PRIMARY KEY, member_id INTEGER REFERENCES members(id), room_id INTEGER REFERENCES rooms(id),
        desks INTEGER, started_on TEXT, ended_on TEXT);
    INSERT INTO members VALUES (1, 'Ada'), (2, 'Boris'), (3, 'Dan');
    INSERT INTO rooms VALUES (1, 'attic'), (2, 'cellar');
    INSERT INTO rentals VALUES (1, 1, 1, 9, '2025-01-01', '2025-06-01'), (2, 1, 2, 2, '2025-06-01', NULL),
        (3, 2, 1, 1, '2026-01-01', NULL);";

#[test]
fn rows_that_have_ended_are_never_silently_counted() {
    let connection = rusqlite::Connection::open_in_memory().unwrap();
    connection.execute_batch(DESKS).unwrap();
    for question in [
        "how many members are in the attic room?",
        "how many rentals have desks over 5?",
        "which member has the most desks?",
    ] {
        let text = ask(&connection, question).text;
        assert_eq!(
            text, "ASK: rentals: those running now, or ever (ended ones included)?\n- now\n- ever",
            "{question}"
        );
    }
    let first = ask(&connection, "how many members are in the attic room?");
    for (choice, told) in [
        ("now", "1 member is in the attic room (running now)."),
        ("2", "2 members are in the attic room (ever, ended ones included)."),
    ] {
        let mut messages = first.messages.clone();
        messages.push(Message::user(choice));
        assert_eq!(play(&connection, messages, "").text, told);
    }
    let now = ask(&connection, "how many members are currently in the attic room?").text;
    assert_eq!(now, "1 member is currently in the attic room (running now).");
    let never = ask(&connection, "how many members never had a rental?").text;
    assert_eq!(never, "1 member never had a rental.");
}

#[test]
fn existing_at_a_time_is_not_coming_about_in_it() {
    let first = ask(&database(), "how many accounts were there in February 2026?");
    assert_eq!(
        first.text,
        "ASK: accounts: created in that time, or by its end?\n- created in that time\n- created by its end"
    );
    let mut messages = first.messages;
    messages.push(Message::user("created by its end"));
    let second = play(&database(), messages, "");
    assert_eq!(second.trail, ["run_query(SELECT COUNT(*) FROM accounts WHERE created_at < '2026-03-01')"]);
    declines("how many accounts were there at the end of June 2026?", "at one moment");
    declines("how many leases were there as of June 2026?", "at one moment");
    declines("how many accounts did we have by 2026?", "at one moment");
}

#[test]
fn two_questions_are_not_answered_as_one() {
    declines("how many accounts are there? and how many products?", "one question at a time");
    declines("how many accounts and how many products are there?", "");
    declines("how many customers and products are there?", "one count at a time");
}

#[test]
fn a_period_after_the_datas_end_is_not_one_in_which_nothing_happened() {
    let text = ask(&database(), "how many accounts churned this month?").text;
    assert_eq!(text, "CANNOT: the data ends on 2026-07-01, so I can't tell about 2026-11-01 to 2026-11-30.");
    let text = ask(&database(), "how many accounts churned in September 2026?").text;
    assert_eq!(text, "CANNOT: the data ends on 2026-07-01, so I can't tell about 2026-09-01 to 2026-09-30.");
    let text = ask(&database(), "how many accounts churned in 2026?").text;
    assert_eq!(text, "3 accounts churned in 2026; the data ends on 2026-07-01.");
    let none = ask(&database(), "how many accounts churned in 2020?");
    assert_eq!(none.text, "No accounts churned in 2020.");
    assert!(none.trail.last().is_some_and(|last| last.contains("COUNT")), "{:?}", none.trail);
}
