import { defineConnector } from '../../core/connector/contract.ts';
import { desk } from '../../core/connector/desk/desk.ts';
import type { HmacScheme } from '../../core/connector/signature.ts';
import { acting, actions } from './actions.ts';
import { openWorkspace } from './api.ts';
import { events, poller } from './events.ts';
import { preflight } from './preflight.ts';
import { reading } from './record.ts';
import { settings } from './settings.ts';
import { writing } from './write.ts';

/** Intercom's signature covers no time: a repeated delivery gives events with the same keys. */
const signature: HmacScheme = {
  ...{ header: 'x-hub-signature', algorithm: 'sha1', encoding: 'hex' },
  ...{ smallOnly: true, prefix: 'sha1=' },
};

/**
 * Intercom: closed conversations and resolved tickets.
 *
 * A private app's token reads and writes; its webhooks, which a person enters by hand, report closings. Intercom repeats a failed delivery
 * once, a minute later, and then drops it: the poll finds those closings. A ticket is a conversation with the same id, so webhooks of both
 * topics lead to one journey.
 */
export const intercom = defineConnector({
  name: 'intercom',
  settings,
  actions,
  account: ({ workspace }) => workspace,
  parts: {
    tags: ['conversation.tags'],
    groups: ['team.name', 'team.id'],
    channels: ['conversation.channel'],
    agents: ['agent.name', 'agent.email', 'agent.id'],
    openedAt: ['conversation.createdAt'],
    customer: ['contact.email', 'contact.phone'],
  },
  open(settings, ports) {
    const workspace = openWorkspace(settings, ports);
    const host = { us: 'app', eu: 'app.eu', au: 'app.au' }[settings.region];
    return desk({
      vendor: 'Intercom',
      record: 'conversation',
      intake: {
        secrets: settings.webhookSecrets,
        proof: signature,
        unreadable: "look at what stands between Intercom's app and closeloop",
        events: (body, delivery) => events(body, delivery, settings),
      },
      read: reading(settings, workspace),
      poll: poller(settings, workspace, ports),
      write: writing(settings, workspace, ports),
      actions: acting(settings, workspace),
      preflight: preflight(settings, workspace, ports),
      own: {
        taken: { status: 200 },
        // After a 429 Intercom repeats for two hours, after a 503 only once.
        notStored: { status: 429, headers: { 'retry-after': '60' } },
        // Deliveries about tickets hold up to 500 messages.
        largestBody: 10 * 1024 * 1024,
        // Intercom's Developer Hub tests an address with a HEAD request.
        handshake: ({ method }) => (method === 'HEAD' ? { status: 200 } : undefined),
        bringsExternalGrades: settings.ratings,
        // A ticket is a conversation with the same id.
        recordUrl: (id) =>
          `https://${host}.intercom.com/a/apps/${settings.workspace}/conversations/${encodeURIComponent(id)}`,
      },
    });
  },
});
