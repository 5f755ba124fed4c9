import { z } from 'zod';
import { isSameText, noteText } from '../../core/connector/answer.ts';
import { permanent } from '../../core/connector/classify.ts';
import { defineConnector } from '../../core/connector/contract.ts';
import { noteAction, setAction } from '../../core/connector/desk/act.ts';
import { desk } from '../../core/connector/desk/desk.ts';
import { type DeskWriting, holdsValue, inPlainForm } from '../../core/connector/desk/write.ts';
import type { HmacScheme } from '../../core/connector/signature.ts';
import { staticToken } from '../../core/connector/token.ts';
import { createVendorApi, type VendorApi } from '../../core/connector/vendor-api.ts';
import { Id, listed, poller, sqlTime, told } from './changes.ts';
import { preflightOf } from './preflight.ts';
import { type Row, reading } from './record.ts';
import { Reopen, reopen } from './reopen.ts';
import { type RequestTrackerSettings, settings } from './settings.ts';

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

const Attachment = z.object({ id: Id, Subject: z.string().nullish() });

function writingOf({ writeBack }: RequestTrackerSettings, api: VendorApi): DeskWriting<Row, string | number> {
  return {
    settings: writeBack,
    // Request Tracker would silently drop the time of day from ISO 8601 with a "Z".
    written: (one, places) => (one.part === 'answeredAt' ? sqlTime(one.value) : inPlainForm(one, places)),
    at({ CustomFields }, place) {
      const value = CustomFields.find(({ name }) => name === place)?.values[0];
      if (place !== writeBack.answeredAt) return value;
      // The value in the form in which it was sent. A cleared time comes back as the epoch.
      return value?.startsWith('1970-01-01') ? undefined : value?.replace(/^(.{10})T(.{8})Z$/, '$1 $2');
    },
    holds: (current, value) =>
      value === null ? holdsValue(current, null) : isSameText(String(current ?? ''), String(value)),
    instantOf: (current) => Date.parse(`${String(current).replace(' ', 'T')}Z`),
    closed: (row) => ('out' in row ? row.out : undefined),
    /**
     * Writes by the row's id: under the id of a merged ticket Request Tracker writes the surviving ticket. The response is a success even for
     * refused values, so all tickets are read again.
     */
    async putMany(changed) {
      const body = changed.map(({ row, change }) => ({ id: +row.id, CustomFields: Object.fromEntries(change.values) }));
      await api.send('PUT', '/tickets/bulk', body, z.unknown());
      return new Map();
    },
    notKept: (place, value) =>
      `look whether "${place}" is on the tickets of its queue and takes ${typeof value === 'number' ? value : 'such values'}, and whether closeloop's user has ModifyTicket and ModifyCustomField`,
    // The marker of a note is its subject, so finding a note loads none of the customers' attachments. No call deletes a note.
    notes: {
      async list({ id }) {
        const all = await listed(api, `/ticket/${id}/attachments?fields=Subject`, Attachment);
        return all.map((one) => ({ id: one.id, text: one.Subject ?? '' }));
      },
      async add({ id }, item) {
        const Content = noteText(item);
        const body = { Subject: Content.split('\n').at(-1), Content, ContentType: 'text/plain' };
        await api.send('POST', `/ticket/${id}/comment`, body, z.unknown());
      },
    },
    leaves: (id) => `the history of ticket ${id}, with all that its fields held: Request Tracker deletes none`,
  };
}

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
