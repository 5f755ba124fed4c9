import { z } from 'zod';
import type { Connector, Delivery } from '../../../core/connector/contract.ts';
import { jsonBody } from '../../../core/connector/json-body.ts';
import { adviceOf } from '../../../core/errors.ts';
import deskly from '../../../examples/helpdesk-connector/connector.ts';
import { sample } from '../../../examples/helpdesk-connector/sample.ts';
import type { ConnectorSample, Part } from '../contract.ts';
import { needed } from './bench.ts';

const everything: readonly Part[] = ['poll', 'check', 'setup', 'no-answer', 'echo', 'erase', 'forget', 'replace'];

/** What the account has beside its tickets, of the sample that is open. Tests run one after the other. */
const account = {
  webhook: true,
  grades: true,
  unanswered: new Set<string>(),
  told: [] as string[],
};

const Erased = z.object({ erase: z.string() });

/** The example with everything that the contract leaves open. */
export const whole: Connector = {
  ...deskly,
  open: (settings, ports) => {
    const source = deskly.open(settings, ports);
    return {
      ...source,
      writesNoAnswer: true,
      events(delivery) {
        const { data } = Erased.safeParse(jsonBody(delivery.raw));
        if (data === undefined) return source.events(delivery);
        const event = {
          kind: 'erase',
          personIds: [data.erase],
          at: delivery.receivedAt,
          key: data.erase,
          what: 'erase',
        } as const;
        return { ok: true, events: [event], ignored: [] };
      },
      async writeBack(items) {
        for (const { recordId, status } of items) {
          if (status === 'no-answer') account.unanswered.add(recordId);
          account.told.push(recordId);
        }
        const answers = items.filter(({ status }) => status === 'answered');
        const results = await source.writeBack(answers);
        return items.map((item) => results[answers.indexOf(item)] ?? { ok: true, findings: [] });
      },
      async forget(recordIds) {
        for (const id of recordIds) account.unanswered.delete(id);
        return (await source.forget?.(recordIds)) ?? [];
      },
      async check() {
        const advice = await source.read(['T1']).then(() => undefined, adviceOf);
        if (advice?.kind === 'config')
          return [{ level: 'error', at: 'apiKey', problem: 'it is refused', remedy: 'get another' }];
        const missing = Object.entries({ webhook: account.webhook, grades: account.grades }).filter(
          ([, there]) => !there,
        );
        return missing.map(([at]) => ({ level: 'error', at, problem: 'it is missing', remedy: 'closeloop setup' }));
      },
      async setup() {
        const make = async () => {
          account.webhook = true;
          return {};
        };
        return account.webhook ? [] : [{ what: 'create the webhook', apply: make }];
      },
    };
  },
};

/** At the example's stand-in. */
export function sampleOf(connector: Connector, does: readonly Part[] = everything): ConnectorSample {
  return {
    ...sample,
    connector,
    does,
    planted: ['webhook', 'grades'],
    async start() {
      const vendor = await sample.start();
      const sign = (value: object, secret: string): Delivery =>
        needed(vendor.sign, 'sign')(Buffer.from(JSON.stringify(value)), secret);
      Object.assign(account, { webhook: true, grades: true, unanswered: new Set(), told: [] });
      return {
        ...vendor,
        traces: (id) => ({ traces: vendor.traces(id), isUnanswered: account.unanswered.has(id) }),
        preflight: () => ({ grades: [1, 2, 3], reads: [], answersWithinMs: 1 }),
        plant: async (what) => void Object.assign(account, { [what]: false }),
        strip: async () => void Object.assign(account, { webhook: false }),
        async delivered(secret) {
          const changed = { closings: 1, closedAt: null, changedAt: new Date() };
          return account.told.splice(0).map((id) => sign({ ticket: { id, ...changed } }, secret));
        },
        erase: async (id, secret) => sign({ erase: `C${id}` }, secret),
      };
    },
  };
}
