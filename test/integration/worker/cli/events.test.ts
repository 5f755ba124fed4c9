import { expect, test } from 'vitest';
import { CloseloopError } from '../../../../core/errors.ts';
import { listEvents, replayEvents } from '../../../../worker/cli/events.ts';
import { startLoop, until } from '../../../support/loop.ts';
import { printed, useCommands } from '../../../support/worker/cli/commands.ts';

const { beside, fresh, redis } = useCommands();

test('a grade that was given up is kept, listed without its words, and replayed (audit 16)', async () => {
  const source = fresh();
  const rule = '{ name: all, campaign: 15, contact: ticket.id }';
  const loop = await startLoop(redis, { source, rule, general: 'retry: { for: 1ms }' });
  loop.vendor.close('g');
  const away = () => new CloseloopError('the vendor failed', { kind: 'transient' });
  loop.vendor.failures.read.push(away(), away());
  const given = { kind: 'external-grade', recordId: 'g', grade: 4, comment: 'Secret words', at: new Date() };
  await loop.post(JSON.stringify({ plain: [given] }));
  const options = beside(loop);
  const [row] = await until(async () => {
    const { rows } = await printed(() => listEvents(options));
    return rows.length > 0 && rows;
  });
  expect(row).toMatchObject({ source, kind: 'external-grade', about: 'record g', why: 'the vendor failed' });
  expect(JSON.stringify(row)).not.toContain('Secret');
  await expect(replayEvents({ ...options, event: 'nothing' })).rejects.toThrow('events list');
  expect(await printed(() => replayEvents(options))).toMatchObject({ code: 0, rows: [{ replayed: 1 }] });
  await until(() => loop.feedback.standin.requests({ campaign: 15 })[0]?.grade === 4);
  expect((await printed(() => listEvents(options))).rows).toEqual([]);
});

test('an event that was given up is tried again when it is delivered again: until then it kept itself out', async () => {
  const rule = '{ name: all, campaign: 15, contact: ticket.id }';
  const loop = await startLoop(redis, { source: fresh(), rule, general: 'retry: { for: 1ms }' });
  const options = beside(loop);
  const listed = async () => (await printed(() => listEvents(options))).rows;
  let last = '';
  for (const [i, recordId] of ['g', 'h'].entries()) {
    loop.vendor.close(recordId);
    const away = () => new CloseloopError('the vendor failed', { kind: 'transient' });
    loop.vendor.failures.read.push(away(), away());
    const graded = { kind: 'external-grade', recordId, grade: i + 3, comment: null, at: new Date() };
    last = JSON.stringify({ plain: [graded] });
    await loop.post(last);
    await until(async () => (await listed()).length === i + 1);
  }
  const isGraded = () => loop.feedback.standin.requests({ campaign: 15 }).some(({ grade }) => grade === 4);
  await until(async () => {
    // Once a second it is looked whether any event was given up.
    expect((await loop.post(last)).status).toBe(202);
    return isGraded();
  });
  await until(async () => (await listed()).length === 1);
  expect(await listed()).toMatchObject([{ about: 'record g' }]);
});
