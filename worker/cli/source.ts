import { CloseloopError } from '../../core/errors.ts';
import { progress } from './progress.ts';
import type { RuntimeOptions } from './runtime.ts';
import { withSources } from './with-engine.ts';

/** Moves all stored data of a source from its old name to its new name in the configuration. After an interruption the same command resumes. */
export async function renameSource(
  options: RuntimeOptions & { from: string; to: string; json: boolean },
): Promise<number> {
  const { from, to } = options;
  return await withSources({ ...options, reads: true }, async ({ engine, pipeline }) => {
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

/** Declares that a source is new: not the new name of another source, which the configuration doesn't have. */
export async function newSource(
  options: RuntimeOptions & { name: string; beside: string; json: boolean },
): Promise<number> {
  const { name, beside } = options;
  return await withSources({ ...options, reads: true }, async ({ engine, pipeline }) => {
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
