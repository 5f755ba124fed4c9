import { z } from 'zod';
import { hubspot } from '../../../../connectors/hubspot/hubspot.ts';
import type { PreflightContext, Source } from '../../../../core/connector/contract.ts';
import {
  type HubspotStandin,
  type HubspotStandinOptions,
  startHubspotStandin,
} from '../../../../standins/hubspot/standin.ts';
import { testPorts } from './fake-hubspot.ts';

export const hookUrl = 'https://closeloop.example.com/hooks/crm';
export const labelId = 71;

export const about: PreflightContext = {
  hookUrl,
  grades: [1, 2, 3, 4, 5],
  reads: [
    { at: 'rules.0.when', path: ['ticket', 'stage', 'id'] },
    { at: 'rules.0.fields.Store', path: ['ticket', 'properties', 'store'] },
    { at: 'rules.0.fields.Plan', path: ['contact', 'properties', 'plan'] },
    { at: 'rules.0.fields.Agent', path: ['owner', 'name'] },
    { at: 'rules.0.fields.Modified', path: ['ticket', 'properties', 'hs_lastmodifieddate'] },
  ],
  answersWithinMs: 14 * 86_400_000,
};

export const writeBack = {
  grade: 'fb_grade',
  comment: 'fb_comment',
  answeredAt: 'fb_at',
  status: 'fb_status',
  note: true,
  noAnswer: true,
  contact: { grade: 'fb_grade', comment: 'fb_comment', answeredAt: 'fb_at' },
};

/** Every setting that `check` looks at, all of them right for `rightAccount`. */
export const rightSettings = {
  accessToken: 'hubspot-token',
  webhookSecrets: ['hubspot-client-secret'],
  appId: 3_190_457,
  portalId: 48_211_907,
  developerApiKey: 'hubspot-developer-key',
  timeZone: 'Europe/Tallinn',
  objects: ['ticket', 'deal'],
  pipelines: ['0', 'default'],
  stages: ['4', 'closedwon'],
  properties: ['store'],
  contactProperties: ['plan'],
  contactLabel: labelId,
  writeBack,
};

/** What people made in the account; not what `setup` makes. */
export function furnish(standin: HubspotStandin): void {
  standin.addProperty({ type: 'tickets', name: 'store', kind: 'string' });
  standin.addProperty({ type: 'contacts', name: 'plan', kind: 'string' });
  standin.addLabel({ type: 'tickets', typeId: labelId, label: 'Reporter' });
}

/** What `setup` makes, made by hand. */
export function addAnswerProperties(standin: HubspotStandin, types = ['tickets', 'deals', 'contacts'] as const): void {
  for (const type of types) {
    standin.addProperty({ type, name: 'fb_grade', kind: 'number' });
    standin.addProperty({ type, name: 'fb_comment', kind: 'string', fieldType: 'textarea' });
    standin.addProperty({ type, name: 'fb_at', kind: 'datetime' });
    standin.addProperty({ type, name: 'fb_status', kind: 'enumeration', options: ['answered', 'no_answer'] });
  }
}

type Subscriptions = NonNullable<Parameters<HubspotStandin['setWebhook']>[0]['subscriptions']>;
export const subscriptions: Subscriptions = [
  { event: 'propertyChange', object: 'tickets', propertyName: 'hs_pipeline_stage' },
  { event: 'propertyChange', object: 'deals', propertyName: 'dealstage' },
  ...(['tickets', 'deals'] as const).flatMap((object) =>
    (['creation', 'deletion', 'restore', 'merge', 'associationChange'] as const).map((event) => ({ object, event })),
  ),
  { event: 'privacyDeletion', object: 'contacts' },
];

/** Without what is undefined: settings that nobody gave. */
export const given = (settings: object): object =>
  Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));

export interface Site {
  standin: HubspotStandin;
  url: string;
  /** A source with `rightSettings`, or what is given instead. */
  source(settings?: object, clock?: () => Date): Required<Pick<Source, 'check' | 'setup'>>;
}

const Opened = z.custom<Required<Pick<Source, 'check' | 'setup'>>>(
  (source) => z.object({ check: z.function(), setup: z.function() }).safeParse(source).success,
);

/** Runs `work` against an account with nothing in it but what HubSpot brings. */
export async function atAccount<T>(work: (site: Site) => Promise<T>, options: HubspotStandinOptions = {}): Promise<T> {
  const server = await startHubspotStandin(options);
  try {
    return await work({
      standin: server.standin,
      url: server.url,
      source: (settings = rightSettings, clock) =>
        Opened.parse(hubspot.open(given({ baseUrl: server.url, ...settings }), testPorts(clock).ports)),
    });
  } finally {
    await server.close();
  }
}
