import { basename } from 'node:path';
import { stringify } from 'yaml';
import type { Connector } from '../../../core/connector/contract.ts';
import type { Onboarding, OnboardingQuestion } from '../../../core/connector/onboarding.ts';
import type { Campaign } from '../../../core/feedback/schemas.ts';
import { envFileOf } from '../env-file.ts';

/** The answers, without secrets. */
export interface Answered {
  feedbackUrl: string;
  timeZone: string;
  publicUrl: string;
  hasRedis: boolean;
  unhappy: Unhappy;
  sources: readonly AnsweredSource[];
}

export interface AnsweredSource {
  vendor: string;
  name: string;
  onboarding: Onboarding;
  connector: Connector;
  /** Values by setting; for a secret, the variable that holds it. */
  settings: ReadonlyMap<OnboardingQuestion, string>;
  baseUrl: string;
  campaign: string;
  /** The highest grade of an unhappy customer. */
  unhappyUpTo: number;
  /** Custom field → expression. */
  fields: Readonly<Record<string, string>>;
}

const header = (
  envFile: string,
): string => `# closeloop's configuration, made by "closeloop init". Change what you like: "closeloop check" finds mistakes.
# Words like \${FEEDBACK_API_KEY} are variables, of the environment or of the file ${envFile} beside this one.
`;

const variable = (name: string): string => `\${${name}}`;

/** The text of the configuration in `file`. */
export function configurationText(answered: Answered, file: string): string {
  const { feedbackUrl, timeZone, publicUrl, hasRedis, unhappy, sources } = answered;
  const port = /^http:/.test(publicUrl) ? Number(new URL(publicUrl).port) : 0;
  const http = publicUrl === '' ? undefined : { ...(port > 0 && { port }), publicUrl };
  const value = {
    feedback: { baseUrl: feedbackUrl, apiKey: variable('FEEDBACK_API_KEY'), timeZone },
    ...(hasRedis && { redis: variable('REDIS_URL'), secretsKey: variable('CLOSELOOP_SECRETS_KEY') }),
    ...(http && { http }),
    ...((unhappy === 'slack' || unhappy === 'teams') && {
      alerts: { receivers: { unhappy: { [unhappy]: variable(unhappyVariable) } } },
    }),
    sources: Object.fromEntries(
      sources.map((source) => {
        const rule = unhappyRule(unhappy, source.unhappyUpTo);
        return [source.name, { ...sectionOf(source), ...(rule && { answers: [rule] }) }];
      }),
    ),
  };
  return header(basename(envFileOf(file))) + stringify(value, { lineWidth: 0 });
}

/** The section of a source in the configuration, with these answers. */
export function sectionWith(onboarding: Onboarding, answers: ReadonlyMap<OnboardingQuestion, string>): Section {
  const section: Section = {};
  for (const [path, value] of Object.entries(onboarding.settings ?? {})) section[path] = structuredClone(value);
  for (const [{ setting, isList }, answer] of answers) {
    if (answer !== '') put(section, setting.split('.'), isList ? [answer] : answer);
  }
  return section;
}

function sectionOf({ vendor, onboarding, settings, baseUrl, campaign, fields }: AnsweredSource): object {
  const written = [...settings].map(([question, answer]): [OnboardingQuestion, string] => [
    question,
    question.variable === undefined ? answer : variable(answer),
  ]);
  const section = sectionWith(onboarding, new Map(written));
  const { writeBack, ...access } = section;
  const rule = {
    name: 'everybody',
    campaign: Number(campaign),
    contact: onboarding.contact,
    ...(Object.keys(fields).length > 0 && { fields }),
    throttle: '30d',
  };
  return {
    connector: vendor,
    ...access,
    ...(baseUrl !== '' && { baseUrl }),
    rules: [rule],
    ...(writeBack !== undefined && { writeBack }),
  };
}

interface Section {
  [setting: string]: unknown;
}

function put(section: Section, [first = '', ...rest]: readonly string[], value: unknown): void {
  if (rest.length === 0) {
    section[first] = value;
    return;
  }
  const below: Section = { ...(isSection(section[first]) ? section[first] : {}) };
  put(below, rest, value);
  section[first] = below;
}

function isSection(value: unknown): value is Section {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/* The one question about acting on answers: who is told of unhappy customers. docs/answers.md has the rest. */

export const ways = {
  nobody: 'nobody is told',
  list: 'a follow-up on the page, due within a day',
  slack: 'a follow-up, and a message in Slack',
  teams: 'a follow-up, and a message in Microsoft Teams',
} as const;
export type Unhappy = keyof typeof ways;

export const unhappyVariable = 'UNHAPPY_URL';

export const isWay = (text: string): text is Unhappy => Object.hasOwn(ways, text);

/** The highest of the lower two fifths of the campaign's grades: 2 of 1 to 5, 1 of 1 to 3. NPS has its own word for unhappy: 0 to 6. */
export function unhappyUpTo(campaign: Pick<Campaign, 'metric' | 'grade_list'> | undefined): number {
  const grades = campaign?.grade_list ?? [];
  if (campaign?.metric === 'nps') return 6;
  if (grades.length === 0) return 2;
  const [least, most] = [Math.min(...grades), Math.max(...grades)];
  return Math.max(...grades.filter((grade) => grade <= least + (most - least) * 0.4));
}

/** The answer rule as the configuration has it. Undefined where nobody is to be told. */
function unhappyRule(unhappy: Unhappy, upTo: number): object | undefined {
  if (unhappy === 'nobody') return undefined;
  const tells = unhappy === 'list' ? [] : [{ notify: ['unhappy'] }];
  return {
    name: 'unhappy',
    when: `answer.grade <= ${upTo}`,
    do: [{ followUp: { to: 'agent', due: '1d' } }, ...tells],
  };
}
