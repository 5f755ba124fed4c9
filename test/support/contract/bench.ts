import assert from 'node:assert/strict';
import { ZodError, z } from 'zod';
import type {
  ConnectorPorts,
  Delivery,
  PresentedRecord,
  ReadResult,
  Source,
  SourceEvent,
  Urgency,
  WriteBack,
} from '../../../core/connector/contract.ts';
import { withNamedErrors } from '../../../core/connector/named-errors.ts';
import { quietPorts } from './quiet-ports.ts';
import { type ConnectorSample, customer, secrets, type Vendor } from './sample.ts';

/** The four words that test runners have in common. They are handed in: two copies of a runner don't share their tests. */
export interface TestRunner {
  describe(name: string, body: () => void): unknown;
  /** @param timeoutMs where the runner has a limit: its own may be shorter than a machine is slow */
  test(name: string, body: () => void | Promise<void>, timeoutMs: number): unknown;
  beforeEach(body: () => void | Promise<void>): unknown;
  afterEach(body: () => void | Promise<void>): unknown;
}

/** What the suite's own files call. */
export interface Tests {
  test(name: string, body: () => void | Promise<void>): unknown;
}

/** What a connector asked of its surroundings. */
export interface Asked {
  takes: Urgency[];
  /** Milliseconds. */
  pauses: number[];
  fetches: number;
  logged: string[];
  budget: ConnectorPorts['budget'];
  /** Set: deadlines of calls end this soon. */
  deadlineMs: number | undefined;
}

/** What a test works with: an account at the vendor and a source that was just opened on it. New for every test. */
export interface Bench {
  sample: ConnectorSample;
  vendor: Vendor;
  source: Source;
  asked: Asked;
}

export async function createBench(sample: ConnectorSample): Promise<Bench> {
  const vendor = await sample.start();
  const { ports, asked } = openPorts(vendor.ports);
  try {
    return { sample, vendor, asked, source: opened(sample, vendor.settings(secrets), ports) };
  } catch (error) {
    // Nobody else closes the vendor, whose server would keep the process alive.
    await vendor.close();
    if (!(error instanceof ZodError)) throw error;
    throw new Error(`the connector refuses what \`settings()\` of the sample gives: ${z.prettifyError(error)}`);
  }
}

/** As the worker opens it, so that a record that is none is found here too. */
const opened = ({ connector }: ConnectorSample, settings: unknown, ports: ConnectorPorts): Source =>
  withNamedErrors(() => connector.open(settings, ports), { label: `"${connector.name}"` });

/** Another process opens the same source. */
export function reopen(
  { sample, vendor, asked }: Bench,
  other: { deadlineMs?: number; secrets?: readonly string[]; ports?: Partial<ConnectorPorts> } = {},
): { source: Source; asked: Asked } {
  const { ports, asked: others } = openPorts({ ...vendor.ports, ...other.ports }, asked.budget, other.deadlineMs);
  const settings = vendor.settings(other.secrets ?? secrets);
  return { source: opened(sample, settings, ports), asked: others };
}

/**
 * Real fetch, real clock, a budget that lets everybody through, sleeps that end at once.
 *
 * No connector has a setting for its deadline, and nobody wants to wait for it. So a call's own signal is asked for (a
 * call without one would hang for ever) and joined by a shorter one of the same kind.
 */
export function openPorts(
  own: Partial<ConnectorPorts> = {},
  budget?: ConnectorPorts['budget'],
  shortenedToMs?: number,
): { ports: ConnectorPorts; asked: Asked } {
  const asked: Asked = {
    takes: [],
    pauses: [],
    fetches: 0,
    logged: [],
    deadlineMs: shortenedToMs,
    budget:
      budget ??
      quietPorts({
        budget: {
          take: async (_lane, urgency = 'work') => void asked.takes.push(urgency),
          pause: async (ms) => void asked.pauses.push(ms),
        },
      }).budget,
  };
  const log = (fields: object, message: string): void => void asked.logged.push(`${message} ${JSON.stringify(fields)}`);
  const ports = quietPorts({
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
    log: { debug: log, info: log, warn: log, error: log },
    budget: asked.budget,
    ...own,
  });
  return { ports, asked };
}

/** A new record, closed, and what the vendor sends of that. */
export async function closeDelivered(
  { vendor }: Bench,
  secret = secrets[0],
): Promise<{ recordId: string; delivery: Delivery }> {
  const { recordId, delivery } = await vendor.closeRecord(secret);
  return { recordId, delivery: needed(delivery, 'a delivery of each closing, or to be polled') };
}

export async function closeOne({ vendor }: Bench): Promise<string> {
  return (await vendor.closeRecord(secrets[0])).recordId;
}

export async function closingOf({ source }: Bench, id: string): Promise<string> {
  const state = stateOf((await source.read([id]))[0]);
  return state.is === 'closed' ? state.closing : assert.fail(`the record is ${state.is}, not closed`);
}

export async function readOne({ source }: Bench, id: string): Promise<PresentedRecord> {
  const [result] = await source.read([id]);
  return result?.ok === true ? result.record : notRead(result);
}

export function stateOf(result: ReadResult | undefined) {
  return result?.ok === true ? result.record.state : notRead(result);
}

function notRead(result: Exclude<ReadResult, { ok: true }> | undefined): never {
  assert.fail(`not read: ${result?.why === 'error' ? result.error.message : result?.why}`);
}

export async function eventsOf(source: Source, delivery: Delivery): Promise<SourceEvent[]> {
  const events = await source.events(delivery);
  return events.ok ? events.events : assert.fail(events.why);
}

export function answer(recordId: string, more: Partial<WriteBack> = {}): WriteBack {
  return {
    recordId,
    status: 'answered',
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

export function assertNothingPersonal(told: unknown): void {
  const text = typeof told === 'string' ? told : JSON.stringify(told);
  for (const words of [customer.email, customer.comment]) {
    assert.ok(!text.includes(words), 'a customer’s address or words are in it');
  }
}

/** A part of the sample that a test can't do without. */
export function needed<T>(part: T | undefined, name: string): T {
  return part ?? assert.fail(`the sample says that the connector does this, so its vendor needs ${name}`);
}
