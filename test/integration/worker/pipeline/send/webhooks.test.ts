import { describe, expect, test } from 'vitest';
import { verifyStandardWebhook } from '../../../../../core/connector/standard-webhook.ts';
import type { Journey } from '../../../../../worker/journey/journey.ts';
import { ifStill } from '../../../../../worker/journey/transitions.ts';
import { act } from '../../../../../worker/pipeline/act/act.ts';
import { noteRequested } from '../../../../../worker/pipeline/erasure-guard.ts';
import { plan } from '../../../../../worker/pipeline/plan/plan.ts';
import { Payload } from '../../../../../worker/pipeline/send/payload.ts';
import { sweep } from '../../../../../worker/pipeline/sweep.ts';
import { until } from '../../../../support/loop.ts';
import { eraseOf, eventOf, hour, useManual } from '../../../../support/manual.ts';
import { type Got, receiver } from '../../../../support/receiver.ts';
import { ToyVendor } from '../../../../support/toy-connector.ts';
import { secretOf, telling } from '../../../../support/worker/told.ts';

const manual = useManual();

const all = '[answer.received, answer.changed, request.created, closing.skipped, follow-up.overdue]';
/** A webhook that may have a private address. */
const warehouse = (url: string, more = `events: ${all}`, name = 'warehouse') =>
  `{ name: ${name}, url: "${url}", secret: "${secretOf(7)}", allowPrivate: true, ${more} }`;

const typesOf = (got: readonly Got[]) => got.map(({ body }) => body.type);
const idsOf = (got: readonly Got[]) => got.map(({ headers }) => headers['webhook-id']);
const settled = { expireAfterMs: hour, retentionMs: 1_000 * hour };

describe('a webhook is told', () => {
  test('of each event that it wants, in the published form and without personal data', async () => {
    const its = await receiver();
    const answers = '[{ name: bad, when: answer.grade <= 2, settle: 0, do: [{ followUp: { due: 1ms } }] }]';
    const one = telling(manual, warehouse(its.url), { answers });
    await one.ask('p');
    await one.answer('p', 1);
    await act({ journeyId: 'p.1' }, one.context);
    await sweep(one.context, settled);
    await one.answer('p', 5, 2);
    one.vendor.close('q', { customer: {} });
    await plan(eventOf('q'), one.context);
    await one.send('p');
    await one.send('q');
    expect(typesOf(its.got)).toEqual([
      'request.created',
      'answer.received',
      'follow-up.overdue',
      'answer.changed',
      'closing.skipped',
    ]);
    for (const { body } of its.got) expect(Payload.parse(body)).toEqual(body);
    const changed = its.got[3]?.body;
    expect(changed).toMatchObject({
      version: 1,
      data: {
        ...{ source: 'calm', journey: 'calm/p.1', record: { id: 'p', url: 'https://desk.example/tickets/p' } },
        ...{ rule: 'all', campaign: { id: 12 }, answer: { grade: 5, maxGrade: 5, version: 2 } },
      },
    });
    expect(its.got[4]?.body.data).toMatchObject({ reason: expect.any(String), why: expect.any(String) });
    const said = its.got.map(({ raw }) => raw.toString()).join();
    expect(said).not.toMatch(/late|@example.com/);
  });

  test('of contact, comment and fields where it says so', async () => {
    const its = await receiver();
    const rule = '{ name: all, campaign: 12, contact: customer.email, fields: { Store: ticket.store } }';
    const one = telling(manual, warehouse(its.url, `events: ${all}, include: [contact, comment, fields]`), { rule });
    await one.ask('p');
    await one.answer('p', 1);
    await one.send('p');
    expect(its.got[1]?.body.data).toMatchObject({
      contact: { kind: 'email', value: 'erika@example.com' },
      answer: { grade: 1, comment: 'late' },
    });
    for (const { body } of its.got) expect(Payload.parse(body)).toEqual(body);
  });

  test('of what an answer rule sends, beside others that are not', async () => {
    const [its, others] = [await receiver(), await receiver()];
    const answers = '[{ name: bad, when: answer.grade <= 2, settle: 0, do: [{ send: warehouse }] }]';
    const one = telling(manual, `${warehouse(its.url, '')}, ${warehouse(others.url, '', 'other')}`, { answers });
    await one.ask('p');
    await one.answer('p', 1);
    await act({ journeyId: 'p.1' }, one.context);
    await act({ journeyId: 'p.1' }, one.context);
    await one.send('p');
    expect(its.got.map(({ body }) => [body.type, body.data?.answerRule])).toEqual([['answer.matched', 'bad']]);
    expect(others.got).toEqual([]);
  });

  test('of nothing where it wants nothing, and nothing is stored', async () => {
    const its = await receiver();
    const one = telling(manual, warehouse(its.url, 'events: [closing.skipped]'));
    await one.ask('p');
    await one.answer('p', 1);
    expect(await manual.redis.handle.client.keys('*outgoing*')).toEqual([]);
  });

  test('of no test, and of nothing in a dry run', async () => {
    const its = await receiver();
    const inTest = telling(manual, warehouse(its.url), { general: 'policy: { test: { email: me@example.com } }' });
    await inTest.ask('p');
    const dry = telling(manual, warehouse(its.url), { dryRun: true });
    dry.vendor.close('q', { customer: {} });
    await plan(eventOf('q'), dry.context);
    expect(dry.engine.sending.stages).toEqual([]);
    expect(await manual.redis.handle.client.keys('*outgoing*')).toEqual([]);
  });

  test('of nobody who is erased, or is to be, however long the event has waited', async () => {
    const its = await receiver();
    const one = telling(manual, warehouse(its.url, `events: ${all}, include: [contact, comment]`));
    await one.ask('p');
    await one.answer('p', 1);
    const { everybody: _, ...erase } = eraseOf({ contacts: ['erika@example.com'] });
    await noteRequested([erase], new Date(), one.context);
    await one.send('p');
    expect(its.got).toEqual([]);
    expect(await one.counts('warehouse')).toEqual({ due: 0, oldestAt: undefined, givenUp: 0 });
  });
});

describe('each delivery', () => {
  test('is signed with both secrets while one replaces the other', async () => {
    const its = await receiver();
    const secrets = `secrets: ["${secretOf(1)}", "${secretOf(2)}"]`;
    const one = telling(manual, `{ name: w, url: "${its.url}", ${secrets}, allowPrivate: true, events: ${all} }`);
    await one.ask('p');
    await one.send('p');
    const { headers, raw } = its.got[0] ?? expect.fail();
    const verdicts = [1, 2, 3].map((byte) =>
      verifyStandardWebhook({ headers, raw, receivedAt: new Date() }, [secretOf(byte)]),
    );
    expect(verdicts).toEqual([{ ok: true }, { ok: true }, { ok: false, why: 'mismatch' }]);
    expect(headers['webhook-id']).toMatch(/^evt_[\w-]{27}$/);
  });

  test('goes to no private address that the configuration does not allow: neither a number nor a name', async () => {
    for (const host of ['127.0.0.1', 'localhost', '169.254.169.254', '[::1]']) {
      const its = await receiver();
      const url = its.url.replace('http://127.0.0.1', `https://${host}`);
      const one = telling(manual, `{ name: w, url: "${url}", secret: "${secretOf(1)}", events: ${all} }`);
      await one.ask('p');
      await expect(one.send('p')).rejects.toThrow('a private address, which is not called');
      expect(its.got).toEqual([]);
    }
  });

  test('follows no redirect, and tells no address in its error', async () => {
    const other = await receiver();
    const its = await receiver(() => ({ status: 307, headers: { location: other.url } }));
    const one = telling(manual, warehouse(its.url));
    await one.ask('p');
    const error = await one.send('p').catch((thrown: unknown) => thrown);
    expect(String(error)).toBe('CloseloopError: the receiver answered 307, a redirect, which is not followed');
    expect(other.got).toEqual([]);
    expect(await one.counts('warehouse')).toMatchObject({ due: 1 });
  });

  test('reads no more than the beginning of a response without end', async () => {
    const its = await receiver(() => ({ status: 200, body: 'x'.repeat(20 * 1024 * 1024) }));
    const one = telling(manual, warehouse(its.url));
    await one.ask('p');
    await one.send('p');
    expect(await one.counts('warehouse')).toMatchObject({ due: 0 });
  });
});

describe('by the queues', () => {
  test('events of a record come in order though some fail, and hold up no other record and no other receiver', async () => {
    let failures = 4;
    const its = await receiver(({ record }) => {
      return record === 'p' && failures-- > 0 ? { status: 503 } : undefined;
    });
    const other = await receiver();
    const one = telling(manual, `${warehouse(its.url)}, ${warehouse(other.url, `events: ${all}`, 'other')}`);
    one.engine.sending.start();
    for (const record of ['p', 'q', 'r']) {
      await one.ask(record);
      await one.answer(record, 1);
      await one.answer(record, 2, 2);
    }
    await until(async () => (await one.counts('warehouse')).due === 0 && (await one.counts('other')).due === 0);
    const inOrder = ['request.created', 'answer.received', 'answer.changed'];
    for (const record of ['q', 'r']) {
      const ofRecord = its.got.filter((got) => got.record === record);
      expect(typesOf(ofRecord)).toEqual(inOrder);
    }
    const ofP = its.got.filter((got) => got.record === 'p');
    expect(typesOf(ofP)).toEqual([...Array(4).fill('request.created'), ...inOrder]);
    expect(new Set(idsOf(ofP)).size).toBe(3);
    expect(typesOf(other.got.filter((got) => got.record === 'p'))).toEqual(inOrder);
  });

  test('two processes send each event once', async () => {
    const its = await receiver();
    const [one, two] = [telling(manual, warehouse(its.url)), telling(manual, warehouse(its.url))];
    one.engine.sending.start();
    two.engine.sending.start();
    for (let n = 0; n < 10; n++) {
      const by = n % 2 === 0 ? one : two;
      await by.ask(`p${n}`);
      await by.answer(`p${n}`, 1);
    }
    await until(async () => (await one.counts('warehouse')).due === 0);
    expect(new Set(idsOf(its.got)).size).toBe(20);
    expect(its.got).toHaveLength(20);
  });

  test('what was stored by a process that was killed before it queued it is sent by the next sweep', async () => {
    const its = await receiver();
    const one = telling(manual, warehouse(its.url));
    one.engine.sending.wake = () => new Promise(() => undefined);
    void one.ask('p');
    await until(async () => (await one.counts('warehouse')).due === 1);
    const next = telling(manual, warehouse(its.url));
    next.engine.sending.start();
    expect(its.got).toEqual([]);
    await next.engine.sending.sweep(next.context);
    await until(() => its.got.length === 1);
  });

  test('an event whose response was lost, or that was not noted as sent, comes again under the same id', async () => {
    const its = await receiver();
    const one = telling(manual, warehouse(its.url));
    await one.ask('p');
    const { end } = one.store.outgoing;
    one.store.outgoing.end = async () => expect.fail('killed');
    await expect(one.send('p')).rejects.toThrow('killed');
    one.store.outgoing.end = end;
    await one.send('p');
    await one.send('p');
    expect(its.got).toHaveLength(2);
    expect(new Set(idsOf(its.got)).size).toBe(1);
  });
});

describe('a receiver that is down for three days', () => {
  test('is given up with an alert, keeps getting what comes later, and gets the rest in order after a replay', async () => {
    let isDown = true;
    let aheadMs = 0;
    const its = await receiver(() => (isDown ? { status: 500 } : undefined));
    const ops = await receiver();
    const one = telling(manual, warehouse(its.url), {
      general: `alerts: { slack: "${ops.url}" }`,
      now: () => new Date(Date.now() + aheadMs),
    });
    one.engine.sending.start();
    await one.ask('p');
    await one.answer('p', 1);
    await until(() => its.got.length > 0);
    expect(await one.counts('warehouse')).toMatchObject({ due: 2, givenUp: 0 });
    aheadMs = 73 * hour;
    await until(async () => (await one.counts('warehouse')).givenUp === 2);
    expect(await one.counts('warehouse')).toEqual({ due: 0, oldestAt: undefined, givenUp: 2 });
    const told = await manual.redis.handle.client.hvals('{cl}:alerts:what');
    expect(told.join()).toMatch(
      /given-up.*calm.*webhook warehouse took no events.*500.*closeloop webhooks replay warehouse/,
    );
    isDown = false;
    its.got.length = 0;
    one.engine.sending.wake = async () => undefined;
    await one.answer('p', 2, 2);
    expect(await one.store.outgoing.replay('webhook.warehouse', new Date(0))).toBe(2);
    await one.engine.sending.sweep(one.context);
    await until(async () => (await one.counts('warehouse')).due === 0);
    expect(typesOf(its.got)).toEqual(['request.created', 'answer.received', 'answer.changed']);
    expect((await one.counts('warehouse')).givenUp).toBe(0);
  });

  test('or that says 410 is called no more, until a replay', async () => {
    let status = 410;
    const its = await receiver(() => ({ status }));
    const one = telling(manual, warehouse(its.url));
    one.engine.sending.start();
    await one.ask('p');
    await until(async () => (await one.counts('warehouse')).givenUp === 1);
    status = 200;
    await one.ask('q');
    await until(async () => (await one.counts('warehouse')).givenUp === 2);
    expect(its.got).toHaveLength(1);
  });

  test('a replay since an instant leaves what is older', async () => {
    const its = await receiver(() => ({ status: 410 }));
    const one = telling(manual, warehouse(its.url));
    await one.ask('p');
    const between = new Date();
    await until(() => Date.now() > between.getTime());
    await one.answer('p', 1);
    await one.store.outgoing.giveUp('webhook.warehouse', 'p');
    expect(await one.store.outgoing.replay('webhook.warehouse', new Date(between.getTime() + 1))).toBe(1);
    expect(await one.counts('warehouse')).toMatchObject({ due: 1, givenUp: 1 });
  });
});

test('a change that loses against another one tells of nothing', async () => {
  const its = await receiver();
  const one = telling(manual, warehouse(its.url));
  const journey: Journey = await one.ask('p');
  await one.send('p');
  const answered = ifStill('asked', {
    to: 'answered',
    at: new Date(),
    change: { answer: { grade: 1, comment: null, seenAt: new Date(), version: 1 } },
  });
  await Promise.all([one.store.update(journey, answered), one.store.update(journey, answered)]);
  await one.send('p');
  expect(typesOf(its.got)).toEqual(['request.created', 'answer.received']);
});

test('a vendor whose records have no address is no obstacle', async () => {
  const its = await receiver();
  const vendor = new ToyVendor();
  vendor.recordUrl = () => undefined;
  const one = telling(manual, warehouse(its.url), { vendor });
  await one.ask('p');
  await one.send('p');
  expect(its.got[0]?.body.data?.record).toEqual({ id: 'p' });
});
