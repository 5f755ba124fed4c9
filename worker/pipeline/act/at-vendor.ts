import type { ActionRequest, ActionResult } from '../../../core/connector/contract.ts';
import { adviceOf, messageOf, outcomeOfError } from '../../../core/errors.ts';
import type { Log, Ports } from '../../../core/ports.ts';
import { redacted } from '../../../core/redaction.ts';
import type { Act, Journey } from '../../journey/journey.ts';
import { currentRecordOf, refOf } from '../../journey/refs.ts';
import type { AlertOfSource } from '../../operations/alerts.ts';
import type { Clock } from '../clock.ts';
import { type LateAnswerContext, removeLateAnswer } from '../erasure-guard.ts';
import { answerShape, type LoadedAnswerRule, readsRecord } from '../policy/answer-rules.ts';
import type { Policy } from '../policy/source-policy.ts';
import { isBeingWritten } from '../queue-acts.ts';
import type { Journeys } from '../source-store.ts';
import type { Vendor } from '../vendor.ts';
import { type News, noted, parking } from './judge.ts';

/** The parts of a source that acting at the vendor needs. */
export interface VendorActContext
  extends Pick<Journeys, 'store' | 'actions'>,
    Pick<Vendor, 'act' | 'read'>,
    LateAnswerContext,
    Pick<Policy, 'searchAfterMs' | 'settleMs' | 'policy'> {
  name: string;
  clock: Clock;
  ports: Ports;
  alert: AlertOfSource;
  log: Log;
}

type RuleStep = LoadedAnswerRule['do'][number];

/** An action to do, with its settings in the rule. */
export interface Step extends RuleStep {
  act: Act;
}

/** The time between two checks of an action whether the answer is on the record. Real time. */
const writingMs = 1_000;
/** The shortest and the longest time between two renewals of actions under way. Real time. */
const renewMs = { least: 500, most: 60_000 };

/** The requests to the vendor now, the news of the other actions, and how long actions have to wait. Real time. */
interface Planned {
  requests: ActionRequest[];
  news: News[];
  waits: number[];
  failure?: unknown;
}

export const nothing: Planned = { requests: [], news: [], waits: [] };

/** Plans the actions on one record together, so that the connector may do them in one call. Changes only the count of the day's actions. */
export async function planAtVendor(
  steps: readonly Step[],
  journey: Journey,
  context: VendorActContext,
): Promise<Planned> {
  const { ports, searchAfterMs, settleMs, clock, policy } = context;
  const now = ports.now();
  if (steps.length > 0 && isBeingWritten(journey, settleMs, clock.now())) return { ...nothing, waits: [writingMs] };
  // Another process may be doing the action, or the vendor may still carry it out.
  const leftMs = ({ act: { state, at } }: Step): number =>
    state === 'begun' ? Math.max(0, at.getTime() + searchAfterMs - now.getTime()) : 0;
  // Actions keep their order: the actions after a waiting action wait as well.
  const waiting = steps.find((step) => leftMs(step) > 0);
  const due = waiting === undefined ? steps : steps.slice(0, steps.indexOf(waiting));
  const waits = waiting === undefined ? [] : [leftMs(waiting)];
  if (due.length === 0) return { ...nothing, waits };
  const { perRecord } = policy.actions;
  // Actions that have begun come first, as they have their slots already.
  const begunFirst = due.toSorted((a, b) => Number(b.act.state === 'begun') - Number(a.act.state === 'begun'));
  const markers = begunFirst.map(({ act }) => act.marker);
  const count = await context.actions.take(currentRecordOf(journey), markers, perRecord, now);
  const allowed = new Set(markers.slice(0, count));
  const [within = [], beyond = []] = [true, false].map((is) => due.filter(({ act }) => allowed.has(act.marker) === is));
  const why = `more than ${perRecord} actions on this record within a day`;
  const parked = beyond.map(({ act }) => parking(act, why, now));
  const { requests, news } = await requestsOf(within, journey, context);
  return { requests, news: [...parked, ...news], waits };
}

/** The requests to the vendor, and news of the actions for which there is no request. */
async function requestsOf(
  steps: readonly Step[],
  journey: Journey,
  { read, ports }: VendorActContext,
): Promise<Pick<Planned, 'requests' | 'news'>> {
  if (steps.length === 0) return nothing;
  const recordId = currentRecordOf(journey);
  const reading = await read(recordId, 'act', journey.closedAt);
  const now = ports.now();
  if (reading.record === undefined)
    return { requests: [], news: steps.map(({ act }) => parking(act, 'the record is gone', now)) };
  const closing = reading.is === 'closed' ? reading.closing : '';
  const answer = answerShape(journey);
  const input = { ...reading.record.shape, answer };
  const requests: ActionRequest[] = [];
  const news: News[] = [];
  for (const step of steps) {
    const { name, marker, rule, state, closing: first = closing } = step.act;
    const given = await paramsOf(step, step.text && readsRecord(step.text) ? input : { answer });
    const trace = `answer rule "${rule}": no ${name}, as its text is empty`;
    if ('params' in given)
      requests.push({ recordId, name, params: given.params, marker, closing: first, again: state === 'begun' });
    else if (given.flaw !== undefined) news.push(parking(step.act, given.flaw, now));
    else news.push({ marker, name, change: { state: 'done', at: now }, trace });
  }
  return { requests, news };
}

/** The parameters of a step. `flaw`: why the text can't be made from this record and answer; undefined where the text is empty. */
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

/** One result per request: an error of the whole call counts for each request. */
async function attempted(requests: readonly ActionRequest[], { act }: VendorActContext) {
  try {
    return await act(requests);
  } catch (thrown) {
    const error = thrown instanceof Error ? thrown : new Error(String(thrown));
    return requests.map((): ActionResult => ({ ok: false, why: 'error', error }));
  }
}

/**
 * Waits for the work. A vendor may take minutes, so the instants of the begun actions are renewed meanwhile: otherwise another process
 * would take these actions for those of a process that died.
 */
async function stillUnderWay<T>(
  requests: readonly ActionRequest[],
  { id }: Journey,
  { store, ports, searchAfterMs, log }: VendorActContext,
  work: () => Promise<T>,
): Promise<T> {
  const renewing = setInterval(
    () => {
      const at = ports.now();
      const renewed = requests.map(({ marker, name }): News => ({ marker, name, change: { at } }));
      store.update(id, noted(renewed)).catch((error: unknown) => log.debug({ why: messageOf(error) }, 'not renewed'));
    },
    Math.min(renewMs.most, Math.max(renewMs.least, searchAfterMs / 3)),
  );
  try {
    return await work();
  } finally {
    clearInterval(renewing);
  }
}

/** Why closeloop must not try an action again; undefined where the action is done, or where closeloop tries it again. */
function refusalIn(result: ActionResult): string | undefined {
  if (result.ok) return undefined;
  if (result.why !== 'error') return redacted(result.message);
  const { error } = result;
  const { kind, doubtful } = { doubtful: false, ...adviceOf(error) };
  // A proxy may have answered: several attempts have to agree, and the queue counts the attempts.
  return kind === 'permanent' && !doubtful ? redacted(messageOf(error)) : undefined;
}

/** The news of one action; undefined where closeloop does not know whether the action was done. */
function newsOf({ marker, state, at, rule, name }: Act, result: ActionResult, now: Date): News | undefined {
  if (result.ok)
    return { marker, name, change: { state: 'done', at: now }, trace: `answer rule "${rule}": ${result.done}` };
  const why = refusalIn(result);
  if (why !== undefined) return parking({ marker, rule, name }, why, now);
  const isUnknown = result.why === 'error' && outcomeOfError(result.error) === 'unknown';
  // The action was not done: the next attempt need not wait, and need not search for the effect of this attempt.
  return isUnknown ? undefined : { marker, name, change: { state, at } };
}

/**
 * Lets the vendor do the actions that are stored as begun, and stores their results.
 * @param acts the actions before they were begun
 * @throws the error of an action that has to be tried again, once the results of all actions are stored
 */
export async function doAtVendor(
  requests: readonly ActionRequest[],
  acts: readonly Act[],
  journey: Journey,
  context: VendorActContext,
): Promise<void> {
  const results = await stillUnderWay(requests, journey, context, () => attempted(requests, context));
  const now = context.ports.now();
  const news = requests.flatMap(({ marker }, n) => {
    const [act, result] = [acts.find((one) => one.marker === marker), results[n]];
    return (act && result && newsOf(act, result, now)) ?? [];
  });
  const after = await context.store.update(journey, noted(news));
  if (after) await tellParked(news, after, context);
  if (after?.erasedAt) await removeLateAnswer(journey, context);
  const failed = results.find((result) => !result.ok && refusalIn(result) === undefined);
  if (failed?.ok === false && failed.why === 'error') throw failed.error;
}

type TellContext = Pick<VendorActContext, 'name' | 'alert'>;

/** Alerts a person to the actions that were just parked. */
export async function tellParked(news: readonly News[], { id }: Journey, { name, alert }: TellContext): Promise<void> {
  const remedy = 'do it by hand, or mend the cause and "closeloop journeys replay" the journey';
  for (const { name: action, change } of news.filter((one) => one.change.state === 'parked')) {
    const why = `an action for an answer was not done: ${action}: ${change.why}`;
    await alert('parked', why, remedy, [refOf(name, id)]);
  }
}
