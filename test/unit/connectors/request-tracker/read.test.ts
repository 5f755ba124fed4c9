import { expect, test } from 'vitest';
import { recorded } from '../../../support/connectors/request-tracker/replay.ts';

const printer = { subject: 'Printer 😀 broken', queue: { id: '3', name: 'Support' } };
const zoe = { id: '35', name: 'Zoë Łuczak', email: 'zoe@example.net', phone: '', language: 'de' };
const nobody = { name: '', email: '' };

test('it presents a ticket by its last closing, with its customer, fields and owner', async () => {
  const { source } = recorded('read');
  const [first] = await source.read(everything);
  expect(first).toEqual({
    ok: true,
    record: {
      ...{ id: '1', currentId: '1', personId: '35', timeZone: 'Europe/Berlin', locale: 'de' },
      state: { is: 'closed', closing: '89', closedAt: new Date('2026-11-26T19:24:41Z') },
      shape: {
        ticket: {
          ...{ ...printer, id: '1', status: 'resolved', createdAt: '2026-11-26T19:24:38Z' },
          fields: { 'Feedback choice': 'good', 'Feedback tags': ['a', 'b'] },
        },
        requestor: zoe,
        owner: { name: 'Enoch Root', email: 'root@localhost' },
      },
    },
  });
});

const everything = ['1', '2', '3', '4', '5', '6', '7', '8', '99999'];
const rows: [what: string, id: string, expected: object][] = [
  ['one that was rejected after it was resolved is open', '2', { state: { is: 'open' } }],
  ['a merged one is the ticket that is left', '3', { currentId: '4', state: { is: 'open' } }],
  ['a deleted one is out, though its id still answers', '5', { state: { is: 'out', why: 'it is deleted' } }],
  ['one of staff is out', '6', { state: { is: 'out', why: 'its requestor is staff' } }],
  ['one that was created resolved closed then', '7', { state: { closing: 'created' }, shape: { owner: nobody } }],
  ['of two requestors the customer counts', '8', { state: { closing: '102' }, shape: { requestor: zoe } }],
];
test.each(rows)('%s', async (_what, id, expected) => {
  const { source, left } = recorded('read');
  const results = await source.read(everything);
  expect(results[everything.indexOf(id)]).toMatchObject({ ok: true, record: { id, ...expected } });
  expect(results.at(-1)).toEqual({ ok: false, why: 'not-found' });
  expect(left).toEqual([]);
});

test('it reads in one call what searches show, and one by one what they leave out', async () => {
  const { source, sent } = recorded('read');
  await source.read(everything);
  expect(sent.map(({ method, path }) => `${method} ${path.split('?')[0]}`)).toEqual([
    'POST /tickets',
    'GET /ticket/3',
    'POST /tickets',
    'GET /ticket/5',
    'GET /ticket/99999',
    'GET /transactions',
    'GET /user/35',
    'GET /user/14',
  ]);
});

test('between two closed statuses there is no closing, however lifecycles write them', async () => {
  const { source } = recorded('read-merged-closings', { closedStatuses: ['Resolved', 'rejected'] });
  expect(await source.read(['2'])).toMatchObject([{ record: { state: { is: 'closed', closing: '91' } } }]);
});

test('what its user may not see is out, and takes no answer', async () => {
  const { source } = recorded('read-forbidden');
  const why = "closeloop's user may not see it (ShowTicket)";
  expect(await source.read(['1'])).toMatchObject([{ record: { id: '1', state: { is: 'out', why } } }]);
});

test.each(['0', '01', 'abc', '../1', '1 OR id > 0', '1000000000'])('%s is no id, and no call is made', async (id) => {
  const { source, sent } = recorded('read');
  expect(await source.read([id])).toEqual([{ ok: false, why: 'not-found' }]);
  expect(sent).toEqual([]);
});
