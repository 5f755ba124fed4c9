import { expect, test } from 'vitest';
import { eventReader } from '../../../../connectors/webhook/events.ts';
import { eventOf, writer } from '../../../../connectors/webhook/receiver.ts';
import { isDigest, namer, recordIdFrom, senderIds } from '../../../../connectors/webhook/record.ts';
import { settings } from '../../../../connectors/webhook/settings.ts';
import { webhook } from '../../../../connectors/webhook/webhook.ts';
import type { RecordEvent } from '../../../../core/connector/contract.ts';
import { answer, openPorts } from '../../../support/contract/bench.ts';
import { testDigest } from '../../../support/contract/test-digest.ts';

const nameOf = namer({ digest: testDigest });
const idOf = (sender: string) => nameOf(recordIdFrom(sender) ?? expect.fail(sender));

test.each([
  ['Anna.Kask@example.com', 'anna.kask@example.com'],
  ['+372 5551 2345', '0037255512345'],
])('a record that is called %j has one digest, however its id is spelled: %j', (sender, otherwise) => {
  expect(isDigest(idOf(sender))).toBe(true);
  expect(idOf(otherwise)).toBe(idOf(sender));
  // What people copy from a list of journeys is the id as well.
  expect(nameOf(idOf(sender))).toBe(idOf(sender));
});

test.each(['41960', 'J 7:1', 'Kati Karu', '55512345', '+37', '00012'])(
  'a record that is called %j keeps its id',
  (sender) => {
    expect(idOf(sender)).toBe(recordIdFrom(sender));
  },
);

const written = {
  signature: { kind: 'standard', secrets: [`whsec_${Buffer.alloc(32, 7).toString('base64')}`] },
  event: { record: 'record', closed: 'type = "done"', shape: '{"a": 1}' },
};
test.each(['J 7:1', 'J%207%3A1', '50%off', '41960', 'Anna.Kask@example.com'])(
  'people name a record as its sender does, or as logs do: %j',
  (text) => {
    const { recordNames } = webhook.open(written, { ...openPorts().ports, digest: testDigest });
    expect(recordNames?.parse(text)).toBe(idOf(text === 'J%207%3A1' ? 'J 7:1' : text));
  },
);

const read = eventReader(
  settings.parse({
    signature: { kind: 'standard', secrets: [`whsec_${Buffer.alloc(32, 7).toString('base64')}`] },
    event: {
      record: 'record',
      closed: 'type = "done"',
      changed: 'type = "open"',
      shape: '{"a": 1}',
      graded: { when: 'type = "rated"', grade: '5' },
      erase: { when: 'type = "forget"' },
    },
  }),
  nameOf,
);
async function eventOfType(type: string, record: string) {
  const raw = Buffer.from(JSON.stringify({ type, record }));
  const said = await read({ method: 'POST', url: '', headers: {}, raw, receivedAt: new Date() });
  return said.ok ? said.events[0] : expect.fail(said.why);
}

test.each(['done', 'open', 'rated'])("an event of type %s has the sender's id in its snapshot alone", async (type) => {
  const event = await eventOfType(type, 'anna@example.com');
  expect(event).toMatchObject({ recordId: idOf('anna@example.com'), snapshot: { sender: 'anna@example.com' } });
  const { snapshot: _, ...rest } = Object(event);
  expect(JSON.stringify(rest)).not.toContain('anna');
  expect(Object(await eventOfType(type, '17')).snapshot).not.toHaveProperty('sender');
});

test('an erasure names the record by its digest', async () => {
  const event = await eventOfType('forget', 'anna@example.com');
  expect(event).toMatchObject({ kind: 'erase', recordIds: [idOf('anna@example.com')] });
  expect(JSON.stringify(event)).not.toContain('anna');
});

test('an answer goes out under the id of the sender, until that is erased', async () => {
  const snapshotOf = async (sender: string): Promise<unknown> =>
    ((await eventOfType('done', sender)) as RecordEvent).snapshot;
  const stored = new Map<string, unknown>([
    [idOf('anna@example.com'), await snapshotOf('anna@example.com')],
    [idOf('+372 5551 2345'), await snapshotOf('+372 5551 2345')],
    // Another person's record, from which an erasure took the address.
    [idOf('bob@example.com'), { ...Object(await snapshotOf('bob@example.com')), sender: '' }],
  ]);
  const snapshots = { of: async (ids: readonly string[]) => ids.map((id) => stored.get(id)) };
  const ids = [...stored.keys(), idOf('gone@example.com'), '17'];
  const vendorIds = senderIds(snapshots, nameOf);
  expect(await vendorIds(ids)).toEqual(['anna@example.com', '+372%205551%202345', undefined, undefined, '17']);

  const posted: unknown[] = [];
  const post = async (_: string, event: object) => {
    posted.push(Object(event).data.record);
    return 'taken' as const;
  };
  const results = await writer([], post, vendorIds)(ids.map((recordId) => answer(recordId)));
  expect(posted.toSorted()).toEqual(['+372 5551 2345', '17', 'anna@example.com']);
  const gone = { ok: false, why: 'not-found', message: 'the id of the record was erased' };
  expect(results.map((one) => (one.ok ? 'taken' : one))).toEqual(['taken', 'taken', gone, gone, 'taken']);
  expect(eventOf(answer('17'), []).data.record).toBe('17');
});
