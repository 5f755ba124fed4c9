import { describe, expect, test } from 'vitest';
import { freshdesk } from '../../../../connectors/freshdesk/freshdesk.ts';
import { stateOf, Ticket } from '../../../../connectors/freshdesk/record.ts';
import { fixtures, given, readOf, settingsOf } from '../../../support/connectors/freshdesk/account.ts';
import { openPorts } from '../../../support/contract/bench.ts';

/* The webhooks and reads of the facts, each with what they expect. */

const receivedAt = new Date('2026-11-22T12:00:00Z');
const { secrets } = fixtures.auth.webhook_custom_header;
const open = () =>
  freshdesk.open({ ...given, webhookSecrets: secrets.map((one) => one.padEnd(40, '.')) }, openPorts().ports);

describe('a webhook of the facts', () => {
  // Of the two proofs that a rule can send, the connector takes the header alone.
  test.each(fixtures.webhooks.filter(({ expect: { mode } }) => mode === undefined))(
    'it takes "$name"',
    async ({ headers, body, expect: expected }) => {
      const secret = headers['x-closeloop-secret'];
      const sent = { ...headers, ...(secret && { 'x-closeloop-secret': secret.padEnd(40, '.') }) };
      const delivery = {
        method: 'POST',
        url: 'https://closeloop.example/hooks/desk',
        headers: sent,
        raw: Buffer.from(body),
        receivedAt,
      };
      const { verify, emit, recordId, certain = emit === 'closed', act = false } = expected;
      expect(open().verify(delivery)).toMatchObject(verify === 'ok' ? { ok: true } : { ok: false, why: verify });
      if (verify !== 'ok' || emit === undefined) return;
      const found = await open().events(delivery);
      if (expected.ok === false) return expect(found.ok).toBe(false);
      if (emit === 'closed' || emit === 'changed')
        return expect(found).toMatchObject({
          ok: true,
          events: [{ kind: emit, recordId, ...(emit === 'closed' && certain && { certain }) }],
        });
      expect(found).toMatchObject({
        ok: true,
        events: [],
        ignored: [act ? { act } : expect.not.objectContaining({ act: true })],
      });
    },
  );
});

const closedAt = new Date('2026-11-20T09:14:03Z');
const closed = { is: 'closed', closing: closedAt.toISOString(), closedAt };
const out = (why: RegExp) => ({ is: 'out', why: expect.stringMatching(why) });
const agents = new Map([['48014600900', 'Ann']]);

describe('a ticket of the facts', () => {
  test.each([
    ['GET /tickets/4711?include=requester,stats,company (resolved)', {}, closed],
    ['closed two days later (same closing)', {}, closed],
    ['stats with the three documented fields only', {}, closed],
    ['requester without e-mail', {}, closed],
    ['no agent, no group, no type, no subject', {}, closed],
    ['closed directly, resolved_at empty [U]', {}, { is: 'closed', closing: '2026-11-20T09:20:11.000Z' }],
    [
      'closed two days later (same closing)',
      { closingBy: 'status' },
      { is: 'closed', closing: '2026-11-22T10:00:41.000Z' },
    ],
    ['GET /tickets/4711 without include (re-check)', {}, { is: 'closed', closing: 's4' }],
    ['reopened [U: are the stats emptied?]', {}, { is: 'open' }],
    ['reopened, stats kept [U]', {}, { is: 'open' }],
    ['custom status 7', {}, { is: 'open' }],
    ['custom status 7', { closedStatuses: [5, 7] }, { is: 'closed' }],
    ['in the trash', {}, out(/trash/)],
    ['spam', {}, out(/spam/)],
    ['requester is an agent (id equals an agent id)', {}, out(/agent/)],
    ['outbound e-mail, born closed', {}, out(/outbound/)],
    ['child ticket', {}, out(/child/)],
    ['child ticket', { askChildren: true }, { is: 'closed' }],
    ['tracker ticket', {}, { is: 'closed' }],
  ])('"%s" is, by %o, %o', (name, more, expected) => {
    expect(stateOf(Ticket.parse(readOf(name)), settingsOf(more), agents)).toMatchObject(expected);
  });
});
