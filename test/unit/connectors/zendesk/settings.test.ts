import { describe, expect, test } from 'vitest';
import { addressOf, scopeOf, settings } from '../../../../connectors/zendesk/settings.ts';

const good = { subdomain: 'acme', clientId: 'id', clientSecret: 'secret', webhookSecrets: ['s'] };

test('fills in what is left out', () => {
  expect(settings.parse(good)).toEqual({
    ...good,
    toleranceSeconds: 900,
    writeBack: { answers: {}, gradeValues: {}, note: false, tags: false, noAnswer: false, settle: 0, whenClosed: [] },
  });
});

test('takes ids as numbers and as digits', () => {
  const parsed = settings.parse({ ...good, integrationUserId: 9001, writeBack: { grade: '360001', comment: 360002 } });
  expect([parsed.integrationUserId, parsed.writeBack.grade, parsed.writeBack.comment]).toEqual([
    '9001',
    '360001',
    '360002',
  ]);
});

test.each(['0', '9', '2.5', '10.25'])('takes a tag for the grade %s', (grade) => {
  expect(settings.parse({ ...good, writeBack: { gradeValues: { [grade]: 'tag' } } }).writeBack.gradeValues).toEqual({
    [grade]: 'tag',
  });
});

test('builds the address from the subdomain, or takes the tests’ one', () => {
  expect(addressOf(settings.parse(good))).toBe('https://acme.zendesk.com');
  expect(addressOf(settings.parse({ ...good, baseUrl: 'http://127.0.0.1:9000/' }))).toBe('http://127.0.0.1:9000');
});

describe('refuses', () => {
  const { clientId } = good;
  const noClient = { clientId: undefined, clientSecret: undefined };
  const rows: [name: string, given: object, path: string, says: string][] = [
    ['a whole address as the subdomain', { subdomain: 'acme.zendesk.com' }, 'subdomain', 'only the first part'],
    ['capitals in the subdomain', { subdomain: 'Acme' }, 'subdomain', 'only the first part'],
    ['no credentials', noClient, 'clientId', 'is missing'],
    ['half a client', { ...noClient, clientId }, 'clientId', 'both parts'],
    ['both kinds of credentials', { email: 'a@example.com', apiToken: 't' }, 'clientId', 'nothing of the other'],
    ['an empty client secret', { clientSecret: ' ' }, 'clientSecret', 'is empty'],
    ['no webhook secret', { webhookSecrets: [] }, 'webhookSecrets', 'needs the signing secret'],
    ['an empty webhook secret', { webhookSecrets: [''] }, 'webhookSecrets.0', 'is empty'],
    ['three webhook secrets', { webhookSecrets: ['a', 'b', 'c'] }, 'webhookSecrets', 'while rotating'],
    [
      'the public test secret',
      { webhookSecrets: ['dGhpc19zZWNyZXRfaXNfZm9yX3Rlc3Rpbmdfb25seQ=='] },
      'webhookSecrets.0',
      'public test secret',
    ],
    ['plain http to another machine', { baseUrl: 'http://example.com' }, 'baseUrl', 'on this machine'],
    ['a base address with a path', { baseUrl: 'https://example.com/api' }, 'baseUrl', 'without a path'],
    [
      'a grade in digits that no grade has',
      { writeBack: { gradeValues: { '2.50': 'tag' } } },
      'writeBack.gradeValues.2.50',
      'Invalid key in record',
    ],
    ['an empty title', { writeBack: { grade: ' ' } }, 'writeBack.grade', 'is empty'],
    ['a user field of no name', { writeBack: { userFields: {} } }, 'writeBack.userFields', 'names no field'],
    [
      'a title in place of a key',
      { writeBack: { userFields: { grade: 'Last grade' } } },
      'writeBack.userFields.grade',
      'a key, like',
    ],
    ['a step twice', { writeBack: { whenClosed: ['edit', 'edit'] } }, 'writeBack.whenClosed', 'names one twice'],
    [
      'user fields as a fallback that nobody named',
      { writeBack: { whenClosed: ['userFields'] } },
      'writeBack.userFields',
      'whenClosed names it',
    ],
    [
      'a custom object as a fallback that nobody named',
      { writeBack: { whenClosed: ['customObject'] } },
      'writeBack.customObject',
      'and needs it',
    ],
    [
      'a custom object that is no fallback',
      { writeBack: { customObject: { object: 'feedback', grade: 'grade' } } },
      'writeBack.customObject',
      'belongs to whenClosed',
    ],
    [
      '"no answer" without a place for it',
      { writeBack: { noAnswer: true, note: true } },
      'writeBack.noAnswer',
      'has nowhere to go',
    ],
    ['an unknown key', { subDomain: 'acme' }, '', 'subDomain'],
    ['an unknown key of writeBack', { writeBack: { notes: true } }, 'writeBack', 'notes'],
  ];
  test.each(rows)('%s', (_name, given, path, says) => {
    const issues = settings.safeParse({ ...good, ...given }).error?.issues ?? [];
    expect(issues.map((issue) => issue.path.join('.'))).toContain(path);
    expect(JSON.stringify(issues)).toContain(says);
  });
});

describe('asks for a token that may', () => {
  const rows: [scope: string, writeBack: object, given?: object][] = [
    ['read tickets:write', { grade: 1 }],
    ['read tickets:write users:write', { userFields: { grade: 'last_grade' } }],
    ['read write', { whenClosed: ['customObject'], customObject: { object: 'feedback', grade: 'grade' } }],
    ['read', { userFields: { grade: 'last_grade' } }, { scope: 'read' }],
  ];
  test.each(rows)('%s: %j', (scope, writeBack, given = {}) => {
    expect(scopeOf(settings.parse({ ...good, ...given, writeBack }))).toBe(scope);
  });
});

test('takes titles of fields, and keeps a number an id', () => {
  const { grade, comment } = settings.parse({
    ...good,
    writeBack: { grade: ' Feedback grade ', comment: 7 },
  }).writeBack;
  expect([grade, comment]).toEqual(['Feedback grade', '7']);
});

test('takes an API token (legacy)', () => {
  const { clientId, clientSecret, ...rest } = good;
  expect(settings.safeParse({ ...rest, email: 'a@example.com', apiToken: 't' }).success).toBe(true);
});

test('tells of missing credentials together with other mistakes', () => {
  const paths = settings.safeParse({ subdomain: 'a b' }).error?.issues.map((issue) => issue.path.join('.'));
  expect(paths?.sort()).toEqual(['clientId', 'subdomain', 'webhookSecrets']);
});
