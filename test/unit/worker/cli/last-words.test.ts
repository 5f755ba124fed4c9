import { expect, test } from 'vitest';
import { lastWords } from '../../../../worker/cli/finish.ts';

const secret = 'S3CR3T';

test('the last words of a process tell where it failed, and nothing that hangs on the error (audit leak)', () => {
  const reply = Object.assign(new Error('WRONGTYPE Operation against a key'), {
    name: 'ReplyError',
    command: { name: 'set', args: [secret] },
  });
  const error = Object.assign(new Error(`no "${secret} ${secret}" here`, { cause: reply }), { body: secret });
  const words = lastWords(error);
  expect(words).not.toContain(secret);
  expect(words).toMatch(/^Error: no "…" here\n {4}at .*last-words\.test\.ts[\s\S]*\nCaused by: ReplyError: WRONGTYPE/);
  expect(lastWords(`thrown mari@example.com`)).toBe('thrown [removed]\n');
  expect(lastWords(undefined)).toBe('undefined\n');
});
