import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { z } from 'zod';
import { vendure } from '../../../../connectors/vendure/vendure.ts';
import type { Delivery, Source } from '../../../../core/connector/contract.ts';
import type { Fetch } from '../../../../core/ports.ts';
import { openPorts } from '../../../support/contract/bench.ts';

const Exchange = z.object({
  sent: z.string(),
  variables: z.record(z.string(), z.unknown()),
  status: z.number(),
  answer: z.unknown(),
  token: z.string().optional(),
});
const Exchanges = z.array(Exchange);
export const recorded = z
  .object({
    ...{
      read: Exchanges,
      poll: Exchanges,
      write: Exchanges,
      notes: Exchanges,
      refusedRow: Exchanges,
      forget: Exchanges,
    },
    ...{
      refusedDocument: Exchanges,
      badLogin: Exchanges,
      forbidden: Exchanges,
      check: Exchanges,
      wrongAddress: Exchanges,
    },
    ...{ key: z.string(), ids: z.array(z.string()), since: z.coerce.date() },
    told: z.array(z.object({ timestamp: z.string(), signature: z.string(), body: z.string() })),
  })
  .parse(JSON.parse(readFileSync(new URL('./recorded/vendure-3.7.json', import.meta.url), 'utf8')));

type Part = 'read' | 'poll' | 'write' | 'notes' | 'refusedRow' | 'refusedDocument' | 'badLogin' | 'forget';
const [logIn, fields] = recorded.read;

export const settings = {
  address: 'http://127.0.0.1:9/admin-api',
  webhookSecrets: [recorded.key],
  writeBack: {
    ...{ grade: 'feedbackGrade', comment: 'feedbackComment', answeredAt: 'feedbackAt', status: 'feedbackShort' },
    ...{ note: true, noAnswer: true },
  },
};
const login = { username: 'superadmin', password: 'secret' };

/** A source whose calls get the recorded answers, each as it was sent when it was recorded. */
export function replayed(part: Part | 'forbidden' | 'check' | 'wrongAddress', more: object = login): Source {
  const isWhole = ['read', 'badLogin', 'forbidden', 'wrongAddress'].includes(part);
  const [first, ...others] = recorded[part];
  // The source that was recorded had logged in, and read the fields; `check` reads them after the first probe.
  const left = isWhole
    ? [first, ...others]
    : [logIn, ...(part === 'check' ? [first, ...others.slice(0, 1)] : []), fields];
  if (!isWhole) left.push(...(part === 'check' ? others.slice(1) : [first, ...others]));
  const fetch: Fetch = async (_, init) => {
    const next = left.shift() ?? expect.fail(`more calls than recorded: ${init.body}`);
    const { query, variables } = z
      .object({ query: z.string(), variables: z.unknown() })
      .parse(JSON.parse(String(init.body)));
    expect({ sent: query.replace(/\s+/g, ' ').slice(0, next.sent.length), variables }).toEqual({
      sent: next.sent,
      variables: next.variables,
    });
    const token = next.token === undefined ? {} : { 'vendure-auth-token': next.token };
    return new Response(JSON.stringify(next.answer), { status: next.status, headers: token });
  };
  const { ports } = openPorts({ fetch });
  return vendure.open({ ...settings, ...more }, ports);
}

export function delivered({ timestamp, signature, body }: (typeof recorded.told)[number]): Delivery {
  const headers = { 'x-vendure-timestamp': timestamp, 'x-vendure-signature': signature };
  const receivedAt = new Date(Number(timestamp) * 1_000 + 200);
  return { method: 'POST', url: 'https://closeloop.example/hooks/shop', headers, raw: Buffer.from(body), receivedAt };
}
