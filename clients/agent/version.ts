/** The release that this is. */
import description from '../../package.json' with { type: 'json' };

export const VERSION: string = description.version;
