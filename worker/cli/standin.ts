import { once } from 'node:events';
import { guideText, standins } from '../../standins/index.ts';
import { notListening } from './finish.ts';

/** Runs one stand-in until it is told to end. The first line on standard output is its address; then how to use it. */
export async function standin(name: string, port: number): Promise<number> {
  const load = standins[name];
  if (!load) throw new Error(`there is no stand-in "${name}"`);
  const found = await load();
  const server = await found.start({ port }).catch((cause: unknown) => {
    throw notListening(cause, { host: '127.0.0.1', port }, 'Take another one with --port');
  });
  process.stdout.write(`${server.url}\n\n${guideText(found.guide, server.url)}`);
  const stop = new AbortController();
  await Promise.race(['SIGINT', 'SIGTERM'].map((signal) => once(process, signal, { signal: stop.signal })));
  stop.abort();
  await server.close();
  return 0;
}
