import { z } from 'zod';
import type { ConnectorPorts } from '../../core/connector/contract.ts';
import { CloseloopError } from '../../core/errors.ts';
import type { ZendeskApi } from './client.ts';
import { kept, type LookUp } from './kept.ts';

const TicketField = z.object({
  id: z.union([z.number(), z.string()]).transform(String),
  type: z.string(),
  title: z.string().nullish(),
  active: z.boolean().nullish(),
  /** False: one of Zendesk's own. */
  removable: z.boolean().nullish(),
  custom_field_options: z.array(z.object({ name: z.string(), value: z.string() })).nullish(),
});
export type TicketField = z.output<typeof TicketField>;

/** The account's ticket fields as the rest of the connector needs them. */
export interface Catalogue {
  byId: ReadonlyMap<string, TicketField>;
  /** Field id → name in expressions, for fields that have one of their own. */
  slugs: ReadonlyMap<string, string>;
}

export function fieldCatalogue(api: ZendeskApi, ports: Pick<ConnectorPorts, 'now'>): LookUp<Catalogue> {
  return kept(async () => catalogueOf(await ofAccount(api.listTicketFields(z.array(TicketField)))), ports.now);
}

/** The fields are the account's: that they can't be read is no ticket's fault, and it may pass. */
async function ofAccount<T>(fields: Promise<T>): Promise<T> {
  try {
    return await fields;
  } catch (error) {
    if (!(error instanceof CloseloopError) || error.advice.kind !== 'permanent') throw error;
    const { message, outcome, reference } = error;
    throw new CloseloopError(message, { kind: 'config', doubtful: true }, { outcome, reference, cause: error });
  }
}

/**
 * A field's name in expressions is its title in small letters with `_` between words: "Order No." is `order_no`.
 * Where two titles give the same name an active field wins over an inactive one, then the older one (the lower id):
 * a field that is added later can't take the name away from a rule in use. Every field has its id as a name as well.
 */
export function catalogueOf(fields: readonly TicketField[]): Catalogue {
  const inactive = (field: TicketField): number => (field.active === false ? 1 : 0);
  const oldestFirst = [...fields].sort((a, b) => inactive(a) - inactive(b) || Number(a.id) - Number(b.id));
  const owners = new Map<string, string>();
  for (const { id, title } of oldestFirst) {
    const slug = slugOf(title ?? '');
    if (slug !== '' && !owners.has(slug)) owners.set(slug, id);
  }
  return {
    byId: new Map(fields.map((field) => [field.id, field])),
    slugs: new Map([...owners].map(([slug, id]) => [id, slug])),
  };
}

/** Letters of every script stay, accents go: "Größe (cm)" is `grosse_cm`, as nobody types them the same way twice. */
export function slugOf(title: string): string {
  return title
    .toLowerCase()
    .replaceAll('ß', 'ss')
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .normalize('NFC')
    .replace(/[^\p{L}\p{N}]+/gu, '_')
    .replace(/^_+|_+$/g, '');
}
