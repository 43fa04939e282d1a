-- Who may approve a movement, and how many of them: see docs/decisions/0125-approval-rules.md. The
-- service reads people, groups and rules, and only the owner of the tables (fundadmin) writes them.

CREATE TABLE people (
  person     text PRIMARY KEY CHECK (person ~ '^[a-z0-9][a-z0-9._-]{0,63}$'),
  name       text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 128),
  created_at timestamptz(3) NOT NULL
);

CREATE TABLE person_identities (
  -- The id of an API client, or `dashboard:<operator>`.
  identity    text PRIMARY KEY,
  person      text NOT NULL REFERENCES people (person),
  assigned_at timestamptz(3) NOT NULL
);

CREATE INDEX person_identities_person ON person_identities (person);

-- Identities that belonged to a person once: what they did goes on to exclude the person.
CREATE TABLE former_identities (
  identity text NOT NULL,
  person   text NOT NULL REFERENCES people (person),
  PRIMARY KEY (identity, person)
);

CREATE TABLE approver_groups (
  name       text PRIMARY KEY CHECK (name ~ '^[a-z0-9][a-z0-9._-]{0,63}$'),
  created_at timestamptz(3) NOT NULL
);

CREATE TABLE approver_group_members (
  group_name text NOT NULL REFERENCES approver_groups (name) ON DELETE CASCADE,
  person     text NOT NULL REFERENCES people (person),
  PRIMARY KEY (group_name, person)
);

CREATE INDEX approver_group_members_person ON approver_group_members (person);

CREATE TABLE approval_rules (
  name       text PRIMARY KEY CHECK (name ~ '^[a-z0-9][a-z0-9._-]{0,63}$'),
  -- The rule as domain/approval/rule.ts describes it.
  rule       jsonb NOT NULL CHECK (
    rule ->> 'applies_to' IN ('movement', 'capital_transfer', 'allowlist', 'policies', 'templates',
      'executors', 'signers', 'bridge', 'perps', 'cutover', 'keys', 'approval_rules')
    AND jsonb_array_length(rule -> 'require') BETWEEN 1 AND 5),
  revision   integer NOT NULL CHECK (revision > 0),
  created_at timestamptz(3) NOT NULL,
  updated_at timestamptz(3) NOT NULL
);

-- The rules that matched a movement when it was created: they hold even if they are changed later.
CREATE TABLE movement_approval_rules (
  movement_id uuid NOT NULL REFERENCES movements (movement_id),
  name        text NOT NULL,
  rule        jsonb NOT NULL,
  PRIMARY KEY (movement_id, name)
);

CREATE TABLE approval_decisions (
  decision_id uuid PRIMARY KEY,
  -- A movement or a change request.
  subject_id  uuid NOT NULL,
  person      text NOT NULL,
  -- Who decided, as authenticated.
  identity    text NOT NULL,
  key_id      text,
  -- Of the plan, or of the request.
  hash        text NOT NULL,
  -- A person's latest row about a hash decides.
  decision    text NOT NULL DEFAULT 'approve' CHECK (decision IN ('approve', 'withdraw')),
  reason      text CHECK (char_length(reason) BETWEEN 1 AND 1000),
  at          timestamptz(3) NOT NULL,
  -- What the person signed with a passkey: see domain/approval/evidence.ts. Null: only the request
  -- was signed, with a secret that the service knows, too.
  evidence    jsonb,
  -- Nothing that a program cannot read as a time.
  CHECK (at BETWEEN '2000-01-01' AND '9999-12-31'),
  CHECK (evidence IS NULL OR (jsonb_typeof(evidence -> 'counter') = 'number'
    AND jsonb_typeof(evidence -> 'credential_id') = 'string'
    AND jsonb_typeof(evidence -> 'nonce') = 'string'
    AND jsonb_typeof(evidence -> 'statement') = 'string'
    AND jsonb_typeof(evidence -> 'client_data_json') = 'string'
    AND jsonb_typeof(evidence -> 'authenticator_data') = 'string'
    AND jsonb_typeof(evidence -> 'signature') = 'string') IS TRUE)
);

CREATE INDEX approval_decisions_subject ON approval_decisions (subject_id, person, at);

CREATE TRIGGER approval_decisions_append_only BEFORE UPDATE
  OR DELETE ON approval_decisions FOR EACH ROW EXECUTE FUNCTION refuse_change();

-- Each assertion counts for one decision.
CREATE UNIQUE INDEX approval_decisions_nonce ON approval_decisions ((evidence ->> 'nonce'));
CREATE INDEX approval_decisions_passkey
  ON approval_decisions ((evidence ->> 'credential_id'), ((evidence ->> 'counter')::bigint));

-- Approvals that the service itself cannot make up: see docs/decisions/0127-passkeys.md.

-- Which installation a statement is for. A restore begins another one, so that what was signed
-- before counts no longer.
CREATE TABLE deployments (
  deployment uuid PRIMARY KEY,
  since      timestamptz(3) NOT NULL UNIQUE
);

INSERT INTO deployments (deployment, since) VALUES (gen_random_uuid(), 'epoch');

-- A credential that a browser made for a person. It counts once fundadmin has confirmed it.
CREATE TABLE passkey_candidates (
  credential_id text PRIMARY KEY CHECK (credential_id ~ '^[A-Za-z0-9_-]+$'),
  person        text NOT NULL REFERENCES people (person),
  -- Who made it, as authenticated.
  identity      text NOT NULL,
  -- The COSE key, in base64url.
  public_key    text NOT NULL CHECK (public_key ~ '^[A-Za-z0-9_-]+$'),
  counter       bigint NOT NULL CHECK (counter >= 0),
  -- The origin of the console at which it was made; a passkey answers no other.
  origin        text NOT NULL CHECK (origin ~ '^https?://[^/ ]+$'),
  created_at    timestamptz(3) NOT NULL
);

CREATE INDEX passkey_candidates_person ON passkey_candidates (person);

CREATE TRIGGER passkey_candidates_append_only BEFORE UPDATE
  OR DELETE ON passkey_candidates FOR EACH ROW EXECUTE FUNCTION refuse_change();

-- Passkeys whose assertions count. Only the owner of the tables (fundadmin) writes them.
CREATE TABLE passkeys (
  credential_id text PRIMARY KEY,
  person        text NOT NULL REFERENCES people (person),
  public_key    text NOT NULL,
  counter       bigint NOT NULL CHECK (counter >= 0),
  origin        text NOT NULL,
  enrolled_at   timestamptz(3) NOT NULL,
  revoked_at    timestamptz(3)
);

CREATE INDEX passkeys_person ON passkeys (person);

-- What each rule asked and who had approved, as counted when the movement was approved: written by
-- the trigger that counts (require_quorum), with the owner's rights.
CREATE TABLE movement_approval_standings (
  movement_id uuid PRIMARY KEY REFERENCES movements (movement_id),
  standing    jsonb NOT NULL,
  at          timestamptz(3) NOT NULL
);

-- Keys and passkeys that are known to be in the wrong hands: what they decided since then counts
-- for nothing while it waits, and needs a person while it runs. Only the owner of the tables
-- (fundadmin) writes them.
CREATE TABLE compromised_keys (
  kind        text NOT NULL CHECK (kind IN ('api_key', 'dashboard_key', 'passkey')),
  -- Of an operator's key in the keys file: `file:<operator>`.
  key_id      text NOT NULL,
  -- How decisions name it: the API key's id, `dashboard:<operator>` or the credential's id.
  recorded_as text NOT NULL,
  since       timestamptz(3) NOT NULL,
  -- An operator's decisions name no key, so those of the next key come after this. Null: no end.
  until       timestamptz(3),
  reason      text,
  at          timestamptz(3) NOT NULL,
  PRIMARY KEY (kind, key_id)
);

-- The addresses that the plan pays, as the allowlist writes them: [{chain_family, address,
-- chain_id, strict}]. Null: a movement of before, whose payees are not known here.
ALTER TABLE movement_plans ADD COLUMN payees jsonb;

INSERT INTO service_privileges (table_name, privileges) VALUES
  ('people', 'SELECT'),
  ('person_identities', 'SELECT'),
  ('former_identities', 'SELECT'),
  ('approver_groups', 'SELECT'),
  ('approver_group_members', 'SELECT'),
  ('approval_rules', 'SELECT'),
  ('movement_approval_rules', 'SELECT'),
  ('approval_decisions', 'SELECT, INSERT'),
  ('deployments', 'SELECT, INSERT'),
  ('passkey_candidates', 'SELECT, INSERT'),
  ('passkeys', 'SELECT'),
  ('movement_approval_standings', 'SELECT'),
  ('compromised_keys', 'SELECT');
