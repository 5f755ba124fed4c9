import { z } from 'zod';
import { isLoopback } from '../../core/address.ts';
import { placesOf } from '../../core/connector/answer.ts';
import { errorAt, namesOf, setupSteps, warningAt } from '../../core/connector/check.ts';
import { VendorError } from '../../core/connector/classify.ts';
import type { ConnectorPorts, Finding, PreflightContext, Quota, Source } from '../../core/connector/contract.ts';
import { type DeskProbe, deskPreflight } from '../../core/connector/desk/preflight.ts';
import { listOf } from '../../core/entries.ts';
import { CloseloopError } from '../../core/errors.ts';
import { credentialsOf, type HubSpotApi, tokenApi } from './api.ts';
import { type CrmObject, type ObjectType, objectTypes, type Plural, paths, pluralOf } from './objects.ts';
import { contactProperties, presentContact } from './people.ts';
import { Pipelines, pipelineFindings } from './pipelines.ts';
import { comparedProperties, definitionsOf } from './properties.ts';
import { present, timeZoneOf } from './record.ts';
import { Records } from './records.ts';
import type { HubSpotSettings } from './settings.ts';
import { comparedWebhooks, fileStep, legacyFindings, targetOf, targetUrlFindings, unseenWebhooks } from './webhooks.ts';

type Preflight = Required<Pick<Source, 'check' | 'setup'>>;

/**
 * `check` finds everything in the account that would keep this source from working, in about ten calls, and changes nothing. `setup` creates
 * properties and options, then the webhooks of a legacy public app. It leaves existing items unchanged, and only adds options.
 */
export function preflight(settings: HubSpotSettings, api: HubSpotApi, ports: ConnectorPorts): Preflight {
  const { writeBack, developerApiKey, refreshToken, publicUrl, baseUrl } = settings;
  const credential = refreshToken === undefined ? 'accessToken' : 'refreshToken';
  const webhooks = async (hookUrl: string | undefined) => {
    const appId = settings.appId ?? (await appIdOf(settings, api, ports));
    return appId === undefined ? undefined : comparedWebhooks(settings, targetOf(settings, hookUrl), appId, ports);
  };
  const probes: [DeskProbe, ...DeskProbe[]] = [
    { ...{ at: credential, what: 'the account' }, read: () => ofAccount(settings, api, credential) },
    { ...{ at: 'appId', what: 'the app' }, read: async () => ofApp(settings, await appIdOf(settings, api, ports)) },
    { ...{ at: 'pipelines', what: 'the pipelines' }, read: (about) => pipelineFindings(settings, api, about) },
    { ...{ at: 'properties', what: 'the properties' }, read: (about) => ofReads(settings, api, about) },
    { ...{ at: 'contactLabel', what: 'the labels of contacts' }, read: () => ofLabel(settings, api) },
    {
      ...{ at: 'developerApiKey', what: 'the webhooks' },
      async read({ hookUrl }) {
        if (developerApiKey === undefined) return unseenWebhooks(settings, hookUrl);
        return (await webhooks(hookUrl).catch(ofKey))?.findings ?? [noAppId];
      },
    },
    { ...{ at: 'feedback surveys', what: 'the surveys' }, read: () => ofSurveys(api, ports.now()) },
    {
      ...{ at: 'owners', what: 'the owners' },
      tries: () => api.call('GET', paths.owners, z.unknown(), { query: { limit: '1' } }),
    },
    ...writtenIn(settings).map((plural): DeskProbe => {
      return { at: 'writeBack', what: `writing on ${plural}`, tries: () => new Records(api, plural).tryWriting() };
    }),
  ];
  const { check, setup } = deskPreflight('HubSpot', writeBack, {
    ...{ credential, probes, isStandin: isLoopback(baseUrl) },
    shape: { names: shapeNames, hint: "HubSpot's own properties are under `properties`" },
    fields: (grades) => comparedProperties(settings, api, grades),
    steps({ hookUrl: url }) {
      const isByHand = developerApiKey === undefined && publicUrl === undefined && url !== undefined;
      return isByHand ? [fileStep(settings, url)] : [];
    },
    own: ({ hookUrl }) => [...targetUrlFindings(settings, hookUrl), ...legacyFindings(settings, ports.now())],
  });
  return {
    async check(about) {
      const findings = [...(await check(about)), ...ofQuota(api.daily())];
      // Several calls may lack the same scope.
      return [...new Map(findings.map((one) => [`${one.at} ${one.problem}`, one])).values()];
    },
    async setup(about) {
      const hooks = async () => (developerApiKey && (await webhooks(about.hookUrl))?.missing) || [];
      return [...(await setup(about)), ...(await setupSteps(hooks))];
    },
  };
}

/** The developer key is used for webhooks only: HubSpot's refusal of the key says nothing about the access token. */
function ofKey(error: unknown): { findings: Finding[] } {
  if (!(error instanceof VendorError)) throw error;
  return { findings: [errorAt('developerApiKey', error.problem, error.remedy)] };
}

/**
 * The kinds of records for which writing needs a scope of its own. An empty update shows whether the app has it: HubSpot refuses or ignores
 * the update.
 */
function writtenIn({ objects, writeBack }: HubSpotSettings): Plural[] {
  const types = placesOf(writeBack).size > 0 ? objects : [];
  const own = types.filter((type) => objectTypes[type].scopes.write !== objectTypes[type].scopes.read);
  const isOnContacts = writeBack.note || placesOf(writeBack.contact).size > 0;
  return [...own.map(pluralOf), ...(isOnContacts ? (['contacts'] as const) : [])];
}

const Account = z.object({ portalId: z.coerce.string(), timeZone: z.string().nullish() });

/** The first call. A failure of this call would hit all other calls too, except for a scope that the app may lack. */
async function ofAccount(settings: HubSpotSettings, api: HubSpotApi, at: string): Promise<Finding[]> {
  try {
    return accountFindings(settings, await api.call('GET', paths.account, Account));
  } catch (error) {
    if (!(error instanceof CloseloopError)) throw error;
    if (error instanceof VendorError && error.status !== 403) throw error;
    if (error instanceof VendorError) return [errorAt(at, error.problem, error.remedy)];
    const { message: problem, advice, outcome } = error;
    throw new VendorError('HubSpot', { problem, remedy: 'do that', advice, outcome, status: 401, code: '' });
  }
}

/** Checks that the token belongs to the account in the settings. */
export function accountFindings(
  { portalId, timeZone }: Pick<HubSpotSettings, 'portalId' | 'timeZone'>,
  account: z.output<typeof Account>,
): Finding[] {
  const findings: Finding[] = [];
  if (portalId !== undefined && portalId !== account.portalId) {
    const problem = `the access is to HubSpot account ${account.portalId}, the settings say ${portalId}: every event would be left out`;
    const remedy = `Set portalId to ${account.portalId}, or take the credentials from account ${portalId}`;
    findings.push(errorAt('portalId', problem, remedy));
  }
  // HubSpot may write `US/Eastern` for `America/New_York`.
  const canonical = (zone: string) => timeZoneOf(zone) ?? zone;
  if (timeZone && account.timeZone && canonical(timeZone) !== canonical(account.timeZone)) {
    const problem = `the HubSpot account's zone is ${account.timeZone}, not ${timeZone}: a used-up daily quota returns at its midnight, not at ours`;
    findings.push(warningAt('timeZone', problem, `Set timeZone to ${account.timeZone}, or leave it out`));
  }
  return findings;
}

function ofApp(settings: HubSpotSettings, appId: string | undefined): Finding[] {
  if (settings.appId === undefined || appId === undefined || settings.appId === appId) return [];
  const problem = `the credentials belong to app ${appId}, the settings say ${settings.appId}: closeloop would take its own writes for another app's, and that app's for its own`;
  return [errorAt('appId', problem, `Set appId to ${appId}, or leave it out`)];
}

const noAppId = errorAt(
  'appId',
  'developerApiKey opens the webhook settings of an app, and nobody said of which',
  "Set appId (HubSpot developer account: the app's Auth page)",
);

const PrivateApp = z.object({ appId: z.coerce.string() });
const Introspection = z.object({ app_id: z.coerce.string().optional() });

/**
 * The app to which the credentials belong; undefined if unknown. Neither call is documented for every kind of app, so a refusal is ignored.
 * Source: HubSpot, private apps (token info) and OAuth (introspection).
 */
async function appIdOf(settings: HubSpotSettings, api: HubSpotApi, ports: ConnectorPorts): Promise<string | undefined> {
  const { accessToken, clientId = '', clientSecret = '' } = settings;
  try {
    if (accessToken !== undefined) {
      const options = { body: { tokenKey: accessToken }, answers: [401, 403] };
      const answer = await api.attempt('POST', paths.tokenInfo, PrivateApp, options);
      return answer.ok ? answer.body.appId : undefined;
    }
    const token = await credentialsOf(settings, ports).current();
    const form = { client_id: clientId, client_secret: clientSecret, token, token_type_hint: 'access_token' };
    const call = { method: 'POST', path: `${paths.token}/introspect`, form } as const;
    return (await tokenApi(settings, ports).call(call, Introspection)).app_id;
  } catch {
    return undefined;
  }
}

const Labels = z.object({ results: listOf(z.object({ typeId: z.number(), label: z.string().nullish() })) });

/** The label is fine if at least one kind of record has it. */
async function ofLabel({ objects, contactLabel }: HubSpotSettings, api: HubSpotApi): Promise<Finding[]> {
  if (contactLabel === undefined) return [];
  const known = [];
  for (const type of objects)
    known.push(...(await api.call('GET', `${paths.associations(pluralOf(type), 'contacts')}/labels`, Labels)).results);
  if (known.some(({ typeId }) => typeId === contactLabel)) return [];
  const there = known.flatMap(({ typeId, label }) => (label ? [`${typeId} (${label})`] : [])).join(', ');
  const problem = `no label of contacts on a ${objects.join(' or ')} has the type id ${contactLabel}: it would never choose anybody`;
  return [errorAt('contactLabel', problem, `Name the type id (not the label) of one: ${there || 'there is none'}`)];
}

function ofQuota(day: Quota | undefined): Finding[] {
  if (day === undefined || day.remaining >= day.limit / 10) return [];
  const problem = `${day.remaining} of ${day.limit} API calls are left for today, for all apps of the account together`;
  const remedy =
    "See which app uses them (HubSpot: Settings > Integrations > Connected apps, API usage), or buy the API limit increase; closeloop waits for the account's midnight when they are gone";
  return [warningAt('daily quota', problem, remedy)];
}

const Feedback = z.object({ total: z.number() });
const recentMs = 90 * 86_400_000;

/** A warning if HubSpot's own surveys get answers, as only HubSpot can create such answers. No warning for an app that may not read them. */
async function ofSurveys(api: HubSpotApi, now: Date): Promise<Finding[]> {
  const lately = { propertyName: 'hs_createdate', operator: 'GTE', value: String(now.getTime() - recentMs) };
  const body = { filterGroups: [{ filters: [lately] }], sorts: [], properties: [], limit: 1, after: 0 };
  const answer = await api
    .attempt('POST', paths.objects('feedback_submissions', 'search'), Feedback, { body, answers: [403] })
    .catch(() => undefined);
  const count = answer?.ok ? answer.body.total : 0;
  if (count === 0) return [];
  const problem = `${count} answer${count === 1 ? '' : 's'} to HubSpot's own feedback surveys came within 90 days: a customer may be asked twice about one ticket`;
  const remedy =
    'Switch the surveys off (HubSpot: Service > Feedback surveys), or leave their recipients out with `when`';
  return [warningAt('feedback surveys', problem, remedy)];
}

const nothing = { id: '', properties: {} };
const presented = (type: ObjectType) => present(type, nothing, Pipelines.parse({ results: [] }), { is: 'open' });
const shapeNames = namesOf({
  ...{ ...presented('ticket'), ...presented('deal'), contact: presentContact(nothing) },
  ...{ contactChoice: '', owner: { id: '', name: null, email: null } },
});

/** The properties that closeloop requests of a kind of record, by internal name, and those that HubSpot always returns. */
function readOf(object: CrmObject, settings: HubSpotSettings): string[] {
  const always = ['hs_object_id', 'createdate', object === 'contact' ? 'lastmodifieddate' : 'hs_lastmodifieddate'];
  if (object === 'contact') return [...always, ...contactProperties, ...settings.contactProperties];
  const { stage, pipeline, properties } = objectTypes[object];
  return [...always, stage, pipeline, ...properties, ...settings.properties];
}

/** HubSpot silently leaves out unknown property names: a rule would never find a value. */
async function ofReads(settings: HubSpotSettings, api: HubSpotApi, { reads }: PreflightContext): Promise<Finding[]> {
  const defined = new Map<CrmObject, Set<string>>();
  for (const object of [...settings.objects, 'contact'] as const)
    defined.set(object, new Set((await definitionsOf(object, api)).map(({ name }) => name)));
  const has = (objects: readonly CrmObject[], name: string) => objects.some((one) => defined.get(one)?.has(name));
  const remedy = "Correct it to the property's internal name (HubSpot: Settings > Properties)";
  /** If the source has several kinds of record, a property may exist on one kind only. */
  const listed = (at: 'properties' | 'contactProperties', objects: readonly CrmObject[]) => {
    const of = objects.map(pluralOf).join(' and ');
    const problem = (name: string) => `${of} have no property ${name}: HubSpot leaves it out without a word`;
    const unknown = settings[at].filter((name) => !has(objects, name));
    return unknown.map((name) => errorAt(at, problem(name), `${remedy}, or take it out`));
  };
  const ofPath = ({ at, path: [root = '', name, property = ''] }: PreflightContext['reads'][number]): Finding[] => {
    const object = [...defined.keys()].find((one) => one === root);
    if (object === undefined && (root === 'ticket' || root === 'deal')) {
      const kinds = settings.objects.join(', ');
      const problem = `it reads ${root}, which is never there: this source's objects are ${kinds}`;
      return [warningAt(at, problem, `Add ${root} to objects, or read ${kinds}`)];
    }
    if (name !== 'properties' || property === '' || object === undefined) return [];
    const setting = object === 'contact' ? 'contactProperties' : 'properties';
    if (!has([object], property)) {
      // The setting that lists the property has a finding already.
      if (settings[setting].includes(property)) return [];
      return [errorAt(at, `${pluralOf(object)} have no property ${property}: it is always empty`, remedy)];
    }
    if (readOf(object, settings).includes(property)) return [];
    const problem = `${root}.properties.${property} is not read from HubSpot: it is always empty`;
    return [errorAt(at, problem, `Add ${property} to this source's ${setting}`)];
  };
  return [
    ...listed('properties', settings.objects),
    ...listed('contactProperties', ['contact']),
    ...reads.flatMap(ofPath),
  ];
}
