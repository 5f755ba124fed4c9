import type { Source } from '../../../core/connector/contract.ts';
import type { Journey } from '../../journey/journey.ts';
import type { OutgoingEvent, Target } from '../../journey/outgoing.ts';
import { erasureSince, type GuardContext } from '../erasure-guard.ts';
import { done, type JobResult, type SendJob } from '../jobs.ts';
import type { Policy } from '../policy/source-policy.ts';
import type { Journeys } from '../source-store.ts';
import type { Vendor } from '../vendor.ts';

/** The members of a source that sending its events needs. */
export interface SendSource
  extends Pick<Journeys, 'store'>,
    Pick<GuardContext, 'erasures'>,
    Pick<Vendor, 'read'>,
    Pick<Policy, 'parts'> {
  name: string;
  storedAs: string;
  source: Pick<Source, 'recordUrl' | 'vendorIds'>;
}

/** One attempt to send an event. @throws CloseloopError, SendFailure */
export type Attempt = () => Promise<void>;
/** Builds the message about an event; undefined where there is nothing left to send. */
export type Prepare = (event: OutgoingEvent, journey: Journey, of: SendSource) => Promise<Attempt | undefined>;

export interface SendContext {
  target: Target;
  prepare: Prepare;
  sources(): Promise<SendSource[]>;
}

/**
 * Sends what is due to one target about one record, in the order in which it happened: an event that fails keeps the later ones back. One job
 * at a time works on them (claims.ts). An event whose response is lost is sent again, under the same id.
 */
export async function send({ source, recordId }: SendJob, context: SendContext): Promise<JobResult> {
  const { target, prepare, sources } = context;
  const of = (await sources()).find(({ storedAs }) => storedAs === source);
  const outgoing = of?.store.outgoing;
  for (;;) {
    const event = await outgoing?.first(target.key, recordId);
    if (of === undefined || event === undefined) return done;
    const journey = await of.store.get(event.journeyId);
    const attempt = journey && !journey.erasedAt ? await prepare(event, journey, of) : undefined;
    // No event leaves about a person who was erased or is being erased. Checked last, as building the message may take a call of the vendor.
    if (journey && attempt && (await erasureSince(journey, of)) === undefined) await attempt();
    await outgoing?.end(target.key, recordId, event);
  }
}

/** Sets aside the events that the target has not taken for too long, until a person replays them. */
export async function giveUpSend({ source, recordId }: SendJob, { target, sources }: SendContext): Promise<void> {
  const of = (await sources()).find(({ storedAs }) => storedAs === source);
  await of?.store.outgoing.giveUp(target.key, recordId);
}
