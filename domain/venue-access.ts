/**
 * What bound venues show to routes and loops of their own, by a name each. A venue's folder adds
 * its member (`declare module`), so that core parts pass it on and name no venue.
 */
export interface VenueAccess {}
