import { expect, test } from 'vitest';
import { advanced } from '../../system/chaos/pace.ts';

/** Plays a load of 100 s in which a kill takes so long. Returns how far the load had come at each kill, and when it was over. */
function play(msPerKill: number | ((kill: number) => number), kills: number) {
  const [loadMs, tickMs] = [100_000, 20];
  const atKills: number[] = [];
  let position = 0;
  let elapsedMs = 0;
  let killAtMs = 0;
  const next = (kill: number): number => (typeof msPerKill === 'number' ? msPerKill : msPerKill(kill));
  for (let killed = 0; position < loadMs; ) {
    elapsedMs += tickMs;
    if (killed < kills && elapsedMs >= killAtMs + next(killed)) {
      killAtMs = elapsedMs;
      atKills.push(position / loadMs);
      killed++;
    }
    position = advanced({ position, loadMs, elapsedMs, killed, kills }, tickMs);
  }
  return { atKills, elapsedMs };
}

test.each([
  ['as fast as was thought', 1_000],
  ['five times slower', 5_000],
  ['faster', 300],
])('the load lasts until the last kill, and no longer by much, where kills are %s', (_, msPerKill) => {
  const { atKills, elapsedMs } = play(msPerKill, 100);
  expect(Math.max(...atKills)).toBeLessThan(1);
  expect(atKills.at(-1)).toBeGreaterThan(0.95);
  expect(elapsedMs).toBeLessThan(100 * msPerKill + 5_000);
});

test('kills that take longer and longer still meet load, each of them', () => {
  const msOf = (kill: number) => 100 + 50 * kill;
  const { atKills } = play(msOf, 100);
  const shares = atKills.map((at, i) => at - (atKills[i - 1] ?? 0));
  expect(Math.min(...shares.slice(-50))).toBeGreaterThan(0.003);
});

test('without kills the load goes by the clock', () => {
  expect(play(1, 0).elapsedMs).toBe(100_000);
});
