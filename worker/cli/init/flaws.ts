import { isLoopback } from '../../../core/address.ts';
import type { Connector } from '../../../core/connector/contract.ts';
import type { Onboarding, OnboardingQuestion } from '../../../core/connector/onboarding.ts';
import { ExpressionSource } from '../../../core/mapping/expression-compile.ts';
import { sourceNameFlaw } from '../../config/config.ts';
import { General } from '../../config/general.ts';
import { check } from '../../config/issues.ts';
import { pathText } from '../../config/problem.ts';
import { sectionWith } from './configuration.ts';

/* What is wrong with one answer, by the schema that the written configuration is read with; undefined for a good one. Pure. */

export type Flaw = (answer: string) => string | undefined;

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
  if (/^\d+$/.test(answer)) return 'is not in the list';
  return check(ExpressionSource, answer, []).ok ? undefined : mistakeAt(ExpressionSource, answer, '');
};

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
