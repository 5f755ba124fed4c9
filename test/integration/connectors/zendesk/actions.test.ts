import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { ActionRequest } from '../../../../core/connector/contract.ts';
import { countCalls } from '../../../../standins/kit/router.ts';
import { actOnce } from '../../../support/act-once.ts';
import { account } from '../../../support/connectors/zendesk/account.ts';

const request = (id: number, more: Partial<ActionRequest>): ActionRequest => ({
  ...{
    recordId: String(id),
    name: 'reopen',
    params: {},
    marker: 'support/14.1.a1.unhappy.0',
    closing: 'r0',
    again: false,
  },
  ...more,
});

describe('a solved ticket', () => {
  test('is opened again, in its group, with its priority', async () => {
    const { standin, source, solved } = await account();
    standin.addGroup({ id: 2002, name: 'Escalations' });
    const id = solved();
    const params = { group: 'Escalations', priority: 'high' };
    expect(await actOnce(source, request(id, { params }))).toEqual({
      ok: true,
      done: 'reopened, in the group Escalations',
    });
    expect(standin.ticket(id).ticket).toMatchObject({ status: 'open', group_id: 2002, priority: 'high' });
  });
});

test('a closed ticket gets one follow-up ticket, linked to it, without its tags', async () => {
  const { standin, source, solved } = await account();
  const id = solved({ tags: ['fb_answered'] });
  await standin.setStatus({ id, status: 'closed' });
  const before = standin.tickets().length;
  const first = await actOnce(source, request(id, {}));
  expect(await actOnce(source, request(id, { again: true }))).toEqual(first);
  expect(first).toMatchObject({ ok: true, done: expect.stringMatching(/^follow-up ticket \d+/) });
  expect(standin.tickets()).toHaveLength(before + 1);
});

test('a closed ticket gets one follow-up ticket, also where the outcome was unknown for longer than Zendesk keeps the key', async () => {
  let now = Date.now();
  const { standin, source, solved } = await account({}, { now: () => new Date(now) });
  const id = solved();
  await standin.setStatus({ id, status: 'closed' });
  const first = await actOnce(source, request(id, {}));
  // A customer's own reply follows up on the ticket as well.
  standin.followUp(id);
  const before = standin.tickets().length;
  now += 3 * 3_600_000;
  expect(await actOnce(source, request(id, { again: true }))).toEqual(first);
  expect(standin.tickets()).toHaveLength(before);
});

test('the note and the tags that follow the reopening of a closed ticket are on its follow-up ticket, once', async () => {
  const { standin, source, solved } = await account();
  const id = solved();
  await standin.setStatus({ id, status: 'closed' });
  const before = standin.tickets().length;
  const all = (again: boolean) => [
    request(id, { again }),
    request(id, { name: 'note', params: 'Graded 1: too late', marker: 'support/14.1.a1.unhappy.1', again }),
    request(id, { name: 'tag', params: ['unhappy'], marker: 'support/14.1.a1.unhappy.2', again }),
  ];
  const first = await source.act?.(all(false));
  expect(await source.act?.(all(true))).toEqual(first);
  const tickets = standin.tickets();
  expect(tickets).toHaveLength(before + 1);
  const made = Math.max(...tickets.map((one) => z.object({ id: z.number() }).parse(one).id));
  expect(first?.map((one) => one.ok && one.done)).toEqual([
    `follow-up ticket ${made}, as the ticket is closed`,
    `a note is on the follow-up ticket ${made}, as the ticket is closed`,
    `tagged unhappy, on the follow-up ticket ${made}, as the ticket is closed`,
  ]);
  expect(standin.ticket(made).tags).toEqual(['unhappy']);
  expect(JSON.stringify(standin.ticket(made).audits)).toContain('Graded 1: too late');
});

test('the follow-up ticket of a closed one asks nobody once it is solved', async () => {
  const { standin, source, solved } = await account();
  const id = solved();
  await standin.setStatus({ id, status: 'closed' });
  await actOnce(source, request(id, {}));
  const made = Math.max(...standin.tickets().map((one) => one.id));
  expect(made).toBeGreaterThan(id);
  await standin.setStatus({ id: made, status: 'solved' });
  const [read] = await source.read([String(made)]);
  expect(read).toMatchObject({ ok: true, record: { state: { is: 'out', why: expect.stringContaining('closeloop') } } });
});

test('a group that is gone by now is told, and the other actions are done', async () => {
  const { source, solved, standin } = await account();
  const [id, other] = [solved(), solved()];
  const note = request(id, { name: 'note', params: 'Graded 1', marker: 'support/14.1.a1.unhappy.1' });
  const results = await source.act?.([request(id, { params: { group: 'Nobody' } }), note, request(other, {})]);
  expect(results?.map(({ ok }) => ok)).toEqual([false, true, true]);
  expect(results?.[0]).toMatchObject({
    error: { message: expect.stringContaining('"Nobody"'), advice: { kind: 'permanent' } },
  });
  expect(standin.ticket(id).ticket).toMatchObject({ status: 'solved' });
});

describe('many actions', () => {
  const all = (id: number, more: Partial<ActionRequest> = {}): ActionRequest[] => [
    request(id, { params: { priority: 'high' }, ...more }),
    request(id, { name: 'note', params: 'Graded 1', marker: `support/${id}.1.a1.unhappy.1`, ...more }),
    request(id, { name: 'tag', params: ['unhappy'], marker: `support/${id}.1.a1.unhappy.2`, ...more }),
  ];

  test('on many tickets take a read, a job and its status, and are told one by one', async () => {
    const { standin, source, solved } = await account();
    const ids = [solved(), solved(), solved()];
    const results = await source.act?.(ids.flatMap((id) => all(id)));
    const { 'POST /oauth/tokens': token, ...calls } = countCalls(standin.calls);
    expect(token).toBe(1);
    expect(calls).toEqual({
      'GET /api/v2/tickets/show_many': 1,
      'PUT /api/v2/tickets/update_many': 1,
      'GET /api/v2/job_statuses/show_many': 1,
    });
    const each = ['reopened', 'a note is added', 'tagged unhappy'];
    expect(results).toEqual(ids.flatMap(() => each.map((done) => ({ ok: true, done }))));
    for (const id of ids)
      expect(standin.ticket(id)).toMatchObject({
        ticket: { status: 'open', priority: 'high' },
        tags: ['unhappy'],
        mails: 0,
      });
  });

  test('look up their group once', async () => {
    const { standin, source, solved } = await account();
    standin.addGroup({ id: 2002, name: 'Escalations' });
    const ids = [solved(), solved(), solved()];
    await source.act?.(ids.map((id) => request(id, { params: { group: 'Escalations' } })));
    expect(countCalls(standin.calls)['GET /api/v2/groups']).toBe(1);
    for (const id of ids) expect(standin.ticket(id).ticket).toMatchObject({ group_id: 2002 });
  });

  test('of which one is refused leave the others done, and say why', async () => {
    const { standin, source, solved } = await account();
    const [good, closed] = [solved(), solved()];
    await standin.setStatus({ id: closed, status: 'closed' });
    const results = await source.act?.([...all(good), ...all(closed), ...all(99_999)]);
    expect(results?.map((one) => (one.ok ? 'done' : one.why))).toEqual([
      ...['done', 'done', 'done', 'done', 'done', 'done'],
      ...['not-found', 'not-found', 'not-found'],
    ]);
  });

  test('tried again add no second note', async () => {
    const { standin, source, solved } = await account();
    const id = solved();
    await source.act?.(all(id));
    const again = await source.act?.(all(id, { again: true }));
    expect(again?.map((one) => one.ok)).toEqual([true, true, true]);
    const Audits = z.array(z.object({ events: z.array(z.looseObject({ type: z.string() })) }));
    const events = Audits.parse(standin.ticket(id).audits).flatMap((audit) => audit.events);
    expect(events.filter(({ type }) => type === 'Comment')).toHaveLength(1);
  });
});
