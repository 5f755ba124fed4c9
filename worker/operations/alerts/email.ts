import type { Log } from '../../../core/ports.ts';
import { sendMail } from '../mail.ts';
import type { AnswerMessage, Message } from './message.ts';
import { introductionOf, sectionsOf, titleOf } from './words.ts';

export interface EmailSettings {
  /** smtp:// or smtps://, with name and password. */
  server: string;
  from: string;
  to: readonly string[];
  page?: string | undefined;
}

/** @throws CloseloopError */
export async function sendEmail(
  message: Message | AnswerMessage,
  { server, from, to, page }: EmailSettings,
  log: Log,
): Promise<void> {
  const { id } = message;
  await sendMail({ id, from, to, subject: titleOf(message), text: textOf(message, page) }, server, log);
}

function textOf(message: Message | AnswerMessage, page: string | undefined): string {
  const introduction = introductionOf(message);
  const sections = sectionsOf(message, page).map(({ heading, lines, links }) =>
    [heading, ...[...lines, ...links.map(({ url }) => url)].map((line) => `  ${line}`)].join('\n'),
  );
  return `${[...(introduction === undefined ? [] : [introduction]), ...sections].join('\n\n')}\n`;
}
