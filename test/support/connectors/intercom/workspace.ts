import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { intercom } from '../../../../connectors/intercom/intercom.ts';
import { type IntercomSettings, settings } from '../../../../connectors/intercom/settings.ts';
import type { ConnectorPorts, Delivery, Source, WriteBack } from '../../../../core/connector/contract.ts';
import { type IntercomStandinOptions, startIntercomStandin } from '../../../../standins/intercom/standin.ts';
import { answer as answerTo, openPorts } from '../../contract/bench.ts';

const Told = z.object({ method: z.string(), path: z.string(), body: z.unknown().optional() });

/** What the facts give: every name, address and secret is made up. */
export const fixtures = z
  .object({
    appId: z.string(),
    clientSecret: z.string(),
    serviceAdminId: z.string(),
    appPackageCode: z.string(),
    vectors: z.array(
      z.object({
        name: z.string(),
        expect: z.enum(['valid', 'unsigned', 'mismatch']),
        secrets: z.array(z.string()),
        header: z.string().nullable(),
        body_base64: z.string(),
      }),
    ),
    webhooks: z.array(
      z.object({
        name: z.string(),
        topic: z.string(),
        expect: z.array(z.looseObject({})),
        headers: z.record(z.string(), z.string()),
        body: z.string(),
      }),
    ),
    reads: z.array(
      z.object({
        name: z.string(),
        request: Told,
        status: z.number(),
        headers: z.record(z.string(), z.string()).default({}),
        body: z.unknown().optional(),
        expect: z.looseObject({ state: z.looseObject({}).optional() }).optional(),
      }),
    ),
    writes: z.array(z.object({ name: z.string(), request: Told, status: z.number(), body: z.unknown().optional() })),
    errors: z.array(
      z.object({
        status: z.number(),
        headers: z.record(z.string(), z.string()).default({}),
        contentType: z.string().default('application/json; charset=utf-8'),
        body: z.unknown().optional(),
        text: z.string().optional(),
        now: z.number().optional(),
        advice: z.string(),
      }),
    ),
  })
  .parse(JSON.parse(readFileSync(new URL('./vectors/fixtures.json', import.meta.url), 'utf8')));

export const given = {
  workspace: fixtures.appId,
  accessToken: 'intercom-token',
  adminId: fixtures.serviceAdminId,
  appPackageCode: fixtures.appPackageCode,
  webhookSecrets: [fixtures.clientSecret],
};

export const settingsOf = (more: object = {}): IntercomSettings => settings.parse({ ...given, ...more });

export const deliveryOf = (
  raw: Uint8Array,
  headers: Record<string, string>,
  receivedAt = new Date('2026-11-23T04:00:00Z'),
): Delivery => ({ method: 'POST', url: 'https://closeloop.example/hooks/inbox', headers, raw, receivedAt });

/** Of conversations and of both ticket types. */
export const attributes = [
  ['Feedback grade', 'integer'],
  ['Feedback comment', 'string'],
  ['Feedback date', 'datetime'],
  ['Feedback status', 'string'],
] as const;

export const allOn = {
  grade: 'Feedback grade',
  comment: 'Feedback comment',
  answeredAt: 'Feedback date',
  status: 'Feedback status',
  note: true,
  noAnswer: true,
};

/** A workspace at the stand-in, over a socket, and a source on it. Its clock moves only when told to. */
export async function openWorkspace(more: object = {}, options: IntercomStandinOptions = {}) {
  const clock = { now: new Date('2026-11-20T12:10:01Z') };
  const server = await startIntercomStandin({ now: () => clock.now, ...options });
  const { standin } = server;
  for (const [name, dataType] of attributes) {
    for (const type of [undefined, 'Support request']) standin.addAttribute({ name, dataType, ...(type && { type }) });
  }
  const open = (other: object = {}, own: Partial<ConnectorPorts> = {}): { source: Source; asked: Asked } => {
    const { ports, asked } = openPorts({ now: () => clock.now, ...own });
    return {
      source: intercom.open({ ...given, baseUrl: server.url, writeBack: allOn, ...more, ...other }, ports),
      asked,
    };
  };
  const contact = standin.addContact({ email: 'hanna@example.com', name: 'Hanna', language: 'de' }).id;
  const later = (ms = 60_000): void => {
    clock.now = new Date(clock.now.getTime() + ms);
  };
  return {
    ...server,
    ...open(),
    open,
    clock,
    later,
    contact,
    /** Of the customer's, closed by a teammate a minute after it began. */
    async closed(given: Parameters<typeof standin.addConversation>[0] = {}): Promise<string> {
      const { id } = standin.addConversation({ contacts: [contact], ...given });
      later();
      await standin.close({ id });
      return id;
    },
    async closedTicket(given: Parameters<typeof standin.addTicket>[0] = {}): Promise<string> {
      const { id } = standin.addTicket({ contacts: [contact], ...given });
      later();
      await standin.close({ id });
      return id;
    },
  };
}
type Asked = ReturnType<typeof openPorts>['asked'];
export type Workspace = Awaited<ReturnType<typeof openWorkspace>>;

export const answer = (recordId: string, more: Partial<WriteBack> = {}): WriteBack =>
  answerTo(recordId, {
    ...{ marker: 'inbox/1.1.v1', grade: 4, comment: 'Quick & <b>good</b>', maxGrade: 5 },
    answeredAt: new Date('2026-11-20T12:30:00Z'),
    campaign: 'After closing',
    ...more,
  });
