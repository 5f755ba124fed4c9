import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { refusal } from '../../core/errors.ts';
import type { MailPeriod } from '../config/mail-periods.ts';
import type { ReportMail, Reports } from '../config/reports.ts';
import { periodNow } from '../mails/due.ts';
import { receiversOf, writeMail } from '../mails/mails.ts';
import { onFile } from './finish.ts';
import { print } from './output.ts';
import { type CommandOptions, named } from './runtime.ts';
import { withReading } from './with-records.ts';

/** Writes the HTML of a mail about the last period into a file, and prints its plain-text part. Sends nothing. */
export async function previewMail(
  options: CommandOptions & { name?: string; every?: MailPeriod; out: string },
): Promise<number> {
  return await withReading(options, async ({ sources, runtime }) => {
    const { reports, feedback } = runtime.config;
    const mail = mailNamed(options.name, reports);
    const { every = mail.every[0] ?? 'week' } = options;
    const { timeZone } = feedback;
    const now = new Date();
    const period = periodNow(every, { timeZone, now });
    const contexts = sources().map(({ context }) => context);
    const [first] = contexts;
    if (reports === undefined || first === undefined) return 1;
    const reading = { sources: contexts, service: first.feedback, timeZone, now, readings: new Map() };
    const { subject, html, text } = await writeMail(mail, every, period, reading);
    const file = resolve(options.out);
    onFile("--out can't be written", () => writeFileSync(file, html));
    const to = receiversOf(reports).flatMap((one) => (one.mail === mail ? [one.to] : []));
    const told = { mail: mail.name, every, ...period, to, subject, file };
    print(options, { ...told, text }, [
      `Subject: ${subject}`,
      `To: ${to.join(', ') || 'nobody'}`,
      '',
      text,
      `→ ${file}`,
    ]);
    return 0;
  });
}

function mailNamed(name: string | undefined, reports: Reports | undefined): ReportMail {
  const [first, ...others] = reports?.mails ?? [];
  if (first === undefined) throw refusal('"reports" in the configuration names no mail.');
  return name === undefined ? first : named('mail', name, [first, ...others]);
}
