import { errorAt, warningAt } from '../../core/connector/check.ts';
import type { Finding } from '../../core/connector/contract.ts';
import { checkReceiver } from '../../core/connector/reach.ts';
import { messageOf } from '../../core/errors.ts';
import type { FeedbackClient } from '../../core/feedback/client.ts';
import type { Campaign } from '../../core/feedback/schemas.ts';
import { ReceiverNames } from '../config/answer-rule.ts';
import type { Config } from '../config/config.ts';
import type { ReportMail, Reports } from '../config/reports.ts';
import { tryMailServer } from '../operations/mail.ts';

/** Checks, without sending, that result mails can be sent and will have content: the mail server, the campaigns, the custom fields. */
export async function reportFindings(
  reports: Reports | undefined,
  service: Pick<FeedbackClient, 'campaigns'>,
): Promise<Finding[]> {
  if (reports === undefined) return [];
  const campaigns = await Array.fromAsync(service.campaigns());
  const ofMails = reports.mails.flatMap((mail, i) => mailFindings(mail, `reports.mails[${i}]`, campaigns));
  return [...(await serverFindings(reports)), ...ofMails];
}

async function serverFindings({ server }: Reports): Promise<Finding[]> {
  return await tryMailServer(server).then(
    () => [],
    (error: unknown) => [errorAt('reports.server', messageOf(error), 'check the address, the name and the password')],
  );
}

function mailFindings({ name, campaigns: wanted, field }: ReportMail, at: string, all: readonly Campaign[]): Finding[] {
  const unknown = wanted?.filter((id) => !all.some((one) => one.id === id)) ?? [];
  const own = all.filter(({ id }) => wanted?.includes(id) ?? true);
  const [fieldName] = Object.keys(field ?? {});
  const hasField = own.some(({ custom_fields: fields }) => fields.some((one) => one.name === fieldName));
  return [
    ...unknown.map((id) =>
      errorAt(`${at}.campaigns`, `mail "${name}": there is no campaign ${id}`, '"closeloop campaigns list" shows them'),
    ),
    ...(fieldName === undefined || hasField
      ? []
      : [
          errorAt(
            `${at}.field`,
            `mail "${name}": none of its campaigns has a custom field "${fieldName}"`,
            'name it as the campaign does: "closeloop campaigns show <id>"',
          ),
        ]),
  ];
}

/** Checks, without sending events, that webhooks can get events: the address is allowed and answers, and there is something to send. */
export async function webhookFindings({ webhooks, sources }: Pick<Config, 'webhooks' | 'sources'>): Promise<Finding[]> {
  const steps = sources.flatMap(({ answers }) => answers.flatMap((rule) => rule.do));
  const sent = new Set(steps.flatMap(({ name, params }) => (name === 'send' ? ReceiverNames.parse(params) : [])));
  const all = webhooks.map(async ({ name, url, allowPrivate, events }, i): Promise<Finding[]> => {
    const at = `webhooks[${i}]`;
    const isIdle = events.length === 0 && !sent.has(name);
    return [
      ...(await checkReceiver({ url, allowPrivate }, { url: `${at}.url`, allowPrivate: `${at}.allowPrivate` })),
      ...(isIdle ? [warningAt(at, idle, 'name events, or let an answer rule send to it')] : []),
    ];
  });
  return (await Promise.all(all)).flat();
}

const idle = 'is told of nothing: it has no events, and no answer rule sends to it';
