import type { Transporter } from 'nodemailer';
import { isLoopback } from '../../core/address.ts';
import { CloseloopError, messageOf } from '../../core/errors.ts';
import type { Log } from '../../core/ports.ts';
import { redacted } from '../../core/redaction.ts';

export interface Mail {
  /** Stays the same at every attempt, so that mail programs show a mail once that came twice. */
  id: string;
  from: string;
  to: readonly string[];
  subject: string;
  text: string;
  html?: string;
}

const timeoutMs = 20_000;

/**
 * Sends one mail, in one attempt over a connection of its own. A password is sent only over an
 * encrypted connection; to a server on another machine nothing is sent without encryption.
 * @param server smtp:// or smtps://, with name and password
 * @throws CloseloopError
 */
export async function sendMail({ id, from, to, ...content }: Mail, server: string, log: Log): Promise<void> {
  await withServer(server, 'the mail server did not take it', async (transport) => {
    const { rejected = [] } = await transport.sendMail({
      ...content,
      from,
      to: [...to],
      messageId: `<${id}@${from.slice(from.lastIndexOf('@') + 1)}>`,
      headers: { 'Auto-Submitted': 'auto-generated' },
    });
    if (rejected.length > 0) log.warn({ refused: rejected.length }, 'some receivers of a mail were refused');
  });
}

/** Connects and logs in, and sends nothing. @throws CloseloopError */
export async function tryMailServer(server: string): Promise<void> {
  await withServer(server, 'the mail server can not be used', async (transport) => void (await transport.verify()));
}

/** The library is loaded with the first mail. */
async function withServer(
  server: string,
  failure: string,
  work: (transport: Transporter) => Promise<void>,
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
    await work(transport);
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? ` (${cause.code})` : '';
    // Servers name the address that they refuse.
    throw new CloseloopError(`${failure}: ${redacted(messageOf(cause))}${code}`, { kind: 'transient' }, { cause });
  } finally {
    transport.close();
  }
}
