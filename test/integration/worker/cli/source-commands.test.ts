import { expect, test } from 'vitest';
import { check } from '../../../../worker/cli/check.ts';
import { showJourney } from '../../../../worker/cli/journeys.ts';
import { pauseSource, renameSource, resumeSource } from '../../../../worker/cli/source.ts';
import { status } from '../../../../worker/cli/status.ts';
import { type Loop, startLoop, until } from '../../../support/loop.ts';
import { printed as printedBy, useCommands } from '../../../support/worker/cli/commands.ts';

const { beside, redis } = useCommands();
const rename = { from: 'old', to: 'new' };
const printed = (loop: Loop, command: (options: ReturnType<typeof beside>) => Promise<number>) =>
  printedBy(() => command(beside(loop)));

test('a source that was renamed by a command goes on under its new name, and is still found by its old one', async () => {
  const before = await startLoop(redis, { source: 'old' });
  await before.asked('a');
  await expect(printed(before, (options) => renameSource({ ...options, ...rename }))).rejects.toThrow(
    /has to have source "new" in place of "old"/,
  );

  const { feedback, vendor } = before;
  const now = { ...before, text: before.text.replace('  old:', '  new:') };
  const waiting = { source: 'old', notConfigured: true, waiting: 1, deliveries: 0, journeys: 1 };
  expect((await printed(now, status)).rows).toContainEqual(expect.objectContaining(waiting));
  const found = await printed(now, check);
  expect(JSON.stringify(found.rows)).toMatch(/not in this configuration.*source rename old/);
  const rules = '[{ name: all, campaign: 12, contact: customer.email }]';
  const both = { ...now, text: `${now.text}\n  old: { connector: toy, secret: good, rules: ${rules} }\n` };
  await expect(printed(both, (options) => renameSource({ ...options, ...rename }))).rejects.toThrow(
    /in place of "old"/,
  );
  for (const already of [false, true]) {
    expect(await printed(now, (options) => renameSource({ ...options, ...rename }))).toMatchObject({
      code: 0,
      rows: [{ source: 'new', was: 'old', already }],
    });
  }

  // A process with the old name works on, also beside one that has the new one.
  await before.asked('b');
  const loop = await startLoop(redis, { source: 'new', feedback, vendor });
  await before.app.close();
  const shown = await printed(loop, (options) => showJourney({ ...options, journey: 'old/a.1' }));
  expect(shown.rows).toMatchObject([{ id: 'a.1', state: 'asked' }]);
  expect((await printed(loop, status)).rows).toMatchObject([{ source: 'new' }, { processes: [] }]);

  feedback.standin.answer({ contact: 'a@example.com', grade: 4 });
  await loop.journey('a.1', 'written');
  expect(vendor.written).toMatchObject([{ recordId: 'a', marker: 'old/a.1.v1', grade: 4 }]);

  for (const [id, address] of Object.entries({ c: 'old', d: 'new' })) {
    expect((await loop.post(vendor.close(id).delivery, {}, address)).status).toBe(202);
    await loop.journey(`${id}.1`, 'asked');
  }
});

test('resume tries at once what holds up jobs of a source that was not paused', async () => {
  const loop = await startLoop(redis, { source: 'held', sweepEveryMs: 3_600_000 });
  const { standin } = loop.feedback;
  standin.changeCampaign({ id: 12, state: 'inactive' });
  await loop.post(loop.vendor.close('a').delivery);
  const { holds } = loop.app.engine.pipelines.get('held') ?? expect.fail('no pipeline');
  await until(async () => (await holds.list())[0]?.jobs === 1);
  standin.changeCampaign({ id: 12, state: 'active' });
  const { rows } = await printed(loop, (options) => resumeSource({ ...options, name: 'held' }));
  expect(rows).toContainEqual({ source: 'held', step: 'ask', was: [], triedAtOnce: ['campaign 12'] });
  await loop.journey('a.1', 'asked');
});

test('a start with "was" goes on with what is stored by the old name', async () => {
  const before = await startLoop(redis, { source: 'shop' });
  await before.asked('a');
  await before.app.close();
  const { feedback, vendor } = before;
  const renamed = { source: 'store', feedback, vendor };
  for (const was of [{ was: 'shop' }, { was: 'shop' }, {}]) {
    const loop = await startLoop(redis, { ...renamed, ...was });
    expect(loop.store.source).toBe('shop');
    expect((await loop.store.get('a.1'))?.state).toBe('asked');
    await loop.app.close();
  }
});

test('a step of a source that a person has paused stands still, also after a restart, and goes on when it is resumed', async () => {
  const loop = await startLoop(redis, { source: 'paused-ask' });
  const name = 'paused-ask';
  const why = 'wrong text in campaign 12';
  const first = await printed(loop, (options) => pauseSource({ ...options, name, step: 'ask', why }));
  expect(first.rows).toEqual([
    { source: name, step: 'ask', already: false, since: expect.any(String), why, by: expect.stringMatching(/.@./) },
  ]);
  const again = await printed(loop, (options) => pauseSource({ ...options, name, step: 'ask', why: 'me too' }));
  expect(again).toMatchObject({ code: 0, rows: [{ step: 'ask', already: true, why }] });
  await loop.post(loop.vendor.close('a').delivery);
  // It is due at once, and stays so.
  await loop.journey('a.1', 'waiting');
  await loop.app.close();

  const { feedback, vendor } = loop;
  const next = await startLoop(redis, { source: name, feedback, vendor });
  await next.post(next.vendor.close('b').delivery);
  await next.journey('b.1', 'waiting');
  const paused = [{ stage: 'ask', why, by: expect.stringMatching(/.@./), at: expect.any(String) }];
  expect((await printed(next, status)).rows).toContainEqual(expect.objectContaining({ source: name, paused }));
  expect(feedback.standin.requests()).toEqual([]);
  const resumed = await printed(next, (options) => resumeSource({ ...options, name }));
  const nothing = ['plan', 'collect', 'write-back'].map((step) => ({ source: name, step, was: [] }));
  expect(resumed.rows).toEqual(expect.arrayContaining([...nothing, expect.objectContaining({ step: 'ask' })]));
  await next.journey('a.1', 'asked');
  await next.journey('b.1', 'asked');
  expect((await printed(next, (options) => resumeSource({ ...options, name, step: 'ask' }))).rows).toEqual([
    { source: name, step: 'ask', was: [] },
  ]);
  await next.close();
});

test('grades of a source whose collecting is paused stay at the service, and come in when it is resumed', async () => {
  const [name, other] = ['paused-collect', 'not-paused'];
  const loop = await startLoop(redis, { source: name });
  const beside = await startLoop(redis, { source: other, feedback: loop.feedback });
  for (const [one, id] of [
    [loop, 'a'],
    [beside, 'b'],
  ] as const) {
    await one.asked(id);
  }
  await printed(loop, (options) => pauseSource({ ...options, name, step: 'collect' }));
  loop.feedback.standin.answer({ contact: 'a@example.com', grade: 2 });
  loop.feedback.standin.answer({ contact: 'b@example.com', grade: 3 });
  // One export tells of both.
  await beside.journey('b.1', 'written');
  expect((await loop.store.get('a.1'))?.state).toBe('asked');
  await printed(loop, (options) => resumeSource({ ...options, name, step: 'collect' }));
  await loop.journey('a.1', 'written');
  await beside.close();
});

test('a source that the configuration does not have can be neither paused nor resumed', async () => {
  const loop = await startLoop(redis, { source: 'there' });
  for (const command of [pauseSource, resumeSource]) {
    await expect(printed(loop, (options) => command({ ...options, name: 'nowhere' }))).rejects.toThrow(
      'There is no source "nowhere"; there are: there.',
    );
  }
});
