import { execFile, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { fetchPackage } from './debian-packages.ts';
import { freePort } from './free-port.ts';
import { until } from './loop.ts';

const run = promisify(execFile);

/**
 * Debian's Prometheus: of the PATH, or its package, fetched into the cache without root and without touching anything else.
 * @throws Error where it can't be had
 */
export async function findPrometheus(): Promise<{ prometheus: string; promtool: string }> {
  const isInstalled = await run('promtool', ['--version']).catch(() => undefined);
  if (isInstalled) return { prometheus: 'prometheus', promtool: 'promtool' };
  const cache = await fetchPackage('prometheus', { alone: true });
  return { prometheus: join(cache, 'usr/bin/prometheus'), promtool: join(cache, 'usr/bin/promtool') };
}

const Alerts = z.object({
  data: z.object({ alerts: z.array(z.object({ state: z.string(), labels: z.record(z.string(), z.string()) })) }),
});
const Targets = z.object({
  data: z.object({ activeTargets: z.array(z.object({ health: z.string(), lastError: z.string() })) }),
});

export interface Prometheus {
  /** Names of the alerts that fire now, with the source they are about. */
  firing(): Promise<string[]>;
  targets(): Promise<z.output<typeof Targets>['data']['activeTargets']>;
  stop(): Promise<void>;
}

/** A Prometheus of its own that scrapes these addresses as job "closeloop" and evaluates the rules. */
export async function startPrometheus(rules: string, targets: readonly string[]): Promise<Prometheus> {
  const { prometheus } = await findPrometheus();
  const folder = await mkdtemp(join(tmpdir(), 'closeloop-prometheus-'));
  await writeFile(join(folder, 'alerts.yml'), rules);
  const configuration = {
    global: { scrape_interval: '2s', scrape_timeout: '2s', evaluation_interval: '500ms' },
    rule_files: ['alerts.yml'],
    scrape_configs: [{ job_name: 'closeloop', static_configs: [{ targets }] }],
  };
  // JSON is YAML, too.
  await writeFile(join(folder, 'prometheus.yml'), JSON.stringify(configuration));
  const address = `127.0.0.1:${await freePort()}`;
  const args = [
    `--config.file=${join(folder, 'prometheus.yml')}`,
    `--storage.tsdb.path=${join(folder, 'data')}`,
    `--web.listen-address=${address}`,
    '--log.level=warn',
  ];
  const child = spawn(prometheus, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  const ended = new Promise<void>((done) => child.once('exit', () => done()));
  const ask = async <S extends z.ZodType>(path: string, schema: S): Promise<z.output<S>> =>
    schema.parse(await (await fetch(`http://${address}/api/v1/${path}`)).json());
  await until(async () => {
    if (child.exitCode !== null) throw new Error(`Prometheus ended with ${child.exitCode}`);
    return await fetch(`http://${address}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
  });
  return {
    firing: async () => {
      const { alerts } = (await ask('alerts', Alerts)).data;
      return alerts.filter(({ state }) => state === 'firing').map(({ labels }) => labels.alertname ?? '');
    },
    targets: async () => (await ask('targets', Targets)).data.activeTargets,
    stop: async () => {
      child.kill('SIGTERM');
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
