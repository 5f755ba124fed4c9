import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import { connect } from '../../worker/redis/connection.ts';
import { startEmbeddedRedis } from '../../worker/redis/embedded.ts';
import { until } from '../support/loop.ts';
import { serverCache } from '../support/redis-cache.ts';
import { openScenario } from '../support/scenario.ts';
import { standinHere } from '../support/standin-here.ts';
import { type Entry, readRecord } from './record.ts';

const ticketId = 41960;
const journeyId = `${ticketId}.1`;
const Ticket = z.object({ tags: z.array(z.string()) });

/** All that a process does at its start is over by then, and what follows the last step of a journey. */
const settleMs = 3_000;

export interface Recorded {
  /** What a process without a ticket entered in the same time. */
  idle: Entry[];
  /** What one with a ticket entered, from the moment before it was solved. */
  walked: Entry[];
}

/**
 * Two closeloops with the same configuration, each on a Redis and on stand-ins of its own, both at work for a while. Then one of them has a
 * Zendesk ticket solved: the customer is asked, the grade written, changed by the customer, and written again.
 */
export async function recordTicket(): Promise<Recorded> {
  const [idle, walked] = await Promise.all([openLoop(), openLoop()]);
  try {
    await sleep(settleMs);
    for (const loop of [idle, walked]) loop.beginRecord();
    await walked.closeTicket();
    await sleep(settleMs);
    return { idle: idle.record(), walked: walked.record() };
  } finally {
    await Promise.all([idle.close(), walked.close()]);
  }
}

async function openLoop() {
  const dir = mkdtempSync(join(tmpdir(), 'closeloop-walk-'));
  const server = await startEmbeddedRedis({ dir, cache: serverCache, say: () => undefined, fsync: 'everysec' });
  const handle = connect({ path: server.socket }, () => undefined);
  const redis = { handle, socket: server.socket };
  const [scenario, desk] = await Promise.all([openScenario(redis, 'support'), standinHere('zendesk')]);
  await desk.control('PATCH', 'settings', { exportLagMs: 0, exportsPerMinute: 1_000 });
  await desk.control('POST', 'users', { id: 5001, name: 'Carl Customer', email: 'carl@example.com' });
  await desk.control('POST', 'tickets', { id: ticketId, requesterId: 5001 });
  scenario.env.ZENDESK_WEBHOOK_SECRET = 'not known before setup';
  // The poll looks at nothing that is younger: the ticket comes by its webhook alone.
  scenario.configure(settingsOf(desk.url), { headStart: '1h' });
  await scenario.setUp();
  const file = join(dir, 'entered.jsonl');
  const recorder = new URL('recorder.ts', import.meta.url);
  recorder.search = encodeURIComponent(pathToFileURL(file).href);
  Object.assign(scenario.env, { NODE_OPTIONS: `--import ${recorder.href}`, NODE_DISABLE_COMPILE_CACHE: '1' });
  const processes = await scenario.start('all');

  const answered = async (requestId: string | undefined, grade: number) => {
    await scenario.answer(requestId, { grade, comment: 'As the customer put it' });
    await until(async () => {
      const { tags } = Ticket.parse(await desk.control('GET', `tickets/${ticketId}`));
      return tags.includes(`fb_grade_${grade}`);
    });
    await scenario.journey(journeyId, 'written');
  };

  return {
    beginRecord(): void {
      for (const { child } of processes) child.kill('SIGUSR2');
    },

    async closeTicket(): Promise<void> {
      await desk.control('POST', `tickets/${ticketId}/solve`, {});
      const { requestId } = await scenario.journey(journeyId, 'asked');
      await answered(requestId, 5);
      await answered(requestId, 2);
      await desk.control('POST', 'idle', {});
    },

    record: () => readRecord(file),

    async close(): Promise<void> {
      await scenario.close();
      await desk.close();
      await handle.close();
      await server.stop();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

function settingsOf(baseUrl: string): string {
  return `
    connector: zendesk
    subdomain: acme
    baseUrl: ${baseUrl}
    clientId: closeloop
    clientSecret: zendesk-client-secret
    webhookSecrets: ["\${ZENDESK_WEBHOOK_SECRET}"]
    rules:
      - name: everybody
        when: $not("no_survey" in ticket.tags)
        campaign: 112
        contact: [requester.phone, requester.email]
        fields: { Store: ticket.subject, Agent: assignee.name }
    writeBack:
      grade: Feedback grade
      comment: Feedback comment
      answeredAt: Feedback answered at
      note: true
      tags: true`;
}
