import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  answerFailure,
  FeedbackError,
  misnamed,
  notJsonFailure,
  shapeFailure,
} from '../../../../core/feedback/failure.ts';
import type { Answer, Place } from '../../../../core/feedback/response.ts';
import { mismatchesOf } from '../../../../core/mismatches.ts';

const now = new Date('2026-03-02T10:00:00Z');
const get: Place = { place: 'GET /x' };
const create: Place = { place: 'POST /appeals/ (create)', operation: 'create', customFieldsAt: 'custom_fields' };
const cancel: Place = { place: 'POST /appeals/:id/cancel', operation: 'cancel' };
const page = Symbol('a page instead of JSON');

function answer(status: number, value: unknown = {}, headers: Record<string, string> = {}): Answer {
  return { status, headers: new Headers(headers), body: value === page ? { json: false } : { json: true, value } };
}

describe('the message for an answer', () => {
  const form = '; the form of this call is an assumption, see feedback.operations.cancel';
  const redirect =
    "a redirect, which is not followed: the path lost or gained a slash, or feedback.baseUrl is not the service's own address";
  const nothing = 'nothing in this account has this id or contact (it may be masked, deleted or a draft)';
  const nowhere = "no such path at this address: check that feedback.baseUrl ends with the service's /api";
  const failed = 'the service failed; it may have done the work';
  const rows: [status: number, body: unknown, place: Place, advice: string, meaning: string][] = [
    [300, {}, get, 'config', redirect],
    [399, page, cancel, 'config', `${redirect}${form}`],
    [400, {}, get, 'permanent', 'a parameter is missing or malformed, or the current status does not allow this'],
    [400, {}, cancel, 'permanent', `a feedback request can be cancelled only while it is scheduled${form}`],
    [400, { a: ['No.'] }, cancel, 'permanent', `it refuses a (No)${form}`],
    [
      401,
      page,
      cancel,
      'config',
      'the service does not accept the key: check feedback.apiKey against Settings, API keys',
    ],
    [
      403,
      {},
      cancel,
      'config',
      'the campaign is not active, or it or the request belongs to another account than the key',
    ],
    [404, {}, get, 'config', nowhere],
    [404, {}, cancel, 'permanent', `${nothing}${form}`],
    [404, page, get, 'config', nowhere],
    [404, page, cancel, 'config', `${nowhere}${form}`],
    [405, {}, get, 'permanent', 'the path exists but not for this method'],
    [405, {}, cancel, 'config', `the path exists but not for this method${form}`],
    [408, {}, cancel, 'transient', failed],
    [415, {}, get, 'permanent', 'the body did not arrive as JSON with Content-Type application/json (a proxy?)'],
    [415, {}, cancel, 'config', `the body did not arrive as JSON with Content-Type application/json (a proxy?)${form}`],
    [422, {}, cancel, 'permanent', `the service refuses the call${form}`],
    [429, {}, cancel, 'transient', 'the service asks to wait'],
    [499, {}, get, 'permanent', 'the service refuses the call'],
    [500, page, cancel, 'transient', failed],
    [599, {}, get, 'transient', 'the service failed'],
  ];
  test.each(rows)('it is, for %i %j from %j, %s: %s', (status, body, place, kind, meaning) => {
    const error = answerFailure(answer(status, body), place, now);
    expect(error.message).toBe(`Feedback service: ${place.place} answered ${status}: ${meaning}.`);
    expect([error.advice.kind, error.status, error.name]).toEqual([kind, status, 'FeedbackError']);
    expect(error.outcome).toBe([408, 500, 599].includes(status) ? 'unknown' : 'refused');
  });

  test.each([
    'Authentication credentials were not provided.',
    'Parameter "campaign" is required.',
    'No Campaign matches the given query.',
    'Not found.',
  ])('it quotes "%s", which holds nothing of ours', (detail) => {
    expect(answerFailure(answer(404, { detail }), get, now).message).toContain(` answered 404 ("${detail}"): `);
  });
});

describe('what nothing is behind', () => {
  const rows: [what: string, body: unknown, place: Place, advice: object][] = [
    ["the service's own words", { detail: 'Not found.' }, get, { kind: 'permanent' }],
    ['a draft', { detail: 'No Campaign matches the given query.' }, create, { kind: 'permanent' }],
    ['a path that is not there', { detail: 'Not found.' }, create, { kind: 'config', only: 'operation create' }],
    ['somebody else who answers in JSON', { message: 'no Route' }, get, { kind: 'config', doubtful: true }],
    ['somebody else, about a request', { message: 'no Route' }, cancel, { kind: 'permanent', doubtful: true }],
    ['a page', page, get, { kind: 'config', doubtful: true }],
    ['a page, about a request', page, cancel, { kind: 'config', doubtful: true, only: 'operation cancel' }],
  ];
  test.each(rows)('it is told from %s (audit 17)', (_, body, place, advice) => {
    expect(answerFailure(answer(404, body), place, now).advice).toEqual(advice);
  });
});

describe('what the call itself lacks or has too much', () => {
  const rows: [says: string, expected: string[]][] = [
    ['This field is required.', ['x']],
    ['Unknown field.', ['x']],
    ['Unexpected parameter', ['x']],
    ['Enter a valid phone number.', []],
    ['Unknown country code.', []],
    ['"a" is not a valid choice.', []],
  ];
  test.each(rows)('it is told by "%s": %j (audit 17)', (says, expected) => {
    expect(misnamed(answerFailure(answer(400, { x: [says] }), create, now))).toEqual(expected);
    expect(misnamed(answerFailure(answer(422, { x: [says] }), create, now))).toEqual([]);
  });
});

describe('the refused fields', () => {
  const rows: [what: string, body: unknown, place: Place, fields: unknown, says: string][] = [
    ['one text', { Store: 'Bad.' }, create, { Store: ['Bad.'] }, 'Store'],
    ['the texts of a list', { Store: ['Bad.', 7, 'Worse.'] }, create, { Store: ['Bad.', 'Worse.'] }, 'Store (Bad)'],
    ['a nested one', { a: { b: { c: ['Bad.'] } } }, create, { 'a.b.c': ['Bad.'] }, 'a.b.c (Bad)'],
    ['a list of objects', { in: [{}, { x: ['Bad.'] }] }, create, { 'in.1.x': ['Bad.'] }, 'in.1.x'],
    ['a field by its name', { custom_fields: { Store: ['Bad.'] } }, create, { Store: ['Bad.'] }, 'Store (Bad)'],
    ['what only begins alike', { custom_fieldset: 'Bad.' }, create, { custom_fieldset: ['Bad.'] }, 'custom_fieldset'],
    ['what ends alike', { 'a.custom_fields.': 'Bad.' }, create, { 'a.custom_fields.': ['Bad.'] }, 'a.custom_fields.'],
    ['any name at the root', { '.b': 'Bad.' }, { ...create, customFieldsAt: '' }, { '.b': ['Bad.'] }, '.b'],
    ['any name of another call', { 'x.b': 'Bad.' }, get, { 'x.b': ['Bad.'] }, 'x.b'],
    ['a detail that is no text', { detail: ['Bad.'] }, create, { detail: ['Bad.'] }, 'detail (Bad)'],
    [
      'a required one',
      { a: ['Oh', 'this field IS required'] },
      get,
      { a: ['Oh', 'this field IS required'] },
      'a (required)',
    ],
    [
      'one that seems so',
      { a: ['Now this field is required.'] },
      get,
      { a: ['Now this field is required.'] },
      'a (Now this field is required)',
    ],
    [
      'one that seems so too',
      { a: ['This field is required.!'] },
      get,
      { a: ['This field is required.!'] },
      'a (This field is required)',
    ],
  ];
  test.each(rows)('they are %s: %j', (_, body, place, fields, says) => {
    const error = answerFailure(answer(400, body), place, now);
    expect(error.fields).toEqual(fields);
    expect(error.message).toContain(`: it refuses ${says}${place.operation === undefined ? '.' : ';'}`);
    expect(error.detail).toBeUndefined();
  });

  test.each([[[]], [['Bad.']], ['Bad.'], [null], [{ a: 5, b: null, c: [], d: {} }], [page]])('none in %j', (body) => {
    const { fields, detail } = answerFailure(answer(400, body), create, now);
    expect([fields, detail]).toEqual([undefined, undefined]);
  });
});

test('a FeedbackError has a cause only where there is one', () => {
  const cause = new Error('x');
  expect(new FeedbackError('m', { kind: 'transient' }, { cause, outcome: 'unknown' })).toMatchObject({
    cause,
    outcome: 'unknown',
  });
  const bare = new FeedbackError('m', { kind: 'transient' });
  expect([Object.hasOwn(bare, 'cause'), bare.outcome, bare.status]).toEqual([false, 'refused', undefined]);
});

describe('an answer of another shape', () => {
  const places = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
  test.each([
    [5, get, 'a; b; c; d; e.'],
    [6, get, 'a; b; c; d; e and 1 more.'],
    [7, cancel, 'a; b; c; d; e and 2 more; set feedback.operations to what the service calls its fields.'],
  ])('it is named by five of %i places', (count, place, says) => {
    const error = shapeFailure(200, place, places.slice(0, count));
    expect(error.message).toBe(
      `Feedback service: ${place.place} answered 200 in another shape than specified, at ${says}`,
    );
    expect(error).toMatchObject({ advice: { kind: 'permanent' }, outcome: 'refused', status: 200 });
    expect(shapeFailure(200, place, places, 'unknown').outcome).toBe('unknown');
  });

  test('it is told without what was found', () => {
    const parse = (schema: z.ZodType, value: unknown) => schema.safeParse(value).error ?? expect.unreachable();
    expect(
      mismatchesOf(parse(z.object({ a: z.array(z.string()), b: z.literal('x') }), { a: [1], b: 'secret' })),
    ).toEqual(['a.0 (expected string)', 'b']);
    expect(mismatchesOf(parse(z.string(), 1))).toEqual(['(root) (expected string)']);
  });
});

test.each([
  ['text/html; charset=utf-8', 'text/html'],
  ['application/problem+json', 'application/problem+json'],
  [' text/plain', 'text/plain'],
  ['"text/html"', 'no content type'],
  ['html', 'no content type'],
  [undefined, 'no content type'],
])('an answer that is no JSON is named by its type: %j', (type, says) => {
  const headers: Record<string, string> = type === undefined ? {} : { 'content-type': type };
  const error = notJsonFailure(answer(200, page, headers), get, 'unknown');
  expect(error.message).toBe(
    `Feedback service: GET /x answered 200 without JSON (${says}): something other than the service answers at feedback.baseUrl.`,
  );
  expect(error).toMatchObject({ advice: { kind: 'transient' }, outcome: 'unknown', status: 200 });
});

test('what an answer calls refused is told shortly, however long its names, and however many (audit loop)', () => {
  const long = 'k'.repeat(100_000);
  const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`f${i}`, { a: 'No.', b: ['No.'] }]));
  for (const value of [{ [long]: { [long]: many } }, many, { [long]: Object.values(many) }]) {
    const { fields = {}, message } = answerFailure(answer(400, value), create, now);
    const names = Object.keys(fields);
    expect(names.length).toBeGreaterThan(0);
    expect(names.join('').length).toBeLessThan(50_000);
    expect(message.length).toBeLessThan(60_000);
  }
});
