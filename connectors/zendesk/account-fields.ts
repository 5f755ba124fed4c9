import { type AdminField, adminFields } from './admin.ts';
import type { ZendeskApi } from './client.ts';
import { type KeyedField, objectFieldsIfAny, userFields } from './keyed-fields.ts';
import type { ZendeskSettings } from './settings.ts';

/** Every field that an answer may go to. */
export interface AccountFields {
  ticket: readonly AdminField[];
  user: readonly KeyedField[];
  /** Of the custom object that `writeBack` names; undefined while there is no such object. */
  object: readonly KeyedField[] | undefined;
}

export async function accountFields(
  api: ZendeskApi,
  { customObject }: Pick<ZendeskSettings['writeBack'], 'customObject'>,
): Promise<AccountFields> {
  return {
    ticket: await adminFields(api),
    user: await userFields(api),
    object: customObject === undefined ? [] : await objectFieldsIfAny(api, customObject.object),
  };
}
