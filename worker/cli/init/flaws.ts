import { isLoopback } from '../../../core/address.ts';
import type { Connector } from '../../../core/connector/contract.ts';
import type { Onboarding, OnboardingQuestion } from '../../../core/connector/onboarding.ts';
import type { Campaign } from '../../../core/feedback/schemas.ts';
import { ExpressionSource } from '../../../core/mapping/expression-compile.ts';
import { sourceNameFlaw } from '../../config/config.ts';
import { General } from '../../config/general.ts';
import { check } from '../../config/issues.ts';
import { pathText } from '../../config/problem.ts';
import { sectionWith } from './configuration.ts';
import { flagOf } from './flags.ts';

/* What is wrong with one answer, by the schema that the written configuration is read with; undefined for a good one. Pure. */

export type Flaw = (answer: string) => string | undefined;
/** As `Flaw`, by a call. */
export type LiveFlaw = (answer: string) => Promise<string | undefined>;

/** Stands for an answer that a person has not given yet. Mistakes of that answer are reported when the person gives it. */
const placeholder = 'not-answered-yet';

/** The first mistake of a value at this setting, whatever other mistakes the value has. */
function mistakeAt(schema: Parameters<typeof check>[0], value: unknown, setting: string): string | undefined {
  const read = check(schema, value, []);
  if (read.ok) return undefined;
  return read.found.find(({ path }) => {
    const at = pathText(path);
    return at === setting || at.startsWith(`${setting}.`) || at.startsWith(`${setting}[`);
  })?.message;
}

/** @param path of one of the general settings. An empty answer leaves it out where that may be */
export const settingsFlaw =
  (path: string, { mayBeEmpty = false } = {}): Flaw =>
  (answer) => {
    if (answer === '' && mayBeEmpty) return undefined;
    const value = path.split('.').reduceRight<unknown>((below, name) => ({ [name]: below }), answer);
    return mistakeAt(General, value, path);
  };

export const expressionFlaw: Flaw = (answer) => {
  if (answer === '') return undefined;
  return /^\d+$/.test(answer) ? 'is not in the list' : syntaxFlaw(answer);
};

const syntaxFlaw: Flaw = (answer) => mistakeAt(ExpressionSource, answer, '');

export const campaignFlaw: Flaw = (answer) => (/^\d+$/.test(answer) ? undefined : 'is not the number of a campaign');

/** The custom fields of `--field`, and what is wrong with them. @param given `custom field=expression` */
export function givenFields(given: readonly string[]): { fields: Record<string, string>; wrong: string[] } {
  const fields: Record<string, string> = {};
  const wrong: string[] = [];
  for (const one of given) {
    const [, name, expression = ''] = /^([^=]+)=(.+)$/s.exec(one) ?? [];
    const flaw = syntaxFlaw(expression);
    if (name === undefined) wrong.push(`--field: "${one}" is not like Store=ticket.id`);
    else if (Object.hasOwn(fields, name)) wrong.push(`--field: ${name} is there twice`);
    else if (flaw !== undefined) wrong.push(`--field ${name}: ${flaw}`);
    if (name !== undefined) fields[name] = expression;
  }
  return { fields, wrong };
}

export function unknownFields(
  fields: Readonly<Record<string, string>>,
  { id, custom_fields: custom }: Pick<Campaign, 'id' | 'custom_fields'>,
): string[] {
  const names = custom.map(({ name }) => name);
  const there = names.length === 0 ? 'it has none' : `there are: ${names.join(', ')}`;
  return Object.keys(fields)
    .filter((name) => !names.includes(name))
    .map((name) => `--field: campaign ${id} has no custom field ${name}; ${there}`);
}

/** The flags that were given for questions of other vendors. @param all the questions of each vendor */
export function strayFlags(
  vendors: readonly string[],
  all: ReadonlyMap<string, readonly OnboardingQuestion[]>,
  isGiven: (flag: string) => boolean,
): string[] {
  const flagsOf = (vendor: string) =>
    (all.get(vendor) ?? []).filter(({ variable }) => variable === undefined).map(({ setting }) => flagOf(setting));
  const own = new Set(vendors.flatMap(flagsOf));
  const stray = new Set([...all.keys()].flatMap(flagsOf).filter((flag) => !own.has(flag) && isGiven(flag)));
  return [...stray].map((flag) => `--${flag}: is no question about ${vendors.join(', ')}`);
}

/** @param taken the names of the earlier sources */
export const nameFlaw =
  (taken: readonly string[]): Flaw =>
  (answer) =>
    taken.includes(answer) ? 'is the name of another source' : sourceNameFlaw(answer);

/** The service's address always ends with /api: specification section 1, rule 1. */
export function withApi(address: string): string {
  const url = URL.parse(address);
  return url !== null && url.pathname === '/' && url.search + url.hash === '' ? `${url.origin}/api` : address;
}

export function takesStandin({ settings }: Pick<Connector, 'settings'>, address: string): boolean {
  return isLoopback(address) && mistakeAt(settings, { baseUrl: address }, 'baseUrl') === undefined;
}

/** @param answers the earlier answers, by question; for a secret its value */
export function settingFlaw(
  { settings }: Pick<Connector, 'settings'>,
  onboarding: Onboarding,
  question: OnboardingQuestion,
  answers: ReadonlyMap<OnboardingQuestion, string>,
): Flaw {
  return (answer) => {
    const all = new Map(onboarding.questions.map((one) => [one, answers.get(one) ?? one.initial ?? placeholder]));
    return mistakeAt(settings, sectionWith(onboarding, all.set(question, answer)), question.setting);
  };
}
