import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { writeInTurn } from '../../../../core/connector/batches.ts';
import type {
  Connector,
  ConnectorPorts,
  Delivery,
  Events,
  PollPage,
  PresentedRecord,
  Source,
  SourceEvent,
  WriteBack,
  WriteResult,
} from '../../../../core/connector/contract.ts';
import { verifySecretHeader } from '../../../../core/connector/signature.ts';
import { CloseloopError } from '../../../../core/errors.ts';
import { failuresOf } from '../../../support/contract/failures.ts';
import { secrets } from '../../../support/contract/sample.ts';
import { sampleOf, whole } from '../../../support/contract/whole-desk.ts';

/* The suite itself: it passes a connector that keeps the contract, and finds every way of breaking it that is in the table. */

const failures = (connector: Connector, only?: RegExp) => failuresOf(sampleOf(connector), only);

/** The whole connector with other parts. */
function but(change: (source: Source, ports: ConnectorPorts) => Partial<Source>): Connector {
  const open: Connector['open'] = (settings, ports) => {
    const source = whole.open(settings, ports);
    return { ...source, ...change(source, ports) };
  };
  return { ...whole, open };
}

function butEvents(change: (events: Events, source: Source, delivery: Delivery) => Events): Connector {
  return but((source) => ({ events: async (delivery) => change(await source.events(delivery), source, delivery) }));
}

/** The same of each record that is read. */
function butRecords(change: (record: PresentedRecord) => PresentedRecord): Connector {
  return butRead((results) => results.map((one) => (one.ok ? { ...one, record: change(one.record) } : one)));
}

/** A closed record under another name of its closing. */
const closedAs = (record: PresentedRecord, closing: string): PresentedRecord =>
  record.state.is === 'closed' ? { ...record, state: { ...record.state, closing } } : record;

function butRead(
  change: (results: Awaited<ReturnType<Source['read']>>) => Awaited<ReturnType<Source['read']>>,
): Connector {
  return but((source) => ({ read: async (ids) => change(await source.read(ids)) }));
}

/** Records that were read once are not read again, those that it `isFor`. */
function keepsFirst(isFor: (record: PresentedRecord) => boolean): Connector {
  return but((source) => {
    const kept = new Map<string, PresentedRecord>();
    const read: Source['read'] = async (ids) =>
      (await source.read(ids)).map((result) => {
        if (!result.ok || !isFor(result.record)) return result;
        const record = kept.get(result.record.id) ?? result.record;
        kept.set(record.id, record);
        return { ...result, record };
      });
    return { read };
  });
}

function butWrite(change: (...item: Parameters<Source['writeBack']>) => Parameters<Source['writeBack']>[0]): Connector {
  return but((source) => ({ writeBack: (items) => source.writeBack(change(items)) }));
}

function butPage(change: (page: PollPage) => PollPage): Connector {
  return but(({ poll }) => ({ poll: async (from) => change((await poll?.(from)) ?? expect.unreachable()) }));
}

/** The same of each event that a delivery tells. */
const butEach = (change: (event: SourceEvent) => SourceEvent): Connector =>
  butEvents((events) => (events.ok ? { ...events, events: events.events.map(change) } : events));

const bare: WriteBack = {
  recordId: '',
  status: 'answered',
  marker: 'none',
  grade: null,
  comment: null,
  answeredAt: new Date(),
  campaign: '',
};
const taken: WriteResult = { ok: true, findings: [] };
const ghost = { level: 'warning', at: 'x', problem: 'something', remedy: 'something else' } as const;

const closedEvent = { kind: 'closed', recordId: 'T1', at: new Date(), key: 'new', what: 'closed' } as const;
const transient = new CloseloopError('it is tried again', { kind: 'transient' });
const more = { what: 'more', apply: async () => ({}) };
const nobody = ({ at, key, what }: SourceEvent): SourceEvent => ({ kind: 'erase', at, key, what });

const rows: [what: string, connector: Connector, found: RegExp][] = [
  ['settings that take anything', { ...whole, settings: z.looseObject({}) }, /settings with an empty secret$/],
  ['an account that follows the secret', { ...whole, account: (raw) => JSON.stringify(raw) }, /the same account/],
  ['another key at every look', butEach((event) => ({ ...event, key: `${Math.random()}` })), /the same keys, and/],
  ['one key for everything', butEach((event) => ({ ...event, key: 'key' })), /the same keys, and/],
  [
    'a body that is quoted',
    but(() => ({ events: ({ raw }) => ({ ok: false, why: Buffer.from(raw).toString() }) })),
    /no JSON, without quoting/,
  ],
  ['an event in anything', butEvents(() => ({ ok: true, events: [closedEvent], ignored: [] })), /in a signed null/],
  ['the same closing for ever', butRecords((record) => closedAs(record, 'c')), /another one after reopening/],
  ['a closing that is a number', butRecords((record) => closedAs(record, 1 as unknown as string)), /one result per id/],
  ['a first reading that is kept', keepsFirst(() => true), /the address that was corrected/],
  ['a customer who is kept', keepsFirst((record) => record.state.is === 'closed'), /the customer who has replaced/],
  [
    'a corrected address taken for another closing',
    butRecords((record) => closedAs(record, JSON.stringify(record.shape))),
    /the same closing with the address/,
  ],
  [
    'a call for nothing',
    but((source) => ({ writeBack: (items) => source.read(['T1']).then(() => source.writeBack(items)) })),
    /no call for nothing/,
  ],
  ['a write that does nothing', but(() => ({ writeBack: async (items) => items.map(() => taken) })), /each grade/],
  ['a grade of 0 taken for none', butWrite((items) => items.map((i) => ({ ...i, grade: i.grade || null }))), /of 0/],
  ['the first answer kept', butWrite((items) => items.toReversed()), /replaces a grade by a later one/],
  [
    'an answer that is never written twice',
    but((source) => {
      const seen = new Set<string>();
      return {
        writeBack: async (items) => {
          const isKnown = items.every(({ recordId, marker }) => seen.has(recordId + marker));
          for (const { recordId, marker } of items) seen.add(recordId + marker);
          return isKnown ? items.map(() => taken) : await source.writeBack(items);
        },
      };
    }),
    /carried out late/,
  ],
  [
    'a call for every record',
    but((source) => ({
      read: async (ids) => (await Promise.all(ids.map((id) => source.read([id])))).flat(),
    })),
    /at most 1 calls .*read/,
  ],
  [
    'an error of another kind',
    but((source) => ({ read: (...args) => source.read(...args).catch(() => Promise.reject(new Error('no'))) })),
    /429 to a read/,
  ],
  [
    'refused credentials that are tried on',
    but((source) => ({ read: (...args) => source.read(...args).catch(() => Promise.reject(transient)) })),
    /credentials of a read are refused/,
  ],
  ['a poll that never ends', butPage((page) => ({ ...page, done: false })), /every closing since an instant/],
  ['a poll that finds nothing', butPage((page) => ({ ...page, events: [] })), /every closing since an instant/],
  [
    'a poll from the beginning of time',
    but(({ poll }) => ({
      poll: async (from) => (await poll?.('since' in from ? { since: new Date(0) } : from)) ?? expect.unreachable(),
    })),
    /none from before/,
  ],
  [
    'a poll with another key at every look',
    butPage((page) => ({ ...page, events: page.events.map((event) => ({ ...event, key: `${Math.random()}` })) })),
    /comes again the same keys/,
  ],
  ['a cursor that skips', butPage((page) => ({ ...page, cursor: '999' })), /goes on from a cursor/],
  [
    'a poll that is in a hurry',
    but((source, { budget }) => ({
      poll: async (from) => {
        await budget.take();
        return (await source.poll?.(from)) ?? expect.unreachable();
      },
    })),
    /leaves the quota/,
  ],
  ['a check that sees nothing', but(() => ({ check: async () => [] })), /with the remedy: webhook/],
  ['a check that sees ghosts', but(() => ({ check: async () => [ghost] })), /nothing wrong/],
  ['a check without a remedy', but(() => ({ check: async () => [{ ...ghost, remedy: '' }] })), /the remedy: grades/],
  ['a check that throws', but((source) => ({ check: () => source.read(['T1']).then(() => []) })), /as a finding/],
  [
    'a setup that acts when it looks',
    but(({ setup }) => ({
      setup: async (about) => {
        const steps = (await setup?.(about)) ?? [];
        for (const step of steps) await step.apply();
        return steps;
      },
    })),
    /makes what is missing/,
  ],
  ['a setup that is never done', but(() => ({ setup: async () => [more] })), /nothing to do/],
  [
    'no answer written as a grade',
    butWrite((items) => items.map((i) => (i.status === 'no-answer' ? { ...i, status: 'answered', grade: 1 } : i))),
    /no answer/,
  ],
  [
    'an echo taken for a closing',
    butEach((event) => (event.kind === 'changed' ? closedEvent : event)),
    /our own write sets off/,
  ],
  ['an erasure of nobody', butEach((event) => (event.kind === 'erase' ? nobody(event) : event)), /whom to forget/],
  ['a forgetting that does nothing', but(() => ({ forget: async () => [] })), /no trace of an answer/],
  [
    'a forgetting of everybody',
    but(({ forget }) => ({ forget: async (ids) => (await forget?.([...ids, 'T1', 'T2', 'T3'])) ?? [] })),
    /every trace on others/,
  ],
  [
    'a forgetting that leaves the no-answer',
    but((source) => ({
      forget: async (ids) => {
        await source.writeBack(ids.map((id) => ({ ...bare, recordId: id })));
        return [];
      },
    })),
    /that no answer came/,
  ],
];

/** Each answer by itself, as the guide advises for vendors without bulk writes. */
const inTurn = but((source) => ({
  writeBack: (items) =>
    writeInTurn(
      items,
      async (item) => (await source.writeBack([item]))[0] ?? expect.unreachable(),
      ({ recordId }) => ({ ok: false, why: 'not-found', message: `no ticket ${recordId}` }),
    ),
}));

/** As where an automation of the desk calls us, with a secret in a header. */
const bySecret = but(() => ({ verify: (delivery) => verifySecretHeader(delivery, secrets, 'x-secret') }));

/** As of a desk that calls nobody. */
const silent: Connector = {
  ...whole,
  settings: whole.settings,
  open: (settings, ports) => ({
    ...whole.open({ webhookSecrets: ['none'], ...Object(settings) }, ports),
    verify: () => ({ ok: false, why: 'unsigned' }),
    events: () => ({ ok: false, why: 'Deskly sends nothing' }),
  }),
};

describe('the contract suite', () => {
  test('it passes answers that are written in turn, as the guide advises', async () => {
    const sample = { ...sampleOf(inTurn), callsFor100: { read: 1, writeBack: 500 } };
    expect(await failuresOf(sample)).toEqual([]);
  });

  test('it passes a vendor that signs nothing, and sends a secret', async () => {
    const sample = sampleOf(bySecret);
    const sign = (raw: Uint8Array, secret: string): Delivery => ({
      ...{ method: 'POST', url: 'https://closeloop.example/hooks/desk', receivedAt: new Date() },
      headers: { 'x-secret': secret },
      raw,
    });
    const start = async () => {
      const vendor = await sample.start();
      const again = (delivery: Delivery | undefined, secret: string) =>
        sign(delivery?.raw ?? expect.unreachable(), secret);
      return {
        ...vendor,
        sign,
        closeRecord: async (secret: string) => {
          const { recordId, delivery } = await vendor.closeRecord(secret);
          return { recordId, delivery: again(delivery, secret) };
        },
        closeAgain: async (id: string, secret: string) => again(await vendor.closeAgain(id, secret), secret),
        delivered: async (secret: string) =>
          ((await vendor.delivered?.(secret)) ?? []).map((one) => again(one, secret)),
        erase: async (id: string, secret: string) => again(await vendor.erase?.(id, secret), secret),
      };
    };
    const { goesStale: _, ...unsigned } = {
      ...sample,
      start,
      signatureHeaders: ['x-secret'] as const,
      signs: 'nothing' as const,
    };
    expect(await failuresOf(unsigned)).toEqual([]);
  });

  test('it passes a vendor that is only polled', async () => {
    const { signatureHeaders: _, goesStale: __, ...polled } = sampleOf(silent, ['poll', 'forget', 'no-answer']);
    expect(await failuresOf({ ...polled, polled: true })).toEqual([]);
  });

  test('it passes a connector that keeps the whole contract', async () => {
    expect(await failures(whole)).toEqual([]);
  });

  test('it runs by the words of another test runner', async () => {
    const file = join(import.meta.dirname, '../../../support/contract/node-runner.ts');
    const args = ['--conditions=@closeloop/source', '--test', '--test-reporter=tap', file];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    expect(stdout).toMatch(/# pass 9\d\n# fail 0/);
  });

  test.each(rows)('it finds %s', async (_what, connector, found) => {
    expect(await failures(connector, found)).not.toEqual([]);
  });
});
