import type { z } from 'zod';
import type { Connector, ConnectorPorts, ParsedSource } from '../../core/connector/contract.ts';
import { withNamedErrors } from '../../core/connector/named-errors.ts';
import type { HolidayRules } from '../../core/schedule/holidays.ts';
import { suggestion } from '../../core/suggestion.ts';
import { type AnswerRule, answerRulesOf, type KnownReceivers } from './answer-rule.ts';
import { type ConfigDocument, readDocument } from './document.ts';
import type { External } from './external-connectors.ts';
import { General } from './general.ts';
import { check } from './issues.ts';
import { unanswerable } from './never.ts';
import { ownSettings, partsOf, SourcePolicy } from './policy.ts';
import { ConfigError, type FoundProblem, type Path, type Problem, pathText } from './problem.ts';
import { channelNames } from './receivers.ts';
import { type Rule, Rules, RulesIfAny } from './rule.ts';
import { isUnneeded, type Uses, unopened, withoutUnneeded } from './unneeded.ts';

export interface ConfiguredSource extends ParsedSource {
  name: string;
  /** The name that the source's data is stored under: the source's first name (stored-names.ts). */
  storedAs: string;
  /** The source's earlier name. */
  was?: string | undefined;
  connector: Connector;
  rules: Rule[];
  /** The answer rules: the source's own rules, then the rules for all sources. */
  answers: AnswerRule[];
  /** The policy of this source, which holds beside the policy for all sources. */
  policy: SourcePolicy;
}

/** The keys (`contactKey`) of the contacts in one file. */
export type ContactList = ReadonlySet<string>;

export type Config = z.output<typeof General> & {
  sources: ConfiguredSource[];
  /** Lists of contacts by the file's name as `contactsIn` has it (contact-lists.ts). */
  contactLists: ReadonlyMap<string, ContactList>;
  /** Present where `policy.holidays` is set (with-holidays.ts). */
  holidays?: HolidayRules;
  /** Nothing is sent: `start --dry-run`. */
  dryRun: boolean;
  /** The file's values with the names of variables in place of their values, to compare two configurations (changes.ts). */
  written: unknown;
};

export interface LoadOptions {
  env: Readonly<Record<string, string | undefined>>;
  /** The document, where the caller has read the text already. */
  document?: ConfigDocument;
  /** The built-in connectors, or those of them that the sources name: see `loadConnectors`. */
  connectors: readonly Connector[];
  /** The names of all built-in connectors, for messages. Left out: the names of `connectors`. */
  builtIn?: readonly string[];
  /** The loaded connectors of strangers that the sources name: see `loadExternalConnectors`. */
  external?: ReadonlyMap<string, External>;
  /** For messages. */
  file?: string;
  /** The parts that the command works with: variables of other parts need not be set. Left out: all. */
  uses?: Uses;
  /** `named`: rules and settings are not checked, and no connector is needed. Default `opened`. */
  sources?: 'opened' | 'named';
}

/** Says why a source can't have this name; undefined where the name is fine. */
export function sourceNameFlaw(name: string): string | undefined {
  return /^[a-z0-9][a-z0-9-]{0,40}$/.test(name)
    ? undefined
    : 'is not a name for a source: small letters, digits and "-", 41 at most';
}

/**
 * Reads a configuration: YAML, with the environment's variables put in. `REDIS_URL` stands in for a `redis` left out.
 * @throws ConfigError with all mistakes at once
 */
export function loadConfig(text: string, options: LoadOptions): Config {
  const file = options.file ?? 'closeloop.yaml';
  const { document = readDocument(text, options.env) } = options;
  const refuse = (found: readonly FoundProblem[]) => new ConfigError(file, problemsOf(found, document));
  if (document.value === undefined) throw refuse(document.found);
  if (document.value !== null && !isSection(document.value)) {
    throw refuse([{ path: [], message: 'must be a section that begins with feedback: and sources:' }]);
  }
  const { sources, ...written } = sectionOf(document.value);
  const redisUrl = options.env.REDIS_URL ?? '';
  const usesEnv = written.redis === undefined && redisUrl !== '';
  const sealsByKey = written.secretsKey === undefined && (usesEnv || written.redis !== undefined);
  const isForgiven = ({ path, hole }: FoundProblem) =>
    hole === true &&
    ((path[0] === 'sources' && options.sources === 'named') ||
      (options.uses !== undefined && isUnneeded(path, options.uses, sealsByKey)));
  const found = document.found.filter((one) => !isForgiven(one));
  const holes = document.found.filter(isForgiven).map(({ path }) => path);
  const read = withoutUnneeded(usesEnv ? { ...written, redis: redisUrl } : written, holes);
  const general = checkWritten(General, read, [], document, ['sources']);
  if (!general.ok) {
    for (const one of general.found) {
      const message = usesEnv && one.path[0] === 'redis' ? `(from REDIS_URL) ${one.message}` : one.message;
      found.push({ ...one, message });
    }
  }
  const unknown = new Set(holes.flatMap(([section, name]) => (section === 'sources' ? [name] : [])));
  const everywhere = sectionOf(written.policy).answers;
  const receivers = receiversIn(written);
  const configured = readSources(sources, { ...options, unknown, common: { everywhere, receivers } }, document, found);
  if (general.ok) {
    const never = general.data.policy.never ?? [];
    for (const { connector } of configured) found.push(...unanswerable(never, connector, ['policy', 'never']));
  }
  if (!general.ok || found.length > 0) throw refuse(found);
  return {
    ...general.data,
    sources: configured,
    contactLists: new Map(),
    dryRun: false,
    written: document.written,
  };
}

function readSources(
  raw: unknown,
  {
    connectors,
    builtIn = connectors.map(({ name }) => name),
    external = new Map(),
    sources = 'opened',
    unknown,
    common,
  }: LoadOptions & { unknown: ReadonlySet<unknown>; common: CommonAnswers },
  document: ConfigDocument,
  found: FoundProblem[],
): ConfiguredSource[] {
  const entries = Object.entries(sectionOf(raw));
  if (entries.length === 0) found.push({ path: ['sources'], message: 'is missing: name at least one source' });
  return entries.flatMap(([name, value]): ConfiguredSource[] => {
    const at = ['sources', name];
    const flaw = sourceNameFlaw(name);
    if (flaw !== undefined) found.push({ path: at, message: flaw });
    if (!isSection(value)) {
      found.push({ path: at, message: 'must be a section that begins with connector: and rules:' });
      return [];
    }
    const { connector: kind, rules: writtenRules, answers: writtenAnswers, was, ...others } = sectionOf(value);
    const formerly = formerName(was, { at, others: entries.map(([other]) => other) });
    found.push(...formerly.found);
    const named = { name, storedAs: name, was: formerly.was };
    const { policy: writtenPolicy, settings } = partsOf(others);
    if (sources === 'named')
      return [{ ...named, ...unopened({ name: String(kind) }), rules: [], answers: [], policy: {} }];
    const policy = checkWritten(SourcePolicy, writtenPolicy, at, document);
    if (!policy.ok) found.push(...policy.found);
    const loaded = typeof kind === 'string' ? external.get(kind) : undefined;
    const connector = loaded?.ok ? loaded.connector : connectors.find((one) => one.name === kind);
    const checked = connector && checkWritten(connector.sources, settings, at, document, ownSettings);
    const asksNobody = unknown.has(name) ? connector?.mayAskNobody : checked?.ok && checked.data.asksNobody;
    const rules = checkWritten(asksNobody ? RulesIfAny : Rules, writtenRules, [...at, 'rules'], document);
    if (!rules.ok) found.push(...rules.found);
    if (!connector) {
      const message = loaded?.ok === false ? loaded.why : unknownConnector(kind, builtIn);
      found.push({ path: [...at, 'connector'], message });
      return [];
    }
    if (policy.ok) found.push(...unanswerable(policy.data.never ?? [], connector, [...at, 'never']));
    const answers = answersOf(connector, { own: writtenAnswers, ...common }, [...at, 'answers'], document);
    found.push(...answers.found);
    if (unknown.has(name)) {
      return rules.ok && policy.ok
        ? [{ ...named, ...unopened(connector), rules: rules.data, answers: [], policy: policy.data }]
        : [];
    }
    if (!checked?.ok) found.push(...(checked?.found ?? []));
    if (!checked?.ok || !rules.ok || !policy.ok || answers.found.length > 0) return [];
    const { open } = checked.data;
    const from = { label: `"${connector.name}" of ${String(kind)}`, ...(loaded?.ok && { url: loaded.url }) };
    const opened = loaded && { open: (ports: ConnectorPorts) => withNamedErrors(() => open(ports), from) };
    const said = { rules: rules.data, answers: answers.rules, policy: policy.data };
    return [{ ...named, connector, ...checked.data, ...opened, ...said }];
  });
}

/** `policy.answers` as written, and the receivers that answer rules may name. */
interface CommonAnswers {
  everywhere: unknown;
  receivers: KnownReceivers;
}

/** The answer rules of a source: its own rules, then the rules for all sources. Of two rules with the same name the source's own rule counts. */
function answersOf(
  connector: Connector,
  { own, everywhere, receivers }: CommonAnswers & { own: unknown },
  at: Path,
  document: ConfigDocument,
): { rules: AnswerRule[]; found: FoundProblem[] } {
  const schema = answerRulesOf(connector, receivers);
  const ofSource = checkWritten(schema, own ?? [], at, document);
  const common = checkWritten(schema, everywhere ?? [], ['policy', 'answers'], document);
  const found = [ofSource, common].flatMap((one) => (one.ok ? [] : one.found));
  if (!ofSource.ok || !common.ok) return { rules: [], found };
  const names = new Set(ofSource.data.map(({ name }) => name));
  return { rules: [...ofSource.data, ...common.data.filter(({ name }) => !names.has(name))], found };
}

/** The receivers that answer rules may name, as written: mistakes in the receivers' own settings are reported elsewhere. */
function receiversIn({ alerts, webhooks }: Record<string, unknown>): KnownReceivers {
  const settings = sectionOf(alerts);
  const names = Array.isArray(webhooks) ? webhooks.map((one) => sectionOf(one).name) : [];
  return {
    notify: [...channelNames.filter((name) => name in settings), ...Object.keys(sectionOf(settings.receivers))],
    send: names.filter((name) => typeof name === 'string'),
  };
}

/** Reads `was`, or says what is wrong with it. */
function formerName(
  was: unknown,
  { at, others }: { at: Path; others: readonly string[] },
): { was?: string; found: FoundProblem[] } {
  if (was === undefined) return { found: [] };
  const wrong = (message: string) => ({ found: [{ path: [...at, 'was'], message }] });
  if (typeof was !== 'string' || sourceNameFlaw(was) !== undefined)
    return wrong('must be the earlier name of the source');
  if (others.includes(was)) return wrong(`names a source that is in the configuration: take one of the two out`);
  return { was, found: [] };
}

function unknownConnector(kind: unknown, names: readonly string[]): string {
  const message = `${kind === undefined ? 'is missing:' : 'must be'} one of ${names.join(', ')}`;
  return message + suggestion(typeof kind === 'string' ? kind : '', names);
}

/**
 * Checks a part of the file. A variable is a text, unless a number or true/false is needed where it stands alone
 * (`port: ${PORT}`); a secret made of digits stays a text.
 */
function checkWritten<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  at: Path,
  document: ConfigDocument,
  beside: readonly string[] = [],
) {
  const first = check(schema, value, at, beside);
  if (first.ok) return first;
  let written = value;
  for (const issue of first.issues) {
    if (!document.isVariable([...at, ...issue.path])) continue;
    for (const expected of expectedBy(issue))
      written = replaceAt(written, issue.path, (text) => asKind(text, expected));
  }
  return check(schema, written, at, beside);
}

/** The kinds of value that the schema accepts; for a union, the kinds of each branch. */
function expectedBy(issue: z.core.$ZodIssue): string[] {
  if (issue.code === 'invalid_type') return [issue.expected];
  if (issue.code !== 'invalid_union') return [];
  return issue.errors.flat().flatMap((one) => (one.path.length === 0 ? expectedBy(one) : []));
}

function asKind(text: unknown, expected: string): unknown {
  if (typeof text !== 'string') return text;
  if (expected === 'boolean' && /^(true|false)$/.test(text)) return text === 'true';
  const isNumber = ['number', 'int'].includes(expected) && /^-?\d+(\.\d+)?$/.test(text);
  return isNumber ? Number(text) : text;
}

/** A copy with another value at `path`. */
function replaceAt(value: unknown, path: Path, change: (old: unknown) => unknown): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return change(value);
  if (Array.isArray(value)) return value.map((item, i) => (i === key ? replaceAt(item, rest, change) : item));
  const section = sectionOf(value);
  return { ...section, [key]: replaceAt(section[String(key)], rest, change) };
}

/** Sorts the problems in the order of the file, without repetitions. */
function problemsOf(found: readonly FoundProblem[], document: ConfigDocument): Problem[] {
  const holes = found.filter(({ hole }) => hole === true).map(({ path }) => pathText(path));
  const shown = found.filter(({ hole, path }) => hole === true || !holes.includes(pathText(path)));
  const problems = shown.map(({ path, message, place = document.placeOf(path) }): Problem => {
    return { path: pathText(path), ...place, message: document.hide(message) };
  });
  const distinct = new Map(problems.map((problem) => [`${problem.path}: ${problem.message}`, problem]));
  return [...distinct.values()].sort((a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0));
}

function isSection(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function sectionOf(value: unknown): Record<string, unknown> {
  return isSection(value) ? { ...value } : {};
}
