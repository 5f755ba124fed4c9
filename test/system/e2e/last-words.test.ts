import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { testFolder } from '../../support/folder.ts';
import { command } from '../../support/processes.ts';

const secret = 'S3CR3T-of-mari';

/** A connector's own mistakes, once for an error that is thrown where nobody waits for it, and once for a rejection. */
const mistakes = {
  thrown: `setImmediate(() => { throw broken; });`,
  rejected: `void Promise.reject(broken);`,
  'rejected with no error': `void Promise.reject("${secret} ${secret}");`,
};

for (const [what, mistake] of Object.entries(mistakes)) {
  test(`a process that ends by an error which was ${what} tells nothing that hangs on it (audit leak)`, async () => {
    const dir = testFolder();
    writeFileSync(
      join(dir, 'connector.ts'),
      `
const broken = Object.assign(new Error('no customer "${secret} ${secret}", mari@example.com'), {
  name: 'ReplyError',
  command: { name: 'hset', args: ['${secret}'] },
  cause: Object.assign(new TypeError('fetch failed'), { headers: { authorization: 'Bearer ${secret}' } }),
});
${mistake}
await new Promise(() => setTimeout(() => undefined, 60_000));
`,
    );
    const config = join(dir, 'closeloop.yaml');
    writeFileSync(
      config,
      `
feedback: { baseUrl: "http://127.0.0.1:9/api", apiKey: demo-key, timeZone: Europe/Tallinn }
sources:
  desk: { connector: ./connector.ts, rules: [{ name: all, campaign: 12, contact: email }] }
`,
    );
    const { code, out, err } = await command(['check', '--config', config, '--data', join(dir, 'data')]);
    expect(code).toBe(1);
    expect(out + err).not.toMatch(/S3CR3T|mari@example/);
    if (what !== 'rejected with no error')
      expect(err).toMatch(/ReplyError: no customer "…"[\s\S]*at .*connector\.ts[\s\S]*Caused by: TypeError/);
  });
}
