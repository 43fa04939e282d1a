/**
 * What a migration must not do while the service of the previous release runs on the database:
 * rules that squawk (`squawk.toml`) does not have. A line in the file may allow an exception: `--
 * allowed: <rule>, because …`.
 */
export interface MigrationRule {
  readonly rule: string;
  /**
   * Matches a forbidden statement. The text has no comments, function bodies or strings, is in
   * upper case and has single spaces.
   */
  readonly refused: RegExp;
  readonly why: string;
}

export const RULES: readonly MigrationRule[] = [
  {
    rule: 'long-lock',
    refused:
      /(^|; ?)(TRUNCATE|LOCK|VACUUM|CLUSTER|REFRESH MATERIALIZED VIEW)\b|\bSET (UNLOGGED|LOGGED|TABLESPACE|ACCESS METHOD)\b/,
    why: 'it locks the table for a time that grows with the size of the table',
  },
  {
    rule: 'drop-in-use',
    refused: /\bDROP (FUNCTION|PROCEDURE|VIEW|TRIGGER|TYPE|SEQUENCE|SCHEMA|MATERIALIZED VIEW)\b/,
    why: 'the previous release may use it: drop it one release after its last use',
  },
  {
    rule: 'rename-in-use',
    refused: /\bRENAME (TO|VALUE|CONSTRAINT|ATTRIBUTE)\b/,
    why: 'the previous release uses the old name: add the new name beside it',
  },
  {
    rule: 'session-setting',
    refused: /(^|; ?)SET (?!LOCAL\b|CONSTRAINTS\b)/,
    why: 'the setting stays for later migrations: use SET LOCAL',
  },
];

/** The statements allowed in a file marked `-- online`; each is repeatable. */
export const ONLINE: RegExp =
  /^(CREATE (UNIQUE )?INDEX CONCURRENTLY IF NOT EXISTS |DROP INDEX CONCURRENTLY IF EXISTS |ALTER TABLE (ONLY )?\S+ VALIDATE CONSTRAINT )[^;]*;?$/;
