/** Schemas of environment settings that several simulators have. */
import { z } from 'zod';

/** TCP port; 0 is any free port. */
export const port = z.coerce.number().int().min(0).max(65_535).default(0);
export const nodeUrl = z.url({ protocol: /^https?$/ });
