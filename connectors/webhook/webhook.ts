import { defineConnector, type Source } from '../../core/connector/contract.ts';
import { checker } from './check.ts';
import { eventReader } from './events.ts';
import { forgetter } from './forget.ts';
import { poster } from './post.ts';
import { reader } from './record.ts';
import { settings } from './settings.ts';
import { verify } from './signature.ts';
import { writer } from './write-back.ts';

/** A source that only tells: its answers stay at the service. */
const keepHere: Source['writeBack'] = async (items) =>
  items.map(() => ({ ok: true, findings: [], where: 'nothing: the source has no writeBack' }));

/**
 * Any system that can send a webhook.
 *
 * Nothing but its events tells of its records: expressions say what an event means, the worker keeps the newest telling of
 * each record (`RecordSnapshots` in core/connector/contract.ts), and that is what is read. Answers go out as signed events of our own. There is
 * nothing to poll: what the sender doesn't repeat until it is acknowledged is lost to us.
 */
export const webhook = defineConnector({
  name: 'webhook',
  settings,
  open: (settings, ports) => {
    const { signature, event, writeBack } = settings;
    const post = writeBack && poster(writeBack, ports);
    return {
      batchSize: 100,
      taken: { status: 202 },
      writesNoAnswer: writeBack?.noAnswer ?? false,
      bringsExternalGrades: event.graded !== undefined,
      verify: (delivery) => verify(delivery, signature),
      events: eventReader(settings),
      read: reader(ports.snapshots),
      writeBack: writeBack && post ? writer(writeBack.include, post) : keepHere,
      // Without a receiver nothing was written anywhere.
      forget: post ? forgetter(post, ports) : async () => [],
      check: checker(settings),
    };
  },
});
