import { permanent } from '../../core/connector/classify.ts';
import { defineConnector } from '../../core/connector/contract.ts';
import { noteAction, setAction } from '../../core/connector/desk/act.ts';
import { desk } from '../../core/connector/desk/desk.ts';
import type { HmacScheme } from '../../core/connector/signature.ts';
import { staticToken } from '../../core/connector/token.ts';
import { createVendorApi } from '../../core/connector/vendor-api.ts';
import { poller, told } from './changes.ts';
import { preflightOf } from './preflight.ts';
import { reading } from './record.ts';
import { settings } from './settings.ts';
import { Reopen, reopen, writingOf } from './write.ts';

/** The signature that closeloop's scrip makes. */
const proof: HmacScheme = {
  ...{ header: 'x-rt-signature', algorithm: 'sha256', encoding: 'hex' },
  timestamp: { header: 'x-rt-timestamp', as: 'seconds', toleranceMs: 300_000 },
  signed: ({ raw }, timestamp) => [timestamp, '.', raw],
};

const table = {
  400: permanent('it is refused', "grant closeloop's user CommentOnTicket, or report a bug in closeloop"),
  403: permanent("closeloop's user lacks a right", 'grant it SeeQueue and ShowTicket on the queue'),
};

/**
 * Request Tracker 5: tickets that are resolved.
 *
 * A token of a privileged user reads and writes through REST 2.0. A scrip reports each change only once, while an agent waits for the save, so
 * the poll is the reliable source.
 */
export const requestTracker = defineConnector({
  name: 'request-tracker',
  settings,
  actions: { reopen: Reopen, note: noteAction, set: setAction },
  account: ({ address }) => address.replace(/^https?:\/\//, ''),
  parts: {
    groups: ['ticket.queue.name', 'ticket.queue.id'],
    agents: ['owner.name', 'owner.email'],
    openedAt: ['ticket.createdAt'],
    customer: ['requestor.email', 'requestor.phone'],
  },
  open: (settings, ports) => {
    const { address, token, webhookSecrets: secrets } = settings;
    // To the user agent of a browser Request Tracker would answer with its login page.
    const authorize = () => ({ authorization: `token ${token}`, 'user-agent': 'closeloop' });
    const account = { name: 'Request Tracker', baseUrl: `${address}/REST/2.0`, credentials: staticToken(token) };
    const api = createVendorApi({ ...account, authorize, timeoutMs: 60_000, rules: { table } }, ports);
    return desk({
      ...{ vendor: 'Request Tracker', record: 'ticket' },
      ...(secrets && { intake: { secrets, proof, events: (body) => told(settings, body) } }),
      read: reading(settings, api),
      poll: poller(settings, api, ports.now),
      write: writingOf(settings, api),
      actions: { reopen: reopen(settings, api) },
      preflight: preflightOf(settings, api),
      own: { recordUrl: (id) => `${address}/Ticket/Display.html?id=${encodeURIComponent(id)}` },
    });
  },
});
