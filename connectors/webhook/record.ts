import { z } from 'zod';
import type { ConnectorPorts, ReadResult, RecordSnapshots, Source } from '../../core/connector/contract.ts';
import { customerOf } from '../../core/connector/customer.ts';
import { contactKey } from '../../core/contact.ts';
import { listOf } from '../../core/entries.ts';

/** Characters that the contract forbids in an id, and the escape sign. */
const forbidden = /[\s:%\p{Cc}]/gu;

/**
 * The sender's id in the form that the contract requires: no spaces, no ':', at most 100 characters. Reversible; undefined for a text that
 * can't be an id.
 */
export function recordIdFrom(text: string): string | undefined {
  const trimmed = text.trim();
  if (trimmed === '' || !trimmed.isWellFormed()) return undefined;
  const id = trimmed.replace(forbidden, encodeURIComponent);
  return id.length <= 100 ? id : undefined;
}

/** The id as the sender wrote it. An id without escapes is returned unchanged. */
export function senderIdOf(recordId: string): string {
  try {
    return decodeURIComponent(recordId);
  } catch {
    return recordId;
  }
}

/** An e-mail address, or a phone number with its country. */
const looksPersonal = /@|^(?:\+|00)[\d\s().-]{7,}$/;
const digestForm = /^digest-[\w-]{22}$/;

/** Whether the id is a keyed digest made by `namer`. */
export const isDigest = (recordId: string): boolean => digestForm.test(recordId);

/** Converts a record's id to the id that events carry. */
export type NameOf = (recordId: string) => string;

/** Returns a keyed digest for an id that looks like personal data: all spellings of one address have the same digest. Other ids stay as they are. */
export function namer({ digest }: Pick<ConnectorPorts, 'digest'>): NameOf {
  return (recordId) => {
    const text = senderIdOf(recordId);
    if (!looksPersonal.test(text)) return recordId;
    return `digest-${digest(contactKey({ kind: 'identifier', value: text })).slice(0, 22)}`;
  };
}

/** The record's id as the sender wrote it; left out if the event carries the same id. */
const sender = z.string().optional();

/**
 * A record as an event carried it, because no API can read the record. The snapshot of an open record has only its state and the sender's id,
 * so that closeloop stores personal data only of records that lead or led to a feedback request.
 */
export const RecordSnapshot = z.discriminatedUnion('state', [
  z.object({ state: z.literal('open'), sender }),
  z.object({
    state: z.literal('closed'),
    sender,
    closing: z.string(),
    closedAt: z.string(),
    personId: z.string().optional(),
    timeZone: z.string().optional(),
    country: z.string().optional(),
    region: z.string().optional(),
    locale: z.string().optional(),
    /** The person's contacts, by which erasures find the record. */
    contacts: listOf(z.string()).optional(),
    shape: z.record(z.string(), z.unknown()),
  }),
]);
export type RecordSnapshot = z.output<typeof RecordSnapshot>;

/** Reads the newest snapshot, for planning and for asking. */
export function reader(snapshots: RecordSnapshots) {
  return async (recordIds: readonly string[]): Promise<ReadResult[]> => {
    const all = await snapshots.of(recordIds);
    return recordIds.map((id, index) => {
      if (all[index] === undefined) return { ok: false, why: 'not-found' };
      const record = RecordSnapshot.parse(all[index]);
      const ids = { id, currentId: id };
      if (record.state === 'open') return { ok: true, record: { ...ids, state: { is: 'open' }, shape: {} } };
      const { closing, closedAt, shape } = record;
      const state = { is: 'closed', closing, closedAt: new Date(closedAt) } as const;
      return { ok: true, record: { ...ids, state, shape, ...customerOf(record) } };
    });
  };
}

export type SenderIds = NonNullable<Source['vendorIds']>;

/** The sender's own ids from the snapshots; undefined if the person was erased. */
export function senderIds(snapshots: RecordSnapshots, nameOf: NameOf): SenderIds {
  return async (recordIds) => {
    if (!recordIds.some(isDigest)) return [...recordIds];
    const all = await snapshots.of(recordIds);
    return recordIds.map((id, i) => {
      if (!isDigest(id)) return id;
      const known = recordIdFrom(RecordSnapshot.safeParse(all[i]).data?.sender ?? '');
      // An erasure may have removed another person's address from the snapshot: the remaining text is not the sender's id.
      return known !== undefined && nameOf(known) === id ? known : undefined;
    });
  };
}
