import { afterEach, beforeEach, expect, test } from 'vitest';
import type { PreflightContext } from '../../../../core/connector/contract.ts';
import { openWorkspace, type Workspace } from '../../../support/connectors/intercom/workspace.ts';

const hookUrl = 'https://closeloop.example/hooks/inbox';
const about: PreflightContext = { hookUrl, grades: [1, 2, 3, 4, 5], reads: [], answersWithinMs: 86_400_000 };

let workspace: Workspace;
beforeEach(async () => {
  workspace = await openWorkspace({ webhookUrl: hookUrl });
});
afterEach(() => workspace.close());

const check = async (more: object = {}, other: Partial<PreflightContext> = {}) =>
  (await workspace.open(more).source.check?.({ ...about, ...other })) ?? expect.fail('there is no check');
const setup = async (more: object = {}) =>
  (await workspace.open(more).source.setup?.(about)) ?? expect.fail('there is no setup');

test('it warns where it does not know where Intercom has to deliver', async () => {
  const { hookUrl: _, ...rest } = about;
  expect(await workspace.open().source.check?.(rest)).toMatchObject([{ level: 'warning', at: 'http.publicUrl' }]);
});

interface Planted {
  name: string;
  plant?: () => unknown;
  settings?: object;
  about?: Partial<PreflightContext>;
  wanted: [level: string, at: string, problem: RegExp];
}
const grade = { name: 'Feedback grade', dataType: 'integer' } as const;
const planted: Planted[] = [
  {
    name: 'an app of another version, which shapes its webhooks',
    plant: () => workspace.standin.changeSettings({ appVersion: '2.14' }),
    wanted: ['warning', 'webhook', /2\.14/],
  },
  { name: 'another workspace', settings: { workspace: 'other123' }, wanted: ['error', 'workspace', /k7p2m4xq/] },
  { name: 'another region', settings: { region: 'au' }, wanted: ['error', 'region', /US/] },
  { name: 'a teammate who left', settings: { adminId: '7' }, wanted: ['error', 'adminId', /no teammate/] },
  {
    name: 'no word of the webhooks',
    settings: { webhookUrl: undefined },
    wanted: ['warning', 'webhook', /nobody but its owner/],
  },
  {
    name: 'an attribute that is there twice',
    plant: () => workspace.standin.addAttribute(grade),
    wanted: ['error', 'writeBack.grade', /conversations have 2 of the name/],
  },
  {
    name: 'one that a ticket type has twice',
    plant: () => workspace.standin.addAttribute({ ...grade, type: 'Support request' }),
    wanted: ['error', 'writeBack.grade', /tickets of type "Support request" have 2/],
  },
  {
    name: 'one of another type',
    settings: { writeBack: { grade: 'Feedback comment' } },
    wanted: ['error', 'writeBack.grade', /is of type string/],
  },
  {
    name: 'no right to contacts',
    plant: () => workspace.standin.changeSettings({ refuses: ['contacts'] }),
    wanted: ['error', 'accessToken', /lacks a permission/],
  },
  {
    name: 'an expression that reads what no conversation has',
    about: { reads: [{ at: 'rules.0.when', path: ['conversation', 'colour'] }] },
    wanted: ['warning', 'rules.0.when', /no colour/],
  },
];
test.each(planted)('it finds $name', async ({ plant, settings, about: other, wanted: [level, at, problem] }) => {
  await plant?.();
  expect(await check(settings, other)).toContainEqual(
    expect.objectContaining({
      level,
      at,
      problem: expect.stringMatching(problem),
      remedy: expect.stringMatching(/\S/),
    }),
  );
});

test('it warns of two surveys for one conversation, unless ratings are passed on', async () => {
  await workspace.standin.rate({ id: await workspace.closed(), rating: 4 });
  workspace.later(86_400_000);
  expect(await check()).toMatchObject([{ level: 'warning', at: 'ratings' }]);
  expect(await check({ ratings: true })).toEqual([]);
});

test('setup makes what is missing, once, and lists what a person has to enter', async () => {
  const { standin } = workspace;
  standin.removeAttributes();
  const steps = await setup({ webhookUrl: undefined, ratings: true });
  expect(steps).toHaveLength(9);
  const notes: (string | undefined)[] = [];
  for (const step of [...steps, ...steps]) notes.push((await step.apply()).note);
  expect(notes.at(-1)).toMatch(/conversation\.admin\.closed[\s\S]*conversation\.rating\.added[\s\S]*webhookUrl/);
  expect(await check()).toEqual([]);
  expect(standin.callCounts()).toMatchObject({
    'POST /conversations/attributes': 4,
    'POST /ticket_types/{id}/attributes': 4,
  });
  expect(await setup()).toEqual([]);
});
