import { keepHere } from '../../core/connector/answer.ts';
import { type Delivery, defineConnector, type Verdict } from '../../core/connector/contract.ts';
import { verifyHmac, verifySecretHeader } from '../../core/connector/signature.ts';
import { verifyStandardWebhook } from '../../core/connector/standard-webhook.ts';
import { checker } from './check.ts';
import { eventReader } from './events.ts';
import { forgetter, poster, writer } from './receiver.ts';
import { isDigest, namer, reader, recordIdFrom, senderIdOf, senderIds } from './record.ts';
import { settings, type WebhookSettings } from './settings.ts';

/** The tolerance of Standard Webhooks, in both directions. */
const toleranceMs = 300_000;

export function verify(delivery: Delivery, signature: WebhookSettings['signature']): Verdict {
  const { secrets } = signature;
  switch (signature.kind) {
    case 'standard':
      return verifyStandardWebhook(delivery, secrets);
    case 'token':
      return verifySecretHeader(delivery, secrets, signature.header);
    case 'hmac': {
      const { timestampHeader: header, ...scheme } = signature;
      if (header === undefined) return verifyHmac(delivery, secrets, scheme);
      const timestamp = { header, as: 'seconds', toleranceMs } as const;
      return verifyHmac(delivery, secrets, { ...scheme, timestamp, signed: ({ raw }, at) => [`${at}.`, raw] });
    }
  }
}

/**
 * Any system that can send a webhook.
 *
 * Records are known only from events: expressions read the events, the worker stores the newest snapshot of each record (`RecordSnapshots` in
 * core/connector/contract.ts), and `read` returns it. Answers go out as signed events. There is no API to poll: if the sender does not repeat
 * an unacknowledged event, the event is lost.
 */
export const webhook = defineConnector({
  name: 'webhook',
  settings,
  // A source with only survey events and erasures asks nobody: those events are about journeys of other sources.
  asksNobody: ({ event }) => event.closed === undefined && event.graded === undefined,
  open: (settings, ports) => {
    const { signature, event, writeBack } = settings;
    const post = writeBack && poster(writeBack, ports);
    const nameOf = namer(ports);
    const vendorIds = senderIds(ports.snapshots, nameOf);
    return {
      batchSize: 100,
      taken: { status: 202 },
      mayNamePerson: (id) => !isDigest(id),
      recordNames: {
        like: 'its id as the sender writes it',
        // Also accepts the id in the form that logs print, which is the form in events.
        parse: (written) => {
          const id = recordIdFrom(senderIdOf(written));
          return id === undefined ? undefined : nameOf(id);
        },
      },
      vendorIds,
      writesNoAnswer: writeBack?.noAnswer ?? false,
      bringsExternalGrades: event.graded !== undefined,
      verify: (delivery) => verify(delivery, signature),
      events: eventReader(settings, nameOf),
      read: reader(ports.snapshots),
      writeBack: writeBack && post ? writer(writeBack.include, post, vendorIds) : keepHere,
      // Without a receiver no answer was ever sent.
      forget: post ? forgetter(post, ports) : async () => [],
      check: checker(settings),
    };
  },
});
