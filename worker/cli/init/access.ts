import { messageOf } from '../../../core/errors.ts';
import { aboutSource } from '../../preflight/preflight.ts';
import type { RuntimeOptions } from '../runtime.ts';
import { withSources } from '../with-engine.ts';
import type { Answers } from './answers.ts';
import { type Answered, type AnsweredSource, configurationText } from './configuration.ts';
import { askSettings } from './questions.ts';

/** The settings with which `init` calls the vendors before it writes anything. */
export interface Access extends Pick<RuntimeOptions, 'config' | 'data' | 'connectors'> {
  service: Omit<Answered, 'sources' | 'unhappy'>;
  /** Any campaign of the account, as a source has to have a campaign. */
  campaign: string;
  secrets: Record<string, string>;
}

/** Tries the answers at the vendor, and asks anew what leads to no account there; answers that are given again stay. */
export async function withAccess(source: AnsweredSource, access: Access, answers: Answers): Promise<AnsweredSource> {
  let tried = source;
  while (answers.person) {
    const problems = await accessProblems(tried, access);
    if (problems.length === 0) return tried;
    for (const problem of problems) answers.person.say(`  ${problem}`);
    const before = answersOf(tried, access.secrets);
    tried = { ...tried, ...(await askSettings(tried, answers, access.secrets, tried)) };
    if (answersOf(tried, access.secrets) === before) return tried;
  }
  return tried;
}

function answersOf({ settings, baseUrl }: AnsweredSource, secrets: Readonly<Record<string, string>>): string {
  return JSON.stringify([baseUrl, ...settings.values(), secrets]);
}

/** The errors that `check` finds in the answers. Fields and webhooks may still be missing: `setup` creates them. */
async function accessProblems(source: AnsweredSource, access: Access): Promise<string[]> {
  const { service, campaign, secrets, config, data, connectors } = access;
  const configText = configurationText({ ...service, unhappy: 'nobody', sources: [{ ...source, campaign }] });
  const env = { ...process.env, ...secrets };
  const asked = source.onboarding.questions
    .filter(({ isMadeUp, setting }) => isMadeUp !== true && !setting.startsWith('writeBack.'))
    .map(({ setting }) => setting.split('.')[0]);
  try {
    return await withSources({ config, configText, env, data, connectors }, async ({ pipeline, runtime }) => {
      const { context } = pipeline(source.name);
      const found = (await context.source.check?.(await aboutSource(context, runtime.config))) ?? [];
      const isAsked = (at: string) => at === 'access' || asked.includes(at.split(/[.[]/)[0]);
      const wrong = found.filter(({ level, at }) => level === 'error' && isAsked(at));
      return wrong.map(({ at, problem, remedy }) => `${at}: ${problem}. ${remedy}`);
    });
  } catch (error) {
    return [messageOf(error)];
  }
}
