import { styleText } from 'node:util';
import { type Contact, parseContact } from '../../core/contact.ts';
import { CloseloopError, messageOf, outcomeOfError } from '../../core/errors.ts';
import type { CustomValue, FeedbackClient, FeedbackRequest } from '../../core/feedback/client.ts';
import { createFeedbackClient } from '../../core/feedback/client.ts';
import { resolveOperations } from '../../core/feedback/operations.ts';
import type { Campaign, FieldType } from '../../core/feedback/schemas.ts';
import { campaignNumbers } from '../config/campaign-choice.ts';
import type { Config } from '../config/config.ts';
import { livePorts } from './live-ports.ts';
import { type RuntimeOptions, readConfig } from './runtime.ts';
import { refuseCustomer } from './service.ts';

/** How far ahead the trial request is scheduled: it is cancelled long before it would be sent. */
const aheadMs = 30 * 86_400_000;

interface Tried {
  step: 'create' | 'get' | 'cancel';
  ok: boolean;
  what: string;
}

/** The result of a trial. */
interface Trial {
  campaign: number;
  /** Of the request that was made; null: none was, or nobody knows (`left` says so). */
  created: string | null;
  steps: Tried[];
  /** What could not be undone; null: nothing is left but a cancelled request. */
  left: string | null;
}

/**
 * `check --try`: reads alone cannot show whether the assumed form of create, get and cancel is the service's. Makes one request, reads
 * it and cancels it at once. Returns 0 when the form works and nothing is left, else 1.
 */
export async function tryForm(
  options: RuntimeOptions & { campaign?: number; contact?: string; json: boolean },
): Promise<number> {
  const config = await readConfig(options);
  const service = createFeedbackClient(config.feedback, livePorts);
  const ofRules = campaignNumbers(config.sources.flatMap(({ rules }) => rules));
  const campaign = await campaignFor(service, options.campaign, ofRules);
  const sendsDate = resolveOperations(config.feedback.operations).create.body.scheduled !== null;
  if (!sendsDate && campaign.type !== 'external') {
    const message = `The form of create sends no date, so that the service would send campaign ${campaign.id}'s message by itself: name a test campaign of type external with --campaign.`;
    throw new CloseloopError(message, { kind: 'config' });
  }
  const contact = contactOf(campaign, options.contact, config.defaultCountry);
  if (options.contact !== undefined) refuseCustomer(contact, config.policy.test);
  const trial = await run(service, campaign, contact, valuesFor(campaign, config.marker));
  const isFine = trial.left === null && trial.steps.every(({ ok }) => ok);
  process.stdout.write(options.json ? `${JSON.stringify({ ok: isFine, ...trial })}\n` : inWords(trial, isFine));
  return isFine ? 0 : 1;
}

/** The campaign for the trial: an external campaign sends nothing; else one that no rule uses. */
async function campaignFor(
  service: FeedbackClient,
  chosen: number | undefined,
  ofRules: readonly number[],
): Promise<Campaign> {
  if (chosen !== undefined) return await service.campaign(chosen);
  for (const id of new Set(ofRules)) {
    const campaign = await service.campaign(id);
    if (campaign.type === 'external') return campaign;
  }
  const message =
    'No rule names an external campaign, in which a trial sends nothing: name a test campaign with --campaign.';
  throw new CloseloopError(message, { kind: 'config' });
}

function contactOf(
  { id, type }: Campaign,
  text: string | undefined,
  defaultCountry: Config['defaultCountry'],
): Contact {
  if (type === 'external') return { kind: 'identifier', value: text ?? `closeloop-check-${Date.now()}` };
  if (text !== undefined) return parseContact(text, { defaultCountry });
  const message = `Campaign ${id} sends messages: name a contact of your own with --contact. The trial is scheduled in 30 days and cancelled at once.`;
  throw new CloseloopError(message, { kind: 'config' });
}

/** The marker, and something for each field that must not be empty. */
function valuesFor({ custom_fields }: Campaign, marker: string): Record<string, CustomValue> {
  const wanted = custom_fields.filter(({ name, required }) => required || name === marker);
  return Object.fromEntries(wanted.map((field) => [field.name, sampleOf(field)]));
}

function sampleOf({ field_type, choices }: Campaign['custom_fields'][number]): CustomValue {
  return field_type === 'Choice' ? (choices[0] ?? '') : samples[field_type];
}

const samples: Record<Exclude<FieldType, 'Choice'>, CustomValue> = {
  Text: 'closeloop check',
  Integer: 1,
  Date: '2026-01-01',
  Time: '12:00:00',
  'Date and time': '2026-01-01T12:00:00Z',
  'Yes/No': true,
  'URL address': 'https://example.com/',
};

async function run(
  service: FeedbackClient,
  campaign: Campaign,
  contact: Contact,
  customFields: Record<string, CustomValue>,
): Promise<Trial> {
  const steps: Tried[] = [];
  let request: FeedbackRequest;
  try {
    const scheduled = new Date(Date.now() + aheadMs);
    request = await service.create({ campaign: campaign.id, contact, scheduled, customFields });
    steps.push({ step: 'create', ok: true, what: `request ${request.id} was made in campaign ${campaign.id}` });
  } catch (error) {
    steps.push({ step: 'create', ok: false, what: messageOf(error) });
    const where = `campaign ${campaign.id}, ${contact.kind} ${contact.value}`;
    const left =
      outcomeOfError(error) === 'unknown'
        ? `a request may have been made (${where}): look for it in the service, and cancel it`
        : null;
    return { campaign: campaign.id, created: null, steps, left };
  }
  steps.push(await tried('get', () => readBack(service, request.id, campaign.id)));
  const cancelled = await tried('cancel', async () => {
    await service.cancel(request.id);
    return `request ${request.id} is cancelled`;
  });
  steps.push(cancelled);
  const left = cancelled.ok
    ? null
    : `request ${request.id} of campaign ${campaign.id} stands: cancel it in the service`;
  return { campaign: campaign.id, created: request.id, steps, left };
}

async function readBack(service: FeedbackClient, id: string, campaign: number): Promise<string> {
  const shown = await service.request(id);
  if (shown.id === id && (shown.campaign === null || shown.campaign === campaign)) return `request ${id} can be read`;
  const what = `it shows request ${shown.id} of campaign ${shown.campaign}: mend feedback.operations.get and record`;
  throw new CloseloopError(what, { kind: 'config' });
}

async function tried(step: Tried['step'], work: () => Promise<string>): Promise<Tried> {
  try {
    return { step, ok: true, what: await work() };
  } catch (error) {
    return { step, ok: false, what: messageOf(error) };
  }
}

function inWords({ steps, left }: Trial, isFine: boolean): string {
  const lines = steps.map(({ step, ok, what }) => `${mark(ok)} ${step.padEnd(7)} ${what}`);
  if (left !== null) lines.push(`${mark(false)} left    ${left}`);
  lines.push(
    isFine ? 'The form of create, get and cancel works, and nothing is left but a cancelled request.' : remedy,
  );
  return `${lines.join('\n')}\n`;
}

const mark = (ok: boolean): string => (ok ? styleText('green', '✓') : styleText('red', '✗'));
const remedy = 'Mend feedback.operations by what the service says above, then try again before going live.';
