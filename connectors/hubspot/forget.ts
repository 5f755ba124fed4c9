import { type AnswerPlaces, placesOf } from '../../core/connector/answer.ts';
import type { Source } from '../../core/connector/contract.ts';
import { CloseloopError } from '../../core/errors.ts';
import { isSameValue } from './answer.ts';
import type { HubSpotApi } from './api.ts';
import { currentOf } from './batch.ts';
import { chooseContacts } from './contacts.ts';
import { removeNotes } from './engagement.ts';
import { type ObjectType, objectTypes, type Properties, parseRecordId } from './objects.ts';
import type { HubSpotSettings } from './settings.ts';
import { updateAll } from './update.ts';

/**
 * Removes answers from records: clears the configured properties, also of the contact, and archives closeloop's notes. As few calls as
 * for writing, and one more where contacts have properties. HubSpot's history of earlier values can't be changed.
 */
export function forgetter(settings: HubSpotSettings, api: HubSpotApi): NonNullable<Source['forget']> {
  const { writeBack } = settings;
  const onRecord = namesOf(writeBack);
  const onContact = namesOf(writeBack.contact);

  async function ofType(type: ObjectType, ids: readonly string[]): Promise<string[]> {
    const { plural } = objectTypes[type];
    // Contacts first: their answers are recognised by comparison with the record's.
    const left = onContact.length > 0 ? await forgetContacts(type, ids) : [];
    const updates = await updateAll(api, plural, cleared(ids, onRecord));
    const current = ids.map((id) => {
      const update = updates.get(id);
      return update?.is === 'done' ? update.result.id : id;
    });
    // Also those of answer rules.
    await removeNotes(api, type, current);
    for (const update of updates.values()) if (update.is === 'refused') left.push(update.error.message);
    const isDone = [...updates.values()].some(({ is }) => is === 'done');
    return isDone ? [...left, `the history of the ${type}s' properties, which HubSpot keeps`] : left;
  }

  /** A contact may show the answer to another question by now, and another contact may stand in the place of a deleted one. */
  async function forgetContacts(type: ObjectType, ids: readonly string[]): Promise<string[]> {
    const ours = placesOf(writeBack);
    const pairs = [...placesOf(writeBack.contact)].flatMap(([part, theirs]) => {
      const mine = ours.get(part);
      return mine === undefined ? [] : [{ mine, theirs }];
    });
    if (pairs.length === 0) return ["the contacts' properties: nothing tells whose answer they hold"];
    const choices = await chooseContacts(api, type, ids, { ...settings, contactProperties: onContact });
    const records = await currentOf(
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

const namesOf = (places: AnswerPlaces<string>): string[] => [...placesOf(places).values()];

function cleared(ids: readonly string[], names: readonly string[]) {
  const properties = Object.fromEntries(names.map((name) => [name, '']));
  return names.length === 0 ? [] : ids.map((id) => ({ id, properties, at: new Date(0) }));
}

function isSame(pairs: readonly { mine: string; theirs: string }[], record: Properties, contact: Properties): boolean {
  const values = pairs.map(({ mine, theirs }) => [record[mine] ?? '', contact[theirs] ?? ''] as const);
  return values.some(([own]) => own !== '') && values.every(([own, other]) => isSameValue(own, other));
}
