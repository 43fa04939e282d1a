/**
 * Time limit of a chain of phases in both runtimes, in milliseconds: longer than any hold, so that
 * a busy machine ends no chain.
 */
export const SOON_MS = 30_000;

/** Times of a worker's death, equal on both runtimes. In seconds. */
export const SECONDS = {
  /**
   * Between the moment when all are held and the death: the first heartbeat of what is held has
   * been sent by then, and a workflow task has not been extended.
   */
  beforeDeath: 4,
  /**
   * Until the next worker starts. In a group that ends with `late`: when the server no longer puts
   * tasks into the queue of the dead; in `late`: when such a task would have timed out too.
   */
  afterDeath: (group: string | undefined): number => {
    if (group === 'late') return 30;
    return group?.endsWith('-late') === true ? 14 : 0;
  },
};
