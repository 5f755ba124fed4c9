import type { ZendeskApi } from '../../../../connectors/zendesk/api.ts';
import type { ConnectorPorts, Quota } from '../../../../core/connector/contract.ts';
import { quietPorts } from '../../contract/quiet-ports.ts';

/** What a connector asked of its surroundings. */
export interface Recorded {
  taken: (string | undefined)[];
  /** Lanes of background calls. */
  background: (string | undefined)[];
  paused: { ms: number; endpoint: string | undefined }[];
  left: (Quota & { name?: string })[];
  slept: number[];
  logged: string[];
}

/** Real fetch; a budget that lets everybody through; sleeps that end at once unless told otherwise; a clock that stands still. */
export function testPorts(overrides: Partial<ConnectorPorts> = {}): { ports: ConnectorPorts; seen: Recorded } {
  const seen: Recorded = { taken: [], background: [], paused: [], left: [], slept: [], logged: [] };
  const log = (fields: object, message: string): void => void seen.logged.push(`${message} ${JSON.stringify(fields)}`);
  const ports = quietPorts({
    now: () => new Date('2026-11-21T12:00:00Z'),
    sleep: async (ms) => void seen.slept.push(ms),
    log: { debug: log, info: log, warn: log, error: log },
    budget: {
      take: async (endpoint, urgency) => {
        seen.taken.push(endpoint);
        if (urgency === 'background') seen.background.push(endpoint);
      },
      pause: async (ms, endpoint) => void seen.paused.push({ ms, endpoint }),
      reportRemaining: async (quota, name) => void seen.left.push({ ...quota, ...(name !== undefined && { name }) }),
    },
    ...overrides,
  });
  return { ports, seen };
}

/** An API that only reads, and reads what `answer` returns for the path. */
export function readOnlyApi(answer: (path: string) => unknown): ZendeskApi {
  const never = (): Promise<never> => Promise.reject(new Error('not used'));
  const get: ZendeskApi['get'] = async (path, schema) => schema.parse(answer(path));
  return { get, send: never, updateMany: never, listTicketFields: never };
}
