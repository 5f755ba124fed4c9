import { readFileSync } from 'node:fs';
import { beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { DataVersion, type KnownData, type Migration, verifyData } from '../../../../worker/redis/data-version.ts';
import { useRedis } from '../../../support/redis.ts';

const redis = useRedis();
beforeEach(async () => void (await redis.handle.client.flushall()));

const versionKey = '{cl}:data-version';
const journeys = ['1.1', '2.1'].map((id) => `{cl:shop}:example:journey:${id}`);

/** A dump of data version 1, synthetic as no other was ever released: the commands that make it. */
async function restore(): Promise<void> {
  const file = new URL('./vectors/data-version-1.json', import.meta.url);
  const commands = z.array(z.tuple([z.string()], z.string())).parse(JSON.parse(readFileSync(file, 'utf8')));
  for (const [command, ...args] of commands) await redis.handle.client.call(command, ...args);
}

/** Version 2 calls the field `request` by another name; version 3 tells in each journey when it was taken up. */
const renamed: Migration = async (client) => {
  for (const key of journeys) {
    const request = await client.hget(key, 'request');
    if (request !== null) await client.multi().hset(key, 'requestId', request).hdel(key, 'request').exec();
  }
};
const marked: Migration = async (client) => {
  for (const key of journeys) await client.hset(key, 'takenUp', 'yes');
};

const known = (version: number, ...steps: Migration[]): KnownData => ({
  version,
  migrations: new Map(steps.map((step, index) => [index + 2, step])),
  closeloop: `0.${version}.0`,
});
const one = known(1);
const three = known(3, renamed, marked);

const stored = async (): Promise<unknown> => JSON.parse((await redis.handle.client.get(versionKey)) ?? 'null');
const running = async (): Promise<string[]> =>
  (await redis.handle.client.zrange('{cl}:running', '0', '-1')).map((name) => name.split(' ')[0] ?? '');
const open = (data: KnownData) => new DataVersion(redis.handle.client, data);
/** Waits for nobody: what `between` does happens instead. */
const at =
  (between: () => Promise<unknown> = async () => undefined) =>
  async (): Promise<void> =>
    void (await between());
const silent = () => undefined;

describe('the version of data', () => {
  test('it is written at first use, with the closeloop that began, and stays', async () => {
    await open(one).takeUp(at(), silent);
    await open({ ...one, closeloop: '0.1.9' }).takeUp(at(), silent);
    expect(await stored()).toEqual({ version: 1, by: '0.1.0' });
  });

  test('it is written by a command that may be the first, and by none that only looks', async () => {
    await verifyData(redis.handle.client, one, { begins: false });
    expect(await stored()).toBeNull();
    await verifyData(redis.handle.client, one, { begins: true });
    expect(await stored()).toEqual({ version: 1, by: '0.1.0' });
  });

  test('it is put back by whoever works on the data when Redis was emptied', async () => {
    const data = open(one);
    await data.takeUp(at(), silent);
    await redis.handle.client.flushall();
    expect(await data.announce()).toBeUndefined();
    expect(await stored()).toEqual({ version: 1, by: '0.1.0' });
  });
});

describe('a newer closeloop', () => {
  test('takes up a dump of older data, step by step', async () => {
    await restore();
    const said: unknown[] = [];
    await open(three).takeUp(at(), (fields) => said.push(fields));
    expect(await stored()).toEqual({ version: 3, by: '0.3.0' });
    expect(said).toEqual([{ from: 1, to: 3 }, { version: 2 }, { version: 3 }]);
    expect(await Promise.all(journeys.map((key) => redis.handle.client.hgetall(key)))).toEqual([
      { state: 'asked', requestId: '90017', takenUp: 'yes' },
      { state: 'waiting', due: '1764000000000', takenUp: 'yes' },
    ]);
  });

  test('goes on where it was killed, and an older one begins nothing meanwhile', async () => {
    await restore();
    const killed = known(3, renamed, async () => {
      throw new Error('killed');
    });
    await expect(open(killed).takeUp(at(), silent)).rejects.toThrow('killed');
    expect(await stored()).toEqual({ version: 2, to: 3, by: '0.3.0' });
    const older = open(known(2, renamed));
    await expect(older.takeUp(at(), silent)).rejects.toThrow(/are being taken up to version 3 by closeloop 0\.3\.0/);
    await older.leave();
    await open(three).takeUp(at(), silent);
    expect(await stored()).toEqual({ version: 3, by: '0.3.0' });
  });

  test('ends where it was suspended while another did it, and takes nothing back', async () => {
    await restore();
    let begun: DataVersion | undefined;
    const suspended: Migration = async (client) => {
      await renamed(client);
      // Longer than its lock: another has taken all up by then, and has ended.
      await client.del(`${versionKey}:lock`);
      await open(three).takeUp(at(), silent);
      expect(await begun?.announce()).toMatchObject({ message: expect.stringContaining('suspended') });
    };
    begun = open(known(3, suspended, marked));
    await expect(begun.takeUp(at(), silent)).rejects.toThrow('suspended');
    expect(await stored()).toEqual({ version: 3, by: '0.3.0' });
  });

  test('does it once, however many of them begin at the same time', async () => {
    await restore();
    const steps: number[] = [];
    const counted = known(
      3,
      ...[renamed, marked].map(
        (step, index): Migration =>
          async (client) => {
            steps.push(index + 2);
            await step(client);
          },
      ),
    );
    const turn = (): Promise<void> => new Promise((done) => setImmediate(done));
    await Promise.all(Array.from({ length: 5 }, () => open(counted).takeUp(turn, silent)));
    expect(steps).toEqual([2, 3]);
  });

  test('waits until those that work on older data have been told, and have ended', async () => {
    await restore();
    const older = open(one);
    expect(await older.announce()).toBeUndefined();
    const steps: string[] = [];
    const newer = known(2, async (client) => {
      steps.push('taken up');
      await renamed(client);
    });
    let turns = 0;
    const between = at(async () => {
      turns += 1;
      const flaw = await older.announce();
      steps.push(flaw === undefined ? 'goes on' : 'has to end');
      if (turns < 3) return;
      await older.leave();
      steps.push('has ended');
    });
    const said: unknown[] = [];
    await open(newer).takeUp(between, (fields) => said.push(fields));
    expect(steps).toEqual(['has to end', 'has to end', 'has to end', 'has ended', 'taken up']);
    expect(said).toEqual([{ from: 1, to: 2 }, { processes: 1 }, { version: 2 }]);
  });

  test('leaves data to "closeloop start": another command says so', async () => {
    await restore();
    await expect(verifyData(redis.handle.client, three, { begins: true })).rejects.toMatchObject({
      advice: { kind: 'config' },
      message: expect.stringMatching(
        /have version 1 \(of closeloop 0\.1\.0\).*closeloop 0\.3\.0.*"closeloop start" takes them up/,
      ),
    });
    expect(await stored()).toEqual({ version: 1, by: '0.1.0' });
  });
});

describe('an older closeloop', () => {
  test('refuses newer data, names both versions and the way back, and changes nothing', async () => {
    await restore();
    await open(three).takeUp(at(), silent);
    const refusal = {
      advice: { kind: 'config' },
      message: expect.stringMatching(
        /have version 3 \(of closeloop 0\.3\.0\), and this is closeloop 0\.1\.0, which works on data version 1\. Start closeloop 0\.3\.0 or a later one\..*docs\/upgrade\.md/,
      ),
    };
    await expect(open(one).takeUp(at(), silent)).rejects.toMatchObject(refusal);
    for (const begins of [true, false])
      await expect(verifyData(redis.handle.client, one, { begins })).rejects.toMatchObject(refusal);
    expect(await stored()).toEqual({ version: 3, by: '0.3.0' });
  });

  test('is waited for no longer once it has said nothing for ten seconds', async () => {
    await open(one).announce();
    expect(await running()).toEqual(['1']);
    const [seconds, micros] = z.tuple([z.coerce.number(), z.coerce.number()]).parse(await redis.handle.client.time());
    const until = Number(
      await redis.handle.client.zscore(
        '{cl}:running',
        (await redis.handle.client.zrange('{cl}:running', '0', '0'))[0] ?? '',
      ),
    );
    expect(until - (seconds * 1_000 + micros / 1_000)).toBeLessThanOrEqual(10_000);
    // As if that time had passed.
    for (const name of await redis.handle.client.zrange('{cl}:running', '0', '-1'))
      await redis.handle.client.zadd('{cl}:running', '1', name);
    await open(known(2, renamed)).takeUp(at(), silent);
    expect(await running()).toEqual(['2']);
  });
});
