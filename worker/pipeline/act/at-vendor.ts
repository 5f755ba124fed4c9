import type { ActionRequest, ActionResult } from '../../../core/connector/contract.ts';
import { adviceOf, messageOf, outcomeOfError } from '../../../core/errors.ts';
import type { Ports } from '../../../core/ports.ts';
import { redacted } from '../../../core/redaction.ts';
import type { Act, Journey } from '../../journey/journey.ts';
import { currentRecordOf, refOf } from '../../journey/refs.ts';
import type { AlertOfSource } from '../../operations/alerts.ts';
import type { Clock } from '../clock.ts';
import { erasureSince, type LateAnswerContext, removeLateAnswer } from '../erasure-guard.ts';
import { answerShape, type LoadedAnswerRule } from '../policy/answer-rules.ts';
import type { Policy } from '../policy/source-policy.ts';
import { isBeingWritten } from '../queue-acts.ts';
import type { Journeys } from '../source-store.ts';
import type { Vendor } from '../vendor.ts';
import { type News, noted, unchanged } from './judge.ts';

/** What acting at the vendor takes of a source. */
export interface VendorActContext
  extends Pick<Journeys, 'store' | 'actions'>,
    Pick<Vendor, 'act' | 'read'>,
    LateAnswerContext,
    Pick<Policy, 'searchAfterMs' | 'settleMs' | 'policy'> {
  name: string;
  clock: Clock;
  ports: Ports;
  alert: AlertOfSource;
}

type RuleStep = LoadedAnswerRule['do'][number];

/** An action that is to be done, and what its rule says of it. */
export interface Step extends RuleStep {
  act: Act;
}

/** An action looks so often whether the answer is on the record. Real time. */
const writingMs = 1_000;

/**
 * Does the actions of one record at the vendor, together, so that a vendor that can does them in one call.
 * @returns how long those have to wait that can't be done yet. Real time.
 */
export async function actAtVendor(steps: readonly Step[], journey: Journey, context: VendorActContext) {
  const { ports, searchAfterMs, settleMs, clock } = context;
  if (steps.length > 0 && isBeingWritten(journey, settleMs, clock.now())) return [writingMs];
  // Another process may be at it, or the vendor may still carry it out.
  const leftMs = ({ act: { state, at } }: Step): number =>
    state === 'begun' ? Math.max(0, at.getTime() + searchAfterMs - ports.now().getTime()) : 0;
  // In their order: what comes after one that waits, waits with it.
  const waiting = steps.find((step) => leftMs(step) > 0);
  const due = waiting === undefined ? steps : steps.slice(0, steps.indexOf(waiting));
  const waits = waiting === undefined ? [] : [leftMs(waiting)];
  const allowed = await withinLimit(due, journey, context);
  if (allowed.length > 0 && !(await doNow(allowed, journey, context))) waits.push(searchAfterMs);
  return waits;
}

/** Parks what is beyond the number of actions that a record may have in a day. */
async function withinLimit(steps: readonly Step[], journey: Journey, context: VendorActContext): Promise<Step[]> {
  const { actions, policy, ports } = context;
  const { perRecord } = policy.actions;
  if (steps.length === 0) return [];
  const markers = steps.map(({ act }) => act.marker);
  const allowed = await actions.take(currentRecordOf(journey), markers, perRecord, ports.now());
  const beyond = steps.slice(allowed).map(({ act }) => act);
  await park(beyond, `more than ${perRecord} actions on this record within a day`, journey, context);
  return steps.slice(0, allowed);
}

/** @returns false where another process has begun any of them meanwhile */
async function doNow(steps: readonly Step[], journey: Journey, context: VendorActContext): Promise<boolean> {
  const recordId = currentRecordOf(journey);
  const reading = await context.read(recordId, 'act', journey.closedAt);
  const acts = steps.map(({ act }) => act);
  if (reading.record === undefined) {
    await park(acts, 'the record is gone', journey, context);
    return true;
  }
  const closing = reading.is === 'closed' ? reading.closing : '';
  const input = { ...reading.record.shape, answer: answerShape(journey) };
  const requests: ActionRequest[] = [];
  for (const step of steps) {
    const { name, marker, state, closing: first = closing } = step.act;
    const given = await paramsOf(step, input);
    if ('params' in given)
      requests.push({ recordId, name, params: given.params, marker, closing: first, again: state === 'begun' });
    else if (given.flaw !== undefined) await park([step.act], given.flaw, journey, context);
    else await endWithoutText(step.act, journey, context);
  }
  // Looked at last, as reading the record may have taken its time.
  if (requests.length === 0 || (await erasureSince(journey, context)) !== undefined) return true;
  // Stored first: whoever finds them begun knows that the vendor may have done them.
  const { ours, begun } = await begin(acts, requests, journey, context);
  const mine = requests.filter(({ marker }) => ours.has(marker));
  if (mine.length > 0) await takeResults(acts, mine, await attempted(mine, context), begun, context);
  return mine.length === requests.length;
}

/** What a step takes. `flaw`: why its text can't be made of this record, and answer; undefined where it has no words at all. */
async function paramsOf({ params, text }: Step, input: object): Promise<{ params: unknown } | { flaw?: string }> {
  if (text === undefined) return { params };
  try {
    const value = await text.evaluate(input);
    if (value === undefined || value === null || value === '') return {};
    if (typeof value === 'object') return { flaw: 'its text is no text, but a list or an object' };
    return { params: String(value) };
  } catch (error) {
    if (adviceOf(error).kind !== 'permanent') throw error;
    return { flaw: redacted(messageOf(error)) };
  }
}

async function endWithoutText({ marker, rule, name }: Act, { id }: Journey, { store, ports }: VendorActContext) {
  const trace = `answer rule "${rule}": no ${name}, as its text is empty`;
  await store.update(id, noted([{ marker, change: { state: 'done', at: ports.now() }, trace }]));
}

/** The markers of the actions that this process has begun, and the journey with them. */
async function begin(
  acts: readonly Act[],
  requests: readonly ActionRequest[],
  journey: Journey,
  { store, ports, clock, settleMs }: VendorActContext,
): Promise<{ ours: ReadonlySet<string>; begun: Journey }> {
  const at = ports.now();
  let ours: ReadonlySet<string> = new Set();
  const after = await store.update(journey, (now) => {
    ours = new Set();
    if (isBeingWritten(now, settleMs, clock.now())) return undefined;
    const markers = new Set(unchanged(acts, now).map(({ marker }) => marker));
    const wanted = requests.filter(({ marker }) => markers.has(marker));
    const decision = noted(
      wanted.map(({ marker, closing }): News => ({ marker, change: { state: 'begun', at, closing } })),
    )(now);
    ours = decision === undefined ? new Set() : markers;
    return decision;
  });
  // An erased journey is not decided on: what was decided before its erasure was not stored.
  const isStored = after !== undefined && !after.erasedAt;
  return { ours: isStored ? ours : new Set(), begun: after ?? journey };
}

/** One result per request: an error of the whole call holds for each of them. */
async function attempted(requests: readonly ActionRequest[], { act }: VendorActContext) {
  try {
    return await act(requests);
  } catch (thrown) {
    const error = thrown instanceof Error ? thrown : new Error(String(thrown));
    return requests.map((): ActionResult => ({ ok: false, why: 'error', error }));
  }
}

/** Why an action is not to be tried again; undefined where it is done, or to be tried again. */
function refusalIn(result: ActionResult): string | undefined {
  if (result.ok) return undefined;
  if (result.why !== 'error') return redacted(result.message);
  const { error } = result;
  const { kind, doubtful } = { doubtful: false, ...adviceOf(error) };
  // A proxy's answer, perhaps: several attempts have to agree, which the queue counts.
  return kind === 'permanent' && !doubtful ? redacted(messageOf(error)) : undefined;
}

/** The news of one action; undefined where nobody knows whether it was done. */
function newsOf({ marker, state, at, rule, name }: Act, result: ActionResult, now: Date): News | undefined {
  if (result.ok) return { marker, change: { state: 'done', at: now }, trace: `answer rule "${rule}": ${result.done}` };
  const why = refusalIn(result);
  if (why !== undefined) return parking({ marker, rule, name }, why, now);
  const isUnknown = result.why === 'error' && outcomeOfError(result.error) === 'unknown';
  // It was not done: the next attempt need not wait, nor look for it.
  return isUnknown ? undefined : { marker, change: { state, at } };
}

/** @throws the error of an action that is to be tried again, once the results of all are stored */
async function takeResults(
  acts: readonly Act[],
  requests: readonly ActionRequest[],
  results: readonly ActionResult[],
  journey: Journey,
  context: VendorActContext,
): Promise<void> {
  const now = context.ports.now();
  const ended = requests.flatMap(({ marker }, n) => {
    const [act, result] = [acts.find((one) => one.marker === marker), results[n]];
    return act === undefined || result === undefined ? [] : [{ act, result }];
  });
  const after = await context.store.update(
    journey,
    noted(ended.flatMap(({ act, result }) => newsOf(act, result, now) ?? [])),
  );
  for (const { act, result } of ended) {
    const why = refusalIn(result);
    if (why !== undefined && after) await tellParked(act, why, journey, context);
  }
  if (after?.erasedAt) await removeLateAnswer(journey, context);
  const failed = ended.find(({ result }) => !result.ok && refusalIn(result) === undefined)?.result;
  if (failed?.ok === false && failed.why === 'error') throw failed.error;
}

const parking = ({ marker, rule, name }: Pick<Act, 'marker' | 'rule' | 'name'>, why: string, at: Date): News => {
  return { marker, change: { state: 'parked', at, why }, trace: `answer rule "${rule}": ${name} is parked: ${why}` };
};

type ParkContext = Pick<VendorActContext, 'name' | 'store' | 'ports' | 'alert'>;

export async function park(acts: readonly Act[], why: string, journey: Journey, context: ParkContext): Promise<void> {
  const { store, ports } = context;
  if (acts.length === 0) return;
  const after = await store.update(journey.id, noted(acts.map((act) => parking(act, why, ports.now()))));
  if (after) for (const act of acts) await tellParked(act, why, journey, context);
}

async function tellParked(act: Act, why: string, { id }: Journey, { name, alert }: ParkContext): Promise<void> {
  const remedy = 'do it by hand, or mend the cause and "closeloop journeys replay" the journey';
  await alert('parked', `an action for an answer was not done: ${act.name}: ${why}`, remedy, [refOf(name, id)]);
}
