import type { z } from 'zod';
import { exchange } from '../connector/exchange.ts';
import { CloseloopError } from '../errors.ts';
import type { Ports } from '../ports.ts';
import { createFeedbackClient, type FeedbackClient } from './client.ts';
import { FeedbackSettings } from './settings.ts';

/** The settings of the section `feedback` of the configuration; settings with a default may be left out. */
export type FeedbackOptions = z.input<typeof FeedbackSettings>;

/**
 * The client of the Feedback Collection Service. No connection is opened before the first call.
 * @param ports the network and the clock, for tests
 * @throws CloseloopError config with every mistake in the options
 */
export function connectFeedback(
  options: FeedbackOptions,
  ports: Partial<Pick<Ports, 'fetch' | 'now'>> = {},
): FeedbackClient {
  const parsed = FeedbackSettings.safeParse(options);
  if (parsed.success) return createFeedbackClient(parsed.data, { fetch: exchange, now: () => new Date(), ...ports });
  const problems = parsed.error.issues.map(({ path, message }) => `${path.join('.') || 'the options'} ${message}`);
  throw new CloseloopError(`The client of the Feedback service: ${problems.join('; ')}.`, { kind: 'config' });
}
