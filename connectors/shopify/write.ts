import { z } from 'zod';
import {
  type ActionNote,
  type AnswerPart,
  cut,
  isSameValue,
  isSurveyPart,
  type PartName,
  placesOf,
  surveyText,
} from '../../core/connector/answer.ts';
import type { WriteBack } from '../../core/connector/contract.ts';
import type { Rows } from '../../core/connector/desk/rows.ts';
import type { ChangedRow, DeskWriting } from '../../core/connector/desk/writing.ts';
import { inSeconds } from '../../core/connector/seconds.ts';
import { listOf, orElse } from '../../core/entries.ts';
import { CloseloopError } from '../../core/errors.ts';
import { isBlank } from '../../core/visible-text.ts';
import type { ShopifyApi } from './api.ts';
import { type Mutation, send } from './mutations.ts';
import { isOrderId, orderGid, readOrders } from './order.ts';
import type { ShopifySettings } from './settings.ts';
import { installedApp } from './webhooks.ts';

type WriteBackSettings = ShopifySettings['writeBack'];

/** Shopify's types of a metafield for grades. */
export const gradeKinds = { whole: 'number_integer', fraction: 'number_decimal' } as const;

const kinds = {
  grade: { type: gradeKinds.whole, label: 'Feedback grade' },
  comment: { type: 'multi_line_text_field', label: 'Feedback comment' },
  answeredAt: { type: 'date_time', label: 'Feedback given at' },
  status: { type: 'single_line_text_field', label: 'Feedback status' },
} as const;

/** The type of the metafield that takes a part of an answer, and its label for people. */
export const kindOf = (part: PartName): { type: string; label: string } =>
  isSurveyPart(part) ? { type: kinds.comment.type, label: `Feedback: ${part.slice('answers.'.length)}` } : kinds[part];

/** The place for the order's only note. It can't be a metafield's key, as it has a space. */
const theNote = 'the note';

const Held = z.object({ value: z.string(), type: z.string(), compareDigest: z.string() });
const Defined = z.object({ nodes: listOf(z.object({ type: z.object({ name: z.string() }) })) });
const Current = z.object({
  ...{ id: z.string(), tags: listOf(z.string()), note: z.string().nullish() },
  customer: orElse(z.object({ id: z.string().regex(/^gid:\/\/shopify\/Customer\/\d+$/) }), null).nullish(),
});

/** The present values of an order. */
export interface CurrentOrder extends z.output<typeof Current> {
  /** The order's metafields by key. Shopify refuses to overwrite a value whose digest is not the given digest. */
  held: ReadonlyMap<string, z.output<typeof Held>>;
  /**
   * The type of the grade's metafield, which keeps the type that it was defined or first written with; undefined: it was neither defined
   * nor written.
   */
  gradeType: string | undefined;
}

/** Reads the present values of orders by their ids. Orders that the app can't see are left out. @param further one more field */
export function currentReader(writeBack: WriteBackSettings, api: ShopifyApi, further = '') {
  const { namespace, grade = '' } = writeBack;
  const keys = [...placesOf(writeBack).values()];
  const metafields = keys.map(
    (key, n) => `m${n}: metafield(namespace: "${namespace}", key: "${key}") { value type compareDigest }`,
  );
  const which = `first: 1, ownerType: ORDER, namespace: "${namespace}", key: "${grade}"`;
  const definitions = grade && `definitions: metafieldDefinitions(${which}) { nodes { type { name } } }`;
  const fields = ['id tags note', further, ...metafields].join(' ');
  const name = further === '' ? 'AnswersOnOrders' : 'ActedOrders';
  const document = `query ${name}($ids: [ID!]!) { nodes(ids: $ids) { ... on Order { ${fields} } } ${definitions} }`;
  const each = 1 + keys.length + (further ? 1 : 0);
  const operation = { name, document, price: { base: grade ? 5 : 0, each } };

  return (ids: readonly string[]): Promise<Rows<CurrentOrder>> =>
    readOrders(api, operation, ids, async (node, definitions) => {
      const held = new Map(
        keys.flatMap((key, n) => {
          const { data } = Held.safeParse(node[`m${n}`]);
          return data === undefined ? [] : [[key, data] as const];
        }),
      );
      const defined = Defined.safeParse(definitions).data?.nodes[0]?.type.name;
      return { ...Current.parse(node), held, gradeType: defined ?? held.get(grade)?.type };
    });
}

/** The form of a part in a metafield; null clears the metafield. Shopify stores no empty values. */
function written({ part, value }: AnswerPart, { commentLength = Infinity }: { commentLength?: number }): string | null {
  if (value instanceof Date) return inSeconds(value);
  if (part === 'status') return value === 'answered' ? 'answered' : 'no answer';
  const text = surveyText(value ?? '');
  return isBlank(text) ? null : cut(text, commentLength);
}

/** @param gid the id of an order or a customer */
export const addTags = (gid: string, tags: readonly string[]): Mutation => {
  return { call: `tagsAdd(id: "${gid}", tags: $v)`, type: '[String!]!', value: tags };
};

/** @param note the whole note, because Shopify can only replace it */
export const setNote = (gid: string, note: string): Mutation => {
  return { call: 'orderUpdate(input: $v)', type: 'OrderInput!', value: { id: gid, note } };
};

type Changed = ChangedRow<CurrentOrder, string>;

/** The type of the metafield for a value; undefined for a fraction in a metafield of whole numbers. */
function typeFor(part: PartName, value: string, { gradeType }: CurrentOrder): string | undefined {
  if (part !== 'grade') return kindOf(part).type;
  if (gradeType === gradeKinds.fraction) return gradeType;
  if (isWhole(value)) return gradeKinds.whole;
  return gradeType === undefined ? gradeKinds.fraction : undefined;
}

const isWhole = (value: string | null) => Number.isInteger(Number(value));

/**
 * The mutations of a change, in the order of their execution. Tags are added and removed one by one, because setting the list would replace
 * the tags of others. A grade that its metafield can't hold is left out: Shopify would refuse the other metafields with it.
 */
function mutationsFor({ id: orderId, row, change }: Changed, writeBack: WriteBackSettings): Mutation[] {
  const id = orderGid(orderId);
  const { values, tags = row.tags } = change;
  const [set, unset]: [object[], object[]] = [[], []];
  for (const [part, key] of placesOf(writeBack)) {
    const value = values.get(key);
    if (value === undefined) continue;
    const owner = { ownerId: id, namespace: writeBack.namespace, key };
    if (value === null) unset.push(owner);
    else {
      const type = typeFor(part, value, row);
      const compareDigest = row.held.get(key)?.compareDigest ?? null;
      if (type !== undefined) set.push({ ...owner, type, value, compareDigest });
    }
  }
  const added = tags.filter((tag) => !row.tags.includes(tag));
  const removed = row.tags.filter((tag) => !tags.includes(tag));
  const note = values.get(theNote);
  const errors = 'code field elementIndex';
  const all: (Mutation | false)[] = [
    set.length > 0 && { call: 'metafieldsSet(metafields: $v)', type: '[MetafieldsSetInput!]!', value: set, errors },
    unset.length > 0 && {
      call: 'metafieldsDelete(metafields: $v)',
      type: '[MetafieldIdentifierInput!]!',
      value: unset,
    },
    removed.length > 0 && { call: `tagsRemove(id: "${id}", tags: $v)`, type: '[String!]!', value: removed },
    added.length > 0 && addTags(id, added),
    typeof note === 'string' && setNote(id, note),
  ];
  return all.filter((one) => one !== false);
}

/**
 * The error for a refusal. A metafield definition that refuses closeloop's writes concerns all orders; every other refusal concerns this
 * order.
 */
function refusal(shop: string, id: string, why: string): CloseloopError {
  const [kind, remedy] = /STALE_OBJECT|INVALID_COMPARE_DIGEST/.test(why)
    ? (['transient', 'somebody changed the metafields at the same time; a later attempt may succeed'] as const)
    : /APP_NOT_AUTHORIZED|INVALID_TYPE/.test(why)
      ? (['config', 'the metafield belongs to somebody else or has another type: run "closeloop check"'] as const)
      : ([
          'permanent',
          'look at the validations of the metafield (Settings > Metafields > Orders): "closeloop check" names them',
        ] as const);
  return new CloseloopError(`Shopify ${shop}: order ${id}: ${why}; ${remedy}`, { kind });
}

/**
 * Writes answers. Each order has mutations of its own, so that a refusal concerns one order; a call has the mutations of as many orders as
 * its limit of points allows. A metafield is written only over the value that was read: a call that Shopify executes late changes no newer
 * value.
 */
export function writing({ shop, writeBack }: ShopifySettings, api: ShopifyApi): DeskWriting<CurrentOrder, string> {
  return {
    settings: writeBack,
    rows: { isId: isOrderId, many: currentReader(writeBack, api) },
    written,
    at: ({ held, note }, place) => (place === theNote ? (note ?? '') : held.get(place)?.value),
    holds: (current, value) =>
      typeof current === 'string' ? isSameValue(current, value ?? '') : (value ?? null) === null,
    tags: ({ tags }) => tags,
    further({ note }, item) {
      if (item === undefined) return [[theNote, (note ?? '').replace(ourLine, '').replace(lineOfAction, '')]];
      return writeBack.note && item.status === 'answered' ? [[theNote, noteWith(item, note ?? '')]] : [];
    },
    async putMany(changed) {
      const work = changed.map((one) => [one.id, mutationsFor(one, writeBack)] as const);
      const undone = await send(api, 'WriteAnswers', new Map(work.filter(([, mutations]) => mutations.length > 0)));
      return new Map([...undone].map(([id, why]) => [id, typeof why === 'string' ? refusal(shop, id, why) : why]));
    },
    notKept(place, value) {
      if (place === theNote) return 'somebody changed it at the same time';
      const isUnfit = place === writeBack.grade && !isWhole(value);
      if (!isUnfit) return 'look for another app or a flow that sets it';
      return `a metafield of whole numbers takes no ${value}: choose another key (writeBack.grade), and let "closeloop setup" define it`;
    },
    async unseen(ids) {
      if ((await installedApp(api)).scopes.includes('read_all_orders')) return [];
      const why = 'deleted, or older than 60 days, which needs the scope read_all_orders';
      return [`${ids.length} orders can't be seen: ${why}`];
    },
  };
}

/** Matches the line of an answer in the note. The next answer replaces this line. */
const ourLine = /\n?\[feedback [^[\]\n]* · closeloop [^[\]\n]*\]/g;

/** Matches the line of a note that an answer rule has added. Only an erasure removes this line. */
const lineOfAction = /\n?\[note: [^[\]\n]* · closeloop [^[\]\n]*\]/g;

/** The most characters that Shopify takes in a note. */
const mostOfNote = 5_000;

const begun = (note: string) => (note === '' ? '' : `${note}\n`);

/**
 * The note with closeloop's line, which replaces an earlier line. Brackets and line breaks in a comment are replaced, as they would hide
 * the end of the line.
 */
function noteWith(item: WriteBack, note: string): string {
  const { marker, grade, maxGrade, campaign, answeredAt, comment } = item;
  if (note.includes(` · closeloop ${marker}]`)) return note;
  const given = grade === null ? '' : ` ${grade}${maxGrade === undefined ? '' : `/${maxGrade}`}`;
  const about = `${inLine(campaign)}, ${answeredAt.toISOString().slice(0, 10)}`;
  const head = `${begun(note.replace(ourLine, ''))}[feedback${given} (${about})`;
  const tail = ` · closeloop ${marker}]`;
  const room = mostOfNote - head.length - tail.length - 6;
  if (room < 0) return note; // A full note stays unchanged.
  return head + (comment === null ? '' : `: "${cut(inLine(comment), room)}"`) + tail;
}

/** The note with one more line, once for each marker; undefined if the note has no room. */
export function withLine(note: string, { text, marker }: ActionNote): string | undefined {
  const tail = ` · closeloop ${marker}]`;
  if (note.includes(tail)) return note;
  const head = `${begun(note)}[note: `;
  const room = mostOfNote - head.length - tail.length;
  return room < 20 ? undefined : head + cut(inLine(text), room) + tail;
}

const inLine = (text: string): string => text.replaceAll('[', '(').replaceAll(']', ')').replace(/\s+/g, ' ').trim();
