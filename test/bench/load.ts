import { createHmac } from 'node:crypto';
import { Pool } from 'undici';

/** What the help desk signs with; the product's configuration and the flow's function hold it too. */
export const webhookSecret = 'zendesk-webhook-secret';

export interface Delivery {
  body: string;
  headers: Record<string, string>;
}

/** One delivery for each of these tickets, signed before anything is measured. */
export function deliveriesOf(ids: readonly number[]): Delivery[] {
  const timestamp = new Date().toISOString();
  return ids.map((id) => {
    const body = JSON.stringify({
      account_id: 1,
      detail: { id: String(id), actor_id: '9001', status: 'SOLVED', subject: 'Printer', requester_id: `7${id}` },
      event: { current: 'SOLVED', previous: 'OPEN' },
      id: `event-${id}`,
      subject: `zen:ticket:${id}`,
      time: timestamp,
      type: 'zen:event-type:ticket.status_changed',
      zendesk_event_version: '2022-11-06',
    });
    const signature = createHmac('sha256', webhookSecret)
      .update(timestamp + body)
      .digest('base64');
    return {
      body,
      headers: {
        'content-type': 'application/json; charset=utf-8',
        'x-zendesk-webhook-invocation-id': `01${id}`,
        'x-zendesk-webhook-signature-timestamp': timestamp,
        'x-zendesk-webhook-signature': signature,
      },
    };
  });
}

/** Tickets that no delivery was about yet. */
export function freshTickets(): (count: number) => number[] {
  let next = 100_000;
  return (count) => Array.from({ length: count }, () => next++);
}

/**
 * Sends them all, so many at a time.
 * @returns the instants between which they were sent and answered, milliseconds since 1970
 * @throws Error when one is not accepted
 */
export async function sendAll(
  url: string,
  deliveries: readonly Delivery[],
  inFlight: number,
): Promise<{ from: number; to: number }> {
  const { origin, pathname } = new URL(url);
  const pool = new Pool(origin, { connections: inFlight });
  const left = deliveries.values();
  const now = () => performance.timeOrigin + performance.now();
  const from = now();
  const sender = async () => {
    for (const { body, headers } of left) {
      const answer = await pool.request({ path: pathname, method: 'POST', headers, body });
      if (answer.statusCode >= 300) throw new Error(`a delivery was answered ${answer.statusCode}`);
      await answer.body.dump();
    }
  };
  await Promise.all(Array.from({ length: inFlight }, sender));
  const to = now();
  await pool.close();
  return { from, to };
}
