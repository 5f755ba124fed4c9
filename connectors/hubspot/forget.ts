import type { Source } from '../../core/connector/contract.ts';
import { CloseloopError } from '../../core/errors.ts';
import { sameValue } from './answer.ts';
import type { HubSpotApi } from './client.ts';
import { chooseContacts } from './contacts.ts';
import { heldBy } from './held.ts';
import { removeNotes } from './note.ts';
import { type ObjectType, objectTypes, type Properties, parseRecordId } from './objects.ts';
import type { HubSpotSettings } from './settings.ts';
import { updateAll } from './update.ts';

const parts = ['grade', 'comment', 'answeredAt'] as const;

/**
 * Takes answers off records: clears the properties of the settings, on the contact as well, and archives our notes. Calls as few
 * as for writing, and one more where contacts have properties. What HubSpot keeps of earlier values can't be reached.
 */
export function forgetter(settings: HubSpotSettings, api: HubSpotApi): NonNullable<Source['forget']> {
  const { writeBack } = settings;
  const names = [...parts.map((part) => writeBack[part]), writeBack.status, ...Object.values(writeBack.answers)];
  const onContact = parts.map((part) => writeBack.contact[part]);

  async function ofType(type: ObjectType, ids: readonly string[]): Promise<string[]> {
    const { plural } = objectTypes[type];
    // The contact's answer is known by the record's: those first.
    const left = onContact.some((name) => name !== undefined) ? await forgetContacts(type, ids) : [];
    const updates = await updateAll(api, plural, cleared(ids, names));
    const current = ids.map((id) => {
      const update = updates.get(id);
      return update?.is === 'done' ? update.result.id : id;
    });
    if (writeBack.note) await removeNotes(api, type, current);
    for (const update of updates.values()) if (update.is === 'refused') left.push(update.error.message);
    const isDone = [...updates.values()].some(({ is }) => is === 'done');
    return isDone ? [...left, `the history of the ${type}s' properties, which HubSpot keeps`] : left;
  }

  /** A contact may show the answer to another question by now, and another contact may stand in the place of a deleted one. */
  async function forgetContacts(type: ObjectType, ids: readonly string[]): Promise<string[]> {
    const pairs = parts.flatMap((part) => {
      const [mine, theirs] = [writeBack[part], writeBack.contact[part]];
      return mine === undefined || theirs === undefined ? [] : [{ mine, theirs }];
    });
    if (pairs.length === 0) return ["the contacts' properties: nothing tells whose answer they hold"];
    const choices = await chooseContacts(api, type, ids, { ...settings, contactProperties: defined(onContact) });
    const records = await heldBy(
      api,
      objectTypes[type].plural,
      ids,
      pairs.map(({ mine }) => mine),
    );
    const mine: string[] = [];
    for (const [id, choice] of choices) {
      if (choice instanceof CloseloopError) throw choice;
      const { contact } = choice;
      if (contact !== null && isSame(pairs, records.get(id) ?? {}, contact.properties)) mine.push(contact.id);
    }
    const updates = await updateAll(api, 'contacts', cleared([...new Set(mine)], onContact));
    return [...updates.values()].flatMap((update) => (update.is === 'refused' ? [update.error.message] : []));
  }

  return async (recordIds) => {
    const records = recordIds.flatMap((id) => parseRecordId(id) ?? []);
    const left: string[] = [];
    for (const type of ['ticket', 'deal'] as const) {
      const ids = new Set(records.filter((record) => record.type === type).map(({ id }) => id));
      if (ids.size > 0) left.push(...(await ofType(type, [...ids])));
    }
    return [...new Set(left)];
  };
}

const defined = (names: readonly (string | undefined)[]): string[] => names.filter((name) => name !== undefined);

function cleared(ids: readonly string[], names: readonly (string | undefined)[]) {
  const properties = Object.fromEntries(defined(names).map((name) => [name, '']));
  return Object.keys(properties).length === 0 ? [] : ids.map((id) => ({ id, properties, at: new Date(0) }));
}

function isSame(pairs: readonly { mine: string; theirs: string }[], record: Properties, contact: Properties): boolean {
  const values = pairs.map(({ mine, theirs }) => [record[mine] ?? '', contact[theirs] ?? ''] as const);
  return values.some(([held]) => held !== '') && values.every(([held, theirs]) => sameValue(held, theirs));
}
