import { expect, test } from 'vitest';
import { redacted } from '../../../core/redaction.ts';

const rows: [text: string, left: string][] = [
  ['no contact mari.maasikas+x@example.co.uk, sorry', 'no contact [removed], sorry'],
  ['GET /contacts/mari%40example.com/access-log', 'GET /contacts/[removed]/access-log'],
  ['asked õnne@näide.ee and иван@пример.рф', 'asked [removed] and [removed]'],
  ['number +37255512345: invalid', 'number [removed]: invalid'],
  ['number +372 555-12 345: invalid', 'number [removed]: invalid'],
  ['number +1 (212) 555 0100.', 'number [removed].'],
  ['GET /contacts/%2B37255512345', 'GET /contacts/[removed]'],
  ['number 0037255512345 and 00372 5551 2345', 'number [removed] and [removed]'],
  ['connect to redis://user:p@ss@127.0.0.1:6379/2', 'connect to redis://[removed]@127.0.0.1:6379/2'],
  ['connect to redis://:s3cret@localhost', 'connect to redis://[removed]@localhost'],
  [
    'GET https://shop.example/x?consumer_secret=cs_1&page=2',
    'GET https://shop.example/x?consumer_secret=[removed]&page=2',
  ],
  ['POST /hook?token=abc&email=x', 'POST /hook?token=[removed]&email=[removed]'],
  ['Headers.append: Bearer pat-eu1-12345678', 'Headers.append: Bearer [removed]'],
  ['signed with whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'signed with [removed]'],
];
test.each(rows)('"%s" is written as "%s" (audit leak)', (text, left) => expect(redacted(text)).toBe(left));

const harmless = [
  'due 2026-11-21T10:00:00+02:00, campaign 12345678',
  'to be asked at 2026-03-29T00:59:00.000Z',
  'Basic support and Token refreshing are words',
  'journey support/41960.1, request 90017, event-3f2a-0035-4123-9456-1234567890ab',
  'PUT /api/v2/tickets/update_many.json answered 500',
  'at file:///app/node_modules/zod@4.1.2/index.js:12:5',
  'Set "redis" to redis://host:6379, or https://closeloop.example.com/hooks/support',
];
test.each(harmless)('"%s" is written as it is', (text) => expect(redacted(text)).toBe(text));
