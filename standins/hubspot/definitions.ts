import { z } from 'zod';
import { objectTypes } from './model.ts';

/** What the control surface takes: the stand-in's own words, not the vendor's. */
const id = z.number().int().positive();
const type = z.enum(objectTypes);
/** Who does it; default a user in the CRM. */
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
/** `merged` disappear into `primary`; the result is a record with a new id unless `keepPrimary`. */
export const mergeAction = z.strictObject({
  type,
  primary: id,
  merged: z.array(id).min(1),
  keepPrimary: z.boolean().default(false),
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

export const propertyDefinition = z.strictObject({
  type,
  name: z.string(),
  label: z.string().optional(),
  kind: z.enum(['string', 'number', 'enumeration', 'datetime', 'date', 'bool']),
  fieldType: z.string().optional(),
  options: z.array(z.union([z.string(), z.strictObject({ value: z.string(), hidden: z.boolean() })])).default([]),
  readOnly: z.boolean().default(false),
  calculated: z.boolean().default(false),
  sensitive: z.boolean().default(false),
});

export const propertyName = z.strictObject({ type, name: z.string() });

/** A label that people may put on the association of a ticket or deal with a contact. */
export const labelDefinition = z.strictObject({ type: z.enum(['tickets', 'deals']), typeId: id, label: z.string() });

/** An answer to one of HubSpot's own surveys; default now. */
export const feedbackSubmission = z.strictObject({ at: z.iso.datetime().exactOptional() });

export const subscription = z.strictObject({
  event: z.enum(['creation', 'deletion', 'merge', 'restore', 'propertyChange', 'associationChange', 'privacyDeletion']),
  object: type,
  propertyName: z
    .string()
    .refine((name) => !['hs_lastmodifieddate', 'num_unique_conversion_events'].includes(name), 'is not subscribable')
    .exactOptional(),
  active: z.boolean().exactOptional(),
  form: z.enum(['classic', 'generic']).exactOptional(),
});

const lifecycle = (['tickets', 'deals'] as const).flatMap((object) =>
  (['creation', 'deletion', 'merge', 'restore'] as const).map((event) => ({ event, object })),
);

export const webhookTarget = z.strictObject({
  url: z.string(),
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
