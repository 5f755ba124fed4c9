import type { ConnectorPorts, Source, WriteBack } from '../../../../core/connector/contract.ts';
import {
  type HubspotStandin,
  type HubspotStandinOptions,
  startHubspotStandin,
} from '../../../../standins/hubspot/standin.ts';
import { answer as answerTo } from '../../contract/bench.ts';
import { open, testPorts } from './fake-hubspot.ts';

export interface Desk {
  standin: HubspotStandin;
  url: string;
  used: ReturnType<typeof testPorts>['used'];
  /** The clock of the account and of the sources. */
  clock: { ms: number };
  /** A source on it; `ports` what differs from a real fetch and a budget that counts. */
  source(settings?: object, ports?: Partial<ConnectorPorts>): Source;
  /** Calls since the last time, as `POST tickets/batch/update`. */
  calls(): string[];
}

/** An account at the stand-in over a socket, closed when `run` ends. */
export async function atDesk<T>(run: (desk: Desk) => Promise<T>, options: HubspotStandinOptions = {}): Promise<T> {
  const clock = { ms: Date.parse('2026-11-21T10:00:00Z') };
  const now = () => new Date(clock.ms);
  const { standin, url, close } = await startHubspotStandin({ now, ...options });
  const { ports, used } = testPorts(now);
  try {
    return await run({
      standin,
      url,
      used,
      clock,
      source: (settings = {}, own = {}) => {
        const { accessToken } = standin;
        return open({ accessToken, baseUrl: url, ...settings }, { ...ports, ...own });
      },
      calls: () => {
        const paths = standin.calls.map(({ method, path }) => `${method} ${path.replace(/^.*\{version\}\/?/, '')}`);
        standin.clearCalls();
        return paths;
      },
    });
  } finally {
    await close();
  }
}

export const answer = (recordId: string, more: Partial<WriteBack> = {}): WriteBack =>
  answerTo(recordId, {
    ...{ marker: `m-${recordId}.v1`, grade: 5, comment: 'good' },
    answeredAt: new Date('2026-11-21T09:30:00Z'),
    ...more,
  });
