import type { WriteBack } from '../../core/connector/contract.ts';
import { CloseloopError } from '../../core/errors.ts';
import { holdsLater, laterStays, notTaken, propertiesOf } from './answer.ts';
import type { HubSpotApi } from './client.ts';
import { updateConfirmed } from './confirmed.ts';
import { chooseContacts } from './contacts.ts';
import { heldBy } from './held.ts';
import type { ObjectType } from './objects.ts';
import type { HubSpotSettings } from './settings.ts';

/** An answer, and the record it is about, by the id that it has now. */
export interface About {
  item: WriteBack;
  type: ObjectType;
  id: string;
}

export type OnContact =
  | { is: 'written'; findings: string[] }
  | { is: 'not-written'; remark: string }
  | { is: 'refused'; error: Error };

/**
 * Puts answers on the people who gave them: the contact who was asked or, where that isn't known, the one who would be
 * asked now. A contact with several records shows its latest answer.
 */
export async function writeOnContacts(
  settings: HubSpotSettings,
  api: HubSpotApi,
  answers: readonly About[],
): Promise<Map<WriteBack, OnContact>> {
  const names = settings.writeBack.contact;
  const contacts = await contactsOf(settings, api, answers);
  const outcomes = new Map<WriteBack, OnContact>();
  const ids = [...contacts.values()].filter((id) => typeof id === 'string');
  const held = names.answeredAt === undefined ? new Map() : await heldBy(api, 'contacts', ids, [names.answeredAt]);

  const writes = answers.flatMap(({ item }) => {
    const id = contacts.get(item);
    if (typeof id !== 'string') {
      outcomes.set(item, id ?? nobody);
      return [];
    }
    if (holdsLater(item, names.answeredAt, held.get(id))) {
      outcomes.set(item, { is: 'not-written', remark: laterStays('contact') });
      return [];
    }
    return [{ item, id, properties: propertiesOf(item, names), at: item.answeredAt }];
  });
  const updates = await updateConfirmed(api, 'contacts', writes);
  for (const { item, id } of writes) {
    const update = updates.get(id);
    if (update?.is === 'refused') outcomes.set(item, update);
    else if (update?.is === 'done') {
      outcomes.set(item, { is: 'written', findings: notTaken(update.write.properties, update.result.properties) });
    } else outcomes.set(item, nobody);
  }
  return outcomes;
}

const nobody: OnContact = {
  is: 'not-written',
  remark: 'HubSpot has no contact for this record any more: the answer is on the record alone',
};

/** Contact ids; an outcome where there is none to be had. Two calls per 100 records whose contact isn't known. */
async function contactsOf(settings: HubSpotSettings, api: HubSpotApi, answers: readonly About[]) {
  const found = new Map<WriteBack, string | OnContact>();
  for (const { item } of answers) if (item.personId !== undefined) found.set(item, item.personId);
  for (const type of settings.objects) {
    const unknown = answers.filter((answer) => answer.type === type && !found.has(answer.item));
    const ids = [...new Set(unknown.map(({ id }) => id))];
    const choices = await chooseContacts(api, type, ids, { ...settings, contactProperties: [] });
    for (const { item, id } of unknown) {
      const choice = choices.get(id);
      if (choice instanceof CloseloopError) found.set(item, { is: 'refused', error: choice });
      else if (choice?.contact) found.set(item, choice.contact.id);
    }
  }
  return found;
}
