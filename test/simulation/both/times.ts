/**
 * Time limit of a chain of phases in both runtimes, in milliseconds: longer than any hold, so that
 * a busy machine ends no chain.
 */
export const SOON_MS = 30_000;

/** Seconds between two looks at an unknown outcome: people decide before the second one. */
export const UNHURRIED_SECONDS = 45;

/** Events of a run's history after which both runtimes suggest a new run. */
export const SUGGESTED_AT = 80;

/** Times of a worker's death, equal on both runtimes. In seconds. */
export const SECONDS = {
  /**
   * Between the moment when all are held and the death: the first heartbeat of what is held has
   * been sent by then. In the groups of loads nothing sends one, and no workflow task has been
   * extended.
   */
  beforeDeath: (group: string | undefined): number => {
    if (group === 'locally') return 0;
    return group === 'twice-loading' || group === 'twice-late' ? 2 : 4;
  },
  /** Until people go on: the server has noticed that the worker's polls are gone. */
  noticed: 1,
  /**
   * Until the next worker starts. In a group that ends with `late`: when the server no longer puts
   * tasks into the queue of the dead; in `late`: when such a task would have timed out too.
   */
  afterDeath: (group: string | undefined): number => {
    if (group === 'late') return 30;
    return group?.endsWith('-late') === true ? 14 : 0;
  },
  /**
   * For how long a worker is frozen: until its activities have timed out at the server, and the
   * next task, which the frozen worker was sent, has not timed out. In a group that ends with
   * `long`: until that task has timed out too.
   */
  frozen: (group: string | undefined): number => (group?.endsWith('long') === true ? 24 : 13),
};
