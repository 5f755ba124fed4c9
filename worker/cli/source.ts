import { refusal } from '../../core/errors.ts';
import { renameSource as rename } from '../sources/stored-names.ts';
import { print } from './output.ts';
import { type CommandOptions, openToRead } from './runtime.ts';

/** Lets a source of the configuration continue with the data that is stored under its old name. */
export async function renameSource(options: CommandOptions & { from: string; to: string }): Promise<number> {
  const { from, to } = options;
  const runtime = await openToRead(options, { uses: 'redis' });
  try {
    const target = runtime.config.sources.find(({ name }) => name === to);
    if (!target || runtime.config.sources.some(({ name }) => name === from)) {
      throw refusal(
        `The configuration has to have source "${to}" in place of "${from}": write the new name there first.`,
      );
    }
    const isNew = await rename(from, target, runtime.redis);
    const line = isNew
      ? `Source ${from} is called ${to} now: start "closeloop start" anew where it runs. Deliveries to /hooks/${from} are taken for it; "closeloop setup" makes webhooks to /hooks/${to}: then delete those to /hooks/${from} at the vendor.`
      : `Source ${from} is called ${to} already.`;
    print(options, { source: to, was: from, already: !isNew }, line);
    return 0;
  } finally {
    await runtime.close();
  }
}
