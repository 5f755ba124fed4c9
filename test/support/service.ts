import { onTestFinished } from 'vitest';
import { startFeedbackStandin } from '../../standins/feedback/standin.ts';

/** The stand-in of the service with its demo account, until the test has finished. */
export async function startService(): ReturnType<typeof startFeedbackStandin> {
  const service = await startFeedbackStandin({ seed: true });
  onTestFinished(() => service.close());
  return service;
}
