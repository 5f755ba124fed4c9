import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { check } from '../../../../worker/cli/check.ts';
import { showJourney } from '../../../../worker/cli/journeys.ts';
import { newSource, renameSource } from '../../../../worker/cli/source.ts';
import { status } from '../../../../worker/cli/status.ts';
import { type Loop, startLoop, until } from '../../../support/loop.ts';
import { useRedis } from '../../../support/redis.ts';

const redis = useRedis();
const dir = mkdtempSync(join(tmpdir(), 'closeloop-source-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const rename = { from: 'old', to: 'new' };

async function printed(loop: Loop, command: (options: ReturnType<typeof beside>) => Promise<number>) {
  const rows: unknown[] = [];
  const write = vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    rows.push(
      ...String(text)
        .trim()
        .split('\n')
        .map((line): unknown => JSON.parse(line)),
    );
    return true;
  });
  try {
    return { code: await command(beside(loop)), rows };
  } finally {
    write.mockRestore();
  }
}
function beside({ store, text, vendor }: Loop) {
  const config = join(dir, `${store.source}.yaml`);
  writeFileSync(config, `${text}\nredis: { path: ${redis.socket} }\n`);
  return { config, data: dir, json: true, connectors: [vendor.builtIn] };
}

test('a source that was renamed in the configuration is told of, moved by a command, and still found by its old name (audit 14)', async () => {
  const before = await startLoop(redis, { source: 'old' });
  await before.post(before.vendor.close('a').delivery);
  await before.journey('a.1', 'asked');
  await expect(printed(before, (options) => renameSource({ ...options, ...rename }))).rejects.toThrow(
    /no source "new"/,
  );
  await before.app.close();

  const { feedback, vendor } = before;
  const loop = await startLoop(redis, { source: 'new', feedback, vendor });
  const waiting = { source: 'old', notConfigured: true, asked: 1, journeys: 1 };
  expect((await printed(loop, status)).rows).toContainEqual(expect.objectContaining(waiting));
  const found = await printed(loop, check);
  expect(JSON.stringify(found.rows)).toMatch(/not in this configuration.*source rename old/);
  expect(found.code).toBe(1);
  expect(JSON.stringify(found.rows)).toMatch(/may be what source old is called now.*source new new --beside old/);
  const held = { source: 'new', paused: [expect.objectContaining({ stage: 'plan' })] };
  expect((await printed(loop, status)).rows).toContainEqual(expect.objectContaining(held));

  const moved = { source: 'new', was: 'old', journeys: 1 };
  expect(await printed(loop, (options) => renameSource({ ...options, ...rename }))).toMatchObject({
    code: 0,
    rows: [moved],
  });
  expect(await printed(loop, (options) => renameSource({ ...options, ...rename }))).toMatchObject({
    code: 0,
    rows: [{ source: 'new', was: 'old', already: true }],
  });
  const shown = await printed(loop, (options) => showJourney({ ...options, journey: 'old/a.1' }));
  expect(shown.rows).toMatchObject([{ id: 'a.1', state: 'asked' }]);
  expect((await printed(loop, status)).rows).toMatchObject([{ source: 'new' }]);

  feedback.standin.answer({ contact: 'a@example.com', grade: 4 });
  await loop.journey('a.1', 'written');
  expect(vendor.written).toMatchObject([{ recordId: 'a', marker: 'old/a.1.v1', grade: 4 }]);

  const { delivery } = vendor.close('b');
  await until(async () => (await loop.post(delivery, {}, 'old')).status === 202);
  await loop.journey('b.1', 'asked');
  await loop.app.close();
  await feedback.close();
});

test('a source that is held up begins when a person says that it is another one, and names which (audit 14)', async () => {
  const before = await startLoop(redis, { source: 'shop' });
  await before.post(before.vendor.close('a').delivery);
  await before.journey('a.1', 'asked');
  await before.app.close();
  const { feedback, vendor } = before;
  const loop = await startLoop(redis, { source: 'returns', feedback, vendor });
  await loop.post(vendor.close('b').delivery);
  const begin = (beside: string) => printed(loop, (options) => newSource({ ...options, name: 'returns', beside }));
  await expect(begin('shpo')).rejects.toThrow(/not held up for "shpo"; it may be: .*shop/);
  expect(await loop.store.get('b.1')).toBeUndefined();
  for (const beside of await loop.app.engine.newcomers.mayBe(
    loop.app.engine.pipelines.get('returns') ?? expect.fail('no pipeline'),
  ))
    expect((await begin(beside)).code).toBe(0);
  await loop.journey('b.1', 'asked');
  await loop.app.close();
  await feedback.close();
});
