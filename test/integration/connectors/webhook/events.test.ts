import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { eventReader } from '../../../../connectors/webhook/events.ts';
import { recordIdFrom, senderIdOf } from '../../../../connectors/webhook/record.ts';
import { settings } from '../../../../connectors/webhook/settings.ts';
import { jobEvents } from '../../../support/connectors/webhook/sample.ts';

const receivedAt = new Date('2026-11-21T12:00:00Z');
const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

/** What a delivery shows that was signed under this id. */
const signedAs = (id: string) => ({ 'webhook-id': id, 'webhook-signature': 'v1,verified' });

const standard = { kind: 'standard', secrets: [secret] };

function reader(
  more: object = {},
  signature: object = standard,
): (body: unknown, headers?: Record<string, string>) => ReturnType<Reader> {
  const parsed = settings.parse({ signature, event: { ...jobEvents, ...more } });
  const read = eventReader(parsed, (recordId) => recordId);
  return (body, headers = signedAs('msg_1')) =>
    read({
      method: 'POST',
      url: '',
      headers,
      raw: body instanceof Buffer ? body : Buffer.from(JSON.stringify(body)),
      receivedAt,
    });
}
type Reader = ReturnType<typeof eventReader>;

const job = { id: 'J 7:1', status: 'done', doneAt: '2026-11-21T10:00:00+02:00' };
const customer = { id: 57, email: 'a@example.com' };
const done = { type: 'job.done', timestamp: '2026-11-21T09:59:00.5Z', data: { job, customer } };

describe('an event', () => {
  test('it tells of a closing, with the record', async () => {
    expect(await reader()(done)).toEqual({
      ok: true,
      ignored: [],
      events: [
        {
          kind: 'closed',
          at: new Date('2026-11-21T09:59:00.5Z'),
          key: expect.stringMatching(/^closed\.[\w-]{32}$/),
          what: 'job.done',
          certain: true,
          recordId: 'J%207%3A1',
          closing: '2026-11-21T08:00:00.000Z',
          snapshot: {
            state: 'closed',
            closing: '2026-11-21T08:00:00.000Z',
            closedAt: '2026-11-21T08:00:00.000Z',
            personId: '57',
            shape: { job, customer },
          },
        },
      ],
    });
  });

  test('it says where the customer is, as far as the sender does', async () => {
    const where = { timeZone: 'data.customer.zone', country: 'data.customer.country', region: 'data.customer.state' };
    const told = async (more: object) => {
      const said = await reader(where)({ ...done, data: { job, customer: { ...customer, ...more } } });
      return said.ok ? said.events.map((event) => 'snapshot' in event && event.snapshot) : said;
    };
    expect(await told({ zone: 'America/Denver', country: 'US', state: 'CO' })).toMatchObject([
      { timeZone: 'America/Denver', country: 'US', region: 'CO' },
    ]);
    const [nowhere] = z.tuple([z.looseObject({})]).parse(await told({ zone: 'Mars/Olympus', state: 'CO' }));
    expect(Object.keys(nowhere)).toEqual(['state', 'closing', 'closedAt', 'personId', 'shape']);
  });

  test('it tells nothing of the person where the record is open again', async () => {
    const said = await reader()({ ...done, type: 'job.reopened' });
    expect(said.ok && said.events).toMatchObject([
      { kind: 'changed', recordId: 'J%207%3A1', snapshot: { state: 'open' } },
    ]);
    expect(JSON.stringify(said)).not.toContain('example.com');
  });

  const contacts: [what: string, found: unknown, expected: string[] | undefined][] = [
    ['a text', 'a@example.com', ['a@example.com']],
    ['a list', ['a@example.com', 37255512345, null, ''], ['a@example.com', '37255512345']],
    ['an empty list', [], []],
    ['nothing', undefined, undefined],
  ];
  test.each(contacts)("it tells all of the person's contacts: %s (audit trace)", async (_what, found, expected) => {
    const said = await reader({ contacts: 'data.reach' })({ ...done, data: { job, customer, reach: found } });
    const told = said.ok ? said.events.map((event) => ('snapshot' in event ? event.snapshot?.contacts : 'none')) : [];
    expect(told).toEqual([expected]);
  });

  test('guests, whom their system calls 0, are not one person (audit trace)', async () => {
    const said = await reader()({ ...done, data: { job, customer: { id: 0, email: 'a@example.com' } } });
    expect(said.ok && said.events.map((event) => ('snapshot' in event ? event.snapshot : {}))).not.toHaveProperty(
      '0.personId',
    );
  });

  test("it is refused where the person's contacts are something else (audit trace)", async () => {
    const said = await reader({ contacts: 'data.customer' })(done);
    expect(said).toEqual({ ok: false, why: 'event.contacts finds neither a text nor a list of texts' });
  });

  const graded: [what: string, data: object, expected: object][] = [
    ['a number and words', { stars: 4, words: 'good' }, { grade: 4, comment: 'good' }],
    ['a number in a text, no words', { stars: ' 4.5 ', words: '' }, { grade: 4.5, comment: null }],
    ['words alone', { words: 'hm' }, { grade: null, comment: 'hm' }],
  ];
  test.each(graded)('it reads a grade: %s', async (_what, data, expected) => {
    const said = await reader()({ ...done, type: 'job.rated', data: { job, customer, ...data } });
    expect(said.ok && said.events).toMatchObject([
      { kind: 'external-grade', ...expected, snapshot: { state: 'closed' } },
    ]);
  });

  test('it may tell of a closing and a grade at once, under two keys', async () => {
    const said = await reader({ closed: 'type = "job.rated"' })({
      ...done,
      type: 'job.rated',
      data: { job, stars: 1 },
    });
    expect(said.ok && said.events.map(({ kind }) => kind)).toEqual(['closed', 'external-grade']);
    expect(said.ok && new Set(said.events.map(({ key }) => key)).size).toBe(2);
  });

  test('it reads a survey as the service is assumed to send it', async () => {
    const answers = [
      { question: 17, answer: 'yes' },
      { question: 18, answer: ['a', 'b'] },
      { question: 19, answer: null },
      { question: 20, answer: 0 },
    ];
    const said = await reader()({
      type: 'survey.completed',
      timestamp: done.timestamp,
      data: { appeal: 812, answers },
    });
    expect(said.ok && said.events).toMatchObject([
      { kind: 'survey', requestId: '812', answers: { 17: 'yes', 18: ['a', 'b'], 20: 0 } },
    ]);
  });

  test('it reads ids that no number can hold with all their digits', async () => {
    const id = '9007199254740993';
    const written = (body: object) => Buffer.from(JSON.stringify(body).replaceAll(`"${id}"`, id));
    const closed = await reader()(written({ ...done, data: { job: { ...job, id }, customer: { ...customer, id } } }));
    expect(closed.ok && closed.events).toMatchObject([{ recordId: id, snapshot: { personId: id } }]);
    const answers = [{ question: 17, answer: 'yes' }];
    const survey = await reader()(written({ type: 'survey.completed', data: { appeal: id, answers } }));
    expect(survey.ok && survey.events).toMatchObject([{ kind: 'survey', requestId: id }]);
  });

  test('it reads a survey of another shape by other expressions', async () => {
    const survey = { when: '$exists(survey_id)', request: 'request.id', answers: 'results{qid: value}' };
    const body = { survey_id: 1, request: { id: 'r-9' }, results: [{ qid: 'q1', value: true }] };
    const said = await reader({ survey, at: 'when' })(body);
    expect(said.ok && said.events).toMatchObject([{ kind: 'survey', requestId: 'r-9', answers: { q1: true } }]);
  });

  test('it leaves out a survey in which every question was left out', async () => {
    const said = await reader()({
      type: 'survey.completed',
      timestamp: done.timestamp,
      data: { appeal: 5, answers: [] },
    });
    expect(said).toMatchObject({ ok: true, events: [], ignored: [{ what: 'survey.completed' }] });
  });

  test('it refuses a body that is nested too deeply, as its sender has to know', async () => {
    const deep = `{"type":"job.done","data":{"job":{"id":1},"x":${'['.repeat(200_000)}${']'.repeat(200_000)}}}`;
    expect(await reader()(Buffer.from(deep))).toEqual({ ok: false, why: 'the body is nested too deeply to be read' });
  });

  test('it finds whom to forget', async () => {
    const said = await reader()({ type: 'customer.forget', data: { customer: { ...customer, phone: '+3725551' } } });
    expect(said.ok && said.events).toMatchObject([
      { kind: 'erase', personIds: ['57'], contacts: ['a@example.com', '+3725551'] },
    ]);
  });

  const keys: [what: string, more: object, one: [unknown, object?], two: [unknown, object?], isSame: boolean][] = [
    ['the signed id', {}, [done], [{ ...done, timestamp: '2026-11-21T09:00:00Z' }], true],
    ['another signed id', {}, [done], [done, signedAs('msg_2')], false],
    ['its alias', {}, [done, { 'svix-id': 'msg_1' }], [done, { 'svix-id': 'msg_1' }], true],
    ['the body, where nothing else names it', {}, [done, {}], [done, {}], true],
    ['another body', {}, [done, {}], [{ ...done, more: 1 }, {}], false],
    ['an id in the body', { id: 'uid' }, [{ ...done, uid: 7 }], [{ ...done, uid: 7 }, { 'webhook-id': 'x' }], true],
  ];
  test.each(keys)('its key comes from %s', async (_what, more, one, two, isSame) => {
    const keyOf = async ([body, headers]: [unknown, object?]) => {
      const said = await reader(more)(body, headers === undefined ? undefined : { ...headers });
      return said.ok && said.events[0]?.key;
    };
    expect((await keyOf(one)) === (await keyOf(two))).toBe(isSame);
  });

  const hmac = { kind: 'hmac', header: 'x-signature', secrets: ['s'] };
  const token = { kind: 'token', header: 'authorization', secrets: ['s'] };
  const svix = { 'svix-id': 'msg_1', 'svix-signature': 'v1,verified' };
  const unsignedIds: [what: string, signature: object, more: object, signed: object][] = [
    ['an HMAC of the body', hmac, {}, {}],
    ['an HMAC of a timestamp and the body', { ...hmac, timestampHeader: 'x-timestamp' }, {}, {}],
    ['a token', token, { id: 'uid' }, {}],
    ['a token, where the id that the configuration names is missing', token, { id: 'nothing' }, {}],
    ['the svix family of headers', standard, {}, svix],
    ['the webhook family of headers, with a svix id beside it', standard, {}, signedAs('msg_1')],
  ];
  test.each(unsignedIds)(
    'its key ignores an id that %s does not cover (audit 13)',
    async (_what, signature, more, signed) => {
      const read = reader({ closedAt: undefined, at: 'nothing', ...more }, signature);
      const replay = async (id: string) => {
        const isWebhookFamily = 'webhook-id' in signed;
        const unsigned = isWebhookFamily ? { 'svix-id': id } : { 'webhook-id': id };
        const said = await read({ ...done, uid: 7 }, { ...signed, ...unsigned });
        const [event] = said.ok ? said.events : [];
        return event?.kind === 'closed' ? [event.key, event.closing] : expect.fail('no closing');
      };
      expect(await replay('a')).toEqual(await replay('b'));
    },
  );

  test('it has happened when it came, at the latest, or nothing could be newer', async () => {
    const said = await reader()({ ...done, timestamp: '2036-01-01T00:00:00Z' });
    expect(said.ok && said.events[0]?.at).toEqual(receivedAt);
  });

  test('a sender without a clock has a closing for each event', async () => {
    const read = reader({ closedAt: undefined, at: 'nothing' });
    const closingOf = async (id: string) => {
      const said = await read(done, signedAs(id));
      const [event] = said.ok ? said.events : [];
      return event?.kind === 'closed' ? event.closing : undefined;
    };
    expect(await closingOf('a')).toMatch(/^id-/);
    expect(await closingOf('a')).toBe(await closingOf('a'));
    expect(await closingOf('a')).not.toBe(await closingOf('b'));
  });

  test('it is left out when it means nothing, under its own name', async () => {
    expect(await reader()({ type: 'job.updated', data: {} })).toEqual({
      ok: true,
      events: [],
      ignored: [{ what: 'job.updated', why: 'none of the conditions in event is true' }],
    });
    expect(await reader()({ type: 'Call Hanna on +372' })).toMatchObject({ ignored: [{ what: 'an event' }] });
  });

  const refused: [what: string, body: object, more: object, why: RegExp][] = [
    ['no record', { ...done, data: { job: {}, customer } }, { closedAt: undefined }, /record finds nothing/],
    ['a record too long', { ...done, data: { job: { id: 'x'.repeat(101) } } }, {}, /record finds no id/],
    ['a rounded id', { ...done, data: { job: { id: 1e21 } } }, {}, /too large to be exact/],
    ['a record of many parts', { ...done, data: { job: { id: ['a', 'b'] } } }, {}, /neither a text nor a number/],
    ['a shape that is a list', done, { shape: '[1, 2]' }, /shape finds no object/],
    ['a time of day without a zone', { ...done, timestamp: '2026-11-21T10:00:00' }, {}, /event\.at finds no instant/],
    ['a time in seconds', { ...done, timestamp: 1_795_168_800 }, {}, /\$fromMillis/],
    ['a grade in words', { ...done, type: 'job.rated', data: { job, stars: 'five' } }, {}, /grade finds no number/],
    ['nobody to forget', { type: 'customer.forget', data: {} }, {}, /neither record, person nor/],
    ['a survey of nothing', { type: 'survey.completed', data: {} }, {}, /survey\.request finds nothing/],
    [
      'a survey whose answers stand in an object',
      { type: 'survey.completed', data: { appeal: 5, answers: { 17: 'five' } } },
      {},
      /survey\.answers must find/,
    ],
    [
      'a survey with other names',
      { type: 'survey.completed', data: { appeal: 5, answers: [{ id: 17, value: 'five' }] } },
      {},
      /survey\.answers must find/,
    ],
    [
      'a survey with its answers elsewhere',
      { type: 'survey.completed', data: { appeal: 5, results: [] } },
      {},
      /survey\.answers must find/,
    ],
    ['a day that is none', { ...done, timestamp: '2026-02-30T10:00:00Z' }, {}, /event\.at finds no instant/],
    ['an expression that fails', done, { closed: 'type + 1 > 2' }, /event\.closed: The expression `type \+ 1 > 2`/],
  ];
  test.each(refused)('it is refused with the place: %s', async (_what, body, more, why) => {
    const said = await reader(more)(body);
    expect(said).toEqual({ ok: false, why: expect.stringMatching(why) });
    expect(JSON.stringify(said)).not.toMatch(/example\.com|five/);
  });

  test('it never throws, whatever the body', () => {
    const read = reader();
    fc.assert(
      fc.property(fc.jsonValue(), (body) => {
        expect(() => read(body)).not.toThrow();
        expect(() => read({ type: 'job.done', data: body })).not.toThrow();
      }),
      { numRuns: 200 },
    );
  });
});

test('an id is free of what the contract forbids, and the sender gets its own back', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 30 }), (text) => {
      const id = recordIdFrom(text);
      if (id === undefined) return;
      expect(id).toMatch(/^[^\s:]{1,100}$/);
      expect(senderIdOf(id)).toBe(text.trim());
    }),
  );
});
