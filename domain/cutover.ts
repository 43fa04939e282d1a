/**
 * The cutover switch, which stops new money. `drain`: no new movements or transfers; those that run
 * continue. `frozen`: in addition, no node passes its fence; nodes wait there and continue when the
 * switch is released. A node that passed its fence earlier may send until its `send_not_after`, and
 * is followed to its end in each mode.
 */
export const CUTOVER_MODES = ['normal', 'drain', 'frozen'] as const;
export type CutoverMode = (typeof CUTOVER_MODES)[number];
