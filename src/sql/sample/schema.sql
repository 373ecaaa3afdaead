-- The sample database. Times are UTC text, 'YYYY-MM-DD HH:MM:SS', so that they compare and sort as they are.

CREATE TABLE plans (
  id               INTEGER PRIMARY KEY,
  name             TEXT NOT NULL UNIQUE,
  former_name      TEXT,                 -- what it was called before it was renamed
  renamed_at       TEXT,
  seat_price_cents INTEGER NOT NULL      -- list price of one seat for one month
);

CREATE TABLE accounts (
  id         INTEGER PRIMARY KEY,
  name       TEXT NOT NULL,              -- not unique: two companies may share a name
  country    TEXT,                       -- NULL when the person didn't say
  industry   TEXT NOT NULL,
  segment    TEXT NOT NULL,
  created_at TEXT NOT NULL
);

CREATE TABLE subscriptions (
  id                  INTEGER PRIMARY KEY,
  account_id          INTEGER NOT NULL REFERENCES accounts(id),
  plan_id             INTEGER NOT NULL REFERENCES plans(id),
  started_at          TEXT NOT NULL,
  ended_at            TEXT,              -- NULL while it runs
  seats               INTEGER NOT NULL,
  monthly_price_cents INTEGER NOT NULL   -- for all seats together, after discount
);

CREATE TABLE events (
  id          INTEGER PRIMARY KEY,       -- in the order of occurred_at
  account_id  INTEGER NOT NULL REFERENCES accounts(id),
  kind        TEXT NOT NULL,
  occurred_at TEXT NOT NULL
);

CREATE VIEW active_accounts AS
SELECT a.id, a.name, a.country, a.industry, a.segment, a.created_at,
       p.name AS plan, s.seats, s.monthly_price_cents
FROM accounts AS a
JOIN subscriptions AS s ON s.account_id = a.id AND s.ended_at IS NULL
JOIN plans AS p ON p.id = s.plan_id;
