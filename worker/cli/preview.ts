import { styleText } from 'node:util';
import type { PresentedRecord } from '../../core/connector/contract.ts';
import { contactKey } from '../../core/contact.ts';
import { CloseloopError } from '../../core/errors.ts';
import type { Journey } from '../journey/journey.ts';
import { refOf } from '../journey/refs.ts';
import { mayHaveAsked } from '../journey/transitions.ts';
import { lastCounted, onList } from '../pipeline/ask/contact-eligibility.ts';
import { recipientOf } from '../pipeline/ask/send-request.ts';
import { holdsOf, holdsOfLast, limitsOf, scopesOf, type Throttled, throttled } from '../pipeline/ask/throttle.ts';
import type { SourceContext } from '../pipeline/context.ts';
import { decide, type Verdict } from '../pipeline/plan/decide.ts';
import { statusOf } from '../pipeline/vendor.ts';
import type { RuntimeOptions } from './runtime.ts';
import { inZone } from './shown-time.ts';
import { withSources } from './with-engine.ts';

/**
 * What would be sent about a record: to whom, when, with which values and why; or why not. Of an open record: what would be if
 * it closed now. Sends and stores nothing.
 */
export async function preview(
  options: RuntimeOptions & { source: string; record: string; showRecord: boolean; json: boolean },
): Promise<number> {
  return await withSources(options, async ({ pipeline }) => {
    const { context } = pipeline(options.source);
    const [result] = await context.source.read([recordIn(context, options.record)], 'plan');
    if (!result) throw new Error('the connector gave no result');
    const status = statusOf(result);
    const shape = options.showRecord && result.ok ? result.record.shape : undefined;
    const print = (shown: object, lines: readonly string[]): number => {
      const end = shape === undefined ? [] : ['', 'record', JSON.stringify(shape, null, 2)];
      const told = inZone(lines.join('\n'), context.timeZone);
      const text = options.json ? JSON.stringify({ ...shown, record: shape }) : [told, ...end].join('\n');
      process.stdout.write(`${text}\n`);
      return result.ok ? 0 : 1;
    };
    if (status.is === 'out' || !result.ok) {
      const why = status.is === 'out' ? status.why : 'it can not be read';
      return print({ decision: 'skip', why }, [heading('would not ask', why)]);
    }
    const { record } = result;
    if (status.is === 'open') {
      const why = 'it is not closed';
      const { lookAgainAt } = status;
      const { id } = await context.store.records.nameOf(record.currentId, notYet);
      const ifClosed = await judge(record, id, { closedAt: lookAgainAt ?? context.clock.now() }, context);
      return print({ decision: 'skip', why, lookAgainAt, ifClosed: ifClosed.shown }, [
        heading('would not ask', why),
        ...(lookAgainAt ? [row('closed', `from ${lookAgainAt.toISOString()}, if nothing else happens`)] : []),
        '',
        heading(`if it were closed: ${ifClosed.decision}`, ifClosed.why),
        ...ifClosed.lines,
      ]);
    }

    const { closing, closedAt } = status;
    const { id, exists } = await context.store.records.nameOf(record.currentId, closing);
    const journey = exists ? await context.store.get(id) : undefined;
    const ref = refOf(context.name, id);
    const { decision, why, shown, lines } = unlessAsked(
      journey,
      ref,
      await judge(record, id, { ...journey, closedAt }, context),
    );
    return print({ journey: ref, exists, state: journey?.state, closedAt, closing, ...shown }, [
      heading(decision, why),
      row('closed', `${closedAt.toISOString()} (closing ${closing})`),
      row('journey', journey ? `${ref}, ${journey.state}${journey.why ? `: ${journey.why}` : ''}` : 'none yet'),
      ...lines,
    ]);
  });
}

/** What would keep a person from being asked who is due then: the service's lists, and throttles. */
async function heldBack(
  { rule, campaign, contact, dueAt }: Extract<Verdict, { do: 'ask' }>,
  isTest: boolean,
  journeyId: string,
  { name, contacts, feedback, policy }: SourceContext,
): Promise<Throttled | undefined> {
  const known = await feedback.contact(contact);
  const listed = onList(known, rule);
  if (listed) return { do: 'skip', ...listed };
  if (isTest) return undefined;
  const scopes = scopesOf(rule, policy);
  const key = contactKey(contact);
  const note = { at: dueAt, journey: refOf(name, journeyId) };
  const asked = { contactKey: key, campaign: campaign.id, note, limits: limitsOf(scopes, dueAt) };
  const last = lastCounted(known, await contacts.lastAsked(key));
  const holds = [...holdsOfLast(last, scopes, dueAt), ...holdsOf(await contacts.heldBy(asked), scopes)];
  return throttled(holds, dueAt);
}

/** @throws CloseloopError config for what can't be a record of this source */
function recordIn({ name, source }: SourceContext, written: string): string {
  const { recordNames } = source;
  const found = recordNames === undefined ? written : recordNames.parse(written);
  if (found !== undefined) return found;
  const message = `--record: "${written}" is no record of source ${name}: write ${recordNames?.like}.`;
  throw new CloseloopError(message, { kind: 'config' });
}

/** The name of no closing. */
const notYet = 'not yet';

/** Whatever the rules say now: about a closing that was asked about nobody is asked again. */
function unlessAsked(journey: Journey | undefined, ref: string, judged: Judged): Judged {
  if (journey === undefined || !mayHaveAsked(journey)) return judged;
  const what = journey.requestId === undefined ? 'may have been asked' : 'was asked already';
  const why = `its customer ${what}: journey ${ref} is ${journey.state}`;
  return { ...judged, decision: 'would not ask', why, shown: { ...judged.shown, decision: 'skip', why } };
}

/** `shown` for machines, the rest for people. */
interface Judged {
  decision: string;
  why: string | undefined;
  shown: object;
  lines: string[];
}

/** What becomes of a closing, by everything that is known now. */
async function judge(
  record: PresentedRecord,
  journeyId: string,
  closing: Pick<Journey, 'closedAt' | 'dueAt' | 'backfilled'>,
  context: SourceContext,
): Promise<Judged> {
  const history = await context.store.records.historyOf(record.currentId);
  const verdict = await decide({ ...closing, journeyId, history }, record, context);
  if (verdict.do === 'skip') {
    const { reason, why, trace, rule } = verdict;
    const shown = { decision: 'skip', reason, why, rule: rule?.name, trace };
    return { decision: 'would not ask', why, shown, lines: trace.map((line) => row('', line)) };
  }
  const { rule, campaign, contact, values, sources, dueAt, trace } = verdict;
  const to = recipientOf(contact, rule, campaign.type);
  const held = await heldBack({ ...verdict, contact: to.contact }, to.isTest, journeyId, context);
  if (held?.do === 'wait') trace.push(`waits: ${held.why}`);
  const { reason, why } = held?.do === 'skip' ? held : {};
  const decision = why === undefined ? 'ask' : 'skip';
  const test = to.isTest ? to.contact : undefined;
  const chosen = { rule: rule.name, campaign: campaign.id, contact, test, values, sources, dueAt };
  return {
    decision: why === undefined ? 'would ask' : 'would not ask',
    why,
    shown: { decision, reason, why, ...chosen, trace },
    lines: [
      ...(test ? [row('TEST', `it would go to ${test.kind} ${test.value}, not to the customer`)] : []),
      row('rule', rule.name),
      row('campaign', `${campaign.id} ${campaign.name} (${campaign.type})`),
      row('contact', `${contact.kind} ${contact.value}`),
      ...Object.entries(values).map(([name, value], i) =>
        row(i === 0 ? 'fields' : '', `${name} = ${JSON.stringify(value)}  ← ${sources[name] ?? 'closeloop'}`),
      ),
      row('send', `${dueAt.toISOString()} (${context.timeZone})`),
      ...trace.map((line, i) => row(i === 0 ? 'because' : '', line)),
    ],
  };
}

const heading = (decision: string, why?: string): string =>
  styleText('bold', `${decision}${why === undefined ? '' : `: ${why}`}`);
const row = (name: string, text: string): string => `${name.padEnd(9)} ${text}`;
