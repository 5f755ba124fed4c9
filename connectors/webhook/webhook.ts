import { keepHere } from '../../core/connector/answer.ts';
import { defineConnector } from '../../core/connector/contract.ts';
import { checker } from './check.ts';
import { eventReader } from './events.ts';
import { forgetter } from './forget.ts';
import { poster } from './post.ts';
import { reader, senderIds } from './record.ts';
import { isDigest, namer, recordIdFrom, senderIdOf } from './record-id.ts';
import { settings } from './settings.ts';
import { verify } from './signature.ts';
import { writer } from './write-back.ts';

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
