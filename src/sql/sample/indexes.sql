-- After the rows: one sort each, and dense pages.
CREATE INDEX accounts_created ON accounts (created_at);
CREATE INDEX subscriptions_plan ON subscriptions (plan_id);
CREATE INDEX subscriptions_account ON subscriptions (account_id);
CREATE UNIQUE INDEX subscriptions_one_running ON subscriptions (account_id) WHERE ended_at IS NULL;
CREATE INDEX events_account ON events (account_id);
CREATE INDEX events_kind_occurred ON events (kind, occurred_at);
