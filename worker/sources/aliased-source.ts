import type {
  PollPage,
  ReadResult,
  RecordSnapshots,
  Source,
  SourceEvent,
  WriteBack,
  WriteResult,
} from '../../core/connector/contract.ts';
import { adviceOf, CloseloopError } from '../../core/errors.ts';
import type { RecordAliases } from '../journey/aliases.ts';

/** For the connector, which knows records by the vendor's ids. */
export function snapshotsByIds(snapshots: RecordSnapshots, aliases: RecordAliases): RecordSnapshots {
  return { of: (recordIds) => snapshots.of(recordIds.map((id) => aliases.of(id))) };
}

/**
 * Replaces record ids in events by their aliases.
 */
export async function aliasedEvents<Event extends SourceEvent>(
  events: readonly Event[],
  aliases: RecordAliases,
  now: Date,
): Promise<Event[]> {
  const ids = events.flatMap(idsIn);
  // Of nearly all vendors.
  if (ids.every((id) => aliases.of(id) === id)) return [...events];
  await aliases.note(ids, now);
  return events.map((event) => ({ ...event, ...aliasedIds(event, aliases) }));
}

function idsIn(event: SourceEvent): string[] {
  if (event.kind === 'erase') return [...(event.recordIds ?? [])];
  if (!('recordId' in event)) return [];
  const into = 'mergedInto' in event ? event.mergedInto : undefined;
  return [event.recordId, ...(into === undefined ? [] : [into])];
}

function aliasedIds(event: SourceEvent, aliases: RecordAliases): object {
  if (event.kind === 'erase') return event.recordIds ? { recordIds: event.recordIds.map((id) => aliases.of(id)) } : {};
  if (!('recordId' in event)) return {};
  const into = 'mergedInto' in event ? event.mergedInto : undefined;
  return { recordId: aliases.of(event.recordId), ...(into !== undefined && { mergedInto: aliases.of(into) }) };
}

/** The source for callers who use aliases: results and errors never name a record by an id that has an alias. */
export function aliasedSource(source: Source, aliases: RecordAliases, { now }: { now: () => Date }): Source {
  const { poll, forget } = source;
  const own: Pick<Source, 'read' | 'writeBack' | 'poll' | 'forget'> = {
    read: async (names) => {
      const ids = await aliases.idsOf(names);
      const gone: ReadResult = { ok: false, why: 'not-found' };
      const known = ids.filter((id) => id !== undefined);
      const results = known.length === 0 ? [] : await source.read(known).catch(rethrow(known, aliases));
      const named = await Promise.all(results.map((result) => namedResult(result, known, aliases, now())));
      return inOrder(ids, named, gone);
    },
    writeBack: async (items) => {
      const ids = await aliases.idsOf(items.map(({ recordId }) => recordId));
      const gone: WriteResult = { ok: false, why: 'not-found', message: 'the id of the record was erased' };
      const known = items.flatMap((item, i): WriteBack[] => {
        const recordId = ids[i];
        return recordId === undefined ? [] : [{ ...item, recordId }];
      });
      const of = known.map(({ recordId }) => recordId);
      const results = known.length === 0 ? [] : await source.writeBack(known).catch(rethrow(of, aliases));
      return inOrder(
        ids,
        results.map((result) => writtenResult(result, of, aliases)),
        gone,
      );
    },
    ...(poll && {
      poll: async (from): Promise<PollPage> => {
        const page = await poll.call(source, from);
        return { ...page, events: await aliasedEvents(page.events, aliases, now()) };
      },
    }),
    ...(forget && {
      forget: async (names) => {
        const ids = (await aliases.idsOf(names)).filter((id) => id !== undefined);
        const left = ids.length === 0 ? [] : await forget.call(source, ids).catch(rethrow(ids, aliases));
        const unknown = names.length - ids.length;
        const shown = left.map((text) => textWithoutIds(text, ids, aliases));
        return unknown === 0 ? shown : [...shown, `what is on ${unknown} records whose ids were erased before`];
      },
    }),
  };
  return new Proxy(source, {
    get: (target, name) => {
      const isOwn = Object.hasOwn(own, name);
      const member: unknown = Reflect.get(isOwn ? own : target, name);
      return typeof member === 'function' ? member.bind(isOwn ? own : target) : member;
    },
  });
}

/** One result per id, in order; `gone` for ids that were not sent to the vendor. */
function inOrder<Result>(ids: readonly (string | undefined)[], results: readonly Result[], gone: Result): Result[] {
  if (ids.every((id) => id !== undefined)) return [...results];
  const next = results[Symbol.iterator]();
  return ids.map((id) => (id === undefined ? gone : (next.next().value ?? gone)));
}

async function namedResult(
  result: ReadResult,
  ids: readonly string[],
  aliases: RecordAliases,
  at: Date,
): Promise<ReadResult> {
  if (!result.ok) return result.why === 'error' ? { ...result, error: withoutIds(result.error, ids, aliases) } : result;
  const { record } = result;
  // Only of one that it was merged into: the others are known, or were erased while they were read.
  if (!ids.includes(record.currentId)) await aliases.note([record.currentId], at);
  return { ok: true, record: { ...record, id: aliases.of(record.id), currentId: aliases.of(record.currentId) } };
}

function writtenResult(result: WriteResult, ids: readonly string[], aliases: RecordAliases): WriteResult {
  const without = (text: string) => textWithoutIds(text, ids, aliases);
  if (result.ok) {
    const { findings, remarks, where, unwritten } = result;
    return {
      ...result,
      findings: findings.map(without),
      ...(remarks !== undefined && { remarks: remarks.map(without) }),
      ...(where !== undefined && { where: without(where) }),
      ...(unwritten !== undefined && { unwritten: without(unwritten) }),
    };
  }
  if (result.why === 'error') return { ...result, error: withoutIds(result.error, ids, aliases) };
  return { ...result, message: without(result.message) };
}

const rethrow = (ids: readonly string[], aliases: RecordAliases) => (error: unknown) => {
  throw error instanceof Error ? withoutIds(error, ids, aliases) : error;
};

/** The error itself, unless its message names a record that has an alias. */
function withoutIds(error: Error, ids: readonly string[], aliases: RecordAliases): Error {
  const message = textWithoutIds(error.message, ids, aliases);
  if (message === error.message) return error;
  const { outcome, reference } = error instanceof CloseloopError ? error : { outcome: 'unknown' as const };
  return new CloseloopError(message, adviceOf(error), { outcome, reference });
}

function textWithoutIds(text: string, ids: readonly string[], aliases: RecordAliases): string {
  return ids.reduce((shown, id) => (aliases.of(id) === id ? shown : shown.replaceAll(id, aliases.of(id))), text);
}
