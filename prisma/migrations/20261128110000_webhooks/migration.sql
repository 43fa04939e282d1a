-- Where the service tells people that something waits for them: see
-- docs/decisions/0128-webhooks.md. Only the owner of the tables (fundadmin) reads and writes them.
CREATE TABLE webhooks (
  name           text PRIMARY KEY CHECK (name ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
  url            text NOT NULL CHECK (char_length(url) <= 2048),
  -- Null: all, also those that come with later releases.
  event_types    text[] CHECK (cardinality(event_types) > 0),
  -- The origin of the console that the messages link to.
  console_origin text NOT NULL CHECK (console_origin ~ '^https?://[^/ ]+$'),
  created_at     timestamptz(3) NOT NULL,
  updated_at     timestamptz(3) NOT NULL
);

-- The webhook whose message a row is. The webhook may be removed before its messages are.
ALTER TABLE callbacks ADD COLUMN webhook text;

ALTER TABLE callbacks DROP CONSTRAINT callbacks_of_one,
  ADD CONSTRAINT callbacks_of_one CHECK (num_nonnulls(movement_id, transfer_id, webhook) = 1)
    NOT VALID;
