import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { freePort, temporaryFolder } from './product.ts';

const run = promisify(execFile);
const version = '5.0.7';

export interface NodeRed {
  pid: number;
  hooks: string;
  stop(): Promise<void>;
}

/** The same work as a Node-RED flow that stores nothing: verify, answer, read the ticket, read its requester, create. */
export async function startNodeRed(url: string): Promise<NodeRed> {
  const installed = await install();
  const { dir, remove } = temporaryFolder();
  const port = await freePort();
  const flow = readFileSync(join(import.meta.dirname, 'node-red-flow.json'), 'utf8');
  writeFileSync(join(dir, 'flow.json'), flow.replaceAll('http://127.0.0.1:9100', url));
  const settings = {
    uiPort: port,
    uiHost: '127.0.0.1',
    functionExternalModules: true,
    flowFile: join(dir, 'flow.json'),
    logging: { console: { level: 'warn' } },
  };
  writeFileSync(join(dir, 'settings.js'), `module.exports = ${JSON.stringify(settings)};`);
  const entry = join(installed, 'node_modules/node-red/red.js');
  const child = spawn(process.execPath, [entry, '-u', dir, '-s', join(dir, 'settings.js')], { stdio: 'ignore' });
  const closed = once(child, 'close');
  process.once('exit', () => child.kill('SIGKILL'));
  const hooks = `http://127.0.0.1:${port}/hooks/support`;
  // Unsigned, it is refused as soon as the flow runs.
  const isReady = () =>
    fetch(hooks, { method: 'POST' }).then(
      ({ status }) => status === 401,
      () => false,
    );
  while (!(await isReady())) {
    if (child.exitCode !== null) throw new Error(`Node-RED ended with ${child.exitCode}`);
    await sleep(100);
  }
  return {
    pid: child.pid ?? 0,
    hooks,
    stop: async () => {
      child.kill('SIGTERM');
      await closed;
      remove();
    },
  };
}

/** Once for this machine, into its temporary folder: nothing of it belongs to the project. */
async function install(): Promise<string> {
  const dir = join(tmpdir(), `closeloop-bench-node-red-${version}`);
  if (existsSync(join(dir, 'node_modules/node-red/red.js'))) return dir;
  mkdirSync(dir, { recursive: true });
  process.stderr.write('Fetching Node-RED, once …\n');
  await run('npm', ['install', '--no-audit', '--no-fund', `node-red@${version}`], { cwd: dir });
  return dir;
}
