import type { FieldType } from '../../../../standins/feedback/model.ts';
import { type Answer, type Service, service } from './service.ts';

const fields: { name: FieldType; fieldType: FieldType; choices?: string[] }[] = [
  { name: 'Text', fieldType: 'Text' },
  { name: 'Integer', fieldType: 'Integer' },
  { name: 'Date', fieldType: 'Date' },
  { name: 'Time', fieldType: 'Time' },
  { name: 'Date and time', fieldType: 'Date and time' },
  { name: 'Yes/No', fieldType: 'Yes/No' },
  { name: 'Choice', fieldType: 'Choice', choices: ['A', 'B'] },
  { name: 'URL address', fieldType: 'URL address' },
];

/** One campaign of every type (ids 1 to 5), of every other state, and of the other account. */
export async function campaigns(options: Parameters<typeof service>[0] = {}): Promise<Service> {
  const s = await service(options);
  s.standin.addCampaign({ account: 'a', id: 1, type: 'sms' });
  s.standin.addCampaign({ account: 'a', id: 2, type: 'email', sendDelay: 90 });
  s.standin.addCampaign({ account: 'a', id: 3, type: 'mixed', customFields: fields });
  s.standin.addCampaign({ account: 'a', id: 4, type: 'widget' });
  s.standin.addCampaign({ account: 'a', id: 5, type: 'external' });
  s.standin.addCampaign({ account: 'a', id: 6, type: 'email', state: 'inactive' });
  s.standin.addCampaign({ account: 'a', id: 7, type: 'email', state: 'draft' });
  s.standin.addCampaign({ account: 'b', id: 8, type: 'external' });
  s.standin.addCampaign({ account: 'a', id: 9, type: 'email', customFields: [{ name: 'Store', required: true }] });
  return s;
}

export const create = (s: Service, body: unknown): Promise<Answer> => s.call('POST', '/appeals/', body);
export const at = (iso: string): string => new Date(iso).toISOString();
