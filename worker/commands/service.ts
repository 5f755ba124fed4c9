import { createFeedbackClient, type FeedbackClient } from '../../core/feedback/client.ts';
import { livePorts } from './engine-of.ts';
import { type RuntimeOptions, readConfig } from './runtime.ts';

/** The Feedback service alone, for commands that need no Redis. */
export async function openService(options: RuntimeOptions): Promise<FeedbackClient> {
  const { feedback } = await readConfig(options);
  return createFeedbackClient(feedback, livePorts);
}

/** One JSON object a line for machines; for people, its fields one below the other. */
export function print(record: object, json: boolean): void {
  const plain: Record<string, unknown> = { ...record };
  const text = (value: unknown): string =>
    value instanceof Date ? value.toISOString() : typeof value === 'string' ? value : JSON.stringify(value);
  const width = Math.max(0, ...Object.keys(plain).map((name) => name.length));
  const lines = Object.entries(plain).map(([name, value]) => `${name.padEnd(width)}  ${text(value ?? null)}`);
  process.stdout.write(json ? `${JSON.stringify(record)}\n` : `${lines.join('\n')}\n\n`);
}
