// Runs once before the files of a project, whatever started jest: the programs that tests start are
// those of the present sources.
import { build } from '../../dev/bootstrap/build.mjs';

export default build;
