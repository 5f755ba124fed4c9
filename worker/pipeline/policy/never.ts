import type { RecordParts } from '../../../core/connector/record-parts.ts';
import { type ContactOptions, contactKey, mostCandidates, parseContact } from '../../../core/contact.ts';
import { CloseloopError } from '../../../core/errors.ts';
import { type Expression, evaluateAll, type Findings } from '../../../core/mapping/expression.ts';
import { domainOf, isReservedAddress, isRoleAddress, isWithin } from '../../../core/unfit-address.ts';
import type { ContactList } from '../../config/config.ts';
import type { NeverCondition } from '../../config/never.ts';
import type { Policy } from '../../config/policy.ts';
import type { Skip } from '../../journey/reasons.ts';
import type { Never } from '../rules.ts';

/** The reason for not asking. Undefined: closeloop may ask. */
export type Why = string | undefined;

export interface NeverOptions extends ContactOptions {
  connector: { parts: RecordParts };
  /** The company's own domains, as the connector knows them. */
  ownDomains: readonly string[];
  lists: ReadonlyMap<string, ContactList>;
}

/** Why the customer isn't asked about a record, by the ready-made conditions. */
export async function neverByRecord(never: Never, shape: object, closedAt: Date): Promise<Skip | undefined> {
  if (never.ofRecord.length === 0) return undefined;
  const findings = await evaluateAll(
    never.ofRecord.flatMap(({ reads }) => reads),
    shape,
  );
  for (const one of never.ofRecord) {
    const why = reasonOfRecord(one, findings, closedAt);
    if (why !== undefined) return { reason: 'never', why: `${why} (never)` };
  }
  return undefined;
}

/** Why the customer isn't asked, by what the expressions of a ready-made condition found. */
export function reasonOfRecord(
  { reads, reasonFor }: Never['ofRecord'][number],
  findings: Findings,
  closedAt: Date,
): Why {
  return reasonFor(
    reads.flatMap((one) => valuesOf(findings, one)),
    closedAt,
  );
}

/** Why the customer isn't asked, by all contacts that the expressions find, also by contacts that the campaign couldn't reach. */
export function neverByPerson(never: Never, findings: Findings, contact: readonly Expression[]): Skip | undefined {
  if (never.ofPerson.length === 0) return undefined;
  const texts = contactsIn(findings, contact);
  for (const { reasonFor } of never.ofPerson) {
    const why = reasonFor(texts);
    if (why !== undefined) return { reason: 'never', why: `${why} (never)` };
  }
  return undefined;
}

/** Everything that contact expressions have found, as texts. */
export function contactsIn(findings: Findings, contact: readonly Expression[]): string[] {
  const found = contact.flatMap((one) => valuesOf(findings, one).slice(0, mostCandidates));
  return found.flatMap((value) => {
    return typeof value === 'string' || typeof value === 'number' ? [String(value).trim()] : [];
  });
}

/** Says why closeloop asks no customer at this e-mail address, if so; for `contactFor`. */
export function unfitAddress(
  { askAnyway = [] }: Pick<Policy, 'askAnyway'>,
  { isRehearsal }: { isRehearsal: boolean },
): (address: string) => string | undefined {
  const isReserved = askAnyway.includes('reserved-domains') || isRehearsal ? () => false : isReservedAddress;
  const isRole = askAnyway.includes('role-addresses') ? () => false : isRoleAddress;
  return (address) => {
    if (isReserved(address)) return 'an address of a domain that nobody can have';
    return isRole(address) ? 'an address that no person reads' : undefined;
  };
}

function valuesOf(findings: Findings, expression: Expression): unknown[] {
  const found = findings.of(expression);
  if (!found.ok || found.value === undefined) return [];
  return Array.isArray(found.value) ? found.value : [found.value];
}

export function ofPerson(
  { reason, ownDomains, contactsIn: file }: NeverCondition,
  { lists, ...options }: NeverOptions,
): Never['ofPerson'] {
  if (ownDomains !== undefined) {
    const reasonFor = (contacts: readonly string[]): Why =>
      contacts.some((one) => isOf(one, ownDomains)) ? (reason ?? 'own domain') : undefined;
    return [{ what: `ownDomains: ${ownDomains.join(', ')}`, reasonFor }];
  }
  if (file === undefined) return [];
  const reasonFor = (contacts: readonly string[]): Why => {
    const list = lists.get(file);
    if (list === undefined) throw new CloseloopError(`${file} was not read`, { kind: 'config' });
    const isOnIt = contacts.some((one) => keysOf(one, options).some((key) => list.has(key)));
    return isOnIt ? (reason ?? `on the list ${file}`) : undefined;
  };
  return [{ what: `contactsIn: ${file}`, reasonFor }];
}

function isOf(address: string, domains: readonly string[]): boolean {
  const domain = domainOf(address);
  return domain !== undefined && domains.some((own) => isWithin(domain, own));
}

function keysOf(text: string, options: ContactOptions): string[] {
  try {
    return [contactKey(parseContact(text, options))];
  } catch (error) {
    if (error instanceof CloseloopError) return [];
    throw error;
  }
}
