import type { Finding } from '../../core/connector/contract.ts';
import { messageOf } from '../../core/errors.ts';
import type { FeedbackClient } from '../../core/feedback/client.ts';
import type { Campaign } from '../../core/feedback/schemas.ts';
import type { ReportMail, Reports } from '../config/reports.ts';
import { tryMailServer } from '../operations/mail.ts';

/** Checks, without sending, that result mails can be sent and will have content: the mail server, the campaigns, the custom fields. */
export async function reportFindings(
  reports: Reports | undefined,
  service: Pick<FeedbackClient, 'campaigns'>,
): Promise<Finding[]> {
  if (reports === undefined) return [];
  const campaigns: Campaign[] = [];
  for await (const one of service.campaigns()) campaigns.push(one);
  const ofMails = reports.mails.flatMap((mail, i) => mailFindings(mail, `reports.mails[${i}]`, campaigns));
  return [...(await serverFindings(reports)), ...ofMails];
}

async function serverFindings({ server }: Reports): Promise<Finding[]> {
  return await tryMailServer(server).then(
    () => [],
    (error: unknown) => [
      {
        level: 'error' as const,
        at: 'reports.server',
        problem: messageOf(error),
        remedy: 'check the address, the name and the password',
      },
    ],
  );
}

function mailFindings({ name, campaigns: wanted, field }: ReportMail, at: string, all: readonly Campaign[]): Finding[] {
  const error = (where: string, problem: string, remedy: string): Finding => ({
    ...{ level: 'error', at: `${at}.${where}`, problem, remedy },
  });
  const unknown = wanted?.filter((id) => !all.some((one) => one.id === id)) ?? [];
  const own = all.filter(({ id }) => wanted?.includes(id) ?? true);
  const [fieldName] = Object.keys(field ?? {});
  const hasField = own.some(({ custom_fields: fields }) => fields.some((one) => one.name === fieldName));
  return [
    ...unknown.map((id) =>
      error('campaigns', `mail "${name}": there is no campaign ${id}`, '"closeloop campaigns list" shows them'),
    ),
    ...(fieldName === undefined || hasField
      ? []
      : [
          error(
            'field',
            `mail "${name}": none of its campaigns has a custom field "${fieldName}"`,
            'name it as the campaign does: "closeloop campaigns show <id>"',
          ),
        ]),
  ];
}
