import { defineConnector } from '../../core/connector/contract.ts';
import { type HmacScheme, verifyHmac } from '../../core/connector/signature.ts';
import { openWorkspace } from './api.ts';
import { checker } from './check.ts';
import { events } from './events.ts';
import { poller } from './poll.ts';
import { batchSize, reader } from './read.ts';
import { settings } from './settings.ts';
import { installer } from './setup.ts';
import { forgetter, writer } from './write-back.ts';

/** `sha1=`, and the app's client secret. No time is signed: what comes twice has the same keys. */
const signature: HmacScheme = {
  header: 'x-hub-signature',
  algorithm: 'sha1',
  encoding: 'hex',
  smallOnly: true,
  prefix: 'sha1=',
};

/**
 * Intercom: closed conversations and resolved tickets.
 *
 * A private app's token reads and writes, its webhooks (entered by hand) tell of closings. Each is repeated once, a minute later,
 * and then lost: the poll is part of the connector. A ticket is a conversation and keeps its id, so both topics meet in one journey.
 */
export const intercom = defineConnector({
  name: 'intercom',
  settings,
  account: ({ workspace }) => workspace,
  open: (settings, ports) => {
    const workspace = openWorkspace(settings, ports);
    return {
      batchSize,
      taken: { status: 200 },
      // Two hours of repetitions, where a 503 gets one after a minute.
      notStored: { status: 429, headers: { 'retry-after': '60' } },
      // Tickets come with all of up to 500 messages.
      largestBody: 10 * 1024 * 1024,
      // How the Developer Hub tries an address.
      handshake: ({ method }) => (method === 'HEAD' ? { status: 200 } : undefined),
      bringsExternalGrades: settings.ratings,
      writesNoAnswer: settings.writeBack.noAnswer,
      surveyQuestions: Object.keys(settings.writeBack.answers),
      verify: (delivery) => verifyHmac(delivery, settings.webhookSecrets, signature),
      events: (delivery) => events(delivery, settings),
      read: reader(settings, workspace),
      poll: poller(settings, workspace, ports),
      writeBack: writer(settings, workspace),
      forget: forgetter(settings, workspace),
      check: checker(settings, workspace, ports),
      setup: installer(settings, workspace),
    };
  },
});
