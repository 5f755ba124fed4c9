import { isLoopback } from '../../core/address.ts';
import { errorAt, isSameUrl, warningAt } from '../../core/connector/check.ts';
import type { Delivery, Finding, PreflightContext, Source } from '../../core/connector/contract.ts';
import { checkReceiver } from '../../core/connector/reach.ts';
import { eventReader, readers } from './events.ts';
import { compileAll } from './expressions.ts';
import { RecordSnapshot } from './record.ts';
import type { WebhookSettings } from './settings.ts';

/** Checks the settings, evaluates the samples, and connects to the receiver, as a sender of webhooks has no API to read from. */
export function checker(settings: WebhookSettings): NonNullable<Source['check']> {
  return async (about) => [
    ...ofSignature(settings, about),
    ...ofExpressions(settings),
    ...(await ofSamples(settings, about)),
    ...(await ofWriteBack(settings, about)),
  ];
}

/** Shorter secrets can be guessed. */
const shortest = 20;

function ofSignature({ signature, writeBack }: WebhookSettings, { hookUrl }: PreflightContext): Finding[] {
  const { kind, secrets } = signature;
  const at = 'signature.secrets';
  const fresh = 'make a new one: openssl rand -base64 32';
  const found = secrets.flatMap((secret, i): Finding[] => {
    const plain = secret.replace(/^(?:Bearer|Basic|Token) /i, '');
    if (kind !== 'standard' && plain.length < shortest)
      return [warningAt(`${at}.${i}`, 'is short enough to be guessed', fresh)];
    const signs = new Set(plain.replace(/^wh(?:sec|pk)_/, '').replace(/=+$/, ''));
    return signs.size < 8 ? [errorAt(`${at}.${i}`, 'consists of very few different signs', fresh)] : [];
  });
  if (secrets[0] === secrets[1]) found.push(warningAt(at, 'both are the same', 'take one out, or rotate to another'));
  if (writeBack?.secrets.some((secret) => secrets.includes(secret))) {
    const problem = 'the same secret signs events in both directions: what we send could be sent back to us as genuine';
    found.push(errorAt('writeBack.secrets', problem, fresh));
  }
  if (kind === 'token') {
    const problem = 'whoever has seen one delivery can send others: a token proves little';
    found.push(warningAt('signature', problem, 'let the sender sign (standard or hmac), if it can'));
  }
  if (kind === 'hmac' && signature.algorithm === 'sha1')
    found.push(warningAt('signature.algorithm', 'SHA-1 is outdated', 'let the sender sign with SHA-256'));
  if (hookUrl === undefined) {
    const remedy = 'set http.publicUrl, and give the sender <publicUrl>/hooks/<source>';
    found.push(warningAt('webhook', 'it is not known where the sender has to deliver', remedy));
  } else if (hookUrl.startsWith('http:') && !isLoopback(hookUrl)) {
    const findingAt = kind === 'token' ? errorAt : warningAt;
    const problem = 'events, with personal data in them, would come unencrypted';
    found.push(findingAt('webhook', problem, 'give http.publicUrl an https address'));
  }
  return found;
}

function ofExpressions({ event }: WebhookSettings): Finding[] {
  const { all } = compileAll(event);
  const found: Finding[] = [];
  for (const [place, { constant }] of all) {
    const at = `event.${place}`;
    const isCondition = Object.hasOwn(readers, place);
    if (constant === undefined || (isCondition && constant.ok && constant.value === true)) continue;
    const problem = isCondition
      ? 'is never true: it reads nothing of the event'
      : 'is the same for every event: it reads nothing of it';
    found.push(errorAt(at, problem, 'write names without quotes: type = "ticket.closed", data.ticket.id'));
  }
  if (event.closed !== undefined && event.closed === event.changed) {
    const problem = 'is the condition of event.closed: every closing would end itself';
    found.push(errorAt('event.changed', problem, 'say what tells that a record is open again'));
  }
  if (event.closed !== undefined && event.changed === undefined) {
    const problem = 'customers are asked about records that were reopened, cancelled or refunded since';
    found.push(warningAt('event.changed', problem, 'let the sender tell of it, and say by which condition'));
  }
  if (event.graded !== undefined && !(event.graded.grade ?? event.graded.comment)) {
    const problem = 'names neither a grade nor a comment';
    found.push(errorAt('event.graded', problem, 'add grade: data.rating, or comment: data.text'));
  }
  return found;
}

async function ofSamples(settings: WebhookSettings, { reads }: PreflightContext): Promise<Finding[]> {
  const read = eventReader(settings, (recordId) => recordId);
  const found: Finding[] = [];
  const shapes: object[] = [];
  for (const [i, sample] of settings.samples.entries()) {
    const at = `samples.${i}`;
    const said = await read(sampled(sample));
    if (!said.ok) {
      found.push(errorAt(at, said.why, 'correct the expression, or the sample'));
      continue;
    }
    if (said.events.length === 0) {
      const problem = 'means nothing: no condition in event is true for it';
      found.push(warningAt(at, problem, 'correct the conditions, or take the sample out'));
    }
    for (const one of said.events) {
      const snapshot = RecordSnapshot.safeParse('snapshot' in one && one.snapshot).data;
      if (snapshot?.state === 'closed') shapes.push(snapshot.shape);
    }
  }
  const unread = shapes.length === 0 ? [] : reads.filter(({ path }) => !shapes.some((shape) => holds(shape, path)));
  const remedy = 'correct the name, or add a sample that has it';
  return [
    ...found,
    ...unread.map(({ at, path }) => warningAt(at, `reads ${path.join('.')}, which no sample has`, remedy)),
  ];
}

function sampled(sample: object): Delivery {
  const raw = Buffer.from(JSON.stringify(sample));
  return { method: 'POST', url: '', headers: {}, raw, receivedAt: new Date() };
}

/** Whether the value has this path. Looks into the entries of lists, as JSONata does. */
function holds(value: unknown, [name, ...rest]: readonly string[]): boolean {
  if (name === undefined) return true;
  if (Array.isArray(value)) return value.some((one) => holds(one, [name, ...rest]));
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return false;
  return holds(Object.entries(value).find(([key]) => key === name)?.[1], rest);
}

async function ofWriteBack({ event, writeBack }: WebhookSettings, { hookUrl }: PreflightContext): Promise<Finding[]> {
  const at = 'writeBack.url';
  if (writeBack === undefined) {
    if (event.closed === undefined) return [];
    const problem = 'no answer will be sent to anybody';
    return [warningAt('writeBack', problem, 'name the URL that takes them, or read them at the service')];
  }
  const { url, allowPrivate } = writeBack;
  if (hookUrl !== undefined && isSameUrl(url, hookUrl)) {
    return [errorAt(at, "is this source's own hook: answers would come back as events", 'name the receiver')];
  }
  return await checkReceiver({ url, allowPrivate }, { url: at, allowPrivate: 'writeBack.allowPrivate' });
}
