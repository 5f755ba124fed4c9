import { recipientPlace } from '../../../core/schedule/recipient-place.ts';
import type { RuleWindow, SendTimeInput } from '../../../core/schedule/send-time.ts';

/** Saturday, 17:30 in Tallinn (UTC+2 in winter, +3 from 29 March to 25 October 2026). */
export const saturday = '11-21T15:30';
export const hour = 3_600_000;

/** `11-21T15:30`, of 2026 and in UTC, or in full. */
export const instant = (text: string): Date => new Date(text.length === 11 ? `2026-${text}:00Z` : text);

export interface Row {
  now?: string;
  closedAt?: string;
  delayMs?: number;
  /** 'HH:MM-HH:MM' of the campaign, or with seconds. */
  campaign?: string;
  sendDelay?: number | null;
  /** In the zone of the account, where it names none. */
  window?: Omit<RuleWindow, 'zone'> & Partial<RuleWindow>;
  zone?: string;
  recipientZone?: string;
  serviceAddsDelay?: boolean;
  phoneCountry?: string;
  /** 'HH:MM-HH:MM'; given for a text message. */
  sms?: string;
}

export function inputOf(row: Row): SendTimeInput {
  const [sendFrom = '', sendUntil = ''] = (row.campaign ?? '00:00-00:00')
    .split('-')
    .map((text) => (text.length === 5 ? `${text}:00` : text));
  return {
    now: instant(row.now ?? saturday),
    closedAt: instant(row.closedAt ?? row.now ?? saturday),
    delayMs: row.delayMs,
    campaign: { id: 12, sendFrom, sendUntil, sendDelayMinutes: row.sendDelay ?? null },
    window: row.window && { zone: 'account', ...row.window },
    accountZone: row.zone ?? 'Europe/Tallinn',
    recipient: recipientPlace(
      { timeZone: row.recipientZone, phoneCountry: row.phoneCountry },
      row.zone ?? 'Europe/Tallinn',
    ),
    sms: row.sms === undefined ? undefined : { from: row.sms.slice(0, 5), until: row.sms.slice(6) },
    serviceAddsDelay: row.serviceAddsDelay,
  };
}
