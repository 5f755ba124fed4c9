import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { startFeedbackStandin } from '../../../standins/feedback/standin.ts';
import { shopConfiguration, shopSecret } from '../../support/configurations.ts';
import { until } from '../../support/loop.ts';
import { background, type Running } from '../../support/processes.ts';
import { useRedis } from '../../support/redis.ts';
import { type Change, makeNewerVersion } from '../chaos/newer-version.ts';

const redis = useRedis();
const dir = mkdtempSync(join(tmpdir(), 'closeloop-upgrade-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));
beforeEach(async () => void (await redis.handle.client.flushall()));

const file = join(dir, 'closeloop.yaml');
const configure = (serviceUrl: string) => writeFileSync(file, shopConfiguration(redis, serviceUrl));

const start = (entry?: string): Running => background(['start', '--config', file, '--data', dir], {}, entry);
const doorOf = async (loop: Running): Promise<string> => {
  const started: { hooks: string } = JSON.parse(await loop.says(/\{.*"started"\}/));
  return started.hooks.replace('<source>', 'shop');
};

/** A vendor: one closing after the other, each sent until somebody has taken it. */
function sending(doors: { now: string }) {
  let isOver = false;
  const emails: string[] = [];
  const done = (async () => {
    while (!isOver) {
      const email = `customer-${emails.length}@example.com`;
      const body = JSON.stringify({ id: `${emails.length}`, email });
      emails.push(email);
      const headers = { 'content-type': 'application/json', 'x-secret': shopSecret };
      await until(async () => {
        const answer = await fetch(doors.now, { method: 'POST', body, headers }).catch(() => undefined);
        return answer?.status === 202;
      });
    }
  })();
  return {
    emails,
    end: async () => {
      isOver = true;
      await done;
    },
  };
}

const sameData: Change[] = [];
const newerData: Change[] = [
  {
    file: 'worker/redis/data-version.ts',
    at: /^export const dataVersion = 3;$/m,
    becomes: 'export const dataVersion = 4;',
  },
  {
    file: 'worker/journey/migrations.ts',
    at: /\[2, onlyOfTheLastLayout\]/,
    becomes:
      "[2, onlyOfTheLastLayout], [4, async (redis: RedisClient) => void (await redis.set('{cl}:example', 'taken up'))]",
  },
];

/** What each row does when the newer one is started; resolves with the older one's exit code. */
type Upgrade = (older: Running, newer: Running) => Promise<number | null>;

const sideBySide: Upgrade = async (older, newer) => {
  await doorOf(newer);
  return await older.stop();
};

describe('an upgrade under load loses nothing, and asks nobody twice', () => {
  const rows: [what: string, changes: Change[], upgrade: Upgrade, code: number][] = [
    ['of the same data: both run side by side until the older one is stopped', sameData, sideBySide, 0],
    ['of newer data: the older one ends by itself, then its data are taken up', newerData, (older) => older.ended, 2],
  ];
  test.each(rows)('%s', async (_what, changes, upgrade, code) => {
    const service = await startFeedbackStandin({ seed: true });
    configure(service.url);
    const entry = makeNewerVersion(join(dir, 'newer'), changes);
    const older = start();
    const loops = [older];
    try {
      const doors = { now: await doorOf(older) };
      const vendor = sending(doors);
      await until(() => vendor.emails.length > 20);
      const newer = start(entry);
      loops.push(newer);
      expect(await upgrade(older, newer)).toBe(code);
      doors.now = await doorOf(newer);
      const before = vendor.emails.length;
      await until(() => vendor.emails.length > before + 20);
      await vendor.end();
      const asked = () => service.standin.requests({ campaign: 12 }).map(({ email }) => email);
      await until(() => asked().length >= vendor.emails.length);
      expect(asked().sort()).toEqual([...vendor.emails].sort());
    } finally {
      await Promise.all(loops.map((loop) => loop.stop()));
      await service.close();
    }
  });
});
