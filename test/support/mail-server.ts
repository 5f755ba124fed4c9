import { SMTPServer } from 'smtp-server';
import { onTestFinished } from 'vitest';

/** A mail server that takes what comes, from whoever knows the password. */
export async function mailServer(isBroken = () => false) {
  const mails: { from: string; to: string[]; text: string }[] = [];
  const server = new SMTPServer({
    allowInsecureAuth: true,
    hideSTARTTLS: true,
    onAuth: ({ username, password }, _session, done) =>
      password === 'pass word' ? done(null, { user: username ?? '' }) : done(new Error('wrong password')),
    onData(stream, { envelope }, done) {
      const parts: Buffer[] = [];
      stream.on('data', (part: Buffer) => parts.push(part));
      stream.on('end', () => {
        if (isBroken())
          return done(
            Object.assign(new Error(`mailbox on fire, of ${envelope.rcptTo[0]?.address}`), { responseCode: 451 }),
          );
        const from = envelope.mailFrom === false ? '' : (envelope.mailFrom?.address ?? '');
        mails.push({
          from,
          to: envelope.rcptTo.map(({ address }) => address),
          text: readable(Buffer.concat(parts).toString()),
        });
        done();
      });
    },
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  const listening = server.listen(0, '127.0.0.1', resolve);
  await promise;
  onTestFinished(() => new Promise<void>((done) => server.close(() => done())));
  const address = listening.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const email = (password = 'pass%20word') => ({
    server: `smtp://closeloop:${password}@127.0.0.1:${port}`,
    from: 'closeloop@example.com',
    to: ['ops@example.com', 'night@example.com'],
  });
  return { mails, email };
}

/** Quoted-printable, as people see it. */
function readable(text: string): string {
  const bytes = text
    .replace(/=\r\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString();
}
