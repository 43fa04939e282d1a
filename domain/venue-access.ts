/**
 * The functions that bound venues offer to routes and loops, by name. A venue's folder adds its
 * member (`declare module`), so that core code passes the object on and names no venue.
 */
export interface VenueAccess {}
