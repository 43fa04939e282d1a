/**
 * `fund-mcp`: the tool server of an agent, over standard input and output. All settings come from
 * the environment, so that the command line, which other users can read, shows no settings.
 */
import { Console } from 'node:console';
import { environment } from '../command-line/environment.ts';
import { VERSION } from '../agent/version.ts';
import { serveTools } from './start.ts';

const err = (text: string): void => void process.stderr.write(text);
// Other code that prints with `console` must write to stderr: stdout carries the protocol.
globalThis.console = new Console(process.stderr, process.stderr);

const args = process.argv.slice(2);
if (args.length > 0) {
  err(
    'Usage: fund-mcp, without arguments: it speaks MCP over standard input and output, and is started by a host. Settings: SVC_KEY_ID, SVC_HMAC_SECRET_FILE (or SVC_HMAC_SECRET), SVC_AGENT_NAMESPACE; SVC_API_URL, SVC_AUTHORITY_KEY.\n',
  );
  process.exit(args.every((each) => each === '--help' || each === '-h') ? 0 : 2);
}
const { stdin: input, stdout: output } = process;
const status = await serveTools({ env: environment(), input, output, err }, VERSION);
// Exit explicitly: a pending request whose caller is gone must not keep the process alive.
process.exit(status);
