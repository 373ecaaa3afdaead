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
    declines("how many enterprise-y accounts are there?", "enterprise");
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
