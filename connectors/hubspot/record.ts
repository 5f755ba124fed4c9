import type { RecordState } from '../../core/connector.ts';
import { type ObjectType, objectTypes } from './objects.ts';
import type { Pipelines } from './pipelines.ts';
import type { HubSpotSettings } from './settings.ts';

/** HubSpot gives every value as text; unset is null. */
export type Properties = Readonly<Record<string, string | null>>;

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
 * Contact and owner are read for closed records only; before sending, nothing but the state is read (`{}`).
 */
export interface HubSpotShape {
  ticket?: HubSpotTicket;
  deal?: HubSpotDeal;
  contact?: HubSpotContact | null;
  /** How the contact was chosen, in words, without personal data. */
  contactChoice?: string;
  owner?: HubSpotOwner | null;
}

/** One change of a property. */
export interface Change {
  value: string;
  at: Date;
}

/** A ticket or deal as read. `history` is the stage's; undefined where it wasn't asked for. */
export interface RawRecord {
  id: string;
  properties: Properties;
  history?: readonly Change[];
}

/** The stage's history didn't tell when the record closed, though it is closed now: read a moment too early. */
export type Unclear = { is: 'unclear' };

export function stageOf(type: ObjectType, { properties }: RawRecord): { pipelineId: string; stageId: string } {
  const { pipeline, stage } = objectTypes[type];
  return { pipelineId: properties[pipeline] ?? '', stageId: properties[stage] ?? '' };
}

/**
 * Closed by the stage's metadata now. The closing is named by the instant of the last open→closed transition, so a
 * move from one closed stage to another is no new one. Without history (`ask`) it is named '' and dated `now`: then
 * only `is` matters.
 */
export function stateOf(
  type: ObjectType,
  record: RawRecord,
  pipelines: Pipelines,
  { pipelines: onlyPipelines, stages: onlyStages }: Pick<HubSpotSettings, 'pipelines' | 'stages'>,
  now: Date,
): RecordState | Unclear {
  const { pipelineId, stageId } = stageOf(type, record);
  const stage = pipelines.stage(pipelineId, stageId);
  if (stage === undefined) return { is: 'out', why: `HubSpot lists no stage ${stageId || '(none)'} in its pipelines` };
  if (!stage.closed) return { is: 'open' };
  if (onlyPipelines && !onlyPipelines.includes(pipelineId)) {
    return { is: 'out', why: `pipeline ${pipelineId} is not among this source's pipelines` };
  }
  if (onlyStages && !onlyStages.includes(stageId)) {
    return { is: 'out', why: `stage ${stageId} is not among this source's stages` };
  }
  if (record.history === undefined) return { is: 'closed', closing: '', closedAt: now };
  const closedAt = lastClosing(record.history, (id) => pipelines.stage(pipelineId, id)?.closed ?? false);
  return closedAt === undefined ? { is: 'unclear' } : { is: 'closed', closing: closedAt.toISOString(), closedAt };
}

/** When the record last went from open to closed and stayed closed. HubSpot lists the newest change first, mostly. */
export function lastClosing(history: readonly Change[], isClosed: (stageId: string) => boolean): Date | undefined {
  const oldestFirst = history.toReversed().sort((a, b) => a.at.getTime() - b.at.getTime());
  let since: Date | undefined;
  for (const { value, at } of oldestFirst) since = isClosed(value) ? (since ?? at) : undefined;
  return since;
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
