/** How long the console's sessions and enrolment links are valid, in seconds. */

/** From the start of a session, even if it is in use. */
export const SESSION_SECONDS = 12 * 3_600;
/** From the last use of a session. */
export const SESSION_IDLE_SECONDS = 30 * 60;
/** A session's last use is written at most once in this time. */
export const SESSION_NOTED_SECONDS = 60;
/** Validity of the link with which an operator enrols. */
export const ENROL_SECONDS = 15 * 60;
