export const objectTypes = ['tickets', 'deals', 'contacts'] as const;
export type ObjectType = (typeof objectTypes)[number];

export const objectTypeIds: Readonly<Record<ObjectType, string>> = { tickets: '0-5', deals: '0-3', contacts: '0-1' };
/** As in subscription types: `ticket.propertyChange`. */
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

/** Who changed something: `CRM_UI` with `userId:…`, `INTEGRATION` with the app's id as text, `AUTOMATION_PLATFORM` … */
export interface Source {
  changeSource: string;
  sourceId: string;
}

interface HistoryItem extends Source {
  value: string;
  at: number;
}

/** Every value is text; a property without a value has no entry. Instants are epoch ms. */
export interface CrmRecord {
  id: number;
  type: ObjectType;
  properties: Map<string, string>;
  history: Map<string, HistoryItem[]>;
  createdAt: number;
  updatedAt: number;
  archived: boolean;
}

export type PropertyType = 'string' | 'number' | 'enumeration' | 'datetime' | 'date' | 'bool';

export interface Property {
  name: string;
  label: string;
  type: PropertyType;
  fieldType: string;
  groupName: string;
  description: string;
  options: { label: string; value: string; displayOrder: number; hidden: boolean }[];
  readOnly: boolean;
  /** Its value never leaves in a classic event. */
  sensitive: boolean;
  hubspotDefined: boolean;
  /** Worked out by HubSpot; nobody writes it. */
  calculated: boolean;
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

export interface Owner {
  id: string;
  email: string;
  firstName: string;
  lastName: string;
  /** Another number than the id, which records refer to. */
  userId: number;
  type: 'PERSON' | 'QUEUE';
  archived: boolean;
}

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

export type EventKind =
  | 'creation'
  | 'deletion'
  | 'merge'
  | 'restore'
  | 'propertyChange'
  | 'associationChange'
  | 'privacyDeletion';

export interface Subscription {
  id: number;
  event: EventKind;
  object: ObjectType;
  /** For propertyChange. */
  propertyName?: string;
  /** Left out: it delivers. */
  active?: boolean;
  /** Left out: the target's. */
  form?: 'classic' | 'generic';
}

export interface WebhookTarget {
  url: string;
  /** The address that is signed, where a proxy in between changes it; else `url`. */
  publicUrl?: string;
  /** Deliveries take turns; more than one only to test a receiver in the middle of a rotation. */
  secrets: string[];
  form: 'classic' | 'generic';
  subscriptions: Subscription[];
}
