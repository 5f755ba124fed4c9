import { randomBytes } from 'node:crypto';
import type { BuiltIn } from '../../../core/connector/built-in.ts';
import type { FieldSuggestion, Onboarding } from '../../../core/connector/onboarding.ts';
import { CloseloopError } from '../../../core/errors.ts';
import { FeedbackError } from '../../../core/feedback/failure.ts';
import type { Campaign, CustomFieldDefinition } from '../../../core/feedback/schemas.ts';
import type { Answers } from './answers.ts';
import { type Answered, type AnsweredSource, isWay, type Unhappy, unhappyVariable, ways } from './configuration.ts';
import { flagOf } from './flags.ts';
import {
  expressionFlaw,
  type LiveFlaw,
  nameFlaw,
  settingFlaw,
  settingsFlaw,
  strayFlags,
  takesStandin,
  withApi,
} from './flaws.ts';

type Secrets = Record<string, string>;

const zoneHere = () => Intl.DateTimeFormat().resolvedOptions().timeZone;

/** Lists the campaigns of the account, which proves that address and key are right. */
export type ListCampaigns = (feedbackUrl: string, apiKey: string) => Promise<Campaign[]>;

/** Asks for address and key, tries both together, and asks again for the refused value. `campaigns`: undefined if nobody can be asked. */
async function askAccount(answers: Answers, list: ListCampaigns) {
  const address = {
    flag: 'feedback-url',
    ask: 'Address of the Feedback Collection Service’s API',
    flaw: settingsFlaw('feedback.baseUrl'),
  };
  const key = { variable: 'FEEDBACK_API_KEY', ask: 'Its API key', flaw: settingsFlaw('feedback.apiKey') };
  let feedbackUrl = withApi(await answers.text(address));
  let apiKey = await answers.secret(key);
  while (answers.person) {
    try {
      return { feedbackUrl, apiKey, campaigns: await list(feedbackUrl, apiKey) };
    } catch (error) {
      if (!(error instanceof CloseloopError)) throw error;
      answers.person.say(`  ${error.message}`);
      if (error instanceof FeedbackError && error.status === 401) apiKey = await answers.secretAgain(key);
      else feedbackUrl = withApi(await answers.again({ ...address, initial: feedbackUrl }));
    }
  }
  return { feedbackUrl, apiKey, campaigns: undefined };
}

/** The Feedback Collection Service, and where closeloop itself is. @param redisFlaw of an address that could be one, by a call */
export async function askService(
  answers: Answers,
  secrets: Secrets,
  { list, redisFlaw }: { list: ListCampaigns; redisFlaw: LiveFlaw },
): Promise<{ service: Omit<Answered, 'sources' | 'unhappy'>; campaigns: Campaign[] | undefined }> {
  const { feedbackUrl, apiKey, campaigns } = await askAccount(answers, list);
  secrets.FEEDBACK_API_KEY = apiKey;
  const timeZone = await answers.text({
    flag: 'time-zone',
    ask: "The account's time zone",
    initial: zoneHere(),
    flaw: settingsFlaw('feedback.timeZone'),
  });
  const publicUrl = await answers.text({
    flag: 'public-url',
    ask: 'Address at which vendors reach closeloop, like https://closeloop.example.com; without one closings are found by asking',
    initial: '',
    flaw: settingsFlaw('http.publicUrl', { mayBeEmpty: true }),
  });
  const isNoAddress = settingsFlaw('redis', { mayBeEmpty: true });
  const redis = await answers.text({
    flag: 'redis',
    ask: 'Redis, like redis://127.0.0.1:6379; without one closeloop runs its own',
    initial: '',
    flaw: async (answer) => isNoAddress(answer) ?? (answer === '' ? undefined : await redisFlaw(answer)),
  });
  if (redis !== '') {
    secrets.REDIS_URL = redis;
    secrets.CLOSELOOP_SECRETS_KEY = answers.known('CLOSELOOP_SECRETS_KEY') ?? randomBytes(32).toString('base64');
  }
  return { service: { feedbackUrl, timeZone, publicUrl, hasRedis: redis !== '' }, campaigns };
}

/** Each vendor's questions, all but those that need the live account. */
export async function askSources(
  connectors: readonly BuiltIn[],
  answers: Answers,
  secrets: Secrets,
): Promise<AnsweredSource[]> {
  const known = new Map<string, { onboarding: Onboarding; load: BuiltIn['load'] }>();
  for (const { name, onboarding, load } of connectors) {
    const found = await onboarding?.();
    if (found) known.set(name, { onboarding: found, load });
  }
  const options = [...known].map(([value, { onboarding }]) => ({ value, name: `${value}: ${onboarding.about}` }));
  const vendors = await answers.chooseSome({ flag: 'vendor', ask: 'Which systems close tickets or orders', options });
  const questions = new Map([...known].map(([name, { onboarding }]) => [name, onboarding.questions]));
  const isGiven = (flag: string) => answers.given(flag) !== undefined && flag !== 'base-url';
  // Where a vendor is unknown, its flags are.
  if (vendors.length > 0 && vendors.every((one) => known.has(one)))
    answers.tell(strayFlags(vendors, questions, isGiven));
  const sources: AnsweredSource[] = [];
  for (const vendor of vendors) {
    const { onboarding, load } = known.get(vendor) ?? {};
    if (!onboarding || !load) continue;
    answers.person?.say(`\n${onboarding.about}`);
    const names = sources.map(({ name }) => name);
    const initial = names.includes(onboarding.source) ? vendor : onboarding.source;
    const nameQuestion = { flag: 'source-name', ask: 'Name of the source, your own', initial, flaw: nameFlaw(names) };
    const name = vendors.length === 1 ? await answers.text(nameQuestion) : initial;
    const source = { vendor, name, onboarding, connector: await load(), campaign: '', unhappyUpTo: 0, fields: {} };
    sources.push({ ...source, ...(await askSettings(source, answers, secrets)) });
  }
  return sources;
}

type Asked = Pick<AnsweredSource, 'onboarding' | 'connector'>;

/** @param before the earlier answers, which stay unless the person gives others */
export async function askSettings(
  { onboarding, connector }: Asked,
  answers: Answers,
  secrets: Secrets,
  before?: Pick<AnsweredSource, 'settings' | 'baseUrl'>,
): Promise<Pick<AnsweredSource, 'settings' | 'baseUrl'>> {
  const settings = new Map(before?.settings);
  let baseUrl = before?.baseUrl ?? answers.given('base-url') ?? '';
  // A connector that asks for the address asks for the vendor's own address.
  const asksAddress = onboarding.questions.some(({ setting }) => setting === 'baseUrl');
  const takesStandins = !asksAddress && takesStandin(connector, 'http://127.0.0.1');
  if (takesStandins && !before && baseUrl === '')
    answers.person?.say(
      '(To try it on a stand-in, answer one of these questions with its address, like http://127.0.0.1:9101.)',
    );
  const values = () =>
    new Map(
      [...settings].map(([one, answer]) => [
        one,
        one.variable === undefined ? answer : (secrets[one.variable] ?? answer),
      ]),
    );
  for (const question of onboarding.questions) {
    const { setting, ask, variable, initial, isMadeUp } = question;
    if (before && (isMadeUp || setting.startsWith('writeBack.'))) continue;
    const isWrong = settingFlaw(connector, onboarding, question, values());
    const flaw = (answer: string) => {
      if (asksAddress || !takesStandin(connector, answer)) return isWrong(answer);
      baseUrl = answer;
      return `${answer} is taken as the address of a stand-in, in the vendor's place.`;
    };
    if (variable === undefined) {
      const earlier = before?.settings.get(question);
      const text = { flag: flagOf(setting), ask, initial: earlier ?? initial, flaw };
      settings.set(question, await (before ? answers.again(text) : answers.text(text)));
      continue;
    }
    settings.set(question, variable);
    if (before) {
      const earlier = secrets[variable];
      secrets[variable] = await answers.secretAgain({ ask, flaw, ...(earlier !== undefined && { before: earlier }) });
      continue;
    }
    const made = isMadeUp ? (answers.known(variable) ?? randomBytes(32).toString('hex')) : undefined;
    secrets[variable] ??= made ?? (await answers.secret({ variable, ask, flaw }));
  }
  return { settings, baseUrl };
}

/** Asks for the value of each custom field of a campaign, where a person can be asked. */
export async function askFields(
  custom: readonly CustomFieldDefinition[],
  suggestions: readonly FieldSuggestion[],
  answers: Answers,
): Promise<Record<string, string>> {
  const fields: Record<string, string> = {};
  if (!answers.asks) return fields;
  const options = suggestions.map(({ name, expression }) => ({ value: expression, name: `${name} (${expression})` }));
  for (const { name, field_type: type, required } of custom) {
    const ask = `What goes into "${name}" (${type}${required ? ', required' : ''}): a number, or an expression of your own`;
    const value = await answers.choose({
      flag: 'field',
      ask,
      initial: required ? undefined : '',
      options,
      isFree: true,
      flaw: expressionFlaw,
    });
    if (value !== '') fields[name] = value;
  }
  return fields;
}

/** Asks who is told of unhappy customers. The address of a channel is a secret: whoever has it can post there. */
export async function askUnhappy(answers: Answers, secrets: Secrets): Promise<Unhappy> {
  const options = Object.entries(ways).map(([value, name]) => ({ value, name }));
  const given = await answers.choose({
    ...{ flag: 'unhappy', ask: 'When a customer gives a bad grade', initial: 'nobody', options },
  });
  const way = isWay(given) ? given : 'nobody';
  if (way !== 'slack' && way !== 'teams') return way;
  const ask = `Address of the incoming webhook of ${way === 'slack' ? 'Slack' : 'Teams'}`;
  secrets[unhappyVariable] = await answers.secret({
    variable: unhappyVariable,
    ask,
    flaw: settingsFlaw(`alerts.${way}`),
  });
  return way;
}
