import { z } from 'zod';
import type { ConnectorPorts, PreflightContext, SetupStep } from '../../core/connector/contract.ts';
import { listOf } from '../../core/entries.ts';
import { CloseloopError } from '../../core/errors.ts';
import { statusValues } from './answer.ts';
import { type HubSpotApi, hubSpotApi } from './api.ts';
import { appIdOf } from './check-account.ts';
import { type CrmObject, paths, pluralOf } from './objects.ts';
import {
  Definition,
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

/** What is missing in the account, in the order in which it can be made. What is there is never changed, but for added options. */
export function preparer(settings: HubSpotSettings, ports: ConnectorPorts) {
  const api = hubSpotApi(settings, ports);
  return async ({ grades, hookUrl }: PreflightContext): Promise<SetupStep[]> => [
    ...(await propertySteps(wantedProperties(settings, grades), api)),
    ...(await webhookSteps(settings, hookUrl, api, ports)),
  ];
}

const group = { name: 'customer_feedback', label: 'Customer feedback' };

/** The group, the properties and the options that are missing, by kind of record. */
async function propertySteps(wanted: readonly WantedProperty[], api: HubSpotApi): Promise<SetupStep[]> {
  const steps: SetupStep[] = [];
  for (const object of new Set(wanted.map((one) => one.object))) {
    const path = paths.properties(pluralOf(object));
    const { results } = await api.call('GET', path, DefinitionList);
    const defined = new Map(results.map((one) => [one.name, one]));
    const ofObject = wanted.filter((one) => one.object === object);
    const own = ofObject.filter(({ name }, index) => ofObject.findIndex((one) => one.name === name) === index);
    const missing = own.filter(({ name }) => !defined.has(name));
    if (missing.length > 0 && !(await hasGroup(api, path))) steps.push(groupStep(api, object, path));
    steps.push(
      ...missing.map((one) => propertyStep(api, one, path)),
      ...own.flatMap((one) => optionSteps(api, one, defined.get(one.name), path)),
    );
  }
  return steps;
}

const Groups = z.object({ results: listOf(z.object({ name: z.string() })) });

async function hasGroup(api: HubSpotApi, path: string): Promise<boolean> {
  const { results } = await api.call('GET', `${path}/groups`, Groups);
  return results.some(({ name }) => name === group.name);
}

const groupStep = (api: HubSpotApi, object: CrmObject, path: string): SetupStep => ({
  what: `create the ${object} property group "${group.label}"`,
  async apply() {
    await create(api, `${path}/groups`, group, z.unknown());
    return {};
  },
});

const Made = z.object({ type: z.string(), fieldType: z.string() });

/** The name of a deleted property brings that one back, of whatever type it was: said, never hidden. */
function propertyStep(api: HubSpotApi, { object, role, name }: WantedProperty, path: string): SetupStep {
  const { what, ...common } = specs[role].made;
  // Several of these, told apart by their labels.
  const definition = role === 'answer' ? { ...common, label: `${common.label} (${name})` } : common;
  return {
    what: `create the ${object} property ${name} "${definition.label}" (${what})`,
    async apply() {
      // both values, whether or not `no_answer` is written today: later is only a setting away
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

function optionSteps(
  api: HubSpotApi,
  wanted: WantedProperty,
  defined: Definition | undefined,
  path: string,
): SetupStep[] {
  const { object, name } = wanted;
  if (defined?.type !== 'enumeration' || defined.modificationMetadata?.readOnlyDefinition) return [];
  const missing = missingOptions(wanted, defined);
  if (missing.length === 0) return [];
  const property = `${path}/${name}`;
  return [
    {
      what: `add ${missing.join(', ')} to the options of the ${object} property ${name}`,
      async apply() {
        // HubSpot takes the whole list for the new one: read now, so that nothing added since is lost
        const now = await api.call('GET', property, Definition);
        const lacking = missingOptions(wanted, now);
        if (lacking.length === 0) return {};
        const last = Math.max(-1, ...now.options.map(({ displayOrder }) => displayOrder));
        const labels = new Set(now.options.map(({ label }) => label.toLowerCase()));
        const added = lacking
          .map((value, index) => newOption(value, last + 1 + index))
          // people tell options apart by their labels
          .map((one) => (labels.has(one.label.toLowerCase()) ? { ...one, label: `${one.label} (feedback)` } : one));
        await api.call('PATCH', property, z.unknown(), { body: { options: [...now.options, ...added] } });
        return {};
      },
    },
  ];
}

/** What exists already is as good as made: undefined. */
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
 * The webhooks of a legacy public app are made over its API: a target where there is none (one that leads elsewhere is
 * somebody's, and stays), and the subscriptions that are missing. No other app's webhooks can be seen or made from outside:
 * a person uploads the file, and says so by setting `publicUrl`, the target URL as HubSpot has it.
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
  const hook = await webhooks.hook();
  const given = hook === undefined ? [] : await webhooks.subscriptions();
  const missing = subscriptionsBy(settings, given).filter((one) => one.given.length === 0);
  const target: SetupStep = {
    what: `have app ${appId} deliver its webhooks to ${url}`,
    async apply() {
      await webhooks.setTarget(url);
      return { note: 'HubSpot may take five minutes to heed it' };
    },
  };
  const subscriptions = missing.map(
    ({ wanted }): SetupStep => ({
      what: `subscribe app ${appId} to ${subscriptionInWords(wanted)}`,
      async apply() {
        await webhooks.subscribe(`${wanted.object}.${wanted.event}`, wanted.propertyName);
        return {};
      },
    }),
  );
  return [...(hook === undefined ? [target] : []), ...subscriptions];
}

const fileStep = (settings: HubSpotSettings, url: string): SetupStep => ({
  what: "print the app's webhooks-hsmeta.json, for you to upload (HubSpot lets nobody else change an app's webhooks)",
  apply: async () => ({
    note: [
      "1. Save this in the app's project as src/app/webhooks/webhooks-hsmeta.json, and run `hs project upload`. (A legacy private app: enter the same on its Webhooks tab.)",
      webhooksFile(settings, url),
      `2. Set publicUrl of this source to ${url}: it says that HubSpot delivers there, and setup has nothing left to do.`,
    ].join('\n'),
  }),
});

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
