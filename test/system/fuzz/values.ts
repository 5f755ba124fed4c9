import type { Chance } from '../chaos/random.ts';

/* Values that somebody may send: well-formed ones with the names that vendors use, and what no program expects. */

/** The words of a text, one of which is drawn. */
export function words(text: string): [string, ...string[]] {
  const [first = '', ...others] = text.trim().split(/\s+/);
  return [first, ...others];
}

const names = [
  ...words(`
    id type data event detail subject time ticket_id account_id current previous objectId subscriptionType
    propertyName propertyValue occurredAt eventId portalId objectTypeId mergedObjectIds status date_modified_gmt
    billing email phone admin_graphql_api_id fulfillment_status customer results paging next after count meta
    has_more after_cursor tickets users nodes errors extensions cost job_status access_token expires_in
    custom_fields campaign grade comment record appeal answers timestamp __proto__ constructor toString then
    _jsonata_lambda tupleStream
  `),
  '',
] as const;

const texts = [
  ...words(`
    0 null ticket.closed zen:event-type:ticket.status_changed zen:ticket:41960 SOLVED OPEN completed FULFILLED
    object.propertyChange gid://shopify/Order/7 2026-11-20T10:00:00Z 0000-00-00T00:00:00Z a@example.com
    {{ticket.id}} \${SECRET} ../../etc/passwd %00
  `),
  ...['', ' ', '+372 5123 4567', '\u0000', '\u200b', '\ud800', "'; --", 'õ'.repeat(300)],
] as const;

const numbers = [
  0,
  -0,
  -1,
  1,
  7,
  41_960,
  2 ** 31,
  2 ** 53,
  2 ** 53 + 2,
  1e308,
  -1e-308,
  0.1,
  1_795_168_800_000,
] as const;

export function text(chance: Chance): string {
  if (chance.happens(0.6)) return chance.of(texts);
  return Array.from({ length: chance.int(0, 12) }, () => String.fromCodePoint(chance.int(1, 0xffff))).join('');
}

export function value(chance: Chance, depth = 4): unknown {
  const kind = chance.int(0, depth > 0 ? 9 : 5);
  if (kind < 2) return text(chance);
  if (kind < 4) return chance.happens(0.5) ? chance.of(numbers) : chance.int(0, 100_000);
  if (kind < 6) return chance.of([null, true, false]);
  if (kind < 8) return record(chance, depth - 1);
  return Array.from({ length: chance.int(0, 3) }, () => value(chance, depth - 1));
}

export function record(chance: Chance, depth = 4): Record<string, unknown> {
  return Object.fromEntries(
    Array.from({ length: chance.int(0, 6) }, () => [chance.of(names), value(chance, depth - 1)]),
  );
}

/** Some of its bytes changed, left out, put twice or cut off. */
export function spoiled(bytes: Uint8Array, chance: Chance): Buffer {
  const copy = Buffer.from(bytes);
  const at = chance.int(0, Math.max(0, copy.length - 1));
  const way = chance.int(0, 4);
  if (way === 0) return copy.subarray(0, at);
  if (way === 1) return Buffer.concat([copy.subarray(0, at), Buffer.from([chance.int(0, 255)]), copy.subarray(at)]);
  if (way === 2) return Buffer.concat([copy, copy.subarray(at)]);
  if (way === 3) return Buffer.concat([copy.subarray(0, at), copy.subarray(at + 1)]);
  if (copy.length > 0) copy[at] = (copy[at] ?? 0) ^ (1 << chance.int(0, 7));
  return copy;
}

/** A body as somebody sends it: JSON mostly. */
export function body(chance: Chance): Buffer {
  const way = chance.int(0, 19);
  if (way === 0) return Buffer.from(Array.from({ length: chance.int(0, 64) }, () => chance.int(0, 255)));
  if (way === 1) return Buffer.from('['.repeat(chance.int(1, 50_000)));
  if (way === 2) return Buffer.from(`[${'{},'.repeat(chance.int(1, 2_000))}{}]`);
  const json = Buffer.from(JSON.stringify(chance.happens(0.3) ? [record(chance)] : record(chance)));
  return way < 6 ? spoiled(json, chance) : json;
}
