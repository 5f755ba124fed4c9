import { z } from 'zod';
import { manualStep, type SetupItem, setupSteps } from '../../core/connector/check.ts';
import type { ConnectorPorts, SetupStep, Source } from '../../core/connector/contract.ts';
import { listOf } from '../../core/entries.ts';
import { CloseloopError } from '../../core/errors.ts';
import { statusValues } from './answer.ts';
import { type HubSpotApi, hubSpotApi } from './api.ts';
import { appIdOf } from './check-account.ts';
import { type CrmObject, paths, pluralOf } from './objects.ts';
import {
  type Definition,
  DefinitionList,
  missingOptions,
  specs,
  type WantedProperty,
  wantedProperties,
} from './properties.ts';
import { inWords } from './responses.ts';
import type { HubSpotSettings } from './settings.ts';
import {
  subscriptionInWords,
  subscriptionsBy,
  targetOf,
  type WantedSubscription,
  wantedSubscriptions,
  webhookApi,
} from './webhooks.ts';

/** Creates missing objects, in the order of their dependence. Existing ones stay unchanged, but for added options. */
export function preparer(settings: HubSpotSettings, ports: ConnectorPorts): NonNullable<Source['setup']> {
  const api = hubSpotApi(settings, ports);
  return async ({ grades, hookUrl }) => [
    ...(await setupSteps(() => missingProperties(wantedProperties(settings, grades), api))),
    ...(await webhookSteps(settings, hookUrl, api, ports)),
  ];
}

const group = { name: 'customer_feedback', label: 'Customer feedback' };
const Groups = z.object({ results: listOf(z.object({ name: z.string() })) });

/** The group, the properties and the options that are missing, by kind of record. */
async function missingProperties(wanted: readonly WantedProperty[], api: HubSpotApi): Promise<SetupItem[]> {
  const found: SetupItem[] = [];
  for (const [object, ofObject] of Map.groupBy(wanted, (one) => one.object)) {
    const path = paths.properties(pluralOf(object));
    const { results } = await api.call('GET', path, DefinitionList);
    const defined = new Map(results.map((one) => [one.name, one]));
    const own = ofObject.filter(({ name }, index) => ofObject.findIndex((one) => one.name === name) === index);
    const missing = own.filter(({ name }) => !defined.has(name));
    if (missing.length > 0) {
      const groups = await api.call('GET', `${path}/groups`, Groups);
      if (!groups.results.some(({ name }) => name === group.name)) found.push(missingGroup(api, object, path));
    }
    found.push(
      ...missing.map((one) => missingProperty(api, one, path)),
      ...own.flatMap((one) => missingOptionsOf(api, one, defined.get(one.name), path)),
    );
  }
  return found;
}

const missingGroup = (api: HubSpotApi, object: CrmObject, path: string): SetupItem => ({
  id: `${path}/groups`,
  what: `create the ${object} property group "${group.label}"`,
  async make() {
    await create(api, `${path}/groups`, group, z.unknown());
    return {};
  },
});

const Made = z.object({ type: z.string(), fieldType: z.string() });

/** Creating a property of a deleted one's name restores the deleted property, with its type: the step says so. */
function missingProperty(api: HubSpotApi, { object, role, name }: WantedProperty, path: string): SetupItem {
  const { what, ...common } = specs[role].made;
  // Several properties, which people distinguish by their labels.
  const definition = role === 'answer' ? { ...common, label: `${common.label} (${name})` } : common;
  return {
    id: `${path}/${name}`,
    what: `create the ${object} property ${name} "${definition.label}" (${what})`,
    async make() {
      // both values, as `noAnswer` may be switched on later
      const options = role === 'status' ? { options: Object.values(statusValues).map(newOption) } : {};
      const body = { name, ...definition, groupName: group.name, ...options };
      const { type, fieldType } = (await create(api, path, body, Made)) ?? definition;
      if (type === definition.type && fieldType === definition.fieldType) return {};
      return {
        note: `HubSpot brought back a deleted property ${name} of type ${type}/${fieldType}: run \`closeloop check\` to see whether it will do, or name another one`,
      };
    },
  };
}

const optionLabels: Readonly<Record<string, string>> = {
  [statusValues.answered]: 'Answered',
  [statusValues['no-answer']]: 'No answer',
};

const newOption = (value: string, displayOrder: number) => ({
  label: optionLabels[value] ?? value,
  value,
  displayOrder,
  hidden: false,
});

function missingOptionsOf(
  api: HubSpotApi,
  wanted: WantedProperty,
  defined: Definition | undefined,
  path: string,
): SetupItem[] {
  const { object, name } = wanted;
  if (defined?.type !== 'enumeration' || defined.modificationMetadata?.readOnlyDefinition) return [];
  const missing = missingOptions(wanted, defined);
  if (missing.length === 0) return [];
  const { options } = defined;
  const last = Math.max(-1, ...options.map(({ displayOrder }) => displayOrder));
  const labels = new Set(options.map(({ label }) => label.toLowerCase()));
  const added = missing
    .map((value, index) => newOption(value, last + 1 + index))
    // people distinguish options by their labels
    .map((one) => (labels.has(one.label.toLowerCase()) ? { ...one, label: `${one.label} (feedback)` } : one));
  return [
    {
      id: `options of ${path}/${name}`,
      what: `add ${missing.join(', ')} to the options of the ${object} property ${name}`,
      async make() {
        // HubSpot takes the whole list for the new one
        await api.call('PATCH', `${path}/${name}`, z.unknown(), { body: { options: [...options, ...added] } });
        return {};
      },
    },
  ];
}

/** Undefined for an object that exists already. */
async function create<S extends z.ZodType>(
  api: HubSpotApi,
  path: string,
  body: object,
  schema: S,
): Promise<z.output<S> | undefined> {
  const answer = await api.attempt('POST', path, schema, { body });
  if (answer.ok) return answer.body;
  if (answer.refusal.status === 409) return undefined;
  throw new CloseloopError(`HubSpot: POST ${path}: ${inWords(answer.refusal)}`, { kind: 'permanent' });
}

/**
 * The webhooks of a legacy public app are created by API: the target where there is none (another target stays), and missing
 * subscriptions. The webhooks of other apps have no API: a person uploads the file, and confirms it by setting `publicUrl`, the target
 * URL as HubSpot has it.
 */
async function webhookSteps(
  settings: HubSpotSettings,
  hookUrl: string | undefined,
  api: HubSpotApi,
  ports: ConnectorPorts,
): Promise<SetupStep[]> {
  const { developerApiKey, publicUrl } = settings;
  const url = targetOf(settings, hookUrl);
  if (url === undefined) return [];
  if (developerApiKey === undefined) return publicUrl === undefined ? [fileStep(settings, url)] : [];
  const appId = settings.appId ?? (await appIdOf(settings, api, ports));
  if (appId === undefined) return [];

  const webhooks = webhookApi(settings, appId, developerApiKey, ports);
  return setupSteps(async () => {
    const hook = await webhooks.hook();
    const given = hook === undefined ? [] : await webhooks.subscriptions();
    const missing = subscriptionsBy(settings, given).filter((one) => one.given.length === 0);
    const target: SetupItem = {
      id: 'target',
      what: `have app ${appId} deliver its webhooks to ${url}`,
      async make() {
        await webhooks.setTarget(url);
        return { note: 'HubSpot may take five minutes to heed it' };
      },
    };
    const subscriptions = missing.map(({ wanted }): SetupItem => {
      const name = subscriptionInWords(wanted);
      return {
        id: name,
        what: `subscribe app ${appId} to ${name}`,
        async make() {
          await webhooks.subscribe(`${wanted.object}.${wanted.event}`, wanted.propertyName);
          return {};
        },
      };
    });
    return [...(hook === undefined ? [target] : []), ...subscriptions];
  });
}

const fileStep = (settings: HubSpotSettings, url: string): SetupStep =>
  manualStep(
    "print the app's webhooks-hsmeta.json, for you to upload (HubSpot lets nobody else change an app's webhooks)",
    "1. Save this in the app's project as src/app/webhooks/webhooks-hsmeta.json, and run `hs project upload`. (A legacy private app: enter the same on its Webhooks tab.)",
    webhooksFile(settings, url),
    `2. Set publicUrl of this source to ${url}: it says that HubSpot delivers there, and setup has nothing left to do.`,
  );

/** Generic events, but for the one that has no generic form. Source: HubSpot, configure webhooks (project apps). */
function webhooksFile(settings: Pick<HubSpotSettings, 'objects'>, targetUrl: string): string {
  const wanted = wantedSubscriptions(settings);
  const generic = ({ object, event, propertyName }: WantedSubscription) => ({
    subscriptionType: `object.${event}`,
    objectType: object,
    ...(propertyName && { propertyName }),
    active: true,
  });
  const hubEvent = ({ object, event }: WantedSubscription) => ({
    subscriptionType: `${object}.${event}`,
    active: true,
  });
  const config = {
    settings: { targetUrl, maxConcurrentRequests: 10 },
    subscriptions: {
      crmObjects: wanted.filter(({ event }) => event !== 'privacyDeletion').map(generic),
      legacyCrmObjects: [],
      hubEvents: wanted.filter(({ event }) => event === 'privacyDeletion').map(hubEvent),
    },
  };
  return JSON.stringify({ uid: 'webhooks', type: 'webhooks', config }, null, 2);
}
