import { z } from 'zod';
import type { Stored } from '../kit/control.ts';
import type { VendorOptions } from '../kit/vendor-standin.ts';

export const objectTypes = ['tickets', 'deals', 'contacts'] as const;
export type ObjectType = (typeof objectTypes)[number];

export const objectTypeIds: Readonly<Record<ObjectType, string>> = { tickets: '0-5', deals: '0-3', contacts: '0-1' };
/** The object's name in a subscription type: `ticket` in `ticket.propertyChange`. */
export const singular: Readonly<Record<ObjectType, string>> = { tickets: 'ticket', deals: 'deal', contacts: 'contact' };
export const stageProperty: Readonly<Partial<Record<ObjectType, string>>> = {
  tickets: 'hs_pipeline_stage',
  deals: 'dealstage',
};

export const pipelineProperty: Readonly<Partial<Record<ObjectType, string>>> = {
  tickets: 'hs_pipeline',
  deals: 'pipeline',
};

/** A path takes the plural name or the type id. */
export function objectTypeOf(text: string): ObjectType | undefined {
  return objectTypes.find((type) => type === text || objectTypeIds[type] === text);
}

/** What the control surface takes: the stand-in's own words, not the vendor's. */
const id = z.number().int().positive();
const type = z.enum(objectTypes);
/**
 * Who makes the change: `CRM_UI` with `userId:…`, which is the default, `INTEGRATION` with the app's id as text, `AUTOMATION_PLATFORM` …
 */
const source = z.strictObject({ changeSource: z.string(), sourceId: z.string() });

export const association = z.strictObject({
  contactId: id,
  /** Besides the HubSpot-defined type. */
  label: z.strictObject({ typeId: id, label: z.string() }).optional(),
});

export const recordDefinition = z.strictObject({
  id: id.optional(),
  properties: z.record(z.string(), z.string()).default({}),
  /** Contacts of a ticket or deal. */
  contacts: z.array(id).default([]),
  source: source.optional(),
});

export const recordName = z.strictObject({ type, id });
export const recordAction = z.strictObject({ ...recordName.shape, source: source.optional() });
export const recordChange = z.strictObject({ ...recordAction.shape, properties: z.record(z.string(), z.string()) });
export const stageChange = z.strictObject({ ...recordAction.shape, stage: z.string() });
/** `ids` in one go, so that their events share batches. `stage`: default the first closed (open) stage of each record's pipeline. */
export const massChange = z.strictObject({
  type: type.default('tickets'),
  ids: z.array(id),
  stage: z.string().optional(),
});
/** `merged` disappear into `primary`; the result is a record with a new id. */
export const mergeAction = z.strictObject({
  type,
  primary: id,
  merged: z.array(id).min(1),
  source: source.optional(),
});
export const associationChange = z.strictObject({
  ...recordName.shape,
  ...association.shape,
  remove: z.boolean().default(false),
});

export const ownerDefinition = z.strictObject({
  id: z.string().optional(),
  email: z.string().default('agent@example.com'),
  firstName: z.string().default('Ann'),
  lastName: z.string().default('Agent'),
  /** Another number than the id, which records refer to. */
  userId: id.optional(),
  type: z.enum(['PERSON', 'QUEUE']).default('PERSON'),
  archived: z.boolean().default(false),
});

export const pipelineDefinition = z.strictObject({
  type: z.enum(['tickets', 'deals']),
  id: z.string(),
  label: z.string(),
  archived: z.boolean().default(false),
  stages: z
    .array(
      z.strictObject({
        id: z.string(),
        label: z.string(),
        /** For tickets. */
        closed: z.boolean().default(false),
        /** For deals: "1.0" won, "0.0" lost. */
        probability: z.string().default('0.5'),
        archived: z.boolean().default(false),
      }),
    )
    .min(1),
});

export const propertyType = z.enum(['string', 'number', 'enumeration', 'datetime', 'date', 'bool']);
export const propertyDefinition = z.strictObject({
  type,
  name: z.string(),
  label: z.string().optional(),
  kind: propertyType,
  fieldType: z.string().optional(),
  options: z.array(z.union([z.string(), z.strictObject({ value: z.string(), hidden: z.boolean() })])).default([]),
  readOnly: z.boolean().default(false),
  /** Worked out by HubSpot; nobody writes it. */
  calculated: z.boolean().default(false),
  /** Its value never leaves in a classic event. */
  sensitive: z.boolean().default(false),
});

export const propertyName = z.strictObject({ type, name: z.string() });

/** A label that people may put on the association of a ticket or deal with a contact. */
export const labelDefinition = z.strictObject({ type: z.enum(['tickets', 'deals']), typeId: id, label: z.string() });

/** An answer to one of HubSpot's own surveys; default now. */
export const feedbackSubmission = z.strictObject({ at: z.iso.datetime().exactOptional() });

export const eventKinds = [
  'creation',
  'deletion',
  'merge',
  'restore',
  'propertyChange',
  'associationChange',
  'privacyDeletion',
] as const;
const unsubscribable = ['hs_lastmodifieddate', 'num_unique_conversion_events'];
export const isSubscribable = (property: string): boolean => !unsubscribable.includes(property);
export const subscription = z.strictObject({
  event: z.enum(eventKinds),
  object: type,
  propertyName: z.string().refine(isSubscribable, 'is not subscribable').exactOptional(),
  /** Left out: it delivers. */
  active: z.boolean().exactOptional(),
  /** Left out: the target's. */
  form: z.enum(['classic', 'generic']).exactOptional(),
});

const lifecycle = (['tickets', 'deals'] as const).flatMap((object) =>
  (['creation', 'deletion', 'merge', 'restore'] as const).map((event) => ({ event, object })),
);

export const webhookTarget = z.strictObject({
  url: z.string(),
  /** The address that is signed, where a proxy in between changes it; else `url`. */
  publicUrl: z.string().exactOptional(),
  /** One as a rule, the app's client secret, which is the default; with more, deliveries take turns. */
  secrets: z.array(z.string().min(1)).min(1).exactOptional(),
  form: z.enum(['classic', 'generic']).default('classic'),
  subscriptions: z
    .array(subscription)
    .default([
      { event: 'propertyChange', object: 'tickets', propertyName: 'hs_pipeline_stage' },
      { event: 'propertyChange', object: 'deals', propertyName: 'dealstage' },
      ...lifecycle,
      { event: 'associationChange', object: 'tickets' },
      { event: 'privacyDeletion', object: 'contacts' },
    ]),
});

/** Events exactly as given, for what never happened: unknown types, other portals, repetitions. */
export const delivery = z.strictObject({ events: z.array(z.record(z.string(), z.unknown())).min(1).max(100) });

export const settingsChange = z.strictObject({
  per10s: z.number().int().positive().exactOptional(),
  daily: z.number().int().positive().exactOptional(),
  /** Scopes of the default token; null: all. */
  scopes: z.array(z.string()).nullable().exactOptional(),
  /** A property that must have a value on every write (an admin's conditional rule); null: none. */
  requiredOnWrite: z.string().nullable().exactOptional(),
  /** How long a change stays unseen by search. Default 0. */
  searchLagMs: z.number().min(0).exactOptional(),
  /** Contacts per record in one answer of the associations' batch read; the next page by `after`. Default 500. */
  associationPage: z.number().int().positive().exactOptional(),
});

export type Source = z.output<typeof source>;

/** Every value is text; a property without a value has no entry. Instants are epoch ms. */
export interface CrmRecord {
  id: number;
  type: ObjectType;
  properties: Map<string, string>;
  history: Map<string, (Source & { value: string; at: number })[]>;
  createdAt: number;
  updatedAt: number;
  archived: boolean;
}

type Given = z.output<typeof propertyDefinition>;
export interface Property extends Pick<Given, 'name' | 'readOnly' | 'sensitive' | 'calculated'> {
  label: string;
  type: Given['kind'];
  fieldType: string;
  groupName: string;
  description: string;
  options: { label: string; value: string; displayOrder: number; hidden: boolean }[];
  hubspotDefined: boolean;
  archived: boolean;
}

export interface Stage {
  id: string;
  label: string;
  displayOrder: number;
  /** Values are text, whatever they mean. */
  metadata: Record<string, string>;
  archived: boolean;
}

export interface Pipeline {
  id: string;
  label: string;
  displayOrder: number;
  archived: boolean;
  stages: Stage[];
}

export type Owner = Stored<typeof ownerDefinition, string> & { userId: number };

export interface AssociationType {
  category: 'HUBSPOT_DEFINED' | 'USER_DEFINED';
  typeId: number;
  label: string | null;
}

export type EngagementKind = 'notes' | 'tasks';

/** A note or a task. */
export interface Engagement {
  id: number;
  kind: EngagementKind;
  properties: Readonly<Record<string, string>>;
  records: CrmRecord[];
}

export type EventKind = (typeof eventKinds)[number];
export type Subscription = z.output<typeof subscription> & { id: number };
export type WebhookTarget = Omit<z.output<typeof webhookTarget>, 'secrets' | 'subscriptions'> & {
  secrets: string[];
  subscriptions: Subscription[];
};

export interface HubspotStandinOptions extends VendorOptions {
  /** For the signatures' timestamps. Left out: the system's. */
  wallClock?: () => Date;
  /** Calls in any ten seconds (default 190, Professional) and a day (default 625,000). */
  rateLimit?: { per10s?: number; daily?: number };
  /** The app's static token, with all scopes unless the settings say otherwise. Default `hubspot-token`. */
  accessToken?: string;
  /** Signs webhooks. Default `hubspot-client-secret`. */
  clientSecret?: string;
  /** Of the legacy public app's developer, for its webhook settings. Default `hubspot-developer-key`. */
  developerApiKey?: string;
  /** For `oauth`. Default `hubspot-client-id` and `hubspot-refresh-token`. */
  clientId?: string;
  refreshToken?: string;
  /** Further tokens and their scopes; null: all. */
  tokens?: Readonly<Record<string, readonly string[] | null>>;
  portalId?: number;
  appId?: number;
}

export type Settings = Required<z.output<typeof settingsChange>>;

export function openSettings({ rateLimit }: HubspotStandinOptions): Settings {
  return {
    per10s: rateLimit?.per10s ?? 190,
    daily: rateLimit?.daily ?? 625_000,
    scopes: null,
    requiredOnWrite: null,
    searchLagMs: 0,
    associationPage: 500,
  };
}
