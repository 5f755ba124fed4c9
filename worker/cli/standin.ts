import { once } from 'node:events';
import { refusal } from '../../core/errors.ts';
import { guideText, standins } from '../../standins/index.ts';

/** Runs one stand-in until it is told to end. The first line on standard output is its address; then how to use it. */
export async function standin(name: string, port: number): Promise<number> {
  const load = standins[name];
  if (!load) throw new Error(`there is no stand-in "${name}"`);
  const found = await load();
  const server = await found.start({ port }).catch((cause: unknown) => {
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
    if (typeof code !== 'string') throw cause;
    const why = new Map([
      ['EADDRINUSE', 'another process has it'],
      ['ERR_SOCKET_BAD_PORT', 'the highest is 65535'],
    ]);
    throw refusal(
      `Port ${port} of 127.0.0.1 can't be listened on (${why.get(code) ?? code}). Take another one with --port`,
      cause,
    );
  });
  process.stdout.write(`${server.url}\n\n${guideText(found.guide, server.url)}`);
  const stop = new AbortController();
  await Promise.race(['SIGINT', 'SIGTERM'].map((signal) => once(process, signal, { signal: stop.signal })));
  stop.abort();
  await server.close();
  return 0;
}
