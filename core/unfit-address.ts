/*
 * Well-formed e-mail addresses that no customer reads: a feedback request to such an address reaches no customer.
 */

/** Top-level domains that are reserved and never on the Internet: RFC 2606, RFC 6761, RFC 6762, and `internal` by ICANN. */
const reservedTops = new Set(['example', 'invalid', 'test', 'localhost', 'local', 'internal']);
const reservedDomains = ['example.com', 'example.net', 'example.org', 'example.edu'];

/** Mailboxes of machines, by RFC 2142 and by custom. `info@` and `sales@` are left out, as people read them in small companies. */
const role =
  /^(?:(?:no|donot|do[-._]not)[-._]?reply|mailer[-._]?daemon|postmaster|hostmaster|webmaster|abuse|bounces?|daemon|nobody)(?:[-+=._].*)?$/i;

/** Whether an address has a reserved domain (`example.com`, `.invalid`). Such an address was made up. */
export function isReservedAddress(address: string): boolean {
  const domain = domainOf(address);
  if (domain === undefined) return false;
  const top = domain.slice(domain.lastIndexOf('.') + 1);
  return reservedTops.has(top) || reservedDomains.some((one) => isWithin(domain, one));
}

/** Whether only a machine reads the address, or nobody does (`noreply@`, `mailer-daemon@`). */
export function isRoleAddress(address: string): boolean {
  const at = address.lastIndexOf('@');
  return at > 0 && role.test(address.slice(0, at));
}

/** The domain of an e-mail address, in small letters; undefined for other text. */
export function domainOf(address: string): string | undefined {
  const at = address.lastIndexOf('@');
  const written = address.slice(at + 1).trim();
  const domain = written.toLowerCase().replace(/\.$/, '');
  return at > 0 && domain !== '' ? domain : undefined;
}

/** Whether `domain` is `parent`, or a domain below `parent`. */
export function isWithin(domain: string, parent: string): boolean {
  return domain === parent || domain.endsWith(`.${parent}`);
}
