import type { Source } from '../../core/connector/contract.ts';
import { CloseloopError } from '../../core/errors.ts';
import type { FeedbackClient } from '../../core/feedback/client.ts';

/** What reads at the service. A method that is not named here writes. */
const ofService: readonly (keyof FeedbackClient)[] = [
  'campaigns',
  'campaignPages',
  'campaign',
  'customFieldStatistics',
  'requests',
  'requestPages',
  'exportPages',
  'request',
  'contact',
  'accessLog',
  'accessLogPages',
  'surveys',
  'surveyPages',
  'survey',
];

/** What reads at a vendor, or looks at a delivery. */
const ofVendor: readonly (keyof Source)[] = [
  'handshake',
  'verify',
  'events',
  'read',
  'poll',
  'recordNames',
  'recordUrl',
  'mayNamePerson',
  'vendorIds',
];

/** For a dry run: the service, at which nothing can be written. */
export function readingService(client: FeedbackClient): FeedbackClient {
  return readingOnly(client, ofService);
}

/** For a dry run: the vendor, at which nothing can be written. */
export function readingVendor(source: Source): Source {
  return readingOnly(source, ofVendor);
}

function readingOnly<Whole extends object>(whole: Whole, reads: readonly (keyof Whole)[]): Whole {
  const isRead = new Set<PropertyKey>(reads);
  return new Proxy(whole, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function' || isRead.has(name)) return member;
      return async () => {
        const message = `a dry run writes nothing: "${String(name)}" was not called`;
        throw new CloseloopError(message, { kind: 'permanent' }, { outcome: 'never-sent' });
      };
    },
  });
}
