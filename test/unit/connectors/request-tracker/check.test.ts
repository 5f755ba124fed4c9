import { expect, test } from 'vitest';
import { settings } from '../../../../connectors/request-tracker/settings.ts';
import { recorded } from '../../../support/connectors/request-tracker/replay.ts';

const about = { hookUrl: 'https://closeloop.example/hooks/rt', grades: [0, 9, 10], reads: [], answersWithinMs: 1 };
const types = {
  writeBack: {
    ...{ grade: 'Feedback choice', comment: 'Feedback tags', answeredAt: 'Feedback day', status: 'No such field' },
  },
};

const rows: [what: string, name: string, more: object, grades: number[], found: string[]][] = [
  ['nothing wrong where all is well', 'check', {}, [0, 9, 10], []],
  [
    'grades that the pattern of the field refuses',
    'check-grades',
    {},
    [2.5, 10, 11],
    ['writeBack.grade: the custom field "Feedback grade" of tickets lacks the values 2.5, 11'],
  ],
  [
    'fields of other types, a list without the grades, and a name that no queue has',
    'check-fields',
    types,
    [0, 9, 10],
    [
      'writeBack.grade: the custom field "Feedback choice" of tickets lacks the values 0, 9, 10',
      'writeBack.comment: the custom field "Feedback tags" of tickets is of type FreeformMultiple, not TextSingle or FreeformSingle',
      'writeBack.answeredAt: the custom field "Feedback day" of tickets is of type DateSingle, not DateTimeSingle or FreeformSingle',
      'writeBack.status: tickets have no custom field "No such field"',
    ],
  ],
  [
    'a zone in which times are stored hours off',
    'check-zone',
    {},
    [0, 9, 10],
    ["writeBack.answeredAt: takes times in the zone of closeloop's user, which is Asia/Tokyo"],
  ],
  ['a refused token, alone', 'check-token', {}, [0, 9, 10], ['token: the credentials are refused (401)']],
];
test.each(rows)('check finds %s', async (_what, name, more, grades, found) => {
  const { source } = recorded(name, more);
  const findings = (await source.check?.({ ...about, grades })) ?? [];
  expect(findings.map(({ at, problem }) => `${at}: ${problem}`)).toEqual(found);
});

test('check finds a user without rights', async () => {
  const findings = (await recorded('check-no-rights').source.check?.(about)) ?? [];
  expect(findings[0]).toMatchObject({ at: 'token', problem: "closeloop's user sees no queue" });
});

test('setup prints what an admin has to enter: fields, address and scrip, never a key', async () => {
  const { source } = recorded('check', { pollOnly: false, webhookSecrets: ['the-real-key'] });
  const [step, ...others] = (await source.setup?.(about)) ?? [];
  expect(others).toEqual([]);
  const { note = '' } = (await step?.apply()) ?? {};
  for (const part of ['"Feedback grade", "Feedback comment", "Feedback at"', about.hookUrl, 'hmac_sha256_hex'])
    expect(note).toContain(part);
  expect(note).not.toContain('the-real-key');
});

const good = { address: 'https://rt.example.com/rt/', token: '1-27-0123456789abcdef', pollOnly: true };
test.each<[what: string, given: object, at: string]>([
  ['http to another machine', { ...good, address: 'http://rt.example.com' }, 'address'],
  ['a query', { ...good, address: 'https://rt.example.com/?a=b' }, 'address'],
  ['a password for a token', { ...good, token: 'secret' }, 'token'],
  ['neither a key nor pollOnly', { ...good, pollOnly: false }, 'webhookSecrets'],
  ['both', { ...good, webhookSecrets: ['key'] }, 'webhookSecrets'],
  ['deleted tickets', { ...good, closedStatuses: ['Deleted'] }, 'closedStatuses.0'],
  ['the id of a field', { ...good, writeBack: { grade: '2' } }, 'writeBack.grade'],
])('settings refuse %s', (_what, given, at) => {
  expect(settings.safeParse(given).error?.issues.map(({ path }) => path.join('.'))).toEqual([at]);
});

test('settings take statuses in any case, and the path of the installation', () => {
  const parsed = settings.parse({ ...good, closedStatuses: ['Resolved'] });
  expect([parsed.address, parsed.closedStatuses]).toEqual(['https://rt.example.com/rt', ['resolved']]);
});
