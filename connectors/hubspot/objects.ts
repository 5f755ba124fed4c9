import type { Source } from '../../core/connector/contract.ts';

/** HubSpot's date version, named only here. A version lives about 18 months: to change it, edit this line and run the tests. */
export const apiVersion = '2026-09';

/**
 * The kinds of record whose closing can lead to a feedback request, and their differences at HubSpot. `engagements`: the type ids of their
 * associations with notes and tasks, as `AssociationTypes` of @hubspot/api-client has them.
 */
export const objectTypes = {
  ticket: {
    plural: 'tickets',
    objectTypeId: '0-5',
    stage: 'hs_pipeline_stage',
    pipeline: 'hs_pipeline',
    /** The date does not prove a closing: on deals people set it themselves. */
    closedDate: 'closed_date',
    engagements: { notes: 228, tasks: 230 },
    properties: ['subject', 'hs_ticket_priority', 'hs_ticket_category', 'createdate', 'hubspot_owner_id'],
    scopes: { read: 'tickets', write: 'tickets' },
  },
  deal: {
    plural: 'deals',
    objectTypeId: '0-3',
    stage: 'dealstage',
    pipeline: 'pipeline',
    closedDate: 'closedate',
    engagements: { notes: 214, tasks: 216 },
    properties: ['dealname', 'amount', 'createdate', 'hubspot_owner_id'],
    scopes: { read: 'crm.objects.deals.read', write: 'crm.objects.deals.write' },
  },
} as const;

export type ObjectType = keyof typeof objectTypes;

/** The kinds of record that closeloop writes answers on. */
export type CrmObject = ObjectType | 'contact';

/** The kinds of record as paths name them. */
export type Plural = 'tickets' | 'deals' | 'contacts' | 'notes' | 'tasks';
export const pluralOf = (object: CrmObject): Plural => (object === 'contact' ? 'contacts' : objectTypes[object].plural);

/** HubSpot's limit for text is 65,536 UTF-16 code units; this leaves room for a mark. */
export const maxTextUnits = 65_000;

/** HubSpot returns every value as text; an unset value is null. */
export type Properties = Readonly<Record<string, string | null>>;

export const paths = {
  objects: (plural: string, operation: 'search' | `batch/${'read' | 'update' | 'create' | 'archive'}`) =>
    `/crm/objects/${apiVersion}/${plural}/${operation}`,
  associations: (plural: string, to: string) => `/crm/associations/${apiVersion}/${plural}/${to}`,
  pipelines: (plural: string) => `/crm/pipelines/${apiVersion}/${plural}`,
  properties: (plural: string) => `/crm/properties/${apiVersion}/${plural}`,
  owners: `/crm/owners/${apiVersion}`,
  account: `/account-info/${apiVersion}/details`,
  tokenInfo: '/oauth/v2/private-apps/get/access-token-info',
  token: `/oauth/${apiVersion}/token`,
};

/** The record's id in the rest of closeloop: `ticket-541935488729`, `deal-318842210076`. HubSpot's ids stay text. */
export const recordId = (type: ObjectType, id: string) => `${type}-${id}`;

/** Reads an id that `recordId` made; undefined for any other text. */
export function parseRecordId(recordId: string): { type: ObjectType; id: string } | undefined {
  const [, type, id] = /^(ticket|deal)-(\d{1,20})$/.exec(recordId) ?? [];
  return id === undefined ? undefined : { type: type === 'deal' ? 'deal' : 'ticket', id };
}

/** HubSpot's ids of the records of each kind, each id once. Texts that are no ids are left out. */
export function idsByType(recordIds: readonly string[]): [ObjectType, string[]][] {
  const parsed = recordIds.flatMap((recordId) => parseRecordId(recordId) ?? []);
  const byType = Map.groupBy(parsed, ({ type }) => type);
  return [...byType].map(([type, some]) => [type, [...new Set(some.map(({ id }) => id))]]);
}

/**
 * Record names as people write them: `deal-7`, `deal:7`, `deals/7`, `0-3/7` or the address in HubSpot's own pages
 * (`…/contacts/123/record/0-3/7`), or the bare number if the source has only one kind of records.
 */
export function recordNames(objects: readonly ObjectType[]): NonNullable<Source['recordNames']> {
  return {
    like: `${objects.map((type) => recordId(type, '7')).join(' or ')}, or as its address in HubSpot`,
    parse: (written) => {
      const [only, ...others] = objects;
      const text = written.trim().replace(/[/?#]*(?:[?#].*)?$/, '');
      if (/^\d{1,20}$/.test(text)) return only !== undefined && others.length === 0 ? recordId(only, text) : undefined;
      const [, kind = '', id = ''] = /^(?:https:\/\/[^?#]*\/)?([a-z]+|0-\d+)[\s:#/_-]+(\d{1,20})$/i.exec(text) ?? [];
      const type = objects.find((one) => {
        const { plural, objectTypeId } = objectTypes[one];
        return [one, plural, objectTypeId].some((name) => name === kind.toLowerCase());
      });
      return type === undefined ? undefined : recordId(type, id);
    },
  };
}

/** The record's address in HubSpot's own pages, if the account is known. */
export function recordUrl(portalId: string | undefined, recordId: string): string | undefined {
  const parsed = parseRecordId(recordId);
  if (portalId === undefined || !parsed) return undefined;
  return `https://app.hubspot.com/contacts/${portalId}/record/${objectTypes[parsed.type].objectTypeId}/${parsed.id}`;
}
