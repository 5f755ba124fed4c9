import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { CloseloopError } from '../../../../core/errors.ts';
import type { Log } from '../../../../core/ports.ts';
import { createLog, type LogOptions, together } from '../../../../worker/operations/log.ts';

async function printed(write: (log: Log) => void, options: Partial<LogOptions> = {}): Promise<string> {
  const stream = new PassThrough();
  write(createLog({ pretty: false, level: 'info', stream, ...options }));
  stream.end();
  return await text(stream);
}

test('lines of one turn of the event loop are written together, in their order', async () => {
  const written: string[] = [];
  const lines = together({ write: (text: string) => written.push(text) > 0 });
  for (const line of ['one\n', 'two\n']) lines.write(line);
  expect(written).toEqual([]);
  await new Promise(setImmediate);
  lines.write('three\n');
  await new Promise(setImmediate);
  expect(written).toEqual(['one\ntwo\n', 'three\n']);
});

describe('the log', () => {
  test('it writes one JSON object a line, with level, time and message', async () => {
    const [line = '', ...rest] = (await printed((log) => log.warn({ journey: 'support/1.1' }, 'parked'))).split('\n');
    expect(rest).toEqual(['']);
    expect(JSON.parse(line)).toEqual({
      level: 'warn',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      journey: 'support/1.1',
      msg: 'parked',
    });
  });

  test('it cuts a text that nobody would read to its end, and no address is seen by that (audit loop)', async () => {
    const before = 20_000 - 'why hanna@ex'.length;
    const why = `why ${'x'.repeat(before)} hanna@example.com ${'y'.repeat(900_000)}`;
    const line = await printed((log) => log.warn({ why, stack: 'z'.repeat(900_000) }, 'odd'));
    expect(line.length).toBeLessThan(50_000);
    expect(line).not.toContain('hanna@');
    expect(line).toContain(`… (${why.length} characters)`);
  });

  test('it leaves out what is below its level', async () => {
    const write = (log: Log) => {
      log.debug({}, 'one');
      log.info({}, 'two');
      log.error({}, 'three');
    };
    expect((await printed(write, { level: 'warn' })).trim().split('\n')).toEqual([expect.stringContaining('three')]);
  });

  test('it is for eyes on a terminal', async () => {
    const line = await printed((log) => log.info({ journey: 'support/1.1' }, 'written'), { pretty: true });
    expect(line).toContain('written');
    expect(line).toContain('support/1.1');
    expect(() => JSON.parse(line)).toThrow();
  });

  const secret = 'S3CR3T';
  const keys = [
    ...['contact', 'phone', 'email', 'identifier', 'comment', 'body', 'payload'],
    ...[
      'token',
      'apiKey',
      'api_key',
      'authorization',
      'Authorization',
      'accessToken',
      'clientSecret',
      'webhookSecrets',
    ],
    ...['requesterEmail', 'password'],
  ];
  test.each(keys)('it never prints %s, at any depth', async (key) => {
    const inner = { [key]: [secret] };
    const fields: object[] = [inner, { a: inner }, { a: { b: { c: [{ d: inner }] } } }, { [key]: secret }];
    for (const pretty of [false, true]) {
      for (const one of fields) {
        const line = await printed((log) => log.error(one, 'm'), { pretty });
        expect(line).toContain('m');
        expect(line).not.toContain(secret);
      }
    }
  });

  test('it prints of an error what is ours, and nothing that hangs on it', async () => {
    const cause = Object.assign(new Error('HTTP 500'), { body: secret, response: { text: secret } });
    const error = new CloseloopError('the ticket can not be read', { kind: 'permanent' }, { cause });
    const line = await printed((log) => log.error({ error }, 'failed'));
    expect(line).not.toContain(secret);
    expect(line).toContain('the ticket can not be read');
    expect(line).toContain('HTTP 500');
  });

  const masked: [text: string, rest: string][] = [
    ['no contact mari.maasikas+x@example.co.uk, sorry', 'no contact [removed], sorry'],
    ['number +37255512345: invalid', 'number [removed]: invalid'],
    ['due 2026-11-21T10:00:00+02:00, campaign 12345678', 'due 2026-11-21T10:00:00+02:00, campaign 12345678'],
  ];
  test.each(masked)('it prints "%s" as "%s"', async (given, rest) => {
    const line = await printed((log) => log.info({ why: given, cause: new Error(given) }, given));
    expect(JSON.parse(line)).toMatchObject({ msg: rest, why: rest, cause: { message: rest } });
    if (given !== rest) expect(line).not.toContain(given.slice(0, 30));
  });

  test('it prints nothing that an error quotes, nor a name that is one (audit leak)', async () => {
    const cause = new SyntaxError(`Unexpected token 'x', "{"name":${secret}" is not valid JSON`);
    const error = new TypeError(`no "${secret} ${secret}" here`, { cause });
    const fields = { error, 'mari@example.com': 1, url: `redis://:${secret}@127.0.0.1:6379` };
    for (const pretty of [false, true]) {
      const line = await printed((log) => log.error(fields, `redis://:${secret}@127.0.0.1`), { pretty });
      expect(line).not.toContain(secret);
      expect(line).not.toContain('mari@');
      expect(line).toContain('log.test.ts');
    }
  });

  test('it survives a value that contains itself', async () => {
    const fields: Record<string, unknown> = {};
    fields.self = fields;
    expect(await printed((log) => log.info(fields, 'm'))).toContain('m');
  });
});
