import { describe, expect, test, vi } from 'vitest';
import { CloseloopError } from '../../../../core/errors.ts';
import { RecentReadings } from '../../../../worker/dashboard/recent-readings.ts';

const away = () => Promise.reject(new CloseloopError('it does not answer', { kind: 'transient' }));

describe('what was read of the service', () => {
  test('is read once for all who ask within a minute, also at once', async () => {
    const readings = new RecentReadings<number>();
    const read = vi.fn(async () => 7);
    const all = await Promise.all([readings.get('q', read), readings.get('q', read)]);
    expect([...all, await readings.get('q', read)].map(({ value }) => value)).toEqual([7, 7, 7]);
    expect(read).toHaveBeenCalledTimes(1);
    expect((await readings.get('other', async () => 8)).value).toBe(8);
  });

  test('is read anew after a minute, and kept with the reason where that fails', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    try {
      const readings = new RecentReadings<number>();
      const first = { ...(await readings.get('q', async () => 7)) };
      vi.setSystemTime(Date.now() + 61_000);
      expect(await readings.get('q', away)).toEqual({ ...first, problem: 'it does not answer' });
      expect(await readings.get('q', async () => 8, 'known to be down')).toMatchObject({
        value: 7,
        problem: 'known to be down',
      });
      const again = await readings.get('q', async () => 9);
      expect(again.value).toBe(9);
      expect(again.problem).toBeUndefined();
    } finally {
      vi.useRealTimers();
    }
  });

  test('is none before anything was read, with the reason; a fault of our own is thrown', async () => {
    const readings = new RecentReadings<number>();
    expect(await readings.get('q', away)).toEqual({ problem: 'it does not answer' });
    expect(await readings.get('q', away, 'down')).toMatchObject({ problem: 'down' });
    await expect(readings.get('fault', () => Promise.reject(new TypeError('ours')))).rejects.toThrow('ours');
  });

  test('that takes long is said to, and goes on: the next look has it', async () => {
    const readings = new RecentReadings<number>({ patienceMs: 1 });
    const slow = Promise.withResolvers<number>();
    expect((await readings.get('q', () => slow.promise)).problem).toContain('load the page again');
    slow.resolve(7);
    await slow.promise;
    await vi.waitFor(async () => expect((await readings.get('q', away)).value).toBe(7));
  });

  test('is forgotten when twenty others were asked for since', async () => {
    const readings = new RecentReadings<number>();
    await readings.get('q', async () => 7);
    for (let i = 0; i < 20; i++) await readings.get(`other ${i}`, async () => i);
    expect((await readings.get('q', async () => 8)).value).toBe(8);
  });
});
