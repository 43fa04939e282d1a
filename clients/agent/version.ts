/** Version of this release, from package.json. */
import description from '../../package.json' with { type: 'json' };

export const VERSION: string = description.version;
