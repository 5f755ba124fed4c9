import { describe, expect, test } from 'vitest';
import { jobWatch } from '../../../../core/connector/jobs.ts';
import { CloseloopError } from '../../../../core/errors.ts';

interface Job {
  id: string;
  status: string;
}
const job = (id: string, status: string): Job => ({ id, status });

const watching = (
  read: (ids: readonly string[]) => Promise<Job[]>,
  sleep: (ms: number) => Promise<void> = async () => {},
) =>
  jobWatch<Job>({
    ...{ read, sleep, lifeMs: 15 * 60_000, named: (id) => `job ${id}` },
    hasEnded: ({ status }) => status === 'completed' || status === 'failed',
  });

/** Jobs that end after some virtual time; counts the looks. */
function account(endsAtMs: Record<string, number>) {
  const looks: (readonly string[])[] = [];
  const slept: number[] = [];
  let now = 0;
  const read = async (ids: readonly string[]) => {
    looks.push(ids);
    const known = ids.filter((id) => id in endsAtMs);
    return known.map((id) => job(id, now >= (endsAtMs[id] ?? 0) ? 'completed' : 'working'));
  };
  const watch = watching(read, async (ms) => {
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
    const asked: (readonly string[])[] = [];
    const { promise: held, resolve: answered } = Promise.withResolvers<void>();
    const watch = watching(async (ids) => {
      asked.push(ids);
      if (asked.length === 1) await held;
      return ids.map((id) => job(id, 'completed'));
    });
    const first = watch(job('a', 'queued'));
    await expect.poll(() => asked.length).toBe(1);
    const second = watch(job('b', 'queued'));
    await new Promise((resolve) => setImmediate(resolve));
    answered();
    expect((await Promise.all([first, second])).map(({ id }) => id)).toEqual(['a', 'b']);
    expect(asked.map(([first]) => first)).toEqual(['a', 'b']);
  });

  test('takes what the call for one job tells of another, also that it works yet', async () => {
    const sleepers: (() => void)[] = [];
    const asked: (readonly string[])[] = [];
    let status = 'working';
    const watch = watching(
      async (ids) => {
        asked.push(ids);
        return ids.map((id) => job(id, status));
      },
      () => new Promise((resolve) => sleepers.push(resolve)),
    );
    const both = Promise.all([watch(job('a', 'queued')), watch(job('b', 'queued'))]);
    const wake = async (n: number) => {
      await expect.poll(() => sleepers.length).toBeGreaterThan(n);
      sleepers[n]?.();
    };
    await wake(0);
    await expect.poll(() => sleepers.length).toBe(3);
    await wake(1);
    await expect.poll(() => sleepers.length).toBe(4);
    status = 'completed';
    await wake(2);
    await wake(3);
    expect((await both).map(({ id }) => id)).toEqual(['a', 'b']);
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
    const watch = watching(async () => {
      if (broken) throw new Error('no line');
      return [job('c', 'completed')];
    });
    const both = await Promise.allSettled([watch(job('a', 'queued')), watch(job('b', 'queued'))]);
    expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    broken = false;
    expect((await watch(job('c', 'queued'))).status).toBe('completed');
  });
});

test('a call for a status that was refused leaves open what became of the job', async () => {
  const waits = { kind: 'transient', throttled: true, retryAfterMs: 5_000 } as const;
  const watch = watching(async () => {
    throw new CloseloopError('Zendesk asks us to wait', waits, { outcome: 'refused' });
  });
  await expect(watch(job('a', 'queued'))).rejects.toMatchObject({ outcome: 'unknown', advice: waits });
});
