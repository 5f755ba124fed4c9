import { join } from 'node:path';
import { expect, test } from 'vitest';
import { builtIn } from '../../../../connectors/built-in.ts';
import { readEnvFile } from '../../../../worker/cli/env-file.ts';
import { keepSecrets, lostVariables } from '../../../../worker/cli/secret-variables.ts';
import { ConfigError } from '../../../../worker/config/problem.ts';
import { useFolder } from '../../../support/folder.ts';

const dir = useFolder();

const restart = /takes it up at its next start/;
const variable = (name: string) => `\${${name}}`;
const text = (secret: string) => `sources: { support: { connector: zendesk, webhookSecrets: ["${secret}"] } }`;

test.each<[what: string, secret: string, env: Record<string, string>, name: string, next: (string | RegExp)[]]>([
  ['where the configuration names a variable', variable('HOOK'), {}, 'HOOK', [restart]],
  ['where the environment has the same', variable('HOOK'), { HOOK: 's3' }, 'HOOK', [restart]],
  [
    'where the environment has another, which would win',
    variable('HOOK'),
    { HOOK: 'old' },
    'HOOK',
    [/another HOOK, which counts before the file/, restart],
  ],
  [
    'where it holds the secret itself',
    'old',
    {},
    'SUPPORT_WEBHOOK_SECRET',
    [/Let webhookSecrets of this source name it: "\$\{SUPPORT_WEBHOOK_SECRET\}"/, restart],
  ],
])('a secret is written, and a person is told what is left to do: %s', (_what, secret, env, name, next) => {
  const config = join(dir, `${Math.random()}.yaml`);
  const kept = keepSecrets({ config, text: text(secret), source: 'support' }, { webhookSecrets: 's3' }, env);
  expect(kept.next).toEqual(next.map((one) => expect.stringMatching(one)));
  expect(readEnvFile(kept.file ?? '')).toEqual({ [name]: 's3' });
});

const unset = (name: string) =>
  new ConfigError('c.yaml', [{ path: 'x', message: `the environment variable ${name} is not set` }]);
const lost = (configText: string, env: Record<string, string>, error: unknown) =>
  lostVariables(error, { config: 'c.yaml', configText, connectors: builtIn, env });

test.each([
  ['a secret that is told again', 'zendesk', 'webhookSecrets', /HOOK: .*any text and run "closeloop setup" again/],
  ['a secret of our own', 'woocommerce', 'webhookSecrets', /HOOK: .*delete the webhooks/],
  ['a credential', 'hubspot', 'accessToken', /HOOK: Access token of the app/],
])('a variable that is not set is told with where it comes from: %s', async (_what, connector, setting, message) => {
  const config = `sources: { a: { connector: ${connector}, ${setting}: "${variable('HOOK')}" } }`;
  expect(String(await lost(config, {}, unset('HOOK')))).toMatch(message);
});

test.each([
  ['another variable is missing', {}, unset('OTHER')],
  ['something else is wrong', {}, new Error('HOOK')],
])('nothing is added where %s', async (_what, env, error) => {
  expect(await lost(text(variable('HOOK')), env, error)).toBe(error);
});
