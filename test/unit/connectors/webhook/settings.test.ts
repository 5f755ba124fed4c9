import { describe, expect, test } from 'vitest';
import { settings } from '../../../../connectors/webhook/settings.ts';

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const good = {
  signature: { kind: 'standard', secrets: [secret] },
  event: { record: 'id', closed: 'type = "done"' },
};
const sent = { url: 'https://receiver.example/in', secrets: [secret] };

test('the least there is fills in the rest', () => {
  expect(settings.parse({ ...good, writeBack: sent })).toEqual({
    ...good,
    event: { ...good.event, at: 'timestamp', type: 'type', shape: '$' },
    writeBack: { ...sent, allowPrivate: false, include: ['comment', 'answers'], noAnswer: false },
    samples: [],
  });
});

describe('a mistake is told with its place', () => {
  const token = { kind: 'token', header: 'Authorization', secrets: ['Bearer x'] };
  const rows: [what: string, given: object, at: string][] = [
    ['no condition at all', { event: { record: 'id' } }, 'event.closed'],
    ['no record', { event: { closed: 'true' } }, 'event.record'],
    ['a broken expression', { event: { ...good.event, person: 'a[' } }, 'event.person'],
    ['a word that is not known', { event: { ...good.event, personId: 'x' } }, 'event'],
    ['a secret that is no key', { signature: { kind: 'standard', secrets: ['geheim'] } }, 'signature.secrets.0'],
    ['three secrets', { signature: { kind: 'standard', secrets: [secret, secret, secret] } }, 'signature.secrets'],
    ['an empty secret', { signature: { kind: 'hmac', header: 'x', secrets: [' '] } }, 'signature.secrets.0'],
    ['a header with a colon', { signature: { kind: 'hmac', header: 'x:', secrets: ['s'] } }, 'signature.header'],
    ['a kind that is not known', { signature: { kind: 'magic' } }, 'signature.kind'],
    ['a token without an id', { signature: token }, 'event.id'],
    ['http', { writeBack: { ...sent, url: 'http://receiver.example/' } }, 'writeBack.url'],
    ['another scheme', { writeBack: { ...sent, url: 'ftp://receiver.example/' } }, 'writeBack.url'],
    ['a password in the address', { writeBack: { ...sent, url: 'https://a:b@receiver.example/' } }, 'writeBack.url'],
    ['no secret to sign with', { writeBack: { ...sent, secrets: [] } }, 'writeBack.secrets'],
    [
      'a public key to sign with',
      { writeBack: { ...sent, secrets: [`whpk_${Buffer.alloc(32, 7).toString('base64')}`] } },
      'writeBack.secrets.0',
    ],
  ];
  test.each(rows)('%s', (_what, given, at) => {
    const { error } = settings.safeParse({ ...good, ...given });
    expect(error?.issues.map(({ path }) => path.join('.'))).toContain(at);
  });

  test('http inside a network is allowed with allowPrivate', () => {
    const writeBack = { ...sent, url: 'http://10.0.0.7/in', allowPrivate: true };
    expect(settings.safeParse({ ...good, writeBack }).success).toBe(true);
  });
});
