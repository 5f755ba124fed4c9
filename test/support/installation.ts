import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { signStandardWebhook } from '../../core/connector/standard-webhook.ts';
import { startFeedbackStandin } from '../../standins/feedback/standin.ts';
import { testFolder } from './folder.ts';
import { background, command, type Running } from './processes.ts';
import type { TestRedis } from './redis.ts';

const secret = `whsec_${Buffer.alloc(32, 'jobs to us').toString('base64')}`;
const deadlineMs = 60_000;

/** A source that needs no account: whatever is posted to it, signed, tells of a job that is done. */
export const jobs = (rule: string): string => `
    connector: webhook
    signature: { kind: standard, secrets: ["${secret}"] }
    event:
      record: data.job.id
      closed: type = "job.done"
      closedAt: data.job.doneAt
      shape: data
    rules: [${rule}]`;

export const askIn = (campaign: number): string => `{ name: all, campaign: ${campaign}, contact: customer.email }`;

/** closeloop as processes on one Redis beside the service's stand-in, with its configuration in a file: for one test. */
export async function startInstallation(redis: TestRedis) {
  // Each test has a service of its own, and Redis belongs to one account of one.
  await redis.handle.client.flushall();
  const feedback = await startFeedbackStandin({ seed: true });
  const customFields = [{ name: 'closeloop' }];
  for (const id of [41, 42])
    feedback.standin.addCampaign({ account: 'acme', id, name: `Campaign ${id}`, type: 'email', customFields });
  const dir = testFolder();
  const file = join(dir, 'closeloop.yaml');
  const running: Running[] = [];
  const where = ['--config', file, '--data', dir];
  const key = Buffer.alloc(32, 1).toString('base64');

  onTestFinished(async () => {
    for (const { child } of running) child.kill('SIGKILL');
    await Promise.all(running.map(({ ended }) => ended));
    await feedback.close();
  });

  return {
    feedback: feedback.standin,
    dir,
    file,
    /** @param sources by name, what follows it in the file */
    configure(sources: Record<string, string>, more = ''): void {
      const written = Object.entries(sources).map(([name, settings]) => `  ${name}:${settings}\n`);
      writeFileSync(
        file,
        `feedback: { baseUrl: "${feedback.url}/api", apiKey: demo-key, timeZone: Europe/Tallinn }
redis: { path: ${redis.socket} }
secretsKey: ${key}
http: { port: 0, publicUrl: "http://127.0.0.1:8080" }
collect: { every: 200ms }
${more}
sources:
${written.join('')}`,
      );
    },
    /** Runs until the test ends. @param entry of another closeloop than this checkout */
    start(role: 'intake' | 'worker' | 'all', entry?: string): Running & { url(): Promise<string> } {
      const process = background(['start', '--role', role, ...where], {}, entry);
      running.push(process);
      const url = async () => (await process.says(/http:\/\/127\.0\.0\.1:\d+(?=\/hooks)/)).trim();
      return { ...process, url };
    },
    /** A command, to its end; its lines are parsed where they are JSON. */
    async say(...args: string[]): Promise<{ code: number | null; rows: Record<string, unknown>[]; err: string }> {
      const { code, out, err } = await command([...args, ...where, '--json']);
      const lines = out.trim() === '' ? [] : out.trim().split('\n');
      return { code, rows: lines.map((line) => JSON.parse(line)), err };
    },
    /** A job of this customer is done. @returns the status of the answer */
    async finish(url: string, source: string, name: string): Promise<number> {
      const body = JSON.stringify({
        type: 'job.done',
        data: { job: { id: name, doneAt: new Date() }, customer: { id: name, email: `${name}@example.com` } },
      });
      const signed = signStandardWebhook({ id: `done-${name}`, at: new Date(), body }, [secret]);
      const headers = { 'content-type': 'application/json', ...signed };
      return (await fetch(`${url}/hooks/${source}`, { method: 'POST', body, headers })).status;
    },
    /** In which campaigns this customer was asked. */
    askedIn: (name: string) =>
      feedback.standin.requests({ contact: `${name}@example.com` }).map(({ campaign }) => campaign),
  };
}

/** The lines that a process has logged with this message, parsed, once there are `count` of them. */
export async function logged(
  { output, child }: Running,
  message: string,
  count = 1,
): Promise<Record<string, unknown>[]> {
  for (const until = Date.now() + deadlineMs; ; ) {
    const lines = output()
      .split('\n')
      .filter((line) => line.includes(JSON.stringify(message)));
    if (lines.length >= count) return lines.map((line) => JSON.parse(line));
    if (child.exitCode !== null || Date.now() > until)
      throw new Error(`${lines.length} times, not ${count}: ${message}\n${output()}`);
    await new Promise((done) => setTimeout(done, 20));
  }
}
