import { z } from 'zod';
import type { ConnectorPorts, Finding, GoingLive } from '../../core/connector/contract.ts';
import {
  Account,
  accountFindings,
  appFindings,
  Feedback,
  listening,
  quotaFindings,
  recentMs,
  surveyFindings,
} from './check-account.ts';
import { appIdOf } from './check-app.ts';
import { failed, type Looker, looker } from './check-look.ts';
import { pipelineFindings } from './check-pipelines.ts';
import { type Definitions, sharedTargets, targetFindings } from './check-properties.ts';
import { readFindings } from './check-reads.ts';
import { type CrmObject, type Definition, DefinitionList, pluralOf, type Target, targetsOf } from './check-targets.ts';
import { legacyFindings, targetUrlFindings, unseenWebhooks, webhookFindings } from './check-webhooks.ts';
import { type HubSpotApi, hubSpotApi } from './client.ts';
import { type ObjectType, objectTypes, paths } from './objects.ts';
import { PipelineList } from './pipelines.ts';
import type { HubSpotSettings } from './settings.ts';
import { webhookApi } from './webhook-api.ts';

const contacts = { read: 'crm.objects.contacts.read', write: 'crm.objects.contacts.write' };
const readScope = (object: CrmObject) => (object === 'contact' ? contacts.read : objectTypes[object].scopes.read);

/**
 * Everything at the account that would keep this source from working, found with about ten calls, none of which changes
 * anything. A look that fails becomes a finding, and the others go on; without access there is nothing else to see.
 */
export function checker(settings: HubSpotSettings, ports: ConnectorPorts) {
  return async (about: GoingLive): Promise<Finding[]> => {
    const { budget, day } = listening(ports.budget);
    const api = hubSpotApi(settings, { ...ports, budget });
    const look = looker(api);
    const here = [...targetUrlFindings(settings, about.hookUrl), ...legacyFindings(settings, ports.now())];

    const account = await look.at({
      thing: 'the account',
      at: settings.refreshToken === undefined ? 'accessToken' : 'refreshToken',
      scope: 'oauth',
      method: 'GET',
      path: paths.account,
      schema: Account,
    });
    if (account === undefined && !look.lacks('oauth')) {
      const alone = 'without access nothing else in the account was looked at';
      return [...look.findings.map(({ remedy, ...rest }) => ({ ...rest, remedy: `${remedy}; ${alone}` })), ...here];
    }
    const appId = await appIdOf(settings, api, ports);
    const targets = targetsOf(settings, about.grades);
    const lists = await readPipelines(settings, look);
    const defined = await readDefinitions(settings, look);
    const there = [
      ...(account === undefined ? [] : accountFindings(settings, account)),
      ...appFindings(settings, appId),
      ...pipelineFindings(settings, lists, about.reads),
      ...sharedTargets(targets),
      ...(await propertyFindings(targets, defined, look)),
      ...readFindings(settings, about, defined),
      ...(await labelFindings(settings, look)),
      ...(await deliveryFindings(settings, about, appId, targets, ports)),
      ...(await ownSurveys(api, ports.now())),
    ];
    await lookAtOtherScopes(settings, targets, look);
    return [...look.findings, ...there, ...here, ...quotaFindings(day())];
  };
}

async function readPipelines({ objects }: HubSpotSettings, look: Looker) {
  const lists = new Map<ObjectType, z.output<typeof PipelineList>['results']>();
  for (const type of objects) {
    const list = await look.at({
      thing: `the ${type} pipelines`,
      scope: objectTypes[type].scopes.read,
      method: 'GET',
      path: paths.pipelines(objectTypes[type].plural),
      schema: PipelineList,
    });
    if (list !== undefined) lists.set(type, list.results);
  }
  return lists;
}

async function readDefinitions({ objects }: HubSpotSettings, look: Looker): Promise<Definitions> {
  const defined = new Map<CrmObject, Map<string, Definition>>();
  for (const object of [...objects, 'contact'] as const) {
    const list = await look.at(definitionsOf(object));
    if (list !== undefined) defined.set(object, new Map(list.results.map((one) => [one.name, one])));
  }
  return defined;
}

const definitionsOf = (object: CrmObject) => ({
  thing: `the ${object} properties`,
  scope: readScope(object),
  method: 'GET' as const,
  path: paths.properties(pluralOf(object)),
  schema: DefinitionList,
});

/** Where a property is missing, one more call per kind of record tells whether it was deleted. */
async function propertyFindings(targets: readonly Target[], defined: Definitions, look: Looker): Promise<Finding[]> {
  const archived = new Map<CrmObject, Set<string>>();
  const findings: Finding[] = [];
  for (const target of targets) {
    const { object, name } = target;
    const known = defined.get(object);
    if (known === undefined) continue;
    if (!known.has(name) && !archived.has(object)) {
      const list = await look.at({ ...definitionsOf(object), query: { archived: 'true' } });
      archived.set(object, new Set(list?.results.map((one) => one.name)));
    }
    const found = known.get(name) ?? (archived.get(object)?.has(name) ? 'archived' : undefined);
    findings.push(...targetFindings(target, found));
  }
  return findings;
}

const Labels = z.object({ results: z.array(z.object({ typeId: z.number(), label: z.string().nullish() })) });

/** Of several kinds of record, one with the label is enough. */
async function labelFindings({ objects, contactLabel }: HubSpotSettings, look: Looker): Promise<Finding[]> {
  if (contactLabel === undefined) return [];
  const known: z.output<typeof Labels>['results'] = [];
  for (const type of objects) {
    const list = await look.at({
      thing: `the labels of contacts on a ${type}`,
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
  return [
    {
      level: 'error',
      at: 'contactLabel',
      problem: `no label of contacts on a ${objects.join(' or ')} has the type id ${contactLabel}: it would never choose anybody`,
      remedy: `Name the type id (not the label) of one: ${there}`,
    },
  ];
}

/** The webhooks, as far as HubSpot shows them to us. */
async function deliveryFindings(
  settings: HubSpotSettings,
  { hookUrl }: GoingLive,
  appId: string | undefined,
  targets: readonly Target[],
  ports: ConnectorPorts,
): Promise<Finding[]> {
  const { developerApiKey } = settings;
  if (developerApiKey === undefined) return unseenWebhooks(settings, hookUrl);
  const app = settings.appId ?? appId;
  if (app === undefined) return [noAppId];
  const webhooks = webhookApi(settings, app, developerApiKey, ports);
  try {
    return webhookFindings(settings, hookUrl, await webhooks.hook(), await webhooks.subscriptions(), targets);
  } catch (error) {
    return [failed('the webhooks', error, 'developerApiKey')];
  }
}

const noAppId: Finding = {
  level: 'error',
  at: 'appId',
  problem: 'developerApiKey opens the webhook settings of an app, and nobody said of which',
  remedy: "Set appId (HubSpot developer account: the app's Auth page)",
};

/** An app that may not read feedback submissions is no worse for it: then nobody knows. */
async function ownSurveys(api: HubSpotApi, now: Date): Promise<Finding[]> {
  const value = String(now.getTime() - recentMs);
  const body = {
    filterGroups: [{ filters: [{ propertyName: 'hs_createdate', operator: 'GTE', value }] }],
    sorts: [],
    properties: [],
    limit: 1,
    after: 0,
  };
  try {
    const answer = await api.attempt('POST', paths.feedback, Feedback, { body, answers: [403] });
    return answer.ok ? surveyFindings(answer.body.total) : [];
  } catch {
    return [];
  }
}

/** What no look has needed so far; for the writing ones, an update of nothing, which HubSpot refuses or ignores. */
async function lookAtOtherScopes(settings: HubSpotSettings, targets: readonly Target[], look: Looker): Promise<void> {
  await look.at({
    thing: 'the owners',
    scope: 'crm.objects.owners.read',
    method: 'GET',
    path: paths.owners,
    query: { limit: '1' },
    schema: z.unknown(),
  });
  const written = new Map<string, string>();
  for (const { object } of targets) {
    if (object === 'contact') continue;
    const { read, write } = objectTypes[object].scopes;
    if (write !== read) written.set(write, pluralOf(object));
  }
  if (settings.writeBack.note || targets.some(({ object }) => object === 'contact'))
    written.set(contacts.write, 'contacts');
  for (const [scope, plural] of written) {
    const path = paths.batchUpdate(plural);
    await look.mayDo({
      thing: `writing on ${plural}`,
      scope,
      method: 'POST',
      path,
      body: { inputs: [] },
      schema: z.unknown(),
    });
  }
}
