/**
 * The switch that stops new money. `drain`: no new movements or transfers, what runs goes on.
 * `frozen`: moreover nothing passes its fence; nodes wait there and go on once it is released. What
 * passed before may go out until its `send_not_after`, and is followed to its end in each mode.
 */
export const CUTOVER_MODES = ['normal', 'drain', 'frozen'] as const;
export type CutoverMode = (typeof CUTOVER_MODES)[number];
