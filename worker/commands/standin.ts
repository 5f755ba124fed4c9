import { once } from 'node:events';
import { standins } from '../../standins/index.ts';

/** Runs one stand-in until it is told to end. The first line on standard output is its address. */
export async function standin(name: string, port: number): Promise<number> {
  const start = standins[name];
  if (!start) throw new Error(`there is no stand-in "${name}"`);
  const server = await start({ port });
  process.stdout.write(`${server.url}\n`);
  const stop = new AbortController();
  await Promise.race(['SIGINT', 'SIGTERM'].map((signal) => once(process, signal, { signal: stop.signal })));
  stop.abort();
  await server.close();
  return 0;
}
