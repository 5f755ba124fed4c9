import { isDeepStrictEqual } from 'node:util';
import { describe, expect, test } from 'vitest';
import { webhook } from '../../../../connectors/webhook/webhook.ts';
import type { PreflightContext } from '../../../../core/connector/contract.ts';
import { serve } from '../../../../standins/kit/server.ts';
import { jobEvents } from '../../../support/connectors/webhook/sample.ts';
import { openPorts } from '../../../support/contract/bench.ts';

const key = (byte: number) =>
  `whsec_${Buffer.from(Array.from({ length: 32 }, (_, i) => (i * 7 + byte) % 256)).toString('base64')}`;
const hookUrl = 'https://closeloop.example/hooks/jobs';
const about: PreflightContext = { hookUrl, grades: [1, 2, 3, 4, 5], reads: [], answersWithinMs: 1 };
const hmac = { kind: 'hmac', header: 'x-signature', secrets: ['a-long-enough-secret-of-letters'] };
const token = { kind: 'token', header: 'authorization', secrets: ['Bearer 8f3b1c9e7d5a2460bbce'] };
const sample = {
  type: 'job.done',
  timestamp: '2026-11-21T10:00:00Z',
  data: { job: { id: 7, doneAt: null, parts: [{ sku: 'a' }] }, customer: { id: 'c', email: 'hanna@example.com' } },
};

type Going = Partial<PreflightContext> | 'no address';

/** The findings of a source in which all is well but for what `more` changes. Closed ports refuse at once. */
async function check(more: object, going: Going = {}) {
  const receiver = await serve(() => ({ status: 204 }));
  const writeBack = { url: `${receiver.url}/in`, secrets: [key(2)], allowPrivate: true };
  const settings = {
    signature: { kind: 'standard', secrets: [key(1)] },
    event: jobEvents,
    writeBack: 'writeBack' in more && isDeepStrictEqual(more.writeBack, undefined) ? undefined : writeBack,
  };
  const given = {
    ...settings,
    ...more,
    ...('writeBack' in more && more.writeBack ? { writeBack: { ...writeBack, ...more.writeBack } } : {}),
  };
  const source = webhook.open(given, openPorts().ports);
  const { hookUrl: _, ...rest } = about;
  const live = going === 'no address' ? rest : { ...about, ...going };
  const findings = (await source.check?.(live)) ?? expect.fail('no check');
  await receiver.close();
  return findings;
}

test('it finds nothing where all is well', async () => {
  expect(await check({ samples: [sample] })).toEqual([]);
});

const event = (more: object) => ({ event: { ...jobEvents, ...more } });
const reads = (...path: string[]) => ({ reads: [{ at: 'rules[0].contact', path }] });

const planted: [what: string, where: string, problem: RegExp, more?: object, going?: Going][] = [
  [
    'a secret that can be guessed',
    'warning signature.secrets.0',
    /guessed/,
    { signature: { ...hmac, secrets: ['short'] } },
  ],
  [
    'a secret of few signs',
    'error signature.secrets.0',
    /few different signs/,
    { signature: { kind: 'standard', secrets: [`whsec_${Buffer.alloc(32).toString('base64')}`] } },
  ],
  [
    'the same secret twice',
    'warning signature.secrets',
    /the same/,
    { signature: { kind: 'standard', secrets: [key(1), key(1)] } },
  ],
  [
    'one secret for both directions',
    'error writeBack.secrets',
    /both directions/,
    { writeBack: { secrets: [key(1)] } },
  ],
  ['a token', 'warning signature', /proves little/, { signature: token, ...event({ id: 'id' }) }],
  ['SHA-1', 'warning signature.algorithm', /outdated/, { signature: { ...hmac, algorithm: 'sha1' } }],
  ['no public address', 'warning webhook', /not known where/, {}, 'no address'],
  [
    'a public address without TLS',
    'warning webhook',
    /unencrypted/,
    {},
    { hookUrl: 'http://closeloop.example/hooks/jobs' },
  ],
  ['a condition in quotes', 'error event.closed', /never true/, event({ closed: '"job.done"' })],
  ['a path in quotes', 'error event.record', /the same for every event/, event({ record: '"data.job.id"' })],
  ['one condition for closed and open', 'error event.changed', /end itself/, event({ changed: jobEvents.closed })],
  ['nothing that tells of reopening', 'warning event.changed', /reopened, cancelled/, event({ changed: undefined })],
  ['a grade without a grade', 'error event.graded', /neither/, event({ graded: { when: 'type = "x"' } })],
  [
    'a sample that no condition knows',
    'warning samples.0',
    /means nothing/,
    { samples: [{ ...sample, type: 'job.finished' }] },
  ],
  [
    'a sample without its record',
    'error samples.1',
    /event\.record finds nothing/,
    { samples: [sample, { ...sample, data: { ...sample.data, job: {} } }] },
  ],
  [
    'a sample with a time that is none',
    'error samples.0',
    /event\.at/,
    { samples: [{ ...sample, timestamp: '21.11.2026' }] },
  ],
  [
    'a rule that reads what no sample has',
    'warning rules[0].contact',
    /reads customer\.mail/,
    { samples: [sample] },
    reads('customer', 'mail'),
  ],
  ['nowhere to send answers', 'warning writeBack', /no answer will be sent/, { writeBack: undefined }],
  ['our own hook as the receiver', 'error writeBack.url', /own hook/, { writeBack: { url: hookUrl } }],
  [
    'a name that nobody knows',
    'error writeBack.url',
    /is not known/,
    { writeBack: { url: 'https://nobody.invalid/in' } },
  ],
  [
    'a private address',
    'error writeBack.url',
    /inside a network/,
    { writeBack: { url: 'https://127.0.0.1/in', allowPrivate: false } },
  ],
  [
    'a name of this machine',
    'error writeBack.url',
    /inside a network/,
    { writeBack: { url: 'https://localhost/in', allowPrivate: false } },
  ],
  [
    'a receiver that is away',
    'error writeBack.url',
    /no connection.*ECONNREFUSED/,
    { writeBack: { url: 'http://127.0.0.1:1/in' } },
  ],
];

describe('it finds, and nothing else:', () => {
  test.each(planted)('%s', async (_what, where, problem, more = {}, going = undefined) => {
    const [level, at] = where.split(' ');
    const findings = await check(more, going);
    expect(findings).toEqual([
      { level, at, problem: expect.stringMatching(problem), remedy: expect.stringMatching(/\w/) },
    ]);
    expect(JSON.stringify(findings)).not.toContain('hanna');
  });

  test('a receiver that has no TLS', async () => {
    const receiver = await serve(() => ({ status: 204 }));
    const url = `${receiver.url.replace('http', 'https')}/in`;
    expect(await check({ writeBack: { url } })).toMatchObject([
      { at: 'writeBack.url', problem: expect.stringMatching(/no secure connection/) },
    ]);
    await receiver.close();
  });

  test('a rule is content with a name in a list', async () => {
    expect(await check({ samples: [sample] }, reads('job', 'parts', 'sku'))).toEqual([]);
  });
});
