import { setImmediate as turn } from 'node:timers/promises';
import { ZodError } from 'zod';
import { connectors } from '../../../connectors/index.ts';
import type { ConnectorPorts, Delivery, Source } from '../../../core/connector/contract.ts';
import { CloseloopError } from '../../../core/errors.ts';
import { createFeedbackClient } from '../../../core/feedback/client.ts';
import { compileExpression } from '../../../core/mapping/expression-compile.ts';
import { loadConfig } from '../../../worker/config/config.ts';
import { EraseJob, PlanJob } from '../../../worker/pipeline/jobs.ts';
import { quietPorts } from '../../support/contract/quiet-ports.ts';
import { type Chance, chanceOf } from '../chaos/random.ts';
import { answering } from './answers.ts';
import { expression } from './expressions.ts';
import { configuration, type FuzzSource, sources } from './sources.ts';
import { body, record, spoiled, text, value } from './values.ts';

/** What became of one input, in a word for the table. @throws Violation, or anything: then the product is at fault */
export type Try = (chance: Chance) => string | Promise<string>;

export class Violation extends Error {
  readonly kind: 'forgery' | 'status' | 'crash';

  constructor(kind: Violation['kind'], message: string) {
    super(message);
    this.kind = kind;
  }
}

/** The same input for the same seed, class and number, whatever else is tried. */
export const chanceFor = (seed: number, name: string, number: number): Chance =>
  chanceOf(seed).fork(`${name} ${number}`);

function ports(fetch: typeof globalThis.fetch): ConnectorPorts {
  return quietPorts({
    fetch,
    // Whoever waits for a vendor's background job looks again at once; others get their turn.
    sleep: async () => void (await turn()),
    hookUrl: 'https://hooks.example.com/hooks/x',
  });
}

const opened = sources.map((source) => {
  const { connector: name, ...settings } = { connector: '', ...source.settings };
  const connector = connectors.find((one) => one.name === name);
  if (!connector) throw new Error(`no connector ${name}`);
  const open = (fetch: typeof globalThis.fetch): Source => connector.open(settings, ports(fetch));
  return { source, open, deaf: open(() => Promise.reject(new Error('no network'))) };
});
const [firstOpened, ...otherOpened] = opened;
if (!firstOpened) throw new Error('there are no sources');
const anySource = [firstOpened, ...otherOpened] as const;

const url = 'https://hooks.example.com/hooks/x';
const bodyOf = (source: FuzzSource, chance: Chance): Buffer =>
  chance.happens(0.6) ? Buffer.from(JSON.stringify(source.event(chance))) : body(chance);

function deliveryOf(source: FuzzSource, raw: Buffer, at: Date): Delivery {
  return { method: 'POST', url, headers: source.sign(raw, url, at), raw, receivedAt: at };
}

/** A delivery that is genuine but for one thing. */
function forged(delivery: Delivery, source: FuzzSource, chance: Chance): Delivery {
  const { headers, raw } = delivery;
  const [name = ''] = source.signed.filter((one) => one.includes('signature') || one.includes('hmac'));
  const given = headers[name] ?? '';
  const withHeader = (one: string | undefined): Delivery => ({ ...delivery, headers: { ...headers, [name]: one } });
  switch (chance.int(0, 6)) {
    case 0:
      return { ...delivery, raw: spoiled(raw, chance) };
    case 1:
      return withHeader(undefined);
    case 2:
      return withHeader(spoiled(Buffer.from(given), chance).toString('latin1'));
    case 3:
      return withHeader(text(chance));
    case 4:
      return { ...delivery, headers: source.sign(raw, url, delivery.receivedAt, `another ${chance.int(0, 1e9)}`) };
    case 5:
      return { ...delivery, headers: {} };
    default:
      return withHeader(given.slice(0, chance.int(0, given.length - 1)));
  }
}

const signature: Try = (chance) => {
  const { source, deaf } = chance.of(anySource);
  const raw = Buffer.from(JSON.stringify(source.event(chance)));
  const genuine = deliveryOf(source, raw, new Date());
  if (!deaf.verify(genuine).ok) throw new Violation('status', `${source.name} refuses its own vendor`);
  const other = forged(genuine, source, chance);
  const same = other.raw.length === raw.length && raw.equals(other.raw);
  if (same && JSON.stringify(other.headers) === JSON.stringify(genuine.headers)) return 'unchanged';
  const verdict = deaf.verify(other);
  if (!verdict.ok) return verdict.why;
  // Base64 may be written in several ways, and hex in capitals: still the right signature of the right body.
  if (same && source.signed.some((name) => isSameSignature(other.headers[name], genuine.headers[name]))) return 'same';
  throw new Violation('forgery', `${source.name} takes a forged delivery`);
};

function isSameSignature(one: string | undefined, other: string | undefined): boolean {
  return one !== undefined && other !== undefined && one.toLowerCase().trim() === other.toLowerCase();
}

const events: Try = async (chance) => {
  const { source, deaf } = chance.of(anySource);
  const found = await deaf.events(deliveryOf(source, bodyOf(source, chance), new Date()));
  if (!found.ok) return 'refused';
  for (const event of found.events) {
    const schema = event.kind === 'erase' ? EraseJob : PlanJob;
    const stored: unknown = JSON.parse(JSON.stringify({ ...event, receivedAt: new Date() }));
    // The intake would answer 503 for ever.
    if (!schema.safeParse(stored).success) throw new Violation('status', `${source.name} makes an event that is none`);
  }
  return found.events.length > 0 ? 'events' : 'ignored';
};

const base = configuration();
const yamls = [
  '&a [*a]',
  '{a: &a [1,1,1,1,1,1,1,1,1], b: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a], c: [*b,*b,*b,*b,*b,*b,*b,*b]}',
  '!!js/function "x"',
  '? [a]\n: b',
  '- 1',
  '%YAML 9.9\n---\na',
  'sources: {a: {connector: zendesk}}',
  '\ufeff{}',
] as const;

const configurations: Try = (chance) => {
  const way = chance.int(0, 9);
  let yaml: string;
  if (way === 0) yaml = chance.of(yamls);
  else if (way < 4) yaml = spoiled(Buffer.from(base), chance).toString('utf8');
  else if (way < 6) yaml = JSON.stringify(record(chance));
  else {
    // One value is another: anywhere in the configuration.
    const places = [...base.matchAll(/: ("[^"\n]*"|\d+)/g)];
    const place = places[chance.int(0, places.length - 1)];
    const at = place?.index ?? 0;
    yaml = `${base.slice(0, at)}: ${JSON.stringify(value(chance, 2))}${base.slice(at + (place?.[0].length ?? 0))}`;
  }
  try {
    loadConfig(yaml, { env: {}, connectors });
    return 'valid';
  } catch (error) {
    if (error instanceof CloseloopError && error.advice.kind === 'config') return 'refused';
    throw error;
  }
};

const expressions: Try = async (chance) => {
  const source = expression(chance);
  try {
    await compileExpression(source).evaluate(record(chance));
    return 'a value';
  } catch (error) {
    if (!(error instanceof CloseloopError)) throw error;
    if (error.name === 'ExpressionSetAside') return 'set aside';
    return error.advice.kind === 'config' ? 'a mistake' : 'failed';
  }
};

/** A call that ends well, or with an error that says what to do next. */
async function outcomeOf(call: () => Promise<unknown>): Promise<string> {
  try {
    await call();
    return 'understood';
  } catch (error) {
    if (error instanceof ZodError) return 'permanent';
    if (error instanceof CloseloopError) return error.advice.kind;
    throw error;
  }
}

const service: Try = async (chance) => {
  const settings = {
    baseUrl: 'http://127.0.0.1:9/api',
    apiKey: 'k',
    timeZone: 'Europe/Tallinn',
    timeoutMs: 50,
    callsAtOnce: 1,
    environment: 'production' as const,
  };
  const client = createFeedbackClient(settings, ports(answering(chance, { beSilent: true })));
  const contact = { kind: 'email', value: 'a@example.com' } as const;
  const calls: readonly [() => Promise<unknown>, ...(() => Promise<unknown>)[]] = [
    () => client.campaign(1),
    () => client.create({ campaign: 1, contact, customFields: {} }),
    () => client.request('7'),
    () => client.contact(contact),
    () => client.mask(contact),
    () => client.grade('7', 5),
    () => client.cancel('7'),
    () => client.customFieldStatistics({ campaign: 1 }),
    async () => {
      for await (const _ of client.requestPages()) void _;
    },
    async () => {
      for await (const _ of client.campaigns()) void _;
    },
  ];
  return await outcomeOf(chance.of(calls));
};

const vendors: Try = async (chance) => {
  const { source, open } = chance.of(anySource);
  const account = open(answering(chance, { beSilent: false }));
  const id = source.name === 'hubspot' ? 'ticket-7' : '7';
  const item = {
    recordId: id,
    status: 'answered',
    marker: 'm1',
    grade: 5,
    comment: 'x',
    answeredAt: new Date(),
    campaign: 'c',
  } as const;
  const results = async (call: Promise<readonly { ok: boolean }[]>): Promise<void> => {
    for (const result of await call) if (!('ok' in result)) throw new Violation('status', 'no result');
  };
  const calls: readonly [() => Promise<unknown>, ...(() => Promise<unknown>)[]] = [
    () => results(account.read([id, `${id}1`])),
    () => results(account.read([id])),
    () => results(account.writeBack([item])),
    async () => await account.poll?.({ since: new Date(0) }),
    async () => await account.forget?.([id]),
    async () => await account.check?.({ grades: [1, 5], reads: [], answersWithinMs: 1_000 }),
    async () => await account.setup?.({ grades: [1, 5], reads: [], answersWithinMs: 1_000 }),
  ];
  return `${await outcomeOf(chance.of(calls))}`;
};

export type Lab = Readonly<Record<string, { share: number; attempt: Try }>>;

/** What is tried in the process that also takes deliveries, and its share of all inputs. */
export const lab: Lab = {
  signatures: { share: 30, attempt: signature },
  events: { share: 15, attempt: events },
  expressions: { share: 15, attempt: expressions },
  'answers of the service': { share: 8, attempt: service },
  'answers of vendors': { share: 6, attempt: vendors },
};

/** What a process does once, before anything else: tried in one of its own, whose memory says nothing about the others. */
export const beforeStart: Lab = { configurations: { share: 2, attempt: configurations } };
