import { isLoopback } from '../../../core/address.ts';
import { CloseloopError, messageOf } from '../../../core/errors.ts';
import type { Log } from '../../../core/ports.ts';
import type { AnswerMessage, Message } from './message.ts';
import { introductionOf, sectionsOf, titleOf } from './words.ts';

export interface EmailSettings {
  /** smtp:// or smtps://, with name and password. */
  server: string;
  from: string;
  to: readonly string[];
  page?: string | undefined;
}

const timeoutMs = 20_000;

/**
 * Sends one message, in one attempt over a connection of its own. The library is loaded with the first message. A password is sent
 * only over an encrypted connection; to a server on another machine nothing is sent without encryption.
 * @throws CloseloopError
 */
export async function sendEmail(
  message: Message | AnswerMessage,
  { server, from, to, page }: EmailSettings,
  log: Log,
): Promise<void> {
  const { createTransport } = await import('nodemailer');
  const transport = createTransport({
    url: server,
    requireTLS: !isLoopback(server.replace(/^smtp/, 'http')),
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    dnsTimeout: timeoutMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  try {
    const { rejected } = await transport.sendMail({
      from,
      to: [...to],
      subject: titleOf(message),
      text: textOf(message, page),
      // The same Message-ID at every attempt: mail programs show a message that came twice once.
      messageId: `<${message.id}@${from.slice(from.lastIndexOf('@') + 1)}>`,
      headers: { 'Auto-Submitted': 'auto-generated' },
    });
    if (rejected.length > 0) log.warn({ refused: rejected.length }, 'some receivers of alerts by e-mail were refused');
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? ` (${cause.code})` : '';
    throw new CloseloopError(
      `the mail server did not take it: ${messageOf(cause)}${code}`,
      { kind: 'transient' },
      { cause },
    );
  } finally {
    transport.close();
  }
}

function textOf(message: Message | AnswerMessage, page: string | undefined): string {
  const introduction = introductionOf(message);
  const sections = sectionsOf(message, page).map(({ heading, lines, links }) =>
    [heading, ...[...lines, ...links.map(({ url }) => url)].map((line) => `  ${line}`)].join('\n'),
  );
  return `${[...(introduction === undefined ? [] : [introduction]), ...sections].join('\n\n')}\n`;
}
