import { expect, test } from 'vitest';
import { recorded } from '../../../support/connectors/request-tracker/replay.ts';
import { answer } from '../../../support/contract/bench.ts';

const done = { ok: true, findings: [] };
const at = (time: string) => new Date(`2026-11-20T${time}:00Z`);
const bodyOf = (sent: ReturnType<typeof recorded>['sent'], method: string) =>
  sent.filter((one) => one.method === method && one.path !== '/tickets').map(({ body }) => body);

test('it writes all in one call by the ids that are left, and says what takes no answer', async () => {
  const { source, sent, left } = recorded('write');
  const items = [answer('1', { grade: 9, marker: 'j1.1' }), answer('3', { grade: 2, marker: 'j3.1' })];
  expect(await source.writeBack([...items, answer('5', { grade: 2 }), answer('99999')])).toEqual([
    done,
    done,
    { ok: false, why: 'closed', message: 'Request Tracker takes no answer on ticket 5: it is deleted.' },
    { ok: false, why: 'not-found', message: 'Request Tracker has no ticket 99999 any more.' },
  ]);
  const fields = {
    'Feedback comment': 'My neighbour Tom was rude to your engineer',
    'Feedback at': '2026-11-20 10:00:00',
  };
  expect(bodyOf(sent, 'PUT')).toEqual([
    [
      { id: 1, CustomFields: { ...fields, 'Feedback grade': 9 } },
      { id: 4, CustomFields: { ...fields, 'Feedback grade': 2 } },
    ],
  ]);
  expect(sent.filter(({ path }) => path.endsWith('/comment'))).toMatchObject([
    { path: '/ticket/1/comment', body: { Subject: 'closeloop ref j1.1', ContentType: 'text/plain' } },
    { path: '/ticket/4/comment', body: { Subject: 'closeloop ref j3.1' } },
  ]);
  expect(left).toEqual([]);
});

test('it finds its comment by the subject, and writes nothing twice', async () => {
  const { source, sent } = recorded('write-again');
  expect(await source.writeBack([answer('1', { grade: 9, marker: 'j1.1' })])).toEqual([done]);
  expect(sent.map(({ method, path }) => `${method} ${path}`)).toEqual([
    'POST /tickets',
    'GET /ticket/1/attachments?fields=Subject&per_page=100&page=1',
  ]);
});

const where = (name: string, value: string) =>
  `Request Tracker did not keep "${name}": look whether "${name}" is on the tickets of its queue and takes ${value}, and whether closeloop's user has ModifyTicket and ModifyCustomField`;
const worse = { grade: 77, comment: 'Worse', marker: 'j1.2', answeredAt: at('11:00') };
const rows: [what: string, name: string, more: object, item: object, result: object][] = [
  [
    'a pattern refused, in a success',
    'write-refused',
    {},
    worse,
    { ...done, findings: [where('Feedback grade', '77')] },
  ],
  [
    'no field of the ticket takes, in a success',
    'write-nowhere',
    { writeBack: { grade: 'No such field' } },
    { grade: 9 },
    { ...done, findings: [where('No such field', '9')] },
  ],
  [
    'is older than what is there',
    'write-older',
    {},
    { grade: 3, marker: 'j1.0', answeredAt: at('09:00') },
    { ...done, unwritten: 'the ticket holds a newer answer, which stays' },
  ],
  [
    'its user has no right to',
    'write-forbidden',
    {},
    {},
    {
      ok: false,
      why: 'closed',
      message: "Request Tracker takes no answer on ticket 1: closeloop's user may not see it (ShowTicket).",
    },
  ],
];
test.each(rows)('it tells what %s', async (_what, name, more, item, result) => {
  const { source, left } = recorded(name, more);
  expect(await source.writeBack([answer('1', item)])).toEqual([result]);
  expect(left).toEqual([]);
});

test('an answer without grade and words empties both, by null: an empty text would stay as a value', async () => {
  const { source, sent } = recorded('write-empty');
  const empty = { grade: null, comment: '', marker: 'j1.3', answeredAt: at('12:00') };
  expect(await source.writeBack([answer('1', empty)])).toEqual([done]);
  const fields = { 'Feedback grade': null, 'Feedback comment': null, 'Feedback at': '2026-11-20 12:00:00' };
  expect(bodyOf(sent, 'PUT')).toEqual([[{ id: 1, CustomFields: fields }]]);
});

test('an erasure empties what is full, nothing else: null on an empty field would make an empty value', async () => {
  const { source, sent, left } = recorded('forget');
  expect(await source.forget?.(['1', '5', '99999'])).toEqual([
    'the history of ticket 1, with all that its fields held: Request Tracker deletes none',
    'the notes on ticket 1: Request Tracker deletes none',
  ]);
  expect(bodyOf(sent, 'PUT')).toEqual([[{ id: 1, CustomFields: { 'Feedback at': null } }]]);
  expect(left).toEqual([]);
});
