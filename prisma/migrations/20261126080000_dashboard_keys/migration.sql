-- Keys of operators that a browser made and handed over once, and the sessions that read for them.
-- See docs/decisions/0113-enrolment-and-sessions.md.

CREATE TABLE dashboard_keys (
  key_id       uuid PRIMARY KEY,
  operator     text NOT NULL CHECK (operator ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$'),
  role         text NOT NULL CHECK (role IN ('operator', 'admin')),
  -- Whether the operator may change the allowlist.
  allowlist    boolean NOT NULL,
  -- It was made in the place of another key of this operator: from then on that one, also of the
  -- keys file, does not count.
  replaces     boolean NOT NULL,
  state        text NOT NULL CHECK (state IN ('pending', 'confirmed', 'ended')),
  -- SHA-256 of the link's code, which the table does not hold.
  code_hash    bytea NOT NULL UNIQUE CHECK (octet_length(code_hash) = 32),
  code_until   timestamptz(3) NOT NULL,
  -- What the browser handed over; null until then. Encrypted with SVC_SECRETS_KEY.
  secret       bytea,
  filled_at    timestamptz(3),
  created_at   timestamptz(3) NOT NULL,
  -- The role of the database that made the row.
  created_by   text NOT NULL,
  confirmed_at timestamptz(3),
  ended_at     timestamptz(3),
  CHECK ((secret IS NULL) = (filled_at IS NULL)),
  CHECK (confirmed_at IS NULL OR secret IS NOT NULL),
  CHECK (state <> 'confirmed' OR confirmed_at IS NOT NULL),
  CHECK (state <> 'pending' OR confirmed_at IS NULL),
  CHECK ((state = 'ended') = (ended_at IS NOT NULL))
);

CREATE UNIQUE INDEX dashboard_keys_current ON dashboard_keys (operator) WHERE state <> 'ended';

CREATE INDEX dashboard_keys_latest ON dashboard_keys (operator, created_at DESC, key_id DESC)
  WHERE replaces OR filled_at IS NOT NULL;

-- Only towards its end; filled once, in time and while nobody has confirmed it; else it stays as
-- fundadmin made it. Which of these the service may do, its rights by column say.
CREATE TRIGGER dashboard_keys_guard BEFORE UPDATE ON dashboard_keys FOR EACH ROW
  WHEN ((OLD.key_id, OLD.operator, OLD.role, OLD.allowlist, OLD.replaces, OLD.code_hash,
      OLD.code_until, OLD.created_at, OLD.created_by)
    IS DISTINCT FROM (NEW.key_id, NEW.operator, NEW.role, NEW.allowlist, NEW.replaces,
      NEW.code_hash, NEW.code_until, NEW.created_at, NEW.created_by)
    OR OLD.state = 'ended'
    OR OLD.state = 'confirmed' AND (NEW.state = 'pending'
      OR OLD.confirmed_at IS DISTINCT FROM NEW.confirmed_at)
    OR (OLD.secret, OLD.filled_at) IS DISTINCT FROM (NEW.secret, NEW.filled_at)
      AND (OLD.secret IS NOT NULL OR NEW.state <> 'pending' OR OLD.code_until <= svc_now()))
  EXECUTE FUNCTION refuse_change();

CREATE TRIGGER dashboard_keys_stay BEFORE DELETE ON dashboard_keys FOR EACH ROW
  EXECUTE FUNCTION refuse_change();

CREATE TABLE dashboard_sessions (
  session_id   uuid PRIMARY KEY,
  -- SHA-256 of what the cookie holds.
  token_hash   bytea NOT NULL UNIQUE CHECK (octet_length(token_hash) = 32),
  operator     text NOT NULL,
  -- Which key it was signed with; with any other of the same operator it is over.
  key_mark     text NOT NULL,
  created_at   timestamptz(3) NOT NULL,
  -- Written at most once a minute.
  last_used_at timestamptz(3) NOT NULL,
  ended_at     timestamptz(3)
);

CREATE INDEX dashboard_sessions_open ON dashboard_sessions (operator) WHERE ended_at IS NULL;

CREATE INDEX dashboard_sessions_oldest ON dashboard_sessions (created_at);

CREATE TRIGGER dashboard_sessions_guard BEFORE UPDATE ON dashboard_sessions FOR EACH ROW
  WHEN ((OLD.session_id, OLD.token_hash, OLD.operator, OLD.key_mark, OLD.created_at)
    IS DISTINCT FROM (NEW.session_id, NEW.token_hash, NEW.operator, NEW.key_mark, NEW.created_at)
    OR OLD.ended_at IS NOT NULL OR NEW.last_used_at < OLD.last_used_at)
  EXECUTE FUNCTION refuse_change();

INSERT INTO service_privileges (table_name, privileges) VALUES
  -- The service may fill what fundadmin made. It makes, confirms and ends none.
  ('dashboard_keys', 'SELECT, UPDATE (secret, filled_at)'),
  ('dashboard_sessions', 'SELECT, INSERT, UPDATE (last_used_at, ended_at), DELETE');
