import { describe, expect, test } from 'vitest';
import type { WriteBack, WriteResult } from '../../../../core/connector/contract.ts';
import { CloseloopError } from '../../../../core/errors.ts';
import {
  against,
  type Call,
  type Handler,
  notFound,
  type Reply,
} from '../../../support/connectors/hubspot/fake-hubspot.ts';

const writeBack = { grade: 'feedback_grade', comment: 'feedback_comment', answeredAt: 'feedback_at' };
const answer = (recordId: string, more: Partial<WriteBack> = {}): WriteBack => ({
  recordId,
  status: 'answered',
  marker: `m-${recordId}`,
  grade: 5,
  comment: 'good',
  answeredAt: new Date('2026-11-21T09:30:00Z'),
  campaign: 'Support',
  ...more,
});

const writing = (handler: Handler, items: WriteBack[], settings: object = { writeBack }) =>
  against(handler, async ({ source, calls }) => ({ results: await source.writeBack(items), calls }), settings);

/** Takes everything, and says what each record holds now. */
const takes: Handler = ({ body }) => ({ body: { status: 'COMPLETE', results: [...body.inputs].reverse() } });

const brief = (results: WriteResult[]) =>
  results.map((result) =>
    result.ok ? ['ok', ...result.findings].join(': ') : result.why === 'error' ? result.error.message : result.why,
  );

/** Refuses a whole call as HubSpot does when any of its records is bad. */
const refusing =
  (bad: (input: Call['body']['inputs'][number]) => boolean, reply: Reply): Handler =>
  (call, response) =>
    call.body.inputs.some(bad) ? { status: 400, ...reply } : takes(call, response);

const invalidOption: Reply = {
  body: {
    status: 'error',
    category: 'VALIDATION_ERROR',
    message: `Property values were not valid: [{"isValid":false,"message":"jane's 3 was not one of the allowed options","error":"INVALID_OPTION","name":"feedback_grade"}]`,
  },
};

describe('an answer', () => {
  test('is written as text', async () => {
    const { calls, results } = await writing(takes, [answer('ticket-7', { grade: 4.5 })]);
    expect(calls.map(({ method, path, body }) => [method, path, body.inputs])).toEqual([
      [
        'POST',
        '/crm/objects/2026-09/tickets/batch/update',
        [
          {
            id: '7',
            properties: { feedback_grade: '4.5', feedback_comment: 'good', feedback_at: '2026-11-21T09:30:00.000Z' },
          },
        ],
      ],
    ]);
    expect(results).toEqual([{ ok: true, findings: [] }]);
  });

  test('writes the configured properties only, and makes no call where there are none', async () => {
    const { calls } = await writing(takes, [answer('deal-7')], { writeBack: { grade: 'g' } });
    expect(calls.map(({ path, body }) => [path, body.inputs])).toEqual([
      ['/crm/objects/2026-09/deals/batch/update', [{ id: '7', properties: { g: '5' } }]],
    ]);
    expect(await writing(takes, [answer('ticket-7')], {})).toEqual({
      results: [{ ok: true, findings: [], unwritten: 'the source has no writeBack' }],
      calls: [],
    });
  });

  test('too long for HubSpot is cut with a mark, never within a character', async () => {
    for (const comment of ['x'.repeat(70_000), '😀'.repeat(35_000), `x${'😀'.repeat(35_000)}`]) {
      const { calls } = await writing(takes, [answer('ticket-7', { comment })]);
      const written = calls[0]?.body.inputs[0]?.properties.feedback_comment ?? '';
      expect(written.length).toBeGreaterThan(64_990);
      expect(written.length).toBeLessThanOrEqual(65_000);
      expect(written.endsWith('… (cut)')).toBe(true);
      expect(written.isWellFormed()).toBe(true);
    }
    const fits = 'x'.repeat(65_000);
    const { calls } = await writing(takes, [answer('ticket-7', { comment: fits })]);
    expect(calls[0]?.body.inputs[0]?.properties.feedback_comment).toBe(fits);
  });

  test('is marked as answered, or as never answered, and then nothing else is touched', async () => {
    const { calls } = await writing(
      takes,
      [answer('ticket-7'), answer('ticket-8', { status: 'no-answer', grade: null, comment: null })],
      { writeBack: { ...writeBack, status: 'feedback_status', noAnswer: true } },
    );
    expect(calls[0]?.body.inputs.map(({ properties }) => properties)).toEqual([
      expect.objectContaining({ feedback_status: 'answered', feedback_grade: '5' }),
      { feedback_status: 'no_answer' },
    ]);
  });

  test.each([
    ['the same number another way', 'feedback_grade', '5.0', []],
    ['the same instant another way', 'feedback_at', '2026-11-21T09:30:00Z', []],
    ['the same instant in ms', 'feedback_at', '1795253400000', []],
    ['trimmed text', 'feedback_comment', 'good\r\n', []],
    [
      'another number',
      'feedback_grade',
      '4',
      ["HubSpot holds another value in feedback_grade than was sent: check the property's type and rules"],
    ],
    [
      'nothing',
      'feedback_comment',
      null,
      ["HubSpot holds another value in feedback_comment than was sent: check the property's type and rules"],
    ],
  ])('of which the record then holds %s', async (_, name, held, findings) => {
    const { results } = await writing(
      ({ body }) => ({
        body: {
          results: body.inputs.map(({ id, properties }) => ({ id, properties: { ...properties, [name]: held } })),
        },
      }),
      [answer('ticket-7')],
    );
    expect(results).toEqual([{ ok: true, findings }]);
  });
});

/** Its answer to an update tells of these alone; what it is asked for it holds like that. */
const holding =
  (told: object, held: object): Handler =>
  ({ path, body }) => ({
    body: { results: body.inputs.map(({ id }) => ({ id, properties: path.endsWith('/read') ? held : told })) },
  });

test('what the answer leaves out is read: taken, it is fine (audit 36)', async () => {
  const { results, calls } = await writing(
    holding({ feedback_grade: '5' }, { feedback_comment: 'good', feedback_at: '2026-11-21T09:30:00Z' }),
    [answer('ticket-7')],
  );
  expect(results).toEqual([{ ok: true, findings: [] }]);
  expect(calls.map(({ path }) => path.split('/').at(-1))).toEqual(['update', 'read']);
});

test('a grade that HubSpot never tells of was not taken (audit 36)', async () => {
  for (const held of [{}, { feedback_grade: null }]) {
    const { results } = await writing(holding({}, held), [answer('ticket-7')], {
      writeBack: { grade: 'feedback_grade' },
    });
    expect(results).toMatchObject([{ ok: true, findings: [expect.stringContaining('feedback_grade')] }]);
  }
});

describe('a batch', () => {
  test.each([200, 207])('with missing records fails only those, whatever the status (%i)', async (status) => {
    const { results, calls } = await writing(
      ({ body }) => ({
        status,
        body: { results: body.inputs.filter(({ id }) => id !== '8'), numErrors: 1, errors: [notFound(['8'])] },
      }),
      ['ticket-7', 'ticket-8', 'ticket-9', 'order-1'].map((id) => answer(id)),
    );
    expect(brief(results)).toEqual(['ok', 'not-found', 'ok', 'not-found']);
    expect(calls.length).toBe(2); // one more to see whether it was merged
  });

  test('of which a record is left out in silence writes what HubSpot shows in its place', async () => {
    const { results, calls } = await writing(
      ({ body }) =>
        body.inputs.length > 1
          ? { body: { results: body.inputs.filter(({ id }) => id !== '8') } }
          : { body: { results: [{ ...body.inputs[0], id: '99' }] } },
      ['ticket-7', 'ticket-8'].map((id) => answer(id)),
    );
    expect(brief(results)).toEqual(['ok', 'ok']);
    expect(calls.map(({ body }) => body.inputs.map(({ id }) => id))).toEqual([['7', '8'], ['8'], ['99']]);
  });

  test('answered with nothing at all for a record alone counts it as gone', async () => {
    const { results, calls } = await writing(() => ({ body: { results: [] } }), [answer('ticket-7')]);
    expect(brief(results)).toEqual(['not-found']);
    expect(calls.length).toBe(2);
  });

  test('refused for one value writes all others and blames every record that carries it, in few calls', async () => {
    const items = Array.from({ length: 100 }, (_, n) => answer(`ticket-${n}`, { grade: (n % 5) + 1 }));
    const { results, calls } = await writing(
      refusing(({ properties }) => properties.feedback_grade === '3', invalidOption),
      items,
    );
    const expected = items.map(({ grade }) =>
      grade === 3
        ? "HubSpot did not take the answer on the ticket: 400 VALIDATION_ERROR, INVALID_OPTION in feedback_grade. Add the value to the property's options in HubSpot: every grade; answered and no_answer for status"
        : 'ok',
    );
    expect(brief(results)).toEqual(expected);
    expect(calls.length).toBeLessThanOrEqual(7);
  });

  test('refused for one record finds it by halving', async () => {
    const rule: Reply = { body: { category: 'MISSING_CONDITIONAL_REQUIRED_PROPERTY', message: 'resolution of jane' } };
    const { results, calls } = await writing(
      refusing(({ id }) => id === '61', rule),
      Array.from({ length: 100 }, (_, n) => answer(`ticket-${n}`)),
    );
    expect(results.filter(({ ok }) => !ok).length).toBe(1);
    const error = results[61]?.ok === false && results[61].why === 'error' ? results[61].error : undefined;
    expect(error).toBeInstanceOf(CloseloopError);
    expect(error).toMatchObject({
      advice: { kind: 'permanent' },
      message:
        'HubSpot did not take the answer on the ticket: 400 MISSING_CONDITIONAL_REQUIRED_PROPERTY. A rule of the account requires another property on this record: fill it in there, or relax the rule in HubSpot',
    });
    expect(calls.length).toBeLessThanOrEqual(15);
  });

  test('refused for records that HubSpot names sets them apart at once', async () => {
    const rule: Reply = {
      body: { category: 'VALIDATION_ERROR', errors: [{ code: 'INVALID_DATE', context: { ids: ['7', '60'] } }] },
    };
    const { results, calls } = await writing(
      refusing(({ id }) => id === '7' || id === '60', rule),
      Array.from({ length: 100 }, (_, n) => answer(`ticket-${n}`)),
    );
    expect(results.flatMap(({ ok }, n) => (ok ? [] : [n]))).toEqual([7, 60]);
    expect(calls.length).toBe(5);
  });

  test('answered 404 as a whole fails only the record that is gone', async () => {
    const update = refusing(({ id }) => id === '8', { status: 404, body: { category: 'OBJECT_NOT_FOUND' } });
    const { results } = await writing(
      (call, response) => (call.path.endsWith('/read') ? { body: { results: [] } } : update(call, response)),
      ['ticket-7', 'ticket-8', 'ticket-9'].map((id) => answer(id)),
    );
    expect(brief(results)).toEqual(['ok', 'not-found', 'ok']);
  });

  test('for a property that does not exist stops the source, with the remedy', async () => {
    const missing: Reply = {
      status: 400,
      body: {
        category: 'VALIDATION_ERROR',
        errors: [{ code: 'PROPERTY_DOESNT_EXIST', context: { propertyName: ['feedback_grade'] } }],
      },
    };
    await expect(writing(() => missing, [answer('ticket-7'), answer('ticket-8')])).rejects.toMatchObject({
      advice: { kind: 'config' },
      message:
        'HubSpot has no ticket property feedback_grade. Let "closeloop setup" create it (or restore it in HubSpot, Settings > Properties), or correct its internal name under writeBack',
    });
  });
});
