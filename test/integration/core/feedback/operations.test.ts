import { describe, expect, test } from 'vitest';
import { assumedOperations, OperationOverrides, resolveOperations } from '../../../../core/feedback/operations.ts';
import { page, phone } from '../../../support/core/feedback/samples.ts';
import { all, clientFor, failureOf, listen } from '../../../support/core/feedback/service.ts';

/** Nothing in this form is as assumed: methods, paths, nesting, names, lists for objects, text for numbers. */
const otherForm = {
  create: {
    method: 'PUT',
    path: '/appeals/campaigns/:campaign/invitations?notify=yes',
    body: {
      campaign: null,
      phone: 'data.attributes.to',
      email: 'data.attributes.to',
      identifier: 'data.attributes.to',
      scheduled: 'data.attributes.due',
      customFields: 'data.attributes.extra',
    },
    constants: { 'data.type': 'invitation', version: 2 },
    record: 'data',
  },
  get: { method: 'POST', path: '/lookup', body: { id: 'query.number' }, record: 'found' },
  grade: { method: 'PATCH', path: '/appeals/:id', body: { grade: 'answer.score' } },
  comment: { method: 'PATCH', path: '/appeals/:id', body: { comment: 'answer.text' } },
  cancel: { method: 'DELETE', path: '/appeals/x?number=:id' },
  customFields: { layout: 'array', name: 'key', value: 'content' },
  record: {
    id: 'number',
    campaign: 'attributes.campaign_id',
    phone: 'attributes.to.phone',
    email: 'attributes.to.mail',
    identifier: null,
    scheduled: 'attributes.due',
    status: 'attributes.state',
    grade: 'answer.score',
    comment: 'answer.text',
    customFields: 'attributes.extra',
  },
  status: { scheduled: 'Pending' },
  list: {
    filters: {
      changed: '{changedSince}',
      who: '{contact}',
      expand: 'answer',
      range: '{dateFrom}..{dateTo}',
      in: 'c{campaign}',
    },
    record: 'item',
  },
} as const;

const otherRecord = {
  number: 'N/7',
  attributes: {
    campaign_id: '12',
    to: { phone: '+37255512345', mail: '' },
    due: '2026-03-02T12:00:00+02:00',
    state: 'Pending',
    extra: [{ key: 'Store', content: 'North' }, { key: 'Visits', content: 2 }, { unrelated: true }],
  },
  answer: { score: '4.50', text: '' },
};

const request = {
  id: 'N/7',
  campaign: 12,
  phone: '+37255512345',
  email: null,
  identifier: null,
  scheduled: new Date('2026-03-02T10:00:00Z'),
  status: 'Pending',
  grade: 4.5,
  comment: null,
  customFields: { Store: 'North', Visits: 2 },
};

test('all five operations and the list can have a wholly different form', async () => {
  const service = await listen(({ method, path }) => {
    if (method === 'GET') return { body: page([{ item: otherRecord }]) };
    if (path === '/api/lookup') return { body: { found: otherRecord } };
    return method === 'PUT' ? { status: 201, body: { data: otherRecord } } : { status: 204 };
  });
  const client = clientFor(service.url, { operations: otherForm });
  const scheduled = new Date('2026-03-02T10:00:00Z');
  const created = await client.create({
    campaign: 12,
    contact: phone,
    scheduled,
    customFields: { Store: 'North', Visits: 2 },
  });
  expect(created).toEqual(request);
  expect(await client.request('N/7')).toEqual(request);
  await client.grade('N/7', 4);
  await client.comment('N/7', 'good');
  await client.cancel('N/7');
  expect(
    await all(client.requests({ campaign: 12, changedSince: '2026-03-01', contact: phone, dateFrom: '2026-01-01' })),
  ).toEqual([request]);
  expect(
    service.received.map(({ method, path, body, headers }) => [
      method,
      path,
      body === '' ? '' : JSON.parse(body),
      headers['content-type'],
    ]),
  ).toEqual([
    [
      'PUT',
      '/api/appeals/campaigns/12/invitations?notify=yes',
      {
        version: 2,
        data: {
          type: 'invitation',
          attributes: {
            to: '+37255512345',
            due: '2026-03-02T10:00:00.000Z',
            extra: [
              { key: 'Store', content: 'North' },
              { key: 'Visits', content: 2 },
            ],
          },
        },
      },
      'application/json',
    ],
    ['POST', '/api/lookup', { query: { number: 'N/7' } }, 'application/json'],
    ['PATCH', '/api/appeals/N%2F7', { answer: { score: 4 } }, 'application/json'],
    ['PATCH', '/api/appeals/N%2F7', { answer: { text: 'good' } }, 'application/json'],
    ['DELETE', '/api/appeals/x?number=N%2F7', '', undefined],
    // `range` needs dateTo, which this call doesn't have.
    ['GET', '/api/appeals/?campaign=12&changed=2026-03-01&who=%2B37255512345&expand=answer&in=c12', '', undefined],
  ]);
});

test('a record of another shape is named by the place that the override gives', async () => {
  const service = await listen(() => ({
    status: 201,
    body: { data: { ...otherRecord, answer: { score: 'many' }, number: null } },
  }));
  const client = clientFor(service.url, { operations: otherForm });
  const error = await failureOf(client.create({ campaign: 12, contact: phone, customFields: {} }));
  expect(error).toMatchObject({ outcome: 'unknown', advice: { kind: 'permanent' } });
  expect(String(error)).toContain('at data.number; data.answer.score;');
});

test('a refused custom field comes out under its own name in another form too', async () => {
  const body = { data: { attributes: { extra: { Store: ['This field is required.'] } } } };
  const service = await listen(() => ({ status: 400, body }));
  const client = clientFor(service.url, { operations: otherForm });
  const error = await failureOf(client.create({ campaign: 12, contact: phone, customFields: {} }));
  expect(error).toMatchObject({ fields: { Store: ['This field is required.'] } });
});

test('custom fields may lie at the root, and be called anything', async () => {
  const service = await listen(() => ({ status: 201, body: { id: 1, Store: 'x' } }));
  const operations = { create: { body: { customFields: '' } }, record: { customFields: '' } };
  const customFields = Object.fromEntries([
    ['__proto__', 'p'],
    ['a.b', 'dot'],
    ['toString', 1],
  ]);
  const created = await clientFor(service.url, { operations }).create({ campaign: 1, contact: phone, customFields });
  expect(service.received[0]?.body).toBe(
    '{"campaign":1,"phone":"+37255512345","__proto__":"p","a.b":"dot","toString":1}',
  );
  expect(created.customFields).toMatchObject({ Store: 'x' });
});

test('a record may hold nothing but its id', async () => {
  const service = await listen(() => ({ body: { id: 5 } }));
  const names = Object.keys(request).filter((name) => name !== 'id' && name !== 'customFields');
  const nothing = Object.fromEntries(names.map((name) => [name, null]));
  expect(await clientFor(service.url).request('5')).toEqual({ ...nothing, id: '5', customFields: {} });
});

test('the assumed forms are those of the design', () => {
  const none = { id: null };
  const alike = (names: string) => Object.fromEntries(names.split(' ').map((name) => [name, name]));
  expect(assumedOperations).toEqual({
    create: {
      ...{ method: 'POST', path: '/appeals/', constants: {}, record: '' },
      body: { ...alike('campaign phone email identifier scheduled'), customFields: 'custom_fields' },
    },
    get: { method: 'GET', path: '/appeals/:id', body: none, constants: {}, record: '' },
    grade: { method: 'POST', path: '/appeals/:id/grade', body: { ...none, grade: 'grade' }, constants: {} },
    comment: { method: 'POST', path: '/appeals/:id/comment', body: { ...none, comment: 'comment' }, constants: {} },
    cancel: { method: 'POST', path: '/appeals/:id/cancel', body: none, constants: {} },
    customFields: { layout: 'object', name: 'name', value: 'value' },
    record: {
      ...alike('id campaign phone email identifier scheduled status grade comment'),
      customFields: 'custom_fields',
    },
    status: { scheduled: 'Scheduled' },
    list: { filters: {}, record: '' },
  });
});

describe('overrides', () => {
  test('none leaves the assumed forms', () => {
    expect(resolveOperations(undefined)).toEqual(assumedOperations);
    expect(resolveOperations(OperationOverrides.parse({}))).toEqual(assumedOperations);
  });

  test('one part leaves all others', () => {
    const { grade, ...rest } = resolveOperations(OperationOverrides.parse({ grade: { body: { grade: 'score' } } }));
    expect(grade).toEqual({ ...assumedOperations.grade, body: { id: null, grade: 'score' } });
    expect(rest).toEqual({ ...assumedOperations, grade: undefined });
  });

  const wrong: [what: string, overrides: unknown, path: string, message: RegExp][] = [
    ['an unknown operation', { greade: {} }, '', /greade/],
    ['an unknown key', { grade: { url: '/x' } }, 'grade', /url/],
    ['an unknown value', { grade: { body: { score: 'x' } } }, 'grade.body', /score/],
    ['an unknown field', { record: { colour: 'x' } }, 'record', /colour/],
    ['a path without slash', { get: { path: 'appeals/:id' } }, 'get.path', /must begin with \//],
    ['a path that climbs', { get: { path: '/../x/:id' } }, 'get.path', /must not hold/],
    ['a path that climbs encoded', { get: { path: '/a/%2E%2e?x=:id' } }, 'get.path', /must not hold/],
    ['a path that stays', { get: { path: '/a/./:id' } }, 'get.path', /must not hold/],
    ['a path that ends in a climb', { get: { path: '/:id/..' } }, 'get.path', /must not hold/],
    ['a path with a space', { get: { path: '/a b/:id' } }, 'get.path', /space/],
    ['a path with a backslash', { get: { path: '/a\\b/:id' } }, 'get.path', /space/],
    ['a get without the id', { get: { path: '/x' } }, 'get.path', /which request/],
    ['a comment without the id', { comment: { path: '/x' } }, 'comment.path', /which request/],
    ['a cancel without the id', { cancel: { path: '/x/:campaign' } }, 'cancel.path', /which request/],
    ['constants on a GET', { get: { constants: { a: 1 } } }, 'get.method', /no body/],
    ['a change by no method', { create: { method: 'HEAD' } }, 'create.method', /POST/],
    ['a reserved name at the start', { record: { grade: 'prototype.b' } }, 'record.grade', /reserves/],
    ['a reserved name at the end', { record: { grade: 'a.constructor' } }, 'record.grade', /reserves/],
    ['a place with a space', { record: { grade: 'a b' } }, 'record.grade', /dot path/],
    ['a place that ends in a dot', { record: { grade: 'a.' } }, 'record.grade', /dot path/],
    ['a place that begins with a dot', { record: { grade: '.a' } }, 'record.grade', /dot path/],
    ['an empty place', { record: { grade: '' } }, 'record.grade', /dot path/],
    ['an empty status', { status: { scheduled: '' } }, 'status.scheduled', /./],
    ['an unknown layout', { customFields: { layout: 'list' } }, 'customFields.layout', /array/],
    ['an open brace', { list: { filters: { x: 'a{status' } } }, 'list.filters.x', /\{status,/],
    ['a path with an unknown placeholder', { get: { path: '/x/:number' } }, 'get.path', /:number/],
    ['a path with a fragment', { get: { path: '/x#:id' } }, 'get.path', /#/],
    ['a form without the id', { grade: { path: '/grade' } }, 'grade.path', /which request/],
    ['a grade that goes nowhere', { grade: { body: { grade: null } } }, 'grade.body.grade', /nowhere/],
    ['a comment that goes nowhere', { comment: { body: { comment: null } } }, 'comment.body.comment', /nowhere/],
    ['a create without campaign', { create: { body: { campaign: null } } }, 'create.body.campaign', /campaign/],
    ['a create with an id', { create: { path: '/appeals/:id' } }, 'create.path', /new request/],
    ['a body on a GET', { get: { path: '/x', body: { id: 'id' } } }, 'get.method', /no body/],
    ['a change by GET', { cancel: { method: 'GET' } }, 'cancel.method', /POST/],
    ['a reserved name', { record: { grade: 'a.__proto__.b' } }, 'record.grade', /reserves/],
    ['an empty segment', { record: { grade: 'a..b' } }, 'record.grade', /dot path/],
    ['no id', { record: { id: null } }, 'record.id', /string/],
    ['an unknown placeholder', { list: { filters: { x: '{since}' } } }, 'list.filters.x', /\{since\}.*\{changedSince/],
  ];
  test.each(wrong)('%s is refused with its place', (_what, overrides, path, message) => {
    const issues = OperationOverrides.safeParse(overrides).error?.issues ?? [];
    expect(issues.map((issue) => issue.path.join('.'))).toEqual([path]);
    expect(issues[0]?.message).toMatch(message);
  });

  test.each([
    { get: { path: '/a..b/.well-known/:id/v1.2' } },
    { get: { method: 'POST', path: '/x', body: { id: 'id' }, constants: { 'a.b': true } } },
    { create: { path: '/x/:campaign', body: { campaign: null } } },
    { grade: { path: '/x', body: { id: 'a.my__proto__.id' } } },
    { record: { grade: 'constructors.prototypes' } },
    { list: { filters: { x: '{status} and {contact}', y: '' }, record: 'a.b' } },
  ])('%j is fine', (overrides) => {
    expect(OperationOverrides.safeParse(overrides).error?.issues).toBeUndefined();
  });
});
