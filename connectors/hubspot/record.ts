import type { RecordState } from '../../core/connector/contract.ts';
import { type ObjectType, objectTypes, type Properties } from './objects.ts';
import type { Pipelines } from './pipelines.ts';
import type { HubSpotSettings } from './settings.ts';

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

function orNothing<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** The locale as BCP 47; undefined if HubSpot's code is not valid. */
export const localeOf = (contact: HubSpotContact | null): string | undefined =>
  orNothing(() => Intl.getCanonicalLocales(contact?.language?.replaceAll('_', '-'))[0]);

/** The IANA zone for HubSpot's code (`us_slash_eastern`); undefined if there is none. */
export const timeZoneOf = (code: string | null | undefined): string | undefined =>
  orNothing(() =>
    code ? new Intl.DateTimeFormat('en', { timeZone: code.replaceAll('_slash_', '/') }) : undefined,
  )?.resolvedOptions().timeZone;

/** One change of a property. */
export interface Change {
  value: string;
  at: Date;
}

/** A ticket or deal. `history` is the history of its stage; undefined if the history was not requested. */
export interface RawRecord {
  id: string;
  properties: Properties;
  history?: readonly Change[];
}

/** The record is closed, but the stage's history has no closing yet, because HubSpot updates the history a moment later. */
type Unclear = { is: 'unclear' };

export function stageOf(
  type: ObjectType,
  { properties }: Pick<RawRecord, 'properties'>,
): { pipelineId: string; stageId: string } {
  const { pipeline, stage } = objectTypes[type];
  return { pipelineId: properties[pipeline] ?? '', stageId: properties[stage] ?? '' };
}

/**
 * The state of a record. The stage's metadata decides whether the record is closed, not a label, a well-known id, or a date that people can
 * edit (`closedate`). The closing is named after the instant of the last change from open to closed. A move from one closed stage to another
 * is no new closing. A merge is none either, although the merged record has the histories of all its parts. A record that was deleted and
 * restored keeps its closing. Without history, as the poll reads, the closing is '' and has the date `now`: then only `is` matters.
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
  const isClosed = (id: string) => pipelines.stage(pipelineId, id)?.closed;
  const closedAt = lastClosing(record.history, (id) => isClosed(id) ?? false, stageId);
  if (closedAt === undefined) return { is: 'unclear' };
  // A person may have moved the tickets out of a closed stage to delete the stage: closeloop must not ask customers of long ago.
  const before = newestFirst(record.history, stageId).find(({ at }) => at < closedAt)?.value;
  if (before !== undefined && isClosed(before) === undefined)
    return { is: 'out', why: `it came from stage ${before}, which HubSpot lists no more: that may have been closed` };
  return { is: 'closed', closing: closedAt.toISOString(), closedAt };
}

/** When the record last went from open to closed and stayed closed. */
export function lastClosing(
  history: readonly Change[],
  isClosed: (stageId: string) => boolean,
  current?: string,
): Date | undefined {
  let since: Date | undefined;
  for (const { value, at } of newestFirst(history, current)) {
    if (!isClosed(value)) break;
    since = at;
  }
  return since;
}

/**
 * Sorts changes by time, the newest first. HubSpot documents no order for changes in the same millisecond, which a workflow can make. Among
 * these the latest change leads to the present stage; if there is a later change, the latest among these leads to another stage than the later
 * change.
 */
function newestFirst(history: readonly Change[], current: string | undefined): Change[] {
  const left = history.toSorted((a, b) => b.at.getTime() - a.at.getTime());
  const ordered: Change[] = [];
  for (let next: Change | undefined; ; ) {
    const [first] = left;
    if (first === undefined) return ordered;
    const mayBeLast = ({ value }: Change): boolean => (next ? value !== next.value : value === current);
    const last = left.findIndex((one) => one.at.getTime() === first.at.getTime() && mayBeLast(one));
    [next] = left.splice(Math.max(last, 0), 1);
    if (next) ordered.push(next);
  }
}
