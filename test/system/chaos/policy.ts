import { type RuleName, slowDelayMs, type Vendor } from './planned-record.ts';

// What the configuration says of whom to ask, as data: closeloop's configuration is written from it, and the auditor judges by it.

/** What an operator changes by rewriting the configuration. */
export interface PolicyVersion {
  /** `never` leaves out records with the flag `vip`, too. */
  neverVip: boolean;
  /** The campaign of rule `slow`. */
  slowIn: 'main' | 'other';
  /** What the custom field "Store" is taken from. */
  storeFrom: 'subject' | 'store';
  /** Whether rule `trial` is in test mode. */
  isTrial: boolean;
}

/** The nth version: each differs from the one before it in what is asked. */
export function versionOf(n: number): PolicyVersion {
  return {
    neverVip: n % 2 === 1,
    slowIn: n % 4 < 2 ? 'main' : 'other',
    storeFrom: n % 4 === 0 || n % 4 === 3 ? 'subject' : 'store',
    isTrial: n % 2 === 0,
  };
}

/** Campaigns of each source. Those of the help desks have the marker field; requests of the CRM are found again by contact and counters. */
export const campaigns = {
  desk: { main: 41, other: 43, estonian: 45 },
  plain: { main: 51, other: 53, estonian: 55 },
  crm: { main: 42, other: 44, estonian: 46 },
} as const;
export const marker = 'closeloop';
export const tester = 'tester@example.com';
/** The account's clock. Its hours begin with those of UTC. */
export const accountZone = 'Europe/Tallinn';
/** Where it is outside the hours of rule `hours` whenever it is inside them in the account's zone. */
export const farZone = 'Pacific/Auckland';

export interface Window {
  /** HH:MM on the recipient's clock. */
  from: string;
  until: string;
}

export interface Rule {
  name: RuleName;
  campaign: number | Readonly<Record<string, number>>;
  delayMs: number;
  isEachClosing?: true;
  window?: Window;
  throttle?: { periodMs: number; otherwise: 'drop' | 'defer'; prefer: 'first' | 'latest' };
  capPerHour?: number;
  /** Test mode: who gets the request. */
  test?: string;
}

/** What one run settles for all versions. */
export interface PolicySettings {
  window: Window;
  capPerHour: number;
}

/** The window of rule `hours` in a run that begins at `now`: it opens in the run's second or third minute, for seven hours. */
export function windowFrom(now: number): Window {
  const clock = (ms: number): string =>
    new Intl.DateTimeFormat('en-GB', { timeZone: accountZone, hour: '2-digit', minute: '2-digit' }).format(ms);
  return { from: clock(now + 120_000), until: clock(now + 7 * 3_600_000) };
}

/** A closing of rule `latest` waits so long for a later one of the same person. */
export const latestDelayMs = 8_000;
const hourMs = 3_600_000;

/** The rules of a source, first to last: each takes the records that have its name as their subject. */
export function rulesOf(version: PolicyVersion, vendor: Vendor, { window, capPerHour }: PolicySettings): Rule[] {
  const { main, other, estonian } = campaigns[vendor];
  const rules: Rule[] = [
    { name: 'slow', campaign: version.slowIn === 'main' ? main : other, delayMs: slowDelayMs },
    { name: 'each', campaign: main, delayMs: 0, isEachClosing: true },
    { name: 'once', campaign: main, delayMs: 0 },
    { name: 'tongues', campaign: { et: estonian, en: main }, delayMs: slowDelayMs },
    { name: 'hours', campaign: { et: estonian, default: main }, delayMs: slowDelayMs, window },
    { name: 'capped', campaign: main, delayMs: 1_000, capPerHour },
  ];
  // Of several requests to one contact whose outcomes are unknown only a marker tells which is which.
  if (vendor === 'crm') return rules;
  return [
    ...rules,
    { name: 'trial', campaign: main, delayMs: slowDelayMs, ...(version.isTrial && { test: tester }) },
    {
      name: 'rare',
      campaign: main,
      delayMs: 0,
      throttle: { periodMs: 4 * hourMs, otherwise: 'drop', prefer: 'first' },
    },
    {
      name: 'patient',
      campaign: main,
      delayMs: 0,
      throttle: { periodMs: 30_000, otherwise: 'defer', prefer: 'first' },
    },
    {
      ...{ name: 'latest', campaign: main, delayMs: latestDelayMs },
      throttle: { periodMs: 4 * hourMs, otherwise: 'drop', prefer: 'latest' },
    },
  ];
}

/** The values of a record's flag that nobody is asked about. */
export const neverFlags = ({ neverVip }: PolicyVersion): readonly string[] =>
  neverVip ? ['no_survey', 'vip'] : ['no_survey'];

/** How each connector presents what rules look at. */
const expressions = {
  help: {
    contact: 'requester.email',
    flag: (value: string) => `"${value}" in ticket.tags`,
    subject: 'ticket.subject',
    store: 'ticket.fields.store',
  },
  crm: {
    contact: 'contact.email',
    flag: (value: string) => `ticket.properties.flag = "${value}"`,
    subject: 'ticket.subject',
    store: 'ticket.properties.store',
  },
} as const;

/** The part of a source's configuration that says whom to ask: `never` and `rules`, as YAML (which JSON is). */
export function policyText(version: PolicyVersion, vendor: Vendor, settings: PolicySettings): string {
  const words = expressions[vendor === 'crm' ? 'crm' : 'help'];
  const rules = rulesOf(version, vendor, settings).map((rule) => ({
    name: rule.name,
    when: `${words.subject} = "${rule.name}"`,
    campaign: rule.campaign,
    contact: words.contact,
    fields: { Store: words[version.storeFrom] },
    ...(rule.delayMs > 0 && { delay: `${rule.delayMs}ms` }),
    ...(rule.isEachClosing && { again: 'each closing' }),
    ...(rule.window && { window: { ...rule.window, zone: 'recipient' } }),
    ...(rule.throttle && {
      throttle: {
        period: `${rule.throttle.periodMs}ms`,
        otherwise: rule.throttle.otherwise,
        prefer: rule.throttle.prefer,
      },
    }),
    ...(rule.capPerHour !== undefined && { cap: { hour: rule.capPerHour } }),
    ...(rule.test !== undefined && { test: { email: rule.test } }),
  }));
  const never = neverFlags(version).map((flag) => words.flag(flag));
  return `    never: ${JSON.stringify(never)}\n    rules: ${JSON.stringify(rules)}`;
}
