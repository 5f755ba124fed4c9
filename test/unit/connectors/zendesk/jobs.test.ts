import { describe, expect, test } from 'vitest';
import { type Job, jobWatch, resultsOf } from '../../../../connectors/zendesk/jobs.ts';
import { CloseloopError } from '../../../../core/errors.ts';
import { readOnlyApi } from '../../../support/connectors/zendesk/ports.ts';

const job = (id: string, status: string): Job => ({ id, status, results: [] });

/** Jobs that end after some virtual time; counts the looks. */
function account(endsAtMs: Record<string, number>): {
  looks: string[][];
  slept: number[];
  watch: (job: Job) => Promise<Job>;
} {
  const looks: string[][] = [];
  const slept: number[] = [];
  let now = 0;
  const api = readOnlyApi((path) => {
    const ids = new URL(path, 'http://x').searchParams.get('ids')?.split(',') ?? [];
    looks.push(ids);
    const known = ids.filter((id) => id in endsAtMs);
    const statusOf = (id: string): string => (now >= (endsAtMs[id] ?? 0) ? 'completed' : 'working');
    return { job_statuses: known.map((id) => ({ id, status: statusOf(id), results: null })) };
  });
  const watch = jobWatch(api, async (ms) => {
    slept.push(ms);
    now += ms;
  });
  return { looks, slept, watch };
}

describe('jobWatch', () => {
  test('looks at growing distances', async () => {
    const { slept, watch } = account({ a: 20_000 });
    expect((await watch(job('a', 'queued'))).status).toBe('completed');
    expect(slept).toEqual([1000, 1000, 2000, 4000, 8000, 16_000]);
  });

  test('looks at all jobs in one call', async () => {
    const { looks, watch } = account({ a: 900, b: 900, c: 900 });
    await Promise.all(['a', 'b', 'c'].map((id) => watch(job(id, 'queued'))));
    expect(looks).toEqual([['a', 'b', 'c']]);
  });

  test('asks once more for a job that was ordered while a call for the status of another was under way', async () => {
    const asked: string[] = [];
    const { promise: held, resolve: answered } = Promise.withResolvers<void>();
    const api = readOnlyApi(() => ({}));
    const watch = jobWatch(
      {
        ...api,
        async get(path, schema) {
          asked.push(path);
          if (asked.length === 1) await held;
          const ids = new URL(path, 'http://x').searchParams.get('ids')?.split(',') ?? [];
          return schema.parse({ job_statuses: ids.map((id) => job(id, 'completed')) });
        },
      },
      async () => {},
    );
    const first = watch(job('a', 'queued'));
    await expect.poll(() => asked.length).toBe(1);
    const second = watch(job('b', 'queued'));
    await new Promise((resolve) => setImmediate(resolve));
    answered();
    expect((await Promise.all([first, second])).map(({ id }) => id)).toEqual(['a', 'b']);
    expect(asked).toHaveLength(2);
  });

  test('learns how long jobs take: the next ones cost a look or two', async () => {
    const ends = Object.fromEntries(Array.from({ length: 10 }, (_, index) => [`j${index}`, 0]));
    const { looks, slept, watch } = account(ends);
    let started = 0;
    for (const id of Object.keys(ends)) {
      ends[id] = started + 10_000;
      await watch(job(id, 'queued'));
      started = slept.reduce((sum, ms) => sum + ms, 0);
    }
    expect(looks.length).toBeLessThanOrEqual(18);
  });

  test('needs no look at a job that has ended', async () => {
    const { looks, watch } = account({});
    expect((await watch(job('a', 'failed'))).status).toBe('failed');
    expect(looks).toEqual([]);
  });

  test('gives up on a job that Zendesk does not know: outcome unknown', async () => {
    const { watch } = account({});
    await expect(watch(job('a', 'queued'))).rejects.toMatchObject({
      advice: { kind: 'transient' },
      outcome: 'unknown',
    });
  });

  test('gives up after a quarter of an hour', async () => {
    const { watch } = account({ a: Number.POSITIVE_INFINITY });
    await expect(watch(job('a', 'queued'))).rejects.toMatchObject({ outcome: 'unknown' });
  });

  test('tells everybody who waits when looking fails, and works again afterwards', async () => {
    let broken = true;
    const api = readOnlyApi(() => {
      if (broken) throw new Error('no line');
      return { job_statuses: [job('c', 'completed')] };
    });
    const watch = jobWatch(api, async () => {});
    const both = await Promise.allSettled([watch(job('a', 'queued')), watch(job('b', 'queued'))]);
    expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    broken = false;
    expect((await watch(job('c', 'queued'))).status).toBe('completed');
  });
});

test('a call for a status that was refused leaves open what became of the job', async () => {
  const waits = { kind: 'transient', throttled: true, retryAfterMs: 5_000 } as const;
  const api = readOnlyApi(() => {
    throw new CloseloopError('Zendesk asks us to wait', waits, { outcome: 'refused' });
  });
  const watch = jobWatch(api, async () => {});
  await expect(watch(job('a', 'queued'))).rejects.toMatchObject({ outcome: 'unknown', advice: waits });
});

test('resultsOf keeps what it understands, by ticket', () => {
  const results = resultsOf({
    ...job('a', 'completed'),
    results: [{ id: 1, success: true }, { id: '2', error: 'X', success: false }, 'odd'],
  });
  expect([...results]).toEqual([
    ['1', { id: '1', success: true }],
    ['2', { id: '2', success: false, error: 'X' }],
  ]);
});
