import { domainToASCII, domainToUnicode } from 'node:url';
import type { CountryCode } from 'libphonenumber-js/max';
import { z } from 'zod';
import { neverSent } from './errors.ts';
import { international, isInternational, parsePhoneNumberFromString, phoneNumber } from './phone-numbers.ts';
import { composed, isBlank, withoutUnseen } from './visible-text.ts';

/**
 * The contact that a feedback request goes to. `value` is normalised: a phone number in international form (`+37255512345`),
 * an e-mail address or an identifier without outer spaces. Source: specification section 2, Contact.
 */
export interface Contact {
  kind: 'phone' | 'email' | 'identifier';
  value: string;
}

/** A campaign's channel. Source: specification section 2, Campaign. */
export const campaignTypes = ['sms', 'email', 'mixed', 'widget', 'external'] as const;
export type CampaignType = (typeof campaignTypes)[number];

export interface ContactOptions {
  /** ISO 3166 country (`EE`) of numbers without `+` or `00`. Left out: such a number does not count as a phone number. */
  defaultCountry?: CountryCode | undefined;
}

export interface ContactForOptions extends ContactOptions {
  /** Says why a well-formed e-mail address reaches no customer, if so. */
  unfitAddress?: (address: string) => string | undefined;
}

/** Why a candidate was passed over. `why` is a sentence for the trace and never quotes the value. */
interface RejectedCandidate {
  /** Position among the candidates, from 0. */
  index: number;
  why: string;
}

/** The most candidates taken from one list that an expression found: parsing phone numbers is expensive. */
export const mostCandidates = 50;

export type ContactChoice =
  /** `index`: the position of the candidate that was taken. */
  | { ok: true; contact: Contact; index: number; rejected: RejectedCandidate[] }
  | { ok: false; rejected: RejectedCandidate[] };

const AsciiEmail = z.email().max(254);

const foreignDomain =
  /^[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]*[\p{L}\p{M}\p{N}])?(?:\.[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]*[\p{L}\p{M}\p{N}])?)+$/u;

/** Accepts internationalised addresses: letters of any script before the `@`, a domain in Unicode or in punycode. */
function isEmail(text: string): boolean {
  if (AsciiEmail.safeParse(text).success) return true;
  const at = text.lastIndexOf('@');
  const [local, domain] = [text.slice(0, Math.max(0, at)), text.slice(at + 1)];
  if (!foreignDomain.test(domain) || Buffer.byteLength(text) > 254) return false;
  // Each non-ASCII letter is replaced by an ASCII letter, so that the same checks apply.
  const lettered = composed(local).replace(/[\p{L}\p{M}\p{N}]/gu, 'x');
  const host = domainToASCII(domain).replace(/\.xn--[a-z0-9-]+$/i, '.example');
  return AsciiEmail.safeParse(`${lettered}@${host}`).success;
}

/**
 * Reads what a person or a vendor wrote as a contact: an e-mail address, else a phone number (with `+` or `00`, or
 * national when `defaultCountry` is given), else an identifier.
 * @throws CloseloopError permanent, for text that can't name a contact: empty, `.`, `..` or broken Unicode.
 */
export function parseContact(text: string, options: ContactOptions = {}): Contact {
  const seen = withoutUnseen(text);
  if (isEmail(seen)) return { kind: 'email', value: seen };
  const number = international(seen, options.defaultCountry);
  return number === undefined ? identified('identifier', text.trim()) : { kind: 'phone', value: number };
}

/**
 * The contact as the service stores it: phone numbers in international form, outer spaces removed, identifiers unchanged.
 * @throws CloseloopError permanent, as `parseContact`.
 */
export function normaliseContact({ kind, value }: Contact): Contact {
  const text = kind === 'identifier' ? value.trim() : withoutUnseen(value);
  return identified(kind, kind === 'phone' ? (international(text) ?? text) : text);
}

/**
 * A key that is equal for every spelling of one contact, of whatever kind: case, spaces, `+` or `00` before a number, and the
 * form of an internationalised domain make no difference. Never throws, as it is also computed for the service's records.
 */
export function contactKey({ value }: Contact): string {
  const text = withoutUnseen(value);
  // An `@` rules out a phone number.
  const written = text.includes('@') ? text : (international(text) ?? text);
  return composed(withDomain(written, domainToASCII)).toLowerCase();
}

/** The e-mail address with its internationalised domain in the other form: `münchen.de` for `xn--mnchen-3ya.de`, and back. */
function withDomain(text: string, write: (domain: string) => string): string {
  const at = text.lastIndexOf('@');
  const domain = text.slice(at + 1);
  if (at < 0 || !/[^\p{ASCII}]|xn--/iu.test(domain)) return text;
  const written = write(domain);
  return written === '' ? text : `${text.slice(0, at)}@${written}`;
}

/**
 * Every form under which the service may have stored a contact that a person or a vendor wrote, the usual form first. The
 * service treats the international forms of a mobile number as equal, and stores identifiers as they were sent.
 * Empty for text that can't name a contact.
 */
export function contactForms(written: string, options: ContactOptions = {}): Contact[] {
  const text = written.trim();
  if (identifierFlaw(text) !== undefined) return [];
  const usual = parseContact(text, options);
  const domains = [domainToASCII, domainToUnicode].map((write) => withDomain(usual.value, write));
  const others = usual.kind === 'email' ? domains : numberForms(usual, options);
  const forms = new Map<string, Contact>([[usual.value.toLowerCase(), usual]]);
  for (const value of [text, ...others]) {
    if (!forms.has(value.toLowerCase())) forms.set(value.toLowerCase(), { kind: 'identifier', value });
  }
  return [...forms.values()];
}

/** The spellings of a number that was not normalised, also without its country. */
function numberForms({ kind, value }: Contact, { defaultCountry }: ContactOptions): string[] {
  if (kind !== 'phone') return [];
  const abroad = `00${value.slice(1)}`;
  const number = parsePhoneNumberFromString(value);
  if (number === undefined) return [abroad];
  const national = number.formatNational();
  const groups = national.match(/\d+/g) ?? [];
  // Digits alone may be a customer number.
  const isAtHome = defaultCountry !== undefined && number.country === defaultCountry;
  const bare = isAtHome ? [groups.join(''), `${number.nationalNumber}`] : [];
  const international = number.getType() === 'MOBILE' ? [] : [abroad, number.formatInternational()];
  return [...international, national, groups.join(' '), groups.join('-'), ...bare];
}

/** The contact as one segment of a path: `%2B37255512345`. The service reads `+` and `%2B` alike; proxies don't. */
export function contactPath(contact: Contact): string {
  return encodeURIComponent(normaliseContact(contact).value);
}

/**
 * The first candidate that a campaign of this type can reach, and why the candidates before it were passed over.
 * Candidates are results of expressions: texts, numbers, and lists of these; anything else is rejected.
 */
export function contactFor(
  candidates: readonly unknown[],
  campaignType: CampaignType,
  options: ContactForOptions = {},
): ContactChoice {
  const rejected: RejectedCandidate[] = [];
  for (const [index, candidate] of candidates.entries()) {
    const entries: readonly unknown[] = Array.isArray(candidate) && candidate.length > 0 ? candidate : [candidate];
    for (const entry of entries.slice(0, mostCandidates)) {
      const found = usable(entry, campaignType, options);
      if (found.ok) return { ok: true, contact: found.contact, index, rejected };
      rejected.push({ index, why: found.why });
    }
    if (entries.length > mostCandidates)
      rejected.push({ index, why: `${entries.length} entries, of which ${mostCandidates} are looked at` });
  }
  return { ok: false, rejected };
}

type Usable = { ok: true; contact: Contact } | { ok: false; why: string };

function usable(candidate: unknown, campaignType: CampaignType, options: ContactForOptions): Usable {
  if (candidate === undefined || candidate === null) return { ok: false, why: 'empty' };
  const isText = typeof candidate === 'string' || Number.isSafeInteger(candidate);
  if (!isText) return { ok: false, why: 'neither text nor a whole number' };
  const text = String(candidate).trim();
  if (isBlank(text)) return { ok: false, why: 'empty' };
  switch (campaignType) {
    case 'sms':
      return mobile(text, options);
    case 'email':
      return email(text, options);
    case 'mixed':
      if (text.includes('@')) return email(text, options);
      return eitherKind(mobile(text, options), text);
    case 'widget':
    case 'external':
      return ownChannel(text, options);
  }
}

/**
 * The contact of an external campaign is an identifier (specification section 2: "the identifier of an external feedback
 * request"), which may be any text. Mobile numbers, and numbers with a country, are normalised as the service does, so that a
 * look-up finds them. Other digits may be a customer number and stay as they are.
 */
function ownChannel(text: string, options: ContactOptions): Usable {
  const number = mobile(text, options);
  const abroad = isInternational(text) ? phoneNumber(text, options.defaultCountry) : undefined;
  const value = number.ok ? number.contact.value : abroad?.ext === undefined ? (abroad?.number ?? text) : text;
  const flaw = identifierFlaw(value);
  return flaw === undefined ? { ok: true, contact: { kind: 'identifier', value } } : { ok: false, why: flaw };
}

/** A campaign that takes either: of a text with letters nobody can tell which it was meant to be. */
function eitherKind(found: Usable, text: string): Usable {
  return found.ok || !/\p{L}/u.test(text) ? found : { ok: false, why: 'neither an e-mail address nor a phone number' };
}

function email(text: string, { unfitAddress }: ContactForOptions): Usable {
  const value = withoutUnseen(text);
  if (!isEmail(value)) return { ok: false, why: 'not an e-mail address' };
  const why = unfitAddress?.(value);
  return why === undefined ? { ok: true, contact: { kind: 'email', value } } : { ok: false, why };
}

function mobile(text: string, { defaultCountry }: ContactOptions): Usable {
  if (text.includes('@')) return { ok: false, why: 'not a phone number' };
  const number = phoneNumber(withoutUnseen(text), defaultCountry);
  if (number === undefined) {
    const national = !isInternational(text) && defaultCountry === undefined && /^[\d\s().-]+$/.test(text);
    const remedy = '(write it with + or 00, or set a default country)';
    return { ok: false, why: national ? `a phone number without country code ${remedy}` : 'not a valid phone number' };
  }
  if (number.ext !== undefined) return { ok: false, why: 'an extension, which no text message reaches' };
  const type = number.getType();
  // In North America and elsewhere a number does not show whether it is mobile or fixed: such numbers are accepted.
  if (type === 'MOBILE' || type === 'FIXED_LINE_OR_MOBILE')
    return { ok: true, contact: { kind: 'phone', value: number.number } };
  return { ok: false, why: type === 'FIXED_LINE' ? 'a landline number' : 'not a mobile number' };
}

/** A path segment of `.` or `..`, encoded or not, would change the path of the URL. */
function identifierFlaw(value: string): string | undefined {
  if (isBlank(value)) return 'empty';
  if (value === '.' || value === '..') return 'a contact that no address can name';
  return value.isWellFormed() ? undefined : 'not valid Unicode text';
}

function identified(kind: Contact['kind'], value: string): Contact {
  const flaw = identifierFlaw(value);
  if (flaw === undefined) return { kind, value };
  throw neverSent(
    `The contact is unusable (${flaw}): give a phone number, an e-mail address or an identifier.`,
    'permanent',
  );
}
