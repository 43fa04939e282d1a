/** Whether each property has all of its cases: once a night, and while rules are taken out. */
export const HAS_ALL_RUNS =
  process.env['PROPERTY_RUNS'] === 'all' || process.env['RULES_PROOF'] === 'true';

/**
 * How many cases a property has. `npm test` has few of them, which are others each time, since each
 * costs the database dozens of statements.
 */
export const runs = (few: number, all: number): number => (HAS_ALL_RUNS ? all : few);
