import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { freshdesk } from '../../../../connectors/freshdesk/freshdesk.ts';
import { type FreshdeskSettings, settings } from '../../../../connectors/freshdesk/settings.ts';
import { type FreshdeskStandinOptions, startFreshdeskStandin } from '../../../../standins/freshdesk/standin.ts';
import { openPorts } from '../../contract/bench.ts';

export const secret = 'fd-hook-secret-not-real-0000001-of-two';
export const given = { subdomain: 'acme', apiKey: 'freshdesk-key', webhookSecrets: [secret] };
export const settingsOf = (more: object = {}): FreshdeskSettings => settings.parse({ ...given, ...more });

/** The places of an answer, and the ticket fields for them. */
export const places = {
  grade: 'cf_feedback_grade',
  comment: 'cf_feedback_comment',
  answeredAt: 'cf_feedback_at',
  status: 'cf_feedback_status',
};
export const answerFields = [
  { name: places.grade, type: 'custom_number' },
  { name: places.comment, type: 'custom_paragraph' },
  { name: places.answeredAt, type: 'custom_text' },
  { name: places.status, type: 'custom_text' },
];

/** An account at the stand-in, over a socket, and a source on it. Its clock moves only when told to. */
export async function openAccount(more: object = {}, options: FreshdeskStandinOptions = {}) {
  const clock = { now: new Date('2026-11-20T12:00:00Z') };
  const now = () => clock.now;
  const server = await startFreshdeskStandin({ now, ...options });
  const { standin, url: baseUrl } = server;
  for (const field of answerFields) standin.addField(field);
  const customer = standin.addContact({ name: 'Hanna', email: 'hanna@example.com', phone: '+4930555101' });
  const open = (other: object = {}) => {
    const { ports, asked } = openPorts({ now });
    const source = freshdesk.open(
      { ...given, setupKey: standin.adminKey, baseUrl, writeBack: places, ...more, ...other },
      ports,
    );
    return { source, asked };
  };
  return {
    ...server,
    ...open(),
    open,
    clock,
    customer,
    later: (ms: number) => {
      clock.now = new Date(clock.now.getTime() + ms);
    },
    /** A customer's ticket, resolved unless told otherwise. */
    async ticket(given: Partial<Parameters<typeof standin.addTicket>[0]> = {}, status = 4): Promise<string> {
      const { id } = standin.addTicket({ requesterId: customer.id, ...given });
      if (status !== 2) await standin.setStatus({ id, status });
      return String(id);
    },
  };
}
export type OpenAccount = Awaited<ReturnType<typeof openAccount>>;

const Answer = z.object({
  status: z.number(),
  body: z.unknown(),
  headers: z.record(z.string(), z.string()).default({}),
});
const Fixtures = z.object({
  auth: z.object({ webhook_custom_header: z.object({ header: z.string(), secrets: z.array(z.string()) }) }),
  webhooks: z.array(
    z.object({
      name: z.string(),
      headers: z.record(z.string(), z.string()),
      body: z.string(),
      expect: z.looseObject({
        verify: z.string(),
        emit: z.string().optional(),
        recordId: z.string().optional(),
        certain: z.boolean().optional(),
        act: z.boolean().optional(),
        ok: z.boolean().optional(),
        mode: z.string().optional(),
      }),
    }),
  ),
  reads: z.record(z.string(), z.unknown()),
  errors: z.array(
    z.object({
      ...{ name: z.string(), status: z.number(), advice: z.string(), body: z.looseObject({}).optional() },
      body_text: z.string().optional(),
      headers: z.record(z.string(), z.string()).optional(),
    }),
  ),
});
const file = new URL('./fixtures.json', import.meta.url);
export const fixtures = Fixtures.parse(JSON.parse(readFileSync(file, 'utf8')));
export const readOf = (name: string): unknown => Answer.parse(fixtures.reads[name]).body;
