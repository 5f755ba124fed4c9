import type { RecordState } from '../../core/connector/contract.ts';
import { type RawRecord, stageOf } from './closing.ts';
import type { ObjectType, Properties } from './objects.ts';
import type { Pipelines } from './pipelines.ts';

interface Named {
  id: string;
  /** As people see it in HubSpot, '' if unknown. It may be renamed at any time: rules are safer with `id`. */
  label: string;
}

interface Common {
  id: string;
  pipeline: Named;
  stage: Named;
  /** ISO 8601, UTC. */
  createdAt: string | null;
  /** When it went from open to closed, ISO 8601, UTC; null while it isn't closed. Not HubSpot's own, editable date. */
  closedAt: string | null;
  /** All that was read, by internal name: those of the configuration's `properties` too. */
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
  /** As people typed it. */
  phone: string | null;
  mobilePhone: string | null;
  firstName: string | null;
  lastName: string | null;
  /** HubSpot's code, like `en` or `pt-br`. */
  language: string | null;
  /** IANA, like `America/New_York`; null where HubSpot knows none. */
  timeZone: string | null;
  /** Code (`US`) where HubSpot has one, else as people typed it; so the state or province. */
  country: string | null;
  region: string | null;
  /** All that was read, by internal name: those of the configuration's `contactProperties` too. */
  properties: Properties;
}

export interface HubSpotOwner {
  id: string;
  name: string | null;
  email: string | null;
}

/**
 * What rules and fields see of a HubSpot record: `ticket.subject`, `ticket.stage.id`, `deal.amount`, `contact.email`,
 * `owner.name`, `ticket.properties.store`. Either `ticket` or `deal` is there.
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

/** BCP 47, or undefined where HubSpot's code is none. */
export function localeOf(contact: HubSpotContact | null): string | undefined {
  if (!contact?.language) return undefined;
  try {
    return Intl.getCanonicalLocales(contact.language.replaceAll('_', '-'))[0];
  } catch {
    return undefined;
  }
}

/** HubSpot writes zones as `us_slash_eastern`. IANA's own name, or undefined where it is none. */
export function timeZoneOf(code: string | null | undefined): string | undefined {
  if (!code) return undefined;
  try {
    const timeZone = code.replaceAll('_slash_', '/');
    return new Intl.DateTimeFormat('en', { timeZone }).resolvedOptions().timeZone;
  } catch {
    return undefined;
  }
}
