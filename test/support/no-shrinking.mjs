// Only whether a property fails matters (test/rules/prove.ts): its smallest example is not looked
// for, which over a database takes minutes.
import { configureGlobal } from 'fast-check';

configureGlobal({ endOnFailure: true });
