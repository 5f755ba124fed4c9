import { existsSync, writeFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { styleText } from 'node:util';
import { CloseloopError, messageOf, refusal } from '../../../core/errors.ts';
import { createFeedbackClient } from '../../../core/feedback/client.ts';
import type { Campaign } from '../../../core/feedback/schemas.ts';
import { FeedbackSettings } from '../../../core/feedback/settings.ts';
import { aboutSource } from '../../preflight/preflight.ts';
import { connect } from '../../redis/connection.ts';
import { RedisAway } from '../../redis/unavailable.ts';
import { check } from '../check.ts';
import { envFileOf, readEnvFile, saveToEnvFile } from '../env-file.ts';
import { livePorts } from '../live-ports.ts';
import { say } from '../output.ts';
import { type RuntimeOptions, verifyInTime } from '../runtime.ts';
import { setup } from '../setup.ts';
import { withSources } from '../with-engine.ts';
import { Answers } from './answers.ts';
import { type Answered, type AnsweredSource, configurationText, unhappyUpTo } from './configuration.ts';
import { withStrangers } from './flags.ts';
import { campaignFlaw, givenFields, unknownFields } from './flaws.ts';
import { personAt } from './person.ts';
import { askFields, askService, askSettings, askSources, askUnhappy, type ListCampaigns } from './questions.ts';

interface InitOptions extends Pick<RuntimeOptions, 'config' | 'data' | 'connectors'> {
  /** The custom fields, for scripts: `custom field=expression`. */
  field: readonly string[];
  overwrite: boolean;
  yes: boolean;
}

/**
 * Asks what a configuration needs, writes it and, beside it, the secrets; then runs `setup` and `check`. An answer that is wrong is told
 * when it is given, and asked again; the others stay. Nothing is written before every question is answered and the accounts have been
 * called. Exit code: that of `check`.
 */
export async function init(options: InitOptions): Promise<number> {
  const { config: file } = options;
  const envFile = envFileOf(file);
  const person = personAt(process.stdin, process.stderr);
  const secrets: Record<string, string> = {};
  try {
    const answers = new Answers({ ...options }, { ...readEnvFile(envFile), ...process.env }, person);
    await refuseFile(file, options.overwrite, answers);
    const { fields: given, wrong } = givenFields(options.field);
    answers.tell(wrong);
    const list: ListCampaigns = async (feedbackUrl, apiKey) =>
      await campaignsOf({ feedbackUrl, timeZone: 'UTC' }, { FEEDBACK_API_KEY: apiKey });
    const { service, campaigns: listed } = await askService(answers, secrets, { list, redisFlaw });
    const known = await withStrangers(options.connectors, answers.given('vendor'), file);
    const asked = await askSources(known, answers, secrets);
    // In a script all that needs no call is looked at first, so that one error names it: the campaigns are not known yet.
    if (!person) await answers.text({ flag: 'campaign', ask: 'Campaign', flaw: campaignFlaw });
    const told = person ? undefined : await askUnhappy(answers, secrets);
    answers.complete();
    const campaigns = listed ?? (await campaignsOf(service, secrets));
    const chosen: AnsweredSource[] = [];
    for (const one of asked) {
      const access = { ...options, service, secrets, campaign: String(campaigns[0]?.id) };
      const source = await withAccess(one, access, answers);
      const campaign = await chooseCampaign(source, campaigns, answers);
      const found = campaigns.find(({ id }) => String(id) === campaign);
      const unknown = found ? unknownFields(given, found) : [];
      answers.tell(unknown);
      const fields = wrong.length + unknown.length > 0 ? {} : given;
      chosen.push({ ...source, campaign, unhappyUpTo: unhappyUpTo(found), fields });
    }
    const unhappy = told ?? (await askUnhappy(answers, secrets));
    answers.complete();
    const answered: Answered = { ...service, unhappy, sources: chosen };
    const mapped = await mapFields(answered, campaigns, { options, answers, secrets });
    writeFileSync(file, configurationText({ ...answered, sources: mapped }, file));
    saveToEnvFile(envFile, secrets);
    const overridden = Object.keys(secrets).filter((name) => (process.env[name] ?? secrets[name]) !== secrets[name]);
    for (const name of overridden)
      say(`The environment has another ${name}, which counts before ${envFile}: take it out.`);
    const done = styleText('green', '✓');
    say(
      `\n${done} ${file}\n${done} ${envFile}: the secrets, which only you can read; every command reads them from there\n`,
    );
  } finally {
    person?.close();
  }
  return await prepare(options);
}

/** Runs `setup`, then `check`. */
async function prepare(options: InitOptions): Promise<number> {
  const { config, data, connectors, yes } = options;
  const common = { config, data, connectors, json: false };
  await setup({ ...common, yes });
  const code = await check(common);
  const named = config === 'closeloop.yaml' ? '' : ` --config ${config}`;
  const steps = code === 0 ? ['preview --since yesterday', 'start --dry-run', 'start'] : ['setup', 'check'];
  say(`\n${styleText('bold', 'Next')}${code === 0 ? '' : ': mend what was found, then'}`);
  for (const step of steps) say(`  closeloop ${step}${named}`);
  return code;
}

/** Refuses a file that can't be written, or is there already and may not be. */
async function refuseFile(file: string, overwrite: boolean, { person }: Answers): Promise<void> {
  if (!existsSync(dirname(file)))
    throw refusal(`There is no folder ${dirname(file)} for ${basename(file)}: make it first.`);
  if (!existsSync(file) || overwrite) return;
  if (person && /^y(es)?$/i.test(await person.ask(`${file} is there already. Write it anew? [y/N] `))) return;
  throw refusal(`${file} is there already, and stays as it is: say --overwrite, or another --config.`);
}

/** The campaigns that requests can be created in. @throws CloseloopError that says what is wrong with the address or the key */
async function campaignsOf(
  { feedbackUrl, timeZone }: Pick<Answered, 'feedbackUrl' | 'timeZone'>,
  { FEEDBACK_API_KEY: apiKey }: Readonly<Record<string, string>>,
): Promise<Campaign[]> {
  const settings = FeedbackSettings.safeParse({ baseUrl: feedbackUrl, apiKey, timeZone });
  if (!settings.success) {
    const mistakes = settings.error.issues.map(({ path, message }) => `${path.join('.')} ${message}`);
    throw refusal(`The Feedback Collection Service: ${mistakes.join('; ')}.`);
  }
  const campaigns = await Array.fromAsync(createFeedbackClient(settings.data, livePorts).campaigns());
  if (campaigns.length > 0) return campaigns;
  throw refusal('The account has no active campaign: make one at the service first.');
}

/** What is wrong with an address of Redis, by a connection to it. */
async function redisFlaw(url: string): Promise<string | undefined> {
  let last = '';
  const { client, close } = connect({ url }, (error) => {
    last = messageOf(error);
  });
  try {
    await verifyInTime(client);
    return undefined;
  } catch (error) {
    // An address that the message shows as an example is no secret.
    if (error instanceof CloseloopError && error.advice.kind === 'config') return error.message;
    return error instanceof RedisAway ? `Redis does not answer there${last && ` (${last})`}` : messageOf(error);
  } finally {
    await close();
  }
}

async function chooseCampaign({ name }: AnsweredSource, campaigns: readonly Campaign[], answers: Answers) {
  const options = campaigns.map((one) => ({ value: String(one.id), name: `${one.name} (${one.id}, ${one.type})` }));
  return await answers.choose({ flag: 'campaign', ask: `Campaign that ${name} asks in`, options });
}

/** Asks how to fill the custom fields of each source's campaign from the fields of the vendor's live account. */
async function mapFields(
  answered: Answered,
  campaigns: readonly Campaign[],
  { options, answers, secrets }: { options: InitOptions; answers: Answers; secrets: Record<string, string> },
): Promise<AnsweredSource[]> {
  return await withSources(asAnswered(answered, { ...options, secrets }), async ({ pipeline }) => {
    const mapped: AnsweredSource[] = [];
    for (const source of answered.sources) {
      const live = (await pipeline(source.name).context.source.fields?.()) ?? [];
      const custom = campaigns.find(({ id }) => String(id) === source.campaign)?.custom_fields ?? [];
      const suggestions = [...source.onboarding.values, ...live];
      const isGiven = Object.keys(source.fields).length > 0;
      mapped.push(isGiven ? source : { ...source, fields: await askFields(custom, suggestions, answers) });
    }
    return mapped;
  });
}

/** An installation as the answers say, before they are written. */
function asAnswered(
  answered: Answered,
  { config, data, connectors, secrets }: Omit<Access, 'service' | 'campaign'>,
): RuntimeOptions {
  const env = { ...process.env, ...secrets };
  return { config, configText: configurationText(answered, config), env, data, connectors };
}

/** The settings with which `init` calls the vendors before it writes anything. */
interface Access extends Pick<RuntimeOptions, 'config' | 'data' | 'connectors'> {
  service: Omit<Answered, 'sources' | 'unhappy'>;
  /** Any campaign of the account, as a source has to have a campaign. */
  campaign: string;
  secrets: Record<string, string>;
}

/** Tries the answers at the vendor, and asks anew what leads to no account there; answers that are given again stay. Where nobody can be asked it tells the problems. */
async function withAccess(source: AnsweredSource, access: Access, answers: Answers): Promise<AnsweredSource> {
  let tried = source;
  for (;;) {
    const problems = await accessProblems(tried, access);
    if (!answers.person) answers.tell(problems.map((problem) => `${tried.name}: ${problem}`));
    if (problems.length === 0 || !answers.person) return tried;
    for (const problem of problems) answers.person.say(`  ${problem}`);
    const before = answersOf(tried, access.secrets);
    tried = { ...tried, ...(await askSettings(tried, answers, access.secrets, tried)) };
    if (answersOf(tried, access.secrets) === before) return tried;
  }
}

function answersOf({ settings, baseUrl }: AnsweredSource, secrets: Readonly<Record<string, string>>): string {
  return JSON.stringify([baseUrl, ...settings.values(), secrets]);
}

/** The errors that `check` finds in the answers. Fields and webhooks may still be missing: `setup` creates them. */
async function accessProblems(source: AnsweredSource, access: Access): Promise<string[]> {
  const { service, campaign } = access;
  const answered: Answered = { ...service, unhappy: 'nobody', sources: [{ ...source, campaign }] };
  const asked = source.onboarding.questions
    .filter(({ isMadeUp, setting }) => isMadeUp !== true && !setting.startsWith('writeBack.'))
    .map(({ setting }) => setting.split('.')[0]);
  try {
    return await withSources({ ...asAnswered(answered, access), verified: false }, async ({ pipeline, runtime }) => {
      const { context } = pipeline(source.name);
      const found = (await context.source.check?.(await aboutSource(context, runtime.config))) ?? [];
      const isAsked = (at: string) => at === 'access' || asked.includes(at.split(/[.[]/)[0]);
      const wrong = found.filter(({ level, at }) => level === 'error' && isAsked(at));
      return wrong.map(({ at, problem, remedy }) => `${at}: ${problem} → ${remedy}`);
    });
  } catch (error) {
    return [messageOf(error)];
  }
}
