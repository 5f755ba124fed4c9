import { z } from 'zod';
import { errorAt } from '../../core/connector/check.ts';
import type { ConnectorPorts, Finding, PreflightContext } from '../../core/connector/contract.ts';
import { listOf } from '../../core/entries.ts';
import { hubSpotApi } from './api.ts';
import {
  Account,
  accountFindings,
  appFindings,
  appIdOf,
  listening,
  ownSurveyFindings,
  quotaFindings,
} from './check-account.ts';
import { pipelineFindings } from './check-pipelines.ts';
import { readFindings } from './check-reads.ts';
import { type CrmObject, type ObjectType, objectTypes, paths, pluralOf } from './objects.ts';
import { PipelineList } from './pipelines.ts';
import { type AccountProber, accountProber, unread } from './probe.ts';
import {
  type Definition,
  DefinitionList,
  type Definitions,
  propertyFindings,
  sharedProperties,
  type WantedProperty,
  wantedProperties,
} from './properties.ts';
import type { HubSpotSettings } from './settings.ts';
import { legacyFindings, targetUrlFindings, unseenWebhooks, webhookApi, webhookFindings } from './webhooks.ts';

export const contactScopes = { read: 'crm.objects.contacts.read', write: 'crm.objects.contacts.write' };
const readScope = (object: CrmObject) => (object === 'contact' ? contactScopes.read : objectTypes[object].scopes.read);

/**
 * Finds everything in the account that would keep this source from working, in about ten calls; changes nothing. A failed read is a
 * finding, and the other reads go on; without access nothing else is read.
 */
export function checker(settings: HubSpotSettings, ports: ConnectorPorts) {
  return async (about: PreflightContext): Promise<Finding[]> => {
    const { budget, day } = listening(ports.budget);
    const api = hubSpotApi(settings, { ...ports, budget });
    const prober = accountProber(api);
    const here = [...targetUrlFindings(settings, about.hookUrl), ...legacyFindings(settings, ports.now())];

    const account = await prober.probe({
      what: 'the account',
      at: settings.refreshToken === undefined ? 'accessToken' : 'refreshToken',
      scope: 'oauth',
      method: 'GET',
      path: paths.account,
      schema: Account,
    });
    if (account === undefined && !prober.misses('oauth')) {
      const alone = 'without access nothing else in the account was looked at';
      return [...prober.findings.map(({ remedy, ...rest }) => ({ ...rest, remedy: `${remedy}; ${alone}` })), ...here];
    }
    const appId = await appIdOf(settings, api, ports);
    const wanted = wantedProperties(settings, about.grades);
    const lists = await readPipelines(settings, prober);
    const defined = await readDefinitions(settings, prober);
    const there = [
      ...(account === undefined ? [] : accountFindings(settings, account)),
      ...appFindings(settings, appId),
      ...pipelineFindings(settings, lists, about.reads),
      ...sharedProperties(wanted),
      ...(await definitionFindings(wanted, defined, prober)),
      ...readFindings(settings, about, defined),
      ...(await labelFindings(settings, prober)),
      ...(await deliveryFindings(settings, about, appId, wanted, ports)),
      ...(await ownSurveyFindings(api, ports.now())),
    ];
    await probeOtherScopes(settings, wanted, prober);
    return [...prober.findings, ...there, ...here, ...quotaFindings(day())];
  };
}

async function readPipelines({ objects }: HubSpotSettings, prober: AccountProber) {
  const lists = new Map<ObjectType, z.output<typeof PipelineList>['results']>();
  for (const type of objects) {
    const list = await prober.probe({
      what: `the ${type} pipelines`,
      scope: objectTypes[type].scopes.read,
      method: 'GET',
      path: paths.pipelines(objectTypes[type].plural),
      schema: PipelineList,
    });
    if (list !== undefined) lists.set(type, list.results);
  }
  return lists;
}

async function readDefinitions({ objects }: HubSpotSettings, prober: AccountProber): Promise<Definitions> {
  const defined = new Map<CrmObject, Map<string, Definition>>();
  for (const object of [...objects, 'contact'] as const) {
    const list = await prober.probe(definitionsOf(object));
    if (list !== undefined) defined.set(object, new Map(list.results.map((one) => [one.name, one])));
  }
  return defined;
}

const definitionsOf = (object: CrmObject) => ({
  what: `the ${object} properties`,
  scope: readScope(object),
  method: 'GET' as const,
  path: paths.properties(pluralOf(object)),
  schema: DefinitionList,
});

/** For missing properties, one more call per kind of record finds out whether they were deleted. */
async function definitionFindings(
  wanted: readonly WantedProperty[],
  defined: Definitions,
  prober: AccountProber,
): Promise<Finding[]> {
  const archived = new Map<CrmObject, Set<string>>();
  const findings: Finding[] = [];
  for (const one of wanted) {
    const { object, name } = one;
    const known = defined.get(object);
    if (known === undefined) continue;
    if (!known.has(name) && !archived.has(object)) {
      const list = await prober.probe({ ...definitionsOf(object), query: { archived: 'true' } });
      archived.set(object, new Set(list?.results.map((property) => property.name)));
    }
    const found = known.get(name) ?? (archived.get(object)?.has(name) ? 'archived' : undefined);
    findings.push(...propertyFindings(one, found));
  }
  return findings;
}

const Labels = z.object({ results: listOf(z.object({ typeId: z.number(), label: z.string().nullish() })) });

/** One kind of record with the label is enough. */
async function labelFindings({ objects, contactLabel }: HubSpotSettings, prober: AccountProber): Promise<Finding[]> {
  if (contactLabel === undefined) return [];
  const known: z.output<typeof Labels>['results'] = [];
  for (const type of objects) {
    const list = await prober.probe({
      what: `the labels of contacts on a ${type}`,
      scope: readScope(type),
      method: 'GET',
      path: paths.labels(objectTypes[type].plural),
      schema: Labels,
    });
    if (list === undefined) return [];
    known.push(...list.results);
  }
  if (known.some(({ typeId }) => typeId === contactLabel)) return [];
  const there =
    known.flatMap(({ typeId, label }) => (label ? [`${typeId} (${label})`] : [])).join(', ') || 'there is none';
  const problem = `no label of contacts on a ${objects.join(' or ')} has the type id ${contactLabel}: it would never choose anybody`;
  return [errorAt('contactLabel', problem, `Name the type id (not the label) of one: ${there}`)];
}

/** The webhooks, as far as HubSpot shows them to us. */
async function deliveryFindings(
  settings: HubSpotSettings,
  { hookUrl }: PreflightContext,
  appId: string | undefined,
  written: readonly WantedProperty[],
  ports: ConnectorPorts,
): Promise<Finding[]> {
  const { developerApiKey } = settings;
  if (developerApiKey === undefined) return unseenWebhooks(settings, hookUrl);
  const app = settings.appId ?? appId;
  if (app === undefined) return [noAppId];
  const webhooks = webhookApi(settings, app, developerApiKey, ports);
  try {
    return webhookFindings(settings, hookUrl, await webhooks.hook(), await webhooks.subscriptions(), written);
  } catch (error) {
    return [unread('the webhooks', error, 'developerApiKey')];
  }
}

const noAppId = errorAt(
  'appId',
  'developerApiKey opens the webhook settings of an app, and nobody said of which',
  "Set appId (HubSpot developer account: the app's Auth page)",
);

/** Probes the scopes that the other calls did not need; write scopes by an empty update, which HubSpot refuses or ignores. */
async function probeOtherScopes(
  settings: HubSpotSettings,
  written: readonly WantedProperty[],
  prober: AccountProber,
): Promise<void> {
  await prober.probe({
    what: 'the owners',
    scope: 'crm.objects.owners.read',
    method: 'GET',
    path: paths.owners,
    query: { limit: '1' },
    schema: z.unknown(),
  });
  const scopes = new Map<string, string>();
  for (const { object } of written) {
    if (object === 'contact') continue;
    const { read, write } = objectTypes[object].scopes;
    if (write !== read) scopes.set(write, pluralOf(object));
  }
  if (settings.writeBack.note || written.some(({ object }) => object === 'contact'))
    scopes.set(contactScopes.write, 'contacts');
  for (const [scope, plural] of scopes) {
    const path = paths.batchUpdate(plural);
    await prober.probeRight({
      what: `writing on ${plural}`,
      scope,
      method: 'POST',
      path,
      body: { inputs: [] },
      schema: z.unknown(),
    });
  }
}
