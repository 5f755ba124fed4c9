import { createHash } from 'node:crypto';
import pLimit from 'p-limit';
import { z } from 'zod';
import { aboutRecords } from '../../core/connector/calls.ts';
import { config, type Meaning } from '../../core/connector/classify.ts';
import type { ConnectorPorts, Source, WriteBack, WriteResult } from '../../core/connector/contract.ts';
import { jsonBody } from '../../core/connector/json-body.ts';
import { isOfPrivateAddress, openReceiver } from '../../core/connector/public-address.ts';
import type { HttpResponse, SendFailure } from '../../core/connector/send.ts';
import { signStandardWebhook } from '../../core/connector/standard-webhook.ts';
import { createVendorApi, type VendorCall } from '../../core/connector/vendor-api.ts';
import { CloseloopError } from '../../core/errors.ts';
import type { Ports } from '../../core/ports.ts';
import { isDigest, type SenderIds, senderIdOf } from './record.ts';
import type { WebhookSettings } from './settings.ts';

/* The receiver of answers: signed events tell it of answers, and ask it to forget them. */

type Target = NonNullable<WebhookSettings['writeBack']>;

/**
 * Posts one signed event once; the queue repeats it under the same id. `not-found`: the receiver doesn't know the record (404 without a
 * page).
 * @throws VendorError for every other response but 2xx
 */
export type Post = (id: string, event: object) => Promise<'taken' | 'not-found'>;

export function poster({ url, secrets, allowPrivate }: Target, ports: ConnectorPorts): Post {
  const api = createVendorApi(
    {
      name: `The receiver of answers (${new URL(url).host})`,
      baseUrl: url,
      // Standard Webhooks recommend 15 to 30 seconds.
      timeoutMs: 20_000,
      // Only the beginning of the response is read.
      head: 2_048,
      rules: { table: { 410: config('it wants no more events', 'correct writeBack.url, or take writeBack out') } },
      unanswered,
      jsonOf,
      transport: openReceiver({ url, allowPrivate }, ports.fetch).fetch,
    },
    ports,
  );

  return async (id, event) => {
    const body = JSON.stringify(event);
    const signed = signStandardWebhook({ id, at: ports.now(), body }, secrets);
    const headers = { 'user-agent': 'closeloop', ...signed };
    const call: VendorCall = { method: 'POST', path: '', place: 'an event', body, headers };
    return (await api.find(call, z.null())) === undefined ? 'not-found' : 'taken';
  };
}

/**
 * The response as JSON. A login page has status 200, too, and counts as no JSON. Other texts of a receiver count as success; a 404 with a
 * text may come from a proxy.
 */
function jsonOf({ status, text }: HttpResponse): unknown {
  const isPage = status === 404 || /^<(?:!doctype|html)/i.test(text.trim());
  return isPage ? jsonBody(text) : null;
}

function unanswered({ cause }: SendFailure): Meaning | undefined {
  const remedy = 'name a public address in writeBack.url, or set writeBack.allowPrivate if it is meant';
  return isOfPrivateAddress(cause) ? config('it has a private address, which is not called', remedy) : undefined;
}

/** The id of an event: the same text gives the same id. */
const eventId = (text: string): string => `fb_${createHash('sha256').update(text).digest('base64url').slice(0, 32)}`;

/** The id of this version of the answer. The `marker` can't be the id, as it has full stops, which ids must not have. */
export const idOf = ({ recordId, marker }: Pick<WriteBack, 'recordId' | 'marker'>) => eventId(`${recordId} ${marker}`);

/** The body that the receiver gets. */
export function eventOf(item: WriteBack, include: Target['include']) {
  const { status, recordId, requestId = null, campaign, grade, maxGrade = null, comment, answers = {} } = item;
  const answeredAt = item.answeredAt.toISOString();
  return {
    type: status === 'answered' ? 'feedback.answered' : 'feedback.unanswered',
    timestamp: answeredAt,
    data: {
      record: senderIdOf(recordId),
      ...{ request: requestId, campaign, grade, maxGrade },
      comment: include.includes('comment') ? comment : null,
      answers: include.includes('answers') ? answers : {},
      answeredAt,
    },
  };
}

/** How many records are posted at the same time: receivers are often small. */
const atOnce = 5;

/**
 * Sends one signed event per answer, in order for each record. A retry has the same id and body, so the receiver recognises it; the
 * receiver finds the newest answer by `answeredAt`.
 */
export function writer(include: Target['include'], post: Post, senderIds: SenderIds): Source['writeBack'] {
  return async (items) => {
    const byRecord = Map.groupBy(items, ({ recordId }) => recordId);
    const records = [...byRecord.keys()];
    const ids = await senderIds(records);
    const results = new Map<WriteBack, WriteResult>();
    // After a failure that concerns all records no further call is made.
    let failure: CloseloopError | undefined;

    async function write(item: WriteBack, recordId: string | undefined): Promise<WriteResult> {
      if (failure !== undefined) return { ok: false, why: 'error', error: failure };
      if (recordId === undefined) return { ok: false, why: 'not-found', message: 'the id of the record was erased' };
      try {
        const taken = await post(idOf(item), eventOf({ ...item, recordId }, include));
        if (taken === 'taken') return { ok: true, findings: [] };
        const message = 'The receiver of answers says that it has no such record (404).';
        return { ok: false, why: 'not-found', message };
      } catch (error) {
        if (!(error instanceof CloseloopError)) throw error;
        if (error.advice.kind !== 'permanent') failure = error;
        return { ok: false, why: 'error', error };
      }
    }

    await pLimit(atOnce).map(records, async (record, n) => {
      for (const item of byRecord.get(record) ?? [])
        results.set(item, await aboutRecords([record], () => write(item, ids[n])));
    });
    if (failure !== undefined && [...results.values()].every(({ ok }) => !ok)) throw failure;
    return items.flatMap((item) => results.get(item) ?? []);
  };
}

/**
 * Asks the receiver of answers to forget the answers of these records, with one signed event per record. closeloop can't know whether the
 * receiver does, and the proof of the erasure says so.
 */
export function forgetter(post: Post, { now }: Pick<Ports, 'now'>): NonNullable<Source['forget']> {
  return async (recordIds) => {
    const told = { taken: 0, 'not-found': 0 };
    const left: string[] = [];
    const all = [...new Set(recordIds)];
    const named = all.filter((recordId) => !isDigest(recordId));
    for (const recordId of named) {
      const at = now().toISOString();
      const event = { type: 'feedback.erased', timestamp: at, data: { record: senderIdOf(recordId) } };
      try {
        // Each request has a new id, because answers may have come since the last request for the record.
        told[await post(eventId(`erased ${recordId} ${at}`), event)]++;
      } catch (error) {
        if (!(error instanceof CloseloopError && error.advice.kind === 'permanent')) throw error;
        left.push(error.message);
      }
    }
    const kept = 'what the receiver of answers keeps';
    const remarks: [count: number, remark: string][] = [
      [told.taken, `${kept}: it was told to forget those of ${told.taken} records`],
      [told['not-found'], `${kept} of ${told['not-found']} records: it answered 404, as if it did not know them`],
      [
        all.length - named.length,
        `${kept} of ${all.length - named.length} records: their ids were erased before it could be told`,
      ],
    ];
    return [...left, ...remarks.flatMap(([count, remark]) => (count > 0 ? [remark] : []))];
  };
}
