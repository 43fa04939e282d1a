-- Changes that let more money go wait for people: see docs/decisions/0126-change-requests.md.

CREATE TABLE change_requests (
  request_id  uuid PRIMARY KEY,
  -- All kinds whose rules hold for the change; the first one names it.
  kinds       text[] NOT NULL CHECK (cardinality(kinds) > 0),
  -- Who wants it, as authenticated: the caller of the API, or {"client_id": "fundadmin:<person>"}.
  author      jsonb NOT NULL,
  -- The author's person where the identity itself has none, for fundadmin.
  person      text REFERENCES people (person),
  -- The call that is made once the change is approved.
  method      text NOT NULL,
  path        text NOT NULL,
  body        jsonb,
  idempotency_key text,
  -- The row that the call writes: its table, what it was, and what it becomes.
  subject     text NOT NULL,
  row_before  jsonb,
  row_after   jsonb NOT NULL,
  -- What people approve: RFC 8785 JSON, and its SHA-256.
  document    text NOT NULL,
  hash        text NOT NULL CHECK (hash = encode(sha256(convert_to(document, 'UTF8')), 'hex')),
  -- The rules that held when it was made: they hold even if they are changed later.
  rules       jsonb NOT NULL,
  -- Set where the owner of the database changed it alone.
  break_glass boolean NOT NULL DEFAULT false,
  reason      text CHECK (char_length(reason) BETWEEN 1 AND 1000),
  state       text NOT NULL DEFAULT 'open'
    CHECK (state IN ('open', 'applied', 'rejected', 'withdrawn', 'failed', 'outdated', 'expired')),
  -- Why it failed: an error code of the API.
  code        text,
  -- Rules and approvals as they were when it ended.
  standing    jsonb,
  -- Until when one approval is making the call.
  performed_until timestamptz(3),
  -- Until when fundadmin has verified the assertions of its approvals.
  proven_until timestamptz(3),
  created_at  timestamptz(3) NOT NULL,
  ended_at    timestamptz(3),
  ended_by    text,
  CHECK ((state = 'open') = (ended_at IS NULL)),
  CHECK (NOT break_glass OR reason IS NOT NULL),
  CHECK (person IS NULL OR author ->> 'client_id' = 'fundadmin:' || person),
  CHECK (person IS NOT NULL OR author ->> 'client_id' NOT LIKE 'fundadmin:%'
    OR author ->> 'client_id' = 'fundadmin:owner'),
  -- What is applied is what was shown.
  CHECK ((document::jsonb ->> 'id', document::jsonb -> 'body', document::jsonb -> 'before',
    document::jsonb -> 'after', document::jsonb ->> 'subject', document::jsonb ->> 'method',
    document::jsonb ->> 'path', document::jsonb ->> 'idempotency_key',
    document::jsonb -> 'kinds', document::jsonb -> 'author')
    IS NOT DISTINCT FROM (request_id::text, coalesce(body, 'null'), coalesce(row_before, 'null'),
      row_after, subject, method, path, idempotency_key, to_jsonb(kinds), author))
);

CREATE INDEX change_requests_created ON change_requests (created_at DESC, request_id DESC);
CREATE INDEX change_requests_open ON change_requests (subject) WHERE state = 'open';
CREATE INDEX change_requests_glass ON change_requests (created_at) WHERE break_glass;

INSERT INTO service_privileges (table_name, privileges) VALUES
  ('change_requests', 'SELECT, INSERT, UPDATE');
