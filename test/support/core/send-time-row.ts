import { recipientPlace } from '../../../core/schedule/recipient-place.ts';
import type { RuleWindow, SendTimeInput } from '../../../core/schedule/send-time.ts';

/** Saturday, 17:30 in Tallinn (UTC+2 in winter, +3 from 29 March to 25 October 2026). */
export const saturday = '2026-11-21T15:30:00Z';
export const hour = 3_600_000;

export interface Row {
  now?: string;
  closedAt?: string;
  delayMs?: number;
  /** 'HH:MM-HH:MM' of the campaign, or with seconds. */
  campaign?: string;
  sendDelay?: number | null;
  window?: RuleWindow;
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
    now: new Date(row.now ?? saturday),
    closedAt: new Date(row.closedAt ?? row.now ?? saturday),
    delayMs: row.delayMs,
    campaign: { id: 12, sendFrom, sendUntil, sendDelayMinutes: row.sendDelay ?? null },
    window: row.window,
    accountZone: row.zone ?? 'Europe/Tallinn',
    recipient: recipientPlace(
      { timeZone: row.recipientZone, phoneCountry: row.phoneCountry },
      row.zone ?? 'Europe/Tallinn',
    ),
    sms: row.sms === undefined ? undefined : { from: row.sms.slice(0, 5), until: row.sms.slice(6) },
    serviceAddsDelay: row.serviceAddsDelay,
  };
}
