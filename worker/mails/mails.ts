import { z } from 'zod';
import type { Log } from '../../core/ports.ts';
import { type MailPeriod, mailPeriods } from '../config/mail-periods.ts';
import type { ReportMail, Reports } from '../config/reports.ts';
import type { Alert } from '../operations/alerts/message.ts';
import { sendMail } from '../operations/mail.ts';
import { beginMark, Outbox, queueOnce } from '../operations/outbox.ts';
import type { RedisClient } from '../redis/client.ts';
import { globalTag } from '../redis/keys.ts';
import type { Seal } from '../redis/seal.ts';
import type { Period } from '../reports/period.ts';
import { isDecentHour, periodNow } from './due.ts';
import { type MailReading, mailFigures } from './figures.ts';
import { htmlOf } from './html.ts';
import { subjectOf, textOf } from './text.ts';

/**
 * A mail that is stored before it is sent. Its content is read when it is sent: no figure, no comment and no address is stored, so that an erasure
 * in between takes effect.
 */
const Queued = z.object({
  /** Equal for the same mail, period and receiver. */
  id: z.string(),
  every: z.enum(mailPeriods),
  since: z.string(),
  until: z.string(),
});
type Queued = z.output<typeof Queued>;

export interface MailOptions {
  redis: RedisClient;
  seal: Seal;
  log: Log;
  reports: Reports;
  reading: Omit<MailReading, 'readings' | 'now'>;
  now: () => Date;
  /** Alerts a person. */
  alert: (alert: Pick<Alert, 'kind' | 'why' | 'remedy'>) => Promise<void>;
}

/** Attempts without an alert: they take half an hour. */
const attemptsUntold = 6;
/** Reading the service for a mail and sending it takes no longer than this. */
const lockMs = 900_000;

const remedy = 'check reports in the configuration ("closeloop check"); it is tried again each hour';

/** One mail to one person. */
interface Receiver {
  mail: ReportMail;
  to: string;
}

/** Every receiver with their mail, without the people who opted out. */
export function receiversOf({ mails, optOut }: Reports): Receiver[] {
  return mails.flatMap((mail) => {
    // The configuration may name an address twice.
    const without = new Set(optOut.map(nameOf));
    return mail.to.flatMap((to) => {
      if (without.has(nameOf(to))) return [];
      without.add(nameOf(to));
      return [{ mail, to }];
    });
  });
}

const nameOf = (address: string): string => address.toLowerCase();

/**
 * Queues the mails that are due and sends the queued mails: once for each period and receiver, by one of several processes. A mail whose
 * sending is in doubt is sent again with the same Message-ID. After a time without a process only the last of several missed mails is sent,
 * late. A receiver gets no mail that was due before closeloop first saw the receiver.
 */
export async function mailRound(options: MailOptions): Promise<void> {
  const readings: MailReading['readings'] = new Map();
  for (const receiver of receiversOf(options.reports)) {
    for (const every of receiver.mail.every) await queueDue(receiver, every, options);
    await outboxOf(receiver, { ...options, readings }).send();
  }
}

async function queueDue(receiver: Receiver, every: MailPeriod, options: MailOptions): Promise<void> {
  const { redis, reading, seal } = options;
  const now = options.now();
  const period = periodNow(every, { timeZone: reading.timeZone, now });
  const mark = `${keyOf(receiver, seal)}:last:${every}`;
  const last = (await redis.get(mark)) ?? '';
  if (last === '') return await beginMark(redis, mark, period.until);
  // The clock was set back since the last mail: mails that are due from now on are sent.
  if (last > now.toISOString().slice(0, 10)) return void (await redis.set(mark, period.until, 'KEEPTTL'));
  if (last >= period.until || !isDecentHour(receiver.mail, period, { timeZone: reading.timeZone, now })) return;
  const id = `report_${seal.digest(`${keyOf(receiver, seal)} ${every} ${period.until}`).slice(0, 22)}`;
  const queued: Queued = { id, every, ...period };
  const { messages } = outboxOf(receiver, { ...options, readings: new Map() });
  await queueOnce(redis, { mark, lists: [messages] }, { last, period: period.until, text: JSON.stringify(queued) });
}

/** The prefix of the keys of one mail to one person. It holds a digest of the name and the address. */
function keyOf({ mail, to }: Receiver, seal: Seal): string {
  return `${globalTag}:reports:${seal.digest(`report ${mail.name} ${nameOf(to)}`).slice(0, 22)}`;
}

function outboxOf(receiver: Receiver, options: MailOptions & Pick<MailReading, 'readings'>): Outbox<Queued> {
  const { redis, seal, now, log, alert } = options;
  const deliver = (queued: Queued) => deliverMail(receiver, queued, options);
  return new Outbox<Queued>(
    { name: receiver.mail.name, setting: 'reports', deliver },
    {
      ...{ redis, prefix: keyOf(receiver, seal), what: 'a mail with a report', now, log, lockMs },
      parse: (text) => Queued.parse(JSON.parse(text)),
      onFailure: async ({ attempts, why }) => {
        if (attempts < attemptsUntold) return;
        await alert({ kind: 'to-do', why: `the mail "${receiver.mail.name}" is not taken: ${why}`, remedy });
      },
    },
  );
}

async function deliverMail(
  { mail, to }: Receiver,
  { id, every, since, until }: Queued,
  { reports, reading, readings, now, log }: MailOptions & Pick<MailReading, 'readings'>,
): Promise<void> {
  const written = await writeMail(mail, every, { since, until }, { ...reading, readings, now: now() });
  await sendMail({ id, from: reports.from, to: [to], ...written }, reports.server, log);
}

/** Writes the mail about this period. */
export async function writeMail(
  mail: ReportMail,
  every: MailPeriod,
  period: Period,
  reading: MailReading,
): Promise<{ subject: string; html: string; text: string }> {
  const figures = await mailFigures(mail, { every, period }, reading);
  return { subject: subjectOf(figures), html: htmlOf(figures), text: textOf(figures) };
}
