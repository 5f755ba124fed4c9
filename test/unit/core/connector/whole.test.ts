import { expect, test } from 'vitest';
import { z } from 'zod';
import { defineConnector, type Source } from '../../../../core/connector/contract.ts';
import { recordFlaw } from '../../../../core/connector/whole.ts';
import { quietPorts } from '../../../support/contract/quiet-ports.ts';

const source: Source = {
  batchSize: 7,
  taken: { status: 202 },
  verify: () => ({ ok: true }),
  events: () => ({ ok: true, events: [], ignored: [] }),
  read: async () => [],
  writeBack: async () => [],
};
const act: NonNullable<Source['act']> = async () => [];

/** Opens a connector as somebody wrote it without a compiler. */
function opened(given: unknown, actions: readonly string[] = []): Source {
  const shapes = Object.fromEntries(actions.map((name) => [name, z.string()]));
  const open = () => given as Source;
  return defineConnector({ name: 'deskly', settings: z.strictObject({}), actions: shapes, open }).open(
    {},
    quietPorts(),
  );
}

test.each<[what: string, given: unknown, actions: string[], told: string]>([
  ['a promise', Promise.resolve(source), [], 'it returns a promise: take its `async` away'],
  ['nothing', undefined, [], 'it returns no source, at (root) (expected object): return what desk() gives'],
  [
    'a part of a source',
    { ...source, read: undefined, batchSize: '7' },
    [],
    'it returns no source, at read, batchSize (expected number): return what desk() gives',
  ],
  ['no action', source, ['note'], 'its source does not do the action note that defineConnector names'],
  [
    'an action of another name',
    { ...source, act, acts: ['note', 'reopenn'] },
    ['note', 'reopen'],
    'its source does not do the action reopen that defineConnector names (it does note, reopenn)',
  ],
])('a connector whose open returns %s is refused when its source opens', (_what, given, actions, told) => {
  expect(() => opened(given, actions)).toThrow(new Error(told));
});

test('a source is taken as it is, with more actions than the connector names, or with an act that does not name its actions', () => {
  expect(opened(source)).toBe(source);
  expect(opened({ ...source, act, acts: ['note', 'tag'] }, ['tag'])).toMatchObject({ batchSize: 7 });
  expect(opened({ ...source, act }, ['reopen'])).toMatchObject({ batchSize: 7 });
});

test.each([
  ['z.object', z.object({ key: z.string() })],
  ['z.looseObject', z.looseObject({ key: z.string() })],
])('settings of %s are refused, as a misspelt name would pass unseen', (_what, settings) => {
  expect(() => defineConnector({ name: 'deskly', settings, open: () => source })).toThrow(
    'its settings let misspelt names pass: use z.strictObject in place of z.object',
  );
});

const closed = { is: 'closed', closing: '1', closedAt: new Date(0) };
const read = (more: object) => ({
  ok: true,
  record: { id: '7', currentId: '7', shape: {}, state: closed, ...more },
});

test.each<[what: string, result: unknown, at: string]>([
  ['a closing that is a number', read({ state: { ...closed, closing: 1 } }), 'record.state.closing (expected string)'],
  ['no closing', read({ state: { ...closed, closing: undefined } }), 'record.state.closing (expected string)'],
  ['an instant as a text', read({ state: { ...closed, closedAt: 'now' } }), 'record.state.closedAt (expected date)'],
  ['no instant', read({ state: { ...closed, closedAt: new Date('') } }), 'record.state.closedAt (expected date)'],
  ['an unknown state', read({ state: { is: 'opened' } }), 'record.state.is'],
  ['no state', read({ state: undefined }), 'record.state (expected object)'],
  ['a number for a person', read({ personId: 5 }), 'record.personId (expected string)'],
  ['no shape', read({ shape: null }), 'record.shape'],
  ['no record', { ok: true }, 'record (expected object)'],
  ['nothing', undefined, '(root) (expected object)'],
])('a record with %s is none', (_what, result, at) => {
  expect(recordFlaw(result)).toBe(`it gives a record that is none, at ${at}`);
});

test.each([
  ['closed', read({ personId: '5', timeZone: 'Europe/Tallinn', country: undefined })],
  ['open', read({ state: { is: 'open', readAgainAt: new Date(0) } })],
  ['out', read({ state: { is: 'out', why: 'spam' } })],
  ['gone', { ok: false, why: 'not-found' }],
])('a record that is %s is taken', (_what, result) => {
  expect(recordFlaw(result)).toBeUndefined();
});
