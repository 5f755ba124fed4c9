import { randomBytes } from 'node:crypto';
import type { BuiltIn } from '../../../core/connector/built-in.ts';
import type { FieldSuggestion, Onboarding, OnboardingQuestion } from '../../../core/connector/onboarding.ts';
import { CloseloopError } from '../../../core/errors.ts';
import type { CustomFieldDefinition } from '../../../core/feedback/schemas.ts';
import type { Answers } from './answers.ts';
import type { Answered, AnsweredSource } from './configuration.ts';
import { flagOf } from './flags.ts';

type Secrets = Record<string, string>;

const zoneHere = () => Intl.DateTimeFormat().resolvedOptions().timeZone;

/** The Feedback Collection Service, and where closeloop itself is. */
export async function askService(answers: Answers, secrets: Secrets): Promise<Omit<Answered, 'sources'>> {
  const feedbackUrl = await answers.text({
    flag: 'feedback-url',
    ask: 'Address of the Feedback Collection Service’s API',
  });
  const apiKey = { variable: 'FEEDBACK_API_KEY', ask: 'Its API key' };
  secrets[apiKey.variable] = await answers.secret(apiKey);
  const timeZone = await answers.text({ flag: 'time-zone', ask: "The account's time zone", initial: zoneHere() });
  const publicUrl = await answers.text({
    flag: 'public-url',
    ask: 'Address at which vendors reach closeloop, like https://closeloop.example.com; without one closings are found by asking',
    initial: '',
  });
  const redis = await answers.text({
    flag: 'redis',
    ask: 'Redis, like redis://127.0.0.1:6379; without one closeloop runs its own',
    initial: '',
  });
  if (redis !== '') {
    secrets.REDIS_URL = redis;
    secrets.CLOSELOOP_SECRETS_KEY = answers.known('CLOSELOOP_SECRETS_KEY') ?? randomBytes(32).toString('base64');
  }
  return { feedbackUrl, timeZone, publicUrl, hasRedis: redis !== '' };
}

/** Each vendor's questions, all but those that need the live account. */
export async function askSources(
  connectors: readonly BuiltIn[],
  answers: Answers,
  secrets: Secrets,
): Promise<AnsweredSource[]> {
  const known = new Map<string, Onboarding>();
  for (const { name, onboarding } of connectors) {
    const found = await onboarding?.();
    if (found) known.set(name, found);
  }
  const options = [...known].map(([value, { about }]) => ({ value, name: `${value}: ${about}` }));
  const vendors = await answers.chooseSome({ flag: 'vendor', ask: 'Which systems close tickets or orders', options });
  const sources: AnsweredSource[] = [];
  for (const vendor of vendors) {
    const onboarding = known.get(vendor);
    if (!onboarding) continue;
    answers.person?.say(`\n${onboarding.about}`);
    const initial = sources.some(({ name }) => name === onboarding.source) ? vendor : onboarding.source;
    const nameQuestion = { flag: 'source-name', ask: 'Name of the source, your own', initial };
    const name = vendors.length === 1 ? await answers.text(nameQuestion) : initial;
    const settings = await askSettings(onboarding, answers, secrets);
    const baseUrl = answers.given('base-url') ?? '';
    sources.push({ vendor, name, onboarding, settings, baseUrl, campaign: '', fields: {} });
  }
  return sources;
}

async function askSettings(
  { questions }: Onboarding,
  answers: Answers,
  secrets: Secrets,
): Promise<Map<OnboardingQuestion, string>> {
  const settings = new Map<OnboardingQuestion, string>();
  for (const question of questions) {
    const { setting, ask, variable, initial, isMadeUp } = question;
    if (variable === undefined) {
      settings.set(question, await answers.text({ flag: flagOf(setting), ask, initial }));
      continue;
    }
    const made = isMadeUp ? (answers.known(variable) ?? randomBytes(32).toString('hex')) : undefined;
    secrets[variable] ??= made ?? (await answers.secret({ variable, ask }));
    settings.set(question, variable);
  }
  return settings;
}

/** What goes into each custom field of a campaign. @param given `custom field=expression` */
export async function askFields(
  custom: readonly CustomFieldDefinition[],
  suggestions: readonly FieldSuggestion[],
  given: readonly string[],
  answers: Answers,
): Promise<Record<string, string>> {
  const fields: Record<string, string> = {};
  for (const one of given) {
    const at = one.indexOf('=');
    if (at < 1) throw new CloseloopError(`--field: "${one}" is not like Store=ticket.id.`, { kind: 'config' });
    fields[one.slice(0, at)] = one.slice(at + 1);
  }
  if (given.length > 0 || !answers.asks) return fields;
  const options = suggestions.map(({ name, expression }) => ({ value: expression, name: `${name} (${expression})` }));
  for (const { name, field_type: type, required } of custom) {
    const ask = `What goes into "${name}" (${type}${required ? ', required' : ''}): a number, or an expression of your own`;
    const value = await answers.choose({
      flag: 'field',
      ask,
      initial: required ? undefined : '',
      options,
      isFree: true,
    });
    if (value !== '') fields[name] = value;
  }
  return fields;
}
