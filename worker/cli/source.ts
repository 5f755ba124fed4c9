import { CloseloopError } from '../../core/errors.ts';
import { progress } from './progress.ts';
import type { RuntimeOptions } from './runtime.ts';
import { withSources } from './with-engine.ts';

/** Moves all that is stored under a source's old name to the one it has in the configuration now. Interrupted, the same command goes on. */
export async function renameSource(
  options: RuntimeOptions & { from: string; to: string; json: boolean },
): Promise<number> {
  const { from, to } = options;
  return await withSources({ ...options, looks: true }, async ({ engine, pipeline }) => {
    const target = pipeline(to);
    if (engine.pipelines.has(from)) {
      throw refusal(
        `Source "${from}" is still in the configuration: give it the name "${to}" there, start "closeloop start" anew where it runs, and then say this`,
      );
    }
    const shown = progress(process.stderr);
    const renamed = await engine.rename(from, target, (text) => shown.update(text));
    shown.end();
    if (renamed === 'already') {
      print(options, { source: to, was: from, already: true }, `Source ${from} is called ${to} already.`);
      return 0;
    }
    const { journeys, jobs, keys } = renamed;
    print(
      options,
      { source: to, was: from, journeys, jobs, keys },
      `Source ${from} is called ${to} now: ${journeys} journeys, ${jobs} jobs. Deliveries to /hooks/${from} are taken for it; "closeloop setup" moves the webhooks to /hooks/${to}.`,
    );
    return 0;
  });
}

/** A person says that a source is not what another one, which the configuration doesn't have, is called now. */
export async function newSource(
  options: RuntimeOptions & { name: string; beside: string; json: boolean },
): Promise<number> {
  const { name, beside } = options;
  return await withSources({ ...options, looks: true }, async ({ engine, pipeline }) => {
    const mayBe = await engine.newcomers.begin(pipeline(name), beside);
    const still = mayBe.length === 0 ? 'what waits for it goes on' : `it may still be ${mayBe.join(' or ')}, and waits`;
    print(options, { source: name, beside, mayBe }, `Source ${name} is not ${beside}: ${still}.`);
    return 0;
  });
}

function print({ json }: { json: boolean }, shown: object, line: string): void {
  process.stdout.write(json ? `${JSON.stringify(shown)}\n` : `${line}\n`);
}

function refusal(message: string): CloseloopError {
  return new CloseloopError(`${message}.`, { kind: 'config' });
}
