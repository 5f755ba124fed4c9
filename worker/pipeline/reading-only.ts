import type { Source } from '../../core/connector/contract.ts';
import { CloseloopError } from '../../core/errors.ts';
import type { FeedbackClient } from '../../core/feedback/client.ts';

/** The service for a dry run: only the methods that are named here may be called, as they only read. */
export function readingService(client: FeedbackClient): FeedbackClient {
  return readingOnly(client, [
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
  ]);
}

/** The vendor for a dry run: only the methods that are named here may be called, as they only read from the vendor, or check a delivery. */
export function readingVendor(source: Source): Source {
  return readingOnly(source, [
    'handshake',
    'verify',
    'events',
    'read',
    'poll',
    'recordNames',
    'recordUrl',
    'mayNamePerson',
    'vendorIds',
  ]);
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
