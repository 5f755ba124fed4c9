import { styleText } from 'node:util';
import type { Finding } from '../../core/connector.ts';
import { checkSource } from '../going-live.ts';
import { keyAdvice } from '../redis/data-key.ts';
import type { RuntimeOptions } from './runtime.ts';
import { withSources } from './with-engine.ts';

/** Everything that can be verified before going live. 1 when anything is an error. */
export async function check(options: RuntimeOptions & { source?: string; json: boolean }): Promise<number> {
  const found = await withSources(options, async ({ lanes, runtime }) => {
    const all: (Finding & { source: string })[] = [];
    const problem = keyAdvice(runtime.config);
    if (problem !== undefined)
      all.push({ source: 'closeloop', level: 'warning', at: 'secretsKey', problem, remedy: keyRemedy });
    for (const { context } of lanes(options.source)) {
      if (!options.json) process.stderr.write(`Checking ${context.name} …\n`);
      for (const finding of await checkSource(context, runtime.config)) all.push({ source: context.name, ...finding });
    }
    return all;
  });
  const errors = found.filter(({ level }) => level === 'error').length;
  if (options.json)
    process.stdout.write(`${JSON.stringify({ errors, warnings: found.length - errors, findings: found })}\n`);
  else process.stdout.write(`${[...found.map(inWords), summary(errors, found.length - errors)].join('\n')}\n`);
  return errors > 0 ? 1 : 0;
}

const keyRemedy =
  'set secretsKey at the top of the configuration (from the environment: openssl rand -base64 32); what is there already stays readable';

function inWords({ source, level, at, problem, remedy }: Finding & { source: string }): string {
  const mark = level === 'error' ? styleText('red', '✗ error  ') : styleText('yellow', '! warning');
  return `${mark} ${styleText('bold', `${source}: ${at}`)}\n            ${problem}\n            → ${remedy}`;
}

function summary(errors: number, warnings: number): string {
  if (errors + warnings === 0) return styleText('green', '✓ nothing found: ready to go live');
  const count = (n: number, what: string) => `${n} ${what}${n === 1 ? '' : 's'}`;
  return `${count(errors, 'error')}, ${count(warnings, 'warning')}`;
}
