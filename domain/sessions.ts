/** How long the console's sessions and links are valid, in seconds. */

/** A session from its start on, however much it is used. */
export const SESSION_SECONDS = 12 * 3_600;
/** A session without use. */
export const SESSION_IDLE_SECONDS = 30 * 60;
/** How often at most a session's last use is written. */
export const SESSION_NOTED_SECONDS = 60;
/** The link with which an operator enrols. */
export const ENROL_SECONDS = 15 * 60;
