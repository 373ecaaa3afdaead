//! Each class of question, with the answer and the SQL behind it.

use super::{ask, database, play};
use crate::session::Message;

#[track_caller]
fn says(question: &str, text: &str) {
    let played = ask(&database(), question);
    assert_eq!(played.text, text, "{question}: {:?}", played.trail);
}

#[track_caller]
fn asks_for(question: &str, sql: &str) {
    let played = ask(&database(), question);
    assert_eq!(
        played.trail.last().map(String::as_str),
        Some(format!("run_query({sql})").as_str()),
        "{question}: {}",
        played.text
    );
}

#[test]
fn the_first_question_takes_three_calls() {
    let played = ask(&database(), "how many accounts churned in June 2026?");
    assert_eq!(
        played.trail,
        [
            "list_tables()",
            "describe_table(events)",
            "run_query(SELECT COUNT(DISTINCT account_id) FROM events WHERE kind = 'churned' AND occurred_at >= '2026-06-01' \
             AND occurred_at < '2026-07-01')",
        ]
    );
    assert_eq!(played.text, "2 accounts churned in June 2026.");
}

#[test]
fn counts() {
    says("How many customers are there?", "There are 5 customers.");
    says("How many different countries are there?", "There are 4 different countries.");
    says("How many customers are from France?", "2 customers are from France.");
    says("how many customers are not from France", "3 customers are not from France.");
    says("How many customers have no email?", "2 customers have no email.");
    says("How many orders does Ada have?", "Ada has 3 orders.");
    says("Count the number of products.", "The number of products is 4.");
    says("How many shipped orders are there?", "There are 4 shipped orders.");
}

#[test]
fn aggregates() {
    says("What is the average price of products?", "The average price of products is 65.62.");
    says("What is the total quantity of order items?", "The total quantity of order items is 14.");
    says("What is the highest price?", "The highest price is 150.5.");
    asks_for(
        "What are the minimum and maximum age of customers from France?",
        "SELECT MIN(age), MAX(age) FROM customers WHERE country = 'France'",
    );
    says("What is the average age of customers older than 70?", "There are no rows to average with age > 70.");
}

#[test]
fn groups_and_having() {
    asks_for("How many customers are from each country?", "SELECT country, COUNT(*) FROM customers GROUP BY country");
    asks_for("average price per category", "SELECT category, AVG(price) FROM products GROUP BY category");
    asks_for(
        "Which categories have at least 2 products?",
        "SELECT category FROM products GROUP BY category HAVING COUNT(*) >= 2",
    );
    asks_for(
        "Show the names of customers and the number of orders of each customer.",
        "SELECT t1.name, COUNT(*) FROM customers AS t1 JOIN orders AS t2 ON t1.id = t2.customer_id GROUP BY t1.id",
    );
    asks_for(
        "How many orders per month in 2026?",
        "SELECT strftime('%Y-%m', ordered_on), COUNT(*) FROM orders WHERE ordered_on >= '2026-01-01' AND ordered_on < '2027-01-01' \
         GROUP BY 1 ORDER BY 1",
    );
}

#[test]
fn accounts_are_counted_once_a_month_however_often_they_churn() {
    says(
        "How many accounts churned per month in 2026?",
        "Accounts churned per month in 2026 (3 in all): 2026-05: 1; 2026-06: 2; 2026-07: 1; the data ends on 2026-07-01.",
    );
}

#[test]
fn superlatives() {
    says("Who is the oldest customer?", "Dan is the oldest customer.");
    says("What is the title of the cheapest product?", "The title of the cheapest product is Vase.");
    says("Which customer has the most orders?", "Chloé has the most orders; this is a tie, e.g. with Ada.");
    asks_for(
        "List the titles of the 2 most expensive products.",
        "SELECT title FROM products ORDER BY price DESC LIMIT 2",
    );
    asks_for(
        "top 2 countries by number of customers",
        "SELECT country FROM customers GROUP BY country ORDER BY COUNT(*) DESC LIMIT 2",
    );
    asks_for(
        "What is the most common category of products?",
        "SELECT category FROM products GROUP BY category ORDER BY COUNT(*) DESC LIMIT 1",
    );
}

#[test]
fn lists_and_orders() {
    says(
        "List the names of all customers ordered by age.",
        "The names of all customers ordered by age (5 in all): O'Hara, Chloé, Ada, Boris, Dan.",
    );
    asks_for(
        "Show titles and prices of products in descending order of price",
        "SELECT title, price FROM products ORDER BY price DESC",
    );
    asks_for("What are the names of customers older than 30?", "SELECT name FROM customers WHERE age > 30");
    asks_for("names of customers aged between 20 and 40", "SELECT name FROM customers WHERE age BETWEEN 20 AND 40");
}

#[test]
fn joins_never_count_twice() {
    asks_for(
        "How many customers have cancelled orders?",
        "SELECT COUNT(DISTINCT customer_id) FROM orders WHERE status = 'cancelled'",
    );
    asks_for(
        "How many customers from France have shipped orders?",
        "SELECT COUNT(*) FROM customers AS t1 WHERE t1.country = 'France' AND EXISTS (SELECT 1 FROM orders AS t2 \
         WHERE t2.customer_id = t1.id AND t2.status = 'shipped')",
    );
}

#[test]
fn negation() {
    says("Which customers have no orders?", "Which customers have no orders (2 in all): Dan, O'Hara.");
    says("How many customers never had an order?", "2 customers never had an order.");
    says(
        "Which categories do not have products that cost more than 100?",
        "Which categories do not have products that cost more than 100: home.",
    );
    says("How many customers do not have any shipped orders?", "3 customers do not have any shipped orders.");
}

#[test]
fn ranges_follow_the_columns_own_format() {
    says("How many orders were there in June 2026?", "There were 3 orders in June 2026.");
    says("How many orders last month?", "1 order last month (2026-10-01 to 2026-10-31).");
    says("How many orders since July 2026?", "3 orders since July 2026; the data ends on 2026-11-01.");
    asks_for(
        "How many orders in Q2 2026?",
        "SELECT COUNT(*) FROM orders WHERE ordered_on >= '2026-04-01' AND ordered_on < '2026-07-01'",
    );
}

#[test]
fn zero_is_said_plainly() {
    says("how many accounts churned in June 2021?", "No accounts churned in June 2021.");
}

#[test]
fn quotes_in_values_are_doubled() {
    asks_for("What is the age of the customer named O'Hara?", "SELECT age FROM customers WHERE name = 'O''Hara'");
}

#[test]
fn a_choice_settles_what_was_asked_back() {
    let connection = database();
    let first = ask(&connection, "how many leases in June 2026?");
    assert!(first.text.starts_with("ASK:") && first.text.contains("- leases.started_at"), "{}", first.text);
    let mut messages = first.messages;
    messages.push(Message::user("leases.started_at"));
    let second = play(&connection, messages, "Today is 2026-11-30.");
    assert_eq!(
        second.trail,
        ["run_query(SELECT COUNT(*) FROM leases WHERE started_at >= 1780272000 AND started_at < 1782864000)"]
    );
    assert_eq!(second.text, "2 leases in June 2026.");
}

#[test]
fn a_value_is_looked_up_and_written_as_the_data_spells_it() {
    let connection = database();
    connection
        .execute_batch(
            "WITH RECURSIVE n(i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n WHERE i < 60)
             INSERT INTO customers SELECT i, 'Name ' || i, 'Land ' || i, 20, NULL, '2026-01-01' FROM n;
             INSERT INTO customers VALUES (99, 'Zoë', 'Côte d''Ivoire', 20, NULL, '2026-01-01');",
        )
        .unwrap();
    let played = super::ask(&connection, "How many customers are from \"côte d'Ivoire\"?");
    assert!(played.trail.iter().any(|call| call.contains("COLLATE NOCASE")), "{:?}", played.trail);
    assert_eq!(
        played.trail.last().unwrap(),
        "run_query(SELECT COUNT(*) FROM customers WHERE country = 'Côte d''Ivoire')"
    );
    let played = super::ask(&connection, "How many customers are from \"land 42\"?");
    assert_eq!(played.trail.last().unwrap(), "run_query(SELECT COUNT(*) FROM customers WHERE country = 'Land 42')");
    assert_eq!(played.text, "1 customer is from \"land 42\".");
}

#[test]
fn names_that_need_quotes_are_quoted() {
    let connection = rusqlite::Connection::open_in_memory().unwrap();
    connection
        .execute_batch("CREATE TABLE pets (id INTEGER PRIMARY KEY, \"pet name\" TEXT, \"birth year\" INTEGER); INSERT INTO pets VALUES (1, 'Rex', 2019);")
        .unwrap();
    let played = super::ask(&connection, "List the pet name of pets with birth year 2019");
    assert_eq!(played.trail.last().unwrap(), "run_query(SELECT \"pet name\" FROM pets WHERE \"birth year\" = 2019)");
}

#[test]
fn dates_group_by_the_unit_named() {
    asks_for(
        "customers signed up per year",
        "SELECT strftime('%Y', signed_up), COUNT(*) FROM customers GROUP BY 1 ORDER BY 1",
    );
    asks_for(
        "orders per week in June 2026",
        "SELECT strftime('%G-W%V', ordered_on), COUNT(*) FROM orders WHERE ordered_on >= '2026-06-01' AND ordered_on < '2026-07-01' \
         GROUP BY 1 ORDER BY 1",
    );
    says("Which month had the most orders?", "2026-06 had the most orders.");
}

#[test]
fn two_values_of_one_column_are_two_rows() {
    says(
        "How many customers have both shipped and cancelled orders?",
        "1 customer has both shipped and cancelled orders.",
    );
    says("How many customers are not from France or Spain?", "2 customers are not from France or Spain.");
}

#[test]
fn a_time_belongs_to_what_did_not_happen_not_to_the_rows_it_did_not_happen_to() {
    // Of three accounts one churned in July, one at the end of June, one in May and June.
    says("how many accounts did not churn in July 2026?", "2 accounts did not churn in July 2026.");
    says("how many accounts without churn in May 2026?", "2 accounts without churn in May 2026.");
    says("how many accounts never churned in June 2026?", "1 account never churned in June 2026.");
    says("in July 2026, how many accounts did not churn?", "In July 2026, how many accounts did not churn: 2.");
    asks_for(
        "how many accounts signed up in 2026 but did not churn in May 2026?",
        "SELECT COUNT(*) FROM accounts AS t1 WHERE EXISTS (SELECT 1 FROM events AS t2 WHERE t2.account_id = t1.\"id\" AND \
         t2.kind = 'signup' AND t2.occurred_at >= '2026-01-01' AND t2.occurred_at < '2027-01-01') AND NOT EXISTS (SELECT 1 \
         FROM events AS t3 WHERE t3.account_id = t1.\"id\" AND t3.kind = 'churned' AND t3.occurred_at >= '2026-05-01' AND \
         t3.occurred_at < '2026-06-01')",
    );
}

#[test]
fn capitals_throughout_read_like_small_letters() {
    says("HOW MANY ACCOUNTS CHURNED IN JUNE 2026???", "2 accounts churned in June 2026.");
    says("HOW MANY CUSTOMERS ARE FROM FRANCE?", "2 customers are from france.");
}
