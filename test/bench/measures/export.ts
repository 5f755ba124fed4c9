import { startFakes } from '../fakes.ts';
import { inTurns, type Measure } from '../harness.ts';
import { configure, program, startRedis } from '../product.ts';
import { node } from './commands.ts';

const sizes = { full: { requests: 1_000_000, rounds: 3 }, short: { requests: 3_000, rounds: 1 } };

/** Fetches and parses the same pages, and does nothing else. */
const bare = (url: string) => `
  let next = '${url}/api/appeals/?page=1';
  while (next !== null) ({ next } = JSON.parse(await (await fetch(next)).text()));
`;

/** A whole export, one object a line, beside reading the same pages; each from the start of its process to its end. */
export const exporting: Measure = {
  name: 'export',
  async run(size) {
    const { requests, rounds } = sizes[size];
    const [fakes, redis] = await Promise.all([startFakes(), startRedis()]);
    const { config, remove } = await configure({ url: fakes.url, redis });
    await fakes.reset({ requests });
    const [ours = [], theirs = []] = await inTurns(rounds, [
      () => node(program, 'export', 'requests', '--config', config),
      () => node('--input-type=module', '--eval', bare(fakes.url)),
    ]);
    const { pages } = await fakes.created(0);
    const counted = (pages * 1_000) / (2 * (rounds + 1));
    await Promise.all([fakes.close(), redis.stop()]);
    remove();
    const perSecond = (runs: typeof ours) => runs.map(({ ms }) => requests / (ms / 1_000));
    return [
      {
        measure: `export of ${requests} requests`,
        unit: '1/s',
        closeloop: perSecond(ours),
        counted,
        baseline: { name: 'fetching and parsing', rounds: perSecond(theirs) },
        target: { of: 'ratio', is: 'at least', figure: 0.7 },
      },
      {
        measure: 'memory of the export, at most',
        unit: 'MB',
        closeloop: ours.map(({ peakMb }) => peakMb),
        counted,
        baseline: { name: 'fetching and parsing', rounds: theirs.map(({ peakMb }) => peakMb) },
      },
    ];
  },
};
