import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Connector, ConnectorPorts, Delivery, ReadResult, Source, WriteBack } from '../../core/connector.ts';
import { CloseloopError } from '../../core/errors.ts';
import { memoryVault } from './memory-vault.ts';

/**
 * How the vendor misbehaves from now on, on every call: `429` (with Retry-After), `500`, `html` (200 with a page that is
 * no JSON, as a proxy's), `silent` (takes the call and never answers).
 */
export type Breakage = '429' | '500' | 'html' | 'silent';

/** One account at a stand-in of the vendor, with the customer `customer` behind each record. */
export interface Vendor {
  /** Settings as an operator writes them, all of `writeBack` on. Without `secrets` the key is left out. */
  settings(secrets?: readonly string[]): object;
  /** What the connector needs from its surroundings beside the suite's own: a `sleep` that waits for the vendor's jobs … */
  ports?: Partial<ConnectorPorts>;
  /** A new record is closed at the vendor. `delivery`: what the vendor sends of it, signed with `secret`. */
  closeRecord(secret: string): Promise<{ recordId: string; delivery: Delivery }>;
  reopen(recordId: string): Promise<void>;
  closeAgain(recordId: string): Promise<void>;
  /** A delivery of any bytes, signed with `secret` as the vendor would. */
  sign(raw: Uint8Array, secret: string): Delivery;
  /** The grade on the record, looked up at the vendor; null where there is none. */
  gradeOn(recordId: string): number | null;
  /** Everything a write could leave on the record (values, notes, mails), without the time of the last change. JSON. */
  traces(recordId: string): unknown;
  /** `words` are in the answers' bodies. */
  breakVendor(how: Breakage, words: string): void;
  /** How many calls the vendor has seen so far, tokens and refused ones included. */
  calls(): number;
  close(): Promise<void>;
}

/** What the author of a connector writes to have it tested against the contract in core/connector.ts. */
export interface ConnectorSample {
  connector: Connector;
  start(): Promise<Vendor>;
  /** Headers (lower case) without any of which a delivery counts as unsigned; the first one holds the signature. */
  signatureHeaders: readonly [string, ...string[]];
  /** A record id as the connector writes them, of a record that doesn't exist. */
  missingId: string;
  /** Vendor calls for 100 closed records by a source that was just opened. */
  callsFor100: { plan: number; ask: number; writeBack: number };
}

/** Given to the vendor's records, by `start`. No error may repeat them. */
export const customer = { email: 'hanna.customer@example.com', comment: 'My neighbour Tom was rude to your engineer' };

const secrets: readonly [string, string] = ['first-secret', 'second-secret'];
/** Shorter than any connector's own deadline, so that nobody has to wait for that. */
const deadlineMs = 150;

/** The contract of a connector, as tests. Call it in a test file with your connector's sample. */
export function connectorContract(sample: ConnectorSample): void {
  const { connector, missingId } = sample;
  let vendor: Vendor;
  let source: Source;
  let asked: Asked;

  beforeEach(async () => {
    vendor = await sample.start();
    const opened = openPorts(vendor.ports);
    asked = opened.asked;
    source = connector.open(vendor.settings(secrets), opened.ports);
  });
  afterEach(() => vendor.close());

  const closed = async (): Promise<string> => (await vendor.closeRecord(secrets[0])).recordId;
  const many = async (count: number): Promise<string[]> => {
    const ids: string[] = [];
    for (let i = 0; i < count; i++) ids.push(await closed());
    return ids;
  };
  const closing = async (id: string): Promise<string> => {
    const state = stateOf((await source.read([id], 'plan'))[0]);
    if (state.is !== 'closed') return expect.fail(`the record is ${state.is}, not closed`);
    return state.closing;
  };

  describe(`settings of ${connector.name}`, () => {
    test('it takes one secret or two', () => {
      for (const some of [secrets.slice(0, 1), secrets]) {
        expect(connector.settings.safeParse(vendor.settings(some)).success).toBe(true);
      }
    });

    test.each<[string, readonly string[] | undefined]>([
      ['without secrets', undefined],
      ['with an empty list of secrets', []],
      ['with an empty secret', ['']],
      ['with a blank secret', [' ']],
      ['with an empty secret beside a good one', [secrets[0], '']],
    ])('it refuses settings %s', (_what, some) => {
      expect(connector.settings.safeParse(vendor.settings(some)).success).toBe(false);
    });

    test('it has the same account whatever the secrets of its webhook', () => {
      const account = connector.account(vendor.settings(secrets));
      expect(connector.account(vendor.settings(secrets.slice(1)))).toBe(account);
      expect(account).not.toBe('');
    });
  });

  describe(`deliveries to ${connector.name}`, () => {
    test.each(secrets)('it accepts one signed with %s, one of two', async (secret) => {
      const { delivery } = await vendor.closeRecord(secret);
      expect(source.verify(delivery)).toEqual({ ok: true });
    });

    test.each(sample.signatureHeaders)('it refuses one without %s, or with an empty one, as unsigned', async (name) => {
      const { delivery } = await vendor.closeRecord(secrets[0]);
      const { [name]: _, ...others } = delivery.headers;
      expect(source.verify({ ...delivery, headers: others })).toEqual({ ok: false, why: 'unsigned' });
      expect(source.verify(withHeader(delivery, name, ''))).toEqual({ ok: false, why: 'unsigned' });
    });

    test('it refuses one with any byte of the body changed, missing or added', async () => {
      const { delivery } = await vendor.closeRecord(secrets[0]);
      const { raw } = delivery;
      const flipped = [0, Math.floor(raw.length / 2), raw.length - 1].map((at) =>
        raw.map((byte, index) => (index === at ? byte ^ 1 : byte)),
      );
      for (const other of [...flipped, raw.slice(0, -1), Buffer.concat([raw, Buffer.from(' ')]), new Uint8Array()]) {
        expect(source.verify({ ...delivery, raw: other })).toEqual({ ok: false, why: 'mismatch' });
      }
    });

    test('it refuses one with another signature, of whatever length', async () => {
      const { delivery } = await vendor.closeRecord(secrets[0]);
      const [name] = sample.signatureHeaders;
      const good = delivery.headers[name] ?? expect.fail(`the sample's delivery has no ${name}`);
      for (const bad of [
        good.slice(0, -4),
        `${good}AAAA`,
        `${good.startsWith('A') ? 'B' : 'A'}${good.slice(1)}`,
        'õ',
      ]) {
        expect(source.verify(withHeader(delivery, name, bad))).toEqual({ ok: false, why: 'mismatch' });
      }
    });

    test('it refuses one signed with a secret that is not configured', async () => {
      const { delivery } = await vendor.closeRecord('another-secret');
      expect(source.verify(delivery)).toEqual({ ok: false, why: 'mismatch' });
    });

    test('it finds one closed event for the record in a genuine closing', async () => {
      const { recordId, delivery } = await vendor.closeRecord(secrets[0]);
      const found = eventsOf(source, delivery).filter((event) => event.kind === 'closed');
      expect(found.map((event) => 'recordId' in event && event.recordId)).toEqual([recordId]);
      expect(recordId).toMatch(/^[^\s:]{1,100}$/);
      expect(found[0]?.key).not.toBe('');
      expect(found[0]?.at.getTime()).not.toBeNaN();
      expect(JSON.stringify(found)).not.toContain(customer.email);
    });

    test('it gives a repeated delivery the same keys, and another closing others', async () => {
      const first = await vendor.closeRecord(secrets[0]);
      const second = await vendor.closeRecord(secrets[0]);
      const again = { ...first.delivery, receivedAt: new Date(first.delivery.receivedAt.getTime() + 60_000) };
      const keys = eventsOf(source, first.delivery).map(({ key }) => key);
      expect(eventsOf(source, again).map(({ key }) => key)).toEqual(keys);
      for (const { key } of eventsOf(source, second.delivery)) expect(keys).not.toContain(key);
    });

    test.each([
      ['that is no JSON', Buffer.from(`{"email": "${customer.email}", ${customer.comment}`)],
      ['that is not UTF-8', Buffer.concat([Buffer.from(`["${customer.email}`), Buffer.from([0xff, 0xfe, 0x22, 0x5d])])],
      ['that is empty', Buffer.alloc(0)],
    ])('it says what is wrong with a signed body %s, without quoting it', (_what, raw) => {
      const delivery = vendor.sign(raw, secrets[0]);
      expect(source.verify(delivery)).toEqual({ ok: true });
      const events = source.events(delivery);
      expect(events).toEqual({ ok: false, why: expect.stringMatching(/./) });
      expectNothingPersonal(JSON.stringify(events));
    });

    test.each(['null', '"text"', '17', '[]', '{}', '[null]', '[[]]', '{"a":{"b":[1]}}'])(
      'it finds no event in a signed %s, and does not throw',
      (text) => {
        const events = source.events(vendor.sign(Buffer.from(text), secrets[0]));
        expect(events.ok ? events.events : []).toEqual([]);
      },
    );

    test('it judges without a vendor call, and the same every time', async () => {
      const { delivery } = await vendor.closeRecord(secrets[0]);
      const before = { calls: vendor.calls(), raw: Buffer.from(delivery.raw) };
      expect(source.verify(delivery)).toEqual(source.verify(delivery));
      expect(source.events(delivery)).toEqual(source.events(delivery));
      expect(vendor.calls()).toBe(before.calls);
      expect(asked).toMatchObject({ takes: 0, fetches: 0 });
      expect(Buffer.from(delivery.raw)).toEqual(before.raw);
    });
  });

  describe(`reading from ${connector.name}`, () => {
    test.each(['plan', 'ask'] as const)('it gives one result per id, in order (%s)', async (purpose) => {
      const [one, two] = [await closed(), await closed()];
      const ids = [two, missingId, one, two, 'no such id', '../1'];
      const results = await source.read(ids, purpose);
      expect(results.map((result) => (result.ok ? result.record.id : result.why))).toEqual([
        two,
        'not-found',
        one,
        two,
        'not-found',
        'not-found',
      ]);
    });

    test('it makes no call for nothing', async () => {
      expect(await source.read([], 'plan')).toEqual([]);
      expect(await source.writeBack([])).toEqual([]);
      expect(vendor.calls()).toBe(0);
    });

    test('it names a closing the same at every look, and another one after reopening', async () => {
      const id = await closed();
      const first = await closing(id);
      expect(first).not.toBe('');
      expect(await closing(id)).toBe(first);
      await vendor.reopen(id);
      for (const purpose of ['plan', 'ask'] as const) {
        expect(stateOf((await source.read([id], purpose))[0]).is).toBe('open');
      }
      await vendor.closeAgain(id);
      const second = await closing(id);
      expect(second).not.toBe(first);
      expect(await closing(id)).toBe(second);
      expect(stateOf((await source.read([id], 'ask'))[0]).is).toBe('closed');
    });

    test('it names the same closing after a write', async () => {
      const id = await closed();
      const before = await closing(id);
      await source.writeBack([answer(id)]);
      expect(await closing(id)).toBe(before);
    });

    test('it presents JSON, with the customer in it', async () => {
      const [result] = await source.read([await closed()], 'plan');
      if (!result?.ok) return expect.fail('the record was not read');
      // Not strictly: a key without a value may be there as undefined or not at all.
      expect(JSON.parse(JSON.stringify(result.record.shape))).toEqual(result.record.shape);
      expect(JSON.stringify(result.record.shape)).toContain(customer.email);
    });
  });

  describe(`writing to ${connector.name}`, () => {
    test('it writes each grade on its record, and a missing record fails alone', async () => {
      const [one, two] = [await closed(), await closed()];
      const items = [answer(two, { grade: 2 }), answer(missingId), answer(one, { grade: 9 }), answer('no such id')];
      const results = await source.writeBack(items);
      expect(results.map((result) => (result.ok ? result.findings : result.why))).toEqual([
        [],
        'not-found',
        [],
        'not-found',
      ]);
      expect([vendor.gradeOn(one), vendor.gradeOn(two)]).toEqual([9, 2]);
      expectNothingPersonal(JSON.stringify(results));
    });

    test('it leaves the same on the record when it writes the same again', async () => {
      const id = await closed();
      await source.writeBack([answer(id)]);
      const once = vendor.traces(id);
      expect(await source.writeBack([answer(id)])).toEqual([{ ok: true, findings: [] }]);
      expect(vendor.traces(id)).toEqual(once);
    });

    test('it replaces a grade by a later one, in another call or in the same', async () => {
      const id = await closed();
      await source.writeBack([answer(id, { grade: 3, marker: 'j1.1' })]);
      expect(vendor.gradeOn(id)).toBe(3);
      await source.writeBack([answer(id, { grade: 8, marker: 'j1.2' })]);
      expect(vendor.gradeOn(id)).toBe(8);
      const both = [answer(id, { grade: 1, marker: 'j1.3' }), answer(id, { grade: 6, marker: 'j1.4' })];
      expect((await source.writeBack(both)).map(({ ok }) => ok)).toEqual([true, true]);
      expect(vendor.gradeOn(id)).toBe(6);
    });

    test('it writes a grade of 0 as a grade', async () => {
      const id = await closed();
      await source.writeBack([answer(id, { grade: 0 })]);
      expect(vendor.gradeOn(id)).toBe(0);
    });
  });

  describe(`calls to ${connector.name}`, () => {
    test.each(['plan', 'ask', 'writeBack'] as const)(
      `it needs few for 100 records, each out of the budget (%s: ${JSON.stringify(sample.callsFor100)})`,
      async (what) => {
        const ids = await many(100);
        if (what === 'writeBack') {
          const results = await source.writeBack(ids.map((id) => answer(id)));
          expect(results.filter(({ ok }) => ok)).toHaveLength(100);
        } else expect((await source.read(ids, what)).filter(({ ok }) => ok)).toHaveLength(100);
        expect(vendor.calls()).toBeGreaterThan(0);
        expect(vendor.calls()).toBeLessThanOrEqual(sample.callsFor100[what]);
        expect(asked.takes).toBeGreaterThanOrEqual(vendor.calls());
        // Nothing goes round the fetch it was given.
        expect(asked.fetches).toBe(vendor.calls());
      },
    );

    test('it makes no call that the budget refuses', async () => {
      const id = await closed();
      const refusal = new CloseloopError('the budget is used up', { kind: 'transient', throttled: true });
      const { ports } = openPorts(vendor.ports, {
        take: () => Promise.reject(refusal),
        pause: async () => undefined,
        left: async () => undefined,
      });
      const starved = connector.open(vendor.settings(secrets), ports);
      await expect(starved.read([id], 'plan')).rejects.toMatchObject({
        advice: { kind: 'transient', throttled: true },
      });
      await expect(starved.writeBack([answer(id)])).rejects.toBeInstanceOf(CloseloopError);
      expect(vendor.calls()).toBe(0);
    });

    const doings = [
      ['a read', (id: string) => source.read([id], 'plan')],
      ['a write', (id: string) => source.writeBack([answer(id)])],
    ] as const;
    /** What the vendor's misbehaviour becomes: of a source just opened, and of one that has worked before. */
    const errorsOf = async (how: Breakage, work: (id: string) => Promise<unknown>): Promise<CloseloopError[]> => {
      const id = await closed();
      const used = source;
      await used.read([id], 'plan');
      await used.writeBack([answer(id, { grade: 1, marker: 'j0.1' })]);
      vendor.breakVendor(how, `${customer.email} ${customer.comment}`);
      asked.pauses.length = 0;
      const opened = openPorts(vendor.ports, asked.budget, deadlineMs);
      const errors: CloseloopError[] = [];
      for (const one of [used, connector.open(vendor.settings(secrets), opened.ports)]) {
        // The used one keeps its fetch; its deadline is shortened where it looks.
        asked.deadlineMs = deadlineMs;
        source = one;
        const thrown: unknown = await work(id).catch((error: unknown) => error);
        if (!(thrown instanceof CloseloopError)) return expect.fail(`no CloseloopError: ${String(thrown)}`);
        errors.push(thrown);
      }
      for (const error of errors) expectNothingPersonal(`${error.message} ${JSON.stringify(error.advice)}`);
      expectNothingPersonal([...asked.logged, ...opened.asked.logged].join('\n'));
      return errors;
    };

    test.each(doings)('it turns a 429 to %s into a wait, and pauses the budget', async (_what, work) => {
      for (const { advice, outcome } of await errorsOf('429', work)) {
        expect(advice).toMatchObject({ kind: 'transient', throttled: true });
        expect(outcome).toBe('refused');
      }
      expect(asked.pauses.length).toBeGreaterThanOrEqual(2);
      for (const ms of asked.pauses) expect(ms).toBeGreaterThan(0);
    });

    test.each(doings)('it may repeat %s after a 500, whose outcome is unknown', async (_what, work) => {
      for (const { advice, outcome } of await errorsOf('500', work)) {
        expect(advice).toMatchObject({ kind: 'transient' });
        expect(advice).not.toHaveProperty('throttled', true);
        expect(outcome).toBe('unknown');
      }
    });

    test.each(doings)('it may repeat %s that was answered by a page, whose outcome is unknown', async (_what, work) => {
      for (const { advice, outcome } of await errorsOf('html', work)) {
        expect(advice).toMatchObject({ kind: 'transient' });
        expect(outcome).toBe('unknown');
      }
    });

    test.each(doings)('it ends %s that nobody answers by a deadline of its own', async (_what, work) => {
      for (const { advice, outcome } of await errorsOf('silent', work)) {
        expect(advice).toMatchObject({ kind: 'transient' });
        expect(outcome).toBe('unknown');
      }
    });
  });
}

/** What a connector asked of its surroundings. */
interface Asked {
  takes: number;
  /** Milliseconds. */
  pauses: number[];
  fetches: number;
  logged: string[];
  budget: ConnectorPorts['budget'];
  /** Set: deadlines of calls end this soon. */
  deadlineMs: number | undefined;
}

/**
 * Real fetch, real clock, a budget that lets everybody through, sleeps that end at once.
 *
 * No connector has a setting for its deadline, and nobody wants to wait for it. So a call's own signal is asked for (a
 * call without one would hang for ever) and joined by a shorter one of the same kind.
 */
function openPorts(
  own: Partial<ConnectorPorts> = {},
  budget?: ConnectorPorts['budget'],
  shortenedToMs?: number,
): { ports: ConnectorPorts; asked: Asked } {
  const asked: Asked = {
    takes: 0,
    pauses: [],
    fetches: 0,
    logged: [],
    deadlineMs: shortenedToMs,
    budget: {
      take: async () => void asked.takes++,
      pause: async (ms) => void asked.pauses.push(ms),
      left: async () => undefined,
    },
  };
  const log = (fields: object, message: string): void => void asked.logged.push(`${message} ${JSON.stringify(fields)}`);
  const ports: ConnectorPorts = {
    fetch: (input, init) => {
      asked.fetches++;
      const signal = init?.signal;
      if (!signal) throw new Error('a call without a deadline (`signal`): it would wait for a silent vendor for ever');
      if (asked.deadlineMs === undefined) return globalThis.fetch(input, init);
      return globalThis.fetch(input, {
        ...init,
        signal: AbortSignal.any([signal, AbortSignal.timeout(asked.deadlineMs)]),
      });
    },
    now: () => new Date(),
    random: () => 0.5,
    sleep: async () => undefined,
    log: { debug: log, info: log, warn: log, error: log },
    budget: budget ?? asked.budget,
    vault: memoryVault(),
    ...own,
  };
  return { ports, asked };
}

function answer(recordId: string, more: Partial<WriteBack> = {}): WriteBack {
  return {
    recordId,
    outcome: 'answered',
    marker: 'j7.1',
    grade: 7,
    comment: customer.comment,
    // The same whenever it is written: a repetition is one only if nothing differs.
    answeredAt: new Date('2026-11-20T10:00:00Z'),
    campaign: 'Support',
    maxGrade: 10,
    ...more,
  };
}

function eventsOf(source: Source, delivery: Delivery) {
  const events = source.events(delivery);
  return events.ok ? events.events : expect.fail(events.why);
}

function stateOf(result: ReadResult | undefined) {
  return result?.ok === true ? result.record.state : expect.fail(`not read: ${JSON.stringify(result)}`);
}

function withHeader(delivery: Delivery, name: string, value: string): Delivery {
  return { ...delivery, headers: { ...delivery.headers, [name]: value } };
}

function expectNothingPersonal(text: string): void {
  for (const words of [customer.email, customer.comment]) expect(text).not.toContain(words);
}
