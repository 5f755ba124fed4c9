import { type Delivery, type HttpReply, mostEvents, type SourceEvent } from '../../core/connector/contract.ts';
import { tooIntricate } from '../../core/connector/json-structure.ts';
import { messageOf } from '../../core/errors.ts';
import type { Log } from '../../core/ports.ts';
import { redacted } from '../../core/redaction.ts';
import type { SourcePipeline } from '../pipeline/source-pipeline.ts';
import type { Refusals } from './refusals.ts';
import { jsonReply, notAllowed, retryLater } from './replies.ts';
import { inTime, storeMs, within } from './store-in-time.ts';

/** The most entries in the JSON of a delivery: at ten bytes an entry a delivery of 1 MiB has so many. An order of 1 MiB has some 40,000. */
const mostEntries = 100_000;

export interface TakeOptions {
  /** By the source's name in the delivery's address; reloading the configuration replaces pipelines. */
  pipelines: { get(source: string): Pick<SourcePipeline, 'context'> | undefined };
  /** Stores the events durably before it resolves. */
  store: (source: string, events: readonly SourceEvent[], receivedAt: Date) => Promise<void>;
  log: Log;
}

/** Verifies a delivery and stores its events. Resolves with the answer to the vendor. */
export function createTake({ pipelines, log, ...options }: TakeOptions, refusals: Refusals) {
  const store = inTime(options.store);
  return async (name: string, delivery: Delivery): Promise<HttpReply> => {
    const { context } = pipelines.get(name) ?? {};
    if (!context) throw new Error('the source was there when the request began');
    const { source } = context;
    const refused = (why: string, message: string, level: 'warn' | 'error' = 'warn') =>
      refusals.count({ source: name, why, message, level });
    const shaken = source.handshake?.(delivery);
    if (shaken !== undefined) return shaken;
    if (delivery.method !== 'POST') return notAllowed;
    const verdict = source.verify(delivery);
    if (!verdict.ok) {
      refused(verdict.why, 'delivery refused: signature');
      return jsonReply(401, { error: signatureErrors[verdict.why] });
    }
    const flaw = tooIntricate(delivery.raw, mostEntries);
    const found = flaw === undefined ? await source.events(delivery) : { ok: false as const, why: `the body ${flaw}` };
    if (!found.ok) {
      const why = redacted(found.why);
      refused(why, 'delivery refused: body');
      return jsonReply(400, { error: why });
    }
    const { events, ignored } = found;
    if (events.length > mostEvents) {
      refused(`more than ${mostEvents} events`, 'delivery refused: body');
      return jsonReply(413, { error: tooManyEvents });
    }
    for (const { what, why, act } of ignored) {
      log[act ? 'warn' : 'debug']({ source: name, event: what, why }, act ? 'somebody has to act' : 'ignored');
      if (act) await within(storeMs, context.alert('to-do', `${what}: ${why}`, 'do it by hand')).catch(() => undefined);
    }
    if (events.length > 0) {
      try {
        await store(name, events, delivery.receivedAt);
      } catch (error) {
        refused(messageOf(error), 'delivery not stored: the vendor is told to come again', 'error');
        return source.notStored ?? retryLater('Not stored. Send it again.');
      }
    }
    const { taken } = source;
    if (taken.body !== undefined) return taken;
    return jsonReply(taken.status, { accepted: events.length, ignored: ignored.length });
  };
}

const tooManyEvents = `A delivery may hold ${mostEvents} events at most. Send them in several.`;

const signatureErrors = {
  unsigned: 'The signature is missing.',
  mismatch:
    'The signature does not match. Check the secret of this source, and that nothing changes the body on its way.',
  stale: 'The signature is too old. Check the clocks, and that nothing holds deliveries back.',
};
