import type { RecordState } from '../../core/connector/contract.ts';
import { type RawRecord, stageOf } from './closing.ts';
import type { ObjectType, Properties } from './objects.ts';
import type { Pipelines } from './pipelines.ts';

interface Named {
  id: string;
  /** The stage's label in HubSpot, '' if unknown. People may change it at any time: rules are safer with `id`. */
  label: string;
}

interface Common {
  id: string;
  pipeline: Named;
  stage: Named;
  /** ISO 8601, UTC. */
  createdAt: string | null;
  /** When the record went from open to closed, ISO 8601, UTC; null while it isn't closed. Not HubSpot's own, editable date. */
  closedAt: string | null;
  /** All properties that were read, by internal name, including the configuration's `properties`. */
  properties: Properties;
}

export interface HubSpotTicket extends Common {
  subject: string | null;
  priority: string | null;
  category: string | null;
}

export interface HubSpotDeal extends Common {
  name: string | null;
  amount: number | null;
}

export interface HubSpotContact {
  id: string;
  email: string | null;
  /** The number as people typed it. */
  phone: string | null;
  mobilePhone: string | null;
  firstName: string | null;
  lastName: string | null;
  /** HubSpot's language code, like `en` or `pt-br`. */
  language: string | null;
  /** The IANA zone, like `America/New_York`; null if HubSpot knows none. */
  timeZone: string | null;
  /** The country's code (`US`) if HubSpot has one, else the country as people typed it; likewise the state or province. */
  country: string | null;
  region: string | null;
  /** All properties that were read, by internal name, including the configuration's `contactProperties`. */
  properties: Properties;
}

export interface HubSpotOwner {
  id: string;
  name: string | null;
  email: string | null;
}

/**
 * A HubSpot record as rules and fields see it: `ticket.subject`, `ticket.stage.id`, `deal.amount`, `contact.email`, `owner.name`,
 * `ticket.properties.store`. Either `ticket` or `deal` is present.
 * The connector reads contact and owner for closed records only.
 */
export interface HubSpotShape {
  ticket?: HubSpotTicket;
  deal?: HubSpotDeal;
  contact?: HubSpotContact | null;
  /** How the contact was chosen, in words, without personal data. */
  contactChoice?: string;
  owner?: HubSpotOwner | null;
}

export function present(
  type: ObjectType,
  record: RawRecord,
  pipelines: Pipelines,
  state: RecordState,
): Pick<HubSpotShape, 'ticket' | 'deal'> {
  const { id, properties } = record;
  const { pipelineId, stageId } = stageOf(type, record);
  const text = (name: string) => properties[name] || null;
  const common: Common = {
    id,
    pipeline: { id: pipelineId, label: pipelines.label(pipelineId) },
    stage: { id: stageId, label: pipelines.stage(pipelineId, stageId)?.label ?? '' },
    createdAt: text('createdate'),
    closedAt: state.is === 'closed' ? state.closedAt.toISOString() : null,
    properties,
  };
  if (type === 'deal') {
    const amount = Number(text('amount') ?? Number.NaN);
    return { deal: { ...common, name: text('dealname'), amount: Number.isFinite(amount) ? amount : null } };
  }
  return {
    ticket: {
      ...common,
      subject: text('subject'),
      priority: text('hs_ticket_priority'),
      category: text('hs_ticket_category'),
    },
  };
}

/** The locale as BCP 47; undefined if HubSpot's code is not valid. */
export function localeOf(contact: HubSpotContact | null): string | undefined {
  if (!contact?.language) return undefined;
  try {
    return Intl.getCanonicalLocales(contact.language.replaceAll('_', '-'))[0];
  } catch {
    return undefined;
  }
}

/** The IANA zone for HubSpot's code (`us_slash_eastern`); undefined if there is none. */
export function timeZoneOf(code: string | null | undefined): string | undefined {
  if (!code) return undefined;
  try {
    const timeZone = code.replaceAll('_slash_', '/');
    return new Intl.DateTimeFormat('en', { timeZone }).resolvedOptions().timeZone;
  } catch {
    return undefined;
  }
}
