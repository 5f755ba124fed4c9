import { styleText } from 'node:util';
import { errorAt } from '../../core/connector/check.ts';
import type { Finding } from '../../core/connector/contract.ts';
import { CloseloopError, messageOf } from '../../core/errors.ts';
import type { Config } from '../config/config.ts';
import { ConfigError } from '../config/problem.ts';
import { testMeans, testPlaces } from '../config/test-mode.ts';
import type { SourcePipeline } from '../pipeline/source-pipeline.ts';
import { saveCheck } from '../preflight/last-check.ts';
import { attempt, checkSource } from '../preflight/preflight.ts';
import { reportFindings, webhookFindings } from '../preflight/receivers.ts';
import { sharedAccounts } from '../preflight/shared-accounts.ts';
import { keyAdvice } from '../redis/data-key.ts';
import { redisTrouble } from '../redis/unavailable.ts';
import { print, say } from './output.ts';
import { type CommandOptions, checkAccount } from './runtime.ts';
import { withSources } from './with-engine.ts';

type Found = Finding & { source: string };
type Options = CommandOptions & { source?: string; strict?: boolean };

/** Everything that can be verified before going live. 1 when anything is an error; with `strict` 3 when there are warnings alone. */
export async function check(options: Options): Promise<number> {
  try {
    return await checkAll(options);
  } catch (failure) {
    const error = redisTrouble(failure) ?? failure;
    // Machines get an object in every case; people read the message, which has the same.
    const findings = options.json ? preventing(error, options.config) : [];
    if (findings.length > 0) print(options, { errors: findings.length, warnings: 0, findings }, '');
    throw error;
  }
}

async function checkAll(options: Options): Promise<number> {
  const found: Found[] = [];
  const warn = (at: string, problem: string, remedy: string, source = 'closeloop') =>
    void found.push({ source, level: 'warning', at, problem, remedy });
  const onRedis = (why: string) => warn('redis', why, redisRemedy);
  await withSources({ ...options, onRedis, verified: false }, async ({ pipelines, runtime, engine }) => {
    const problem = keyAdvice(runtime.config);
    if (problem !== undefined) warn('secretsKey', problem, keyRemedy);
    for (const { at, what } of testPlaces(runtime.config)) warn(at, `TEST MODE for ${what}: ${testMeans}`, leave);
    for (const { context } of pipelines(options.source)) {
      if (!options.json) say(`Checking ${context.name} …`);
      for (const finding of await checkSource(context, runtime.config))
        found.push({ source: context.name, ...finding });
    }
    const ofAccount = await attempt('feedback', async () => await checkAccount(runtime).then(() => []));
    // The service refuses the rules' calls as it refuses this one.
    for (const finding of ofAccount)
      if (found.every(({ problem }) => problem !== finding.problem)) found.push({ source: 'closeloop', ...finding });
    if (options.source === undefined)
      for (const finding of await commonFindings(runtime.config, pipelines()))
        found.push({ source: 'closeloop', ...finding });
    for (const { sources, problem, remedy } of sharedAccounts(runtime.config.sources)) {
      if (options.source !== undefined && !sources.includes(options.source)) continue;
      warn(sources.map((name) => `sources.${name}`).join(', '), problem, remedy);
    }
    for (const { source, problem, remedy } of options.source === undefined ? await engine.absences() : [])
      warn(`sources.${source}`, problem, remedy, source);
    // Kept only where this Redis is known to be this account's.
    if (ofAccount.length === 0)
      await saveCheck(runtime.redis, { at: new Date(), only: options.source, findings: found });
  });
  const errors = found.filter(({ level }) => level === 'error').length;
  const warnings = found.length - errors;
  const text = [...found.map(inWords), '', summary(errors, warnings), ...(errors > 0 ? [] : [next()])];
  print(options, { errors, warnings, findings: found }, text.join('\n').trimStart());
  if (errors > 0) return 1;
  return options.strict && warnings > 0 ? 3 : 0;
}

/** What kept the check from looking at anything: the mistakes of the file, no answer of Redis. */
function preventing(error: unknown, file: string): Found[] {
  if (!(error instanceof CloseloopError)) return [];
  const ofCheck = { path: '', message: messageOf(error), line: undefined };
  const problems = error instanceof ConfigError ? error.problems : [ofCheck];
  return problems.map(({ path, message, line }) => {
    const remedy = line === undefined ? 'mend this, and run check again' : `mend line ${line} of ${file}`;
    return { source: 'closeloop', ...errorAt(path || 'check', message, remedy) };
  });
}

/** Findings about parts of the configuration that all sources share: mails and webhooks. */
async function commonFindings(config: Config, [first]: readonly SourcePipeline[]): Promise<Finding[]> {
  const ofReports = first
    ? await attempt('reports', async () => await reportFindings(config.reports, first.context.feedback))
    : [];
  return [...(await webhookFindings(config)), ...ofReports];
}

const leave = 'remove the setting when the tests are done: what was asked as a test is not asked again';

const redisRemedy =
  'closeloop needs "appendonly yes", "appendfsync always", "maxmemory-policy noeviction" and room in its memory (docs/redis.md)';

const keyRemedy =
  'set secretsKey at the top of the configuration (from the environment: openssl rand -base64 32); what is there already stays readable';

function inWords({ source, level, at, problem, remedy }: Found): string {
  const mark = level === 'error' ? styleText('red', '✗ error  ') : styleText('yellow', '! warning');
  return `${mark} ${styleText('bold', `${source}: ${at}`)}\n            ${problem}\n            → ${remedy}`;
}

/** The next command to try: no check of settings can tell whether the rules fit the records that close. */
function next(): string {
  const since = new Date(Date.now() - 7 * 86_400_000).toISOString().slice(0, 10);
  return `"closeloop preview --since ${since}" shows which closings of the last week would be asked about, and why the others would not`;
}

function summary(errors: number, warnings: number): string {
  if (errors + warnings === 0) return styleText('green', '✓ nothing found: ready to go live');
  const count = (n: number, what: string) => `${n} ${what}${n === 1 ? '' : 's'}`;
  return `${count(errors, 'error')}, ${count(warnings, 'warning')}`;
}
