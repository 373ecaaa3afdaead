CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT, country TEXT, age INTEGER, email TEXT, signed_up TEXT);
INSERT INTO customers VALUES
  (1, 'Ada',    'France',  31, 'a@x', '2025-12-31'), (2, 'Boris', 'Germany', 45, NULL, '2026-01-02'),
  (3, 'Chloé',  'France',  28, 'c@x', '2026-06-30'), (4, 'Dan',   'Spain',   60, NULL, '2026-07-01'),
  (5, 'O''Hara', 'Ireland', 19, 'o@x', '2026-10-05');

CREATE TABLE products (id INTEGER PRIMARY KEY, title TEXT, price REAL, category TEXT);
INSERT INTO products VALUES (1, 'Lamp', 20.0, 'home'), (2, 'Desk', 150.5, 'office'), (3, 'Chair', 80.0, 'office'), (4, 'Vase', 12.0, 'home');

CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customers(id), status TEXT, ordered_on TEXT);
INSERT INTO orders VALUES
  (1, 1, 'shipped',  '2026-05-31'), (2, 1, 'shipped', '2026-06-01'), (3, 2, 'cancelled', '2026-06-15'),
  (4, 3, 'shipped',  '2026-06-30'), (5, 3, 'pending', '2026-07-01'), (6, 3, 'cancelled', '2026-10-31'), (7, 1, 'shipped', '2026-11-01');

CREATE TABLE order_items (id INTEGER PRIMARY KEY, order_id INTEGER REFERENCES orders(id), product_id INTEGER REFERENCES products(id), quantity INTEGER);
INSERT INTO order_items VALUES (1, 1, 1, 2), (2, 1, 2, 1), (3, 2, 1, 1), (4, 3, 3, 4), (5, 4, 3, 1), (6, 5, 1, 3), (7, 6, 2, 1), (8, 7, 1, 1);

CREATE TABLE accounts (id INTEGER PRIMARY KEY, name TEXT, created_at TEXT);
INSERT INTO accounts VALUES (1, 'Alpha', '2026-01-01 10:00:00'), (2, 'Beta', '2026-02-01 10:00:00'), (3, 'Gamma', '2026-06-01 00:00:00');

CREATE TABLE events (id INTEGER PRIMARY KEY, account_id INTEGER NOT NULL REFERENCES accounts(id), kind TEXT NOT NULL, occurred_at TEXT NOT NULL);
INSERT INTO events VALUES
  (1, 1, 'signup', '2026-01-01 10:00:00'), (2, 2, 'signup', '2026-02-01 10:00:00'), (3, 1, 'churned', '2026-05-31 23:59:59'),
  (4, 1, 'churned', '2026-06-01 00:00:00'), (5, 1, 'churned', '2026-06-20 08:00:00'), (6, 2, 'churned', '2026-06-30 23:59:59'),
  (7, 3, 'churned', '2026-07-01 00:00:00');

CREATE TABLE readings (id INTEGER PRIMARY KEY, sensor TEXT, taken_at INTEGER, degrees REAL);
INSERT INTO readings VALUES (1, 'north', 1780271999, 1.0), (2, 'north', 1780272000, 2.5), (3, 'south', 1782863999, 4.0), (4, 'south', 1782864000, 9.0);

CREATE TABLE leases (id INTEGER PRIMARY KEY, account_id INTEGER REFERENCES accounts(id), started_at INTEGER, ended_at INTEGER);
INSERT INTO leases VALUES (1, 1, 1780271999, NULL), (2, 1, 1780272000, 1782863999), (3, 2, 1782863999, 1782864000), (4, 2, 1782864000, NULL);
