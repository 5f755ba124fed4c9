import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { PreflightContext, SetupStep } from '../../../../core/connector/contract.ts';
import type { HubspotStandin } from '../../../../standins/hubspot/standin.ts';
import {
  about,
  addAnswerProperties,
  atAccount,
  furnish,
  hookUrl,
  rightSettings,
  type Site,
  subscriptions,
} from '../../../support/connectors/hubspot/planted.ts';

const whats = (steps: readonly SetupStep[]) => steps.map(({ what }) => what);

async function applyAll(steps: readonly SetupStep[]): Promise<string[]> {
  const notes: string[] = [];
  for (const { apply } of steps) {
    const { note } = await apply();
    if (note !== undefined) notes.push(note);
  }
  return notes;
}

const optionsOf = (standin: HubspotStandin, name: string) =>
  standin.propertiesOf('tickets').find((property) => property.name === name)?.options;

const ticketsOnly = { ...rightSettings, objects: ['ticket'], pipelines: ['0'], stages: ['4'] };

/** Settings of a project app: nobody but its owner sees its webhooks. */
const project = { ...rightSettings, developerApiKey: undefined };

describe('setup', () => {
  test('makes everything that is missing, after which check finds nothing and setup has nothing left', () =>
    atAccount(async ({ standin, source }) => {
      furnish(standin);
      const { check, setup } = source();
      const steps = await setup(about);
      expect(whats(steps)).toEqual([
        'create the property "fb_grade" of tickets (number)',
        'create the property "fb_comment" of tickets (string/textarea)',
        'create the property "fb_at" of tickets (datetime)',
        'create the property "fb_status" of tickets (enumeration)',
        'create the property "fb_grade" of deals (number)',
        'create the property "fb_comment" of deals (string/textarea)',
        'create the property "fb_at" of deals (datetime)',
        'create the property "fb_status" of deals (enumeration)',
        'create the property "fb_grade" of contacts (number)',
        'create the property "fb_comment" of contacts (string/textarea)',
        'create the property "fb_at" of contacts (datetime)',
        `have app 3190457 deliver its webhooks to ${hookUrl}`,
        'subscribe app 3190457 to ticket.propertyChange of hs_pipeline_stage',
        'subscribe app 3190457 to ticket.creation',
        'subscribe app 3190457 to ticket.deletion',
        'subscribe app 3190457 to ticket.restore',
        'subscribe app 3190457 to ticket.merge',
        'subscribe app 3190457 to ticket.associationChange',
        'subscribe app 3190457 to deal.propertyChange of dealstage',
        'subscribe app 3190457 to deal.creation',
        'subscribe app 3190457 to deal.deletion',
        'subscribe app 3190457 to deal.restore',
        'subscribe app 3190457 to deal.merge',
        'subscribe app 3190457 to deal.associationChange',
        'subscribe app 3190457 to contact.privacyDeletion',
      ]);
      expect(standin.propertiesOf('tickets').some(({ name }) => name.startsWith('fb_'))).toBe(false);

      await applyAll(steps);
      expect(await check(about)).toEqual([]);
      expect(await setup(about)).toEqual([]);
    }));

  test('finishes after a failure at any step, by being run again', () =>
    atAccount(
      async ({ standin, source }) => {
        furnish(standin);
        const { check, setup } = source();
        const count = (await setup(about)).length;
        for (let failures = 0; failures < count; failures += 1) {
          const steps = await setup(about);
          standin.faults.add({ method: 'POST', status: 502 });
          await applyAll(steps).catch(() => undefined);
          standin.faults.clear();
          const [next] = await setup(about);
          await next?.apply();
        }
        expect(await setup(about)).toEqual([]);
        expect(await check(about)).toEqual([]);
      },
      { rateLimit: { per10s: 10_000 } },
    ));

  test('may apply a step twice, as after a call whose outcome is unknown', () =>
    atAccount(
      async ({ standin, source }) => {
        furnish(standin);
        const { check, setup } = source();
        for (const step of await setup(about)) {
          standin.faults.add({ method: 'POST', then: 'work-then-cut' });
          await step.apply().catch(() => undefined);
          standin.faults.clear();
          await step.apply();
        }
        expect(await check(about)).toEqual([]);
      },
      { rateLimit: { per10s: 10_000 } },
    ));

  test('adds the options that a choice lacks, and keeps those that are there, and those that came since', () =>
    atAccount(async ({ standin, source }) => {
      furnish(standin);
      addAnswerProperties(standin);
      standin.setWebhook({ url: hookUrl, subscriptions });
      const options = ['1', { value: '2', hidden: true }, '3'];
      standin.addProperty({ type: 'tickets', name: 'fb_grade', kind: 'enumeration', options });
      const { check, setup } = source();
      const steps = await setup(about);
      expect(whats(steps)).toEqual(['add 4, 5 to the property "fb_grade" of tickets']);

      standin.addProperty({ type: 'tickets', name: 'fb_grade', kind: 'enumeration', options: [...options, '5', 'x'] });
      await applyAll(steps);
      expect(optionsOf(standin, 'fb_grade')).toEqual([
        { label: '1', value: '1', displayOrder: 0, hidden: false },
        { label: '2', value: '2', displayOrder: 1, hidden: true },
        { label: '3', value: '3', displayOrder: 2, hidden: false },
        { label: '5', value: '5', displayOrder: 3, hidden: false },
        { label: 'x', value: 'x', displayOrder: 4, hidden: false },
        { label: '4', value: '4', displayOrder: 5, hidden: false },
      ]);
      expect(await setup(about)).toEqual([]);
      expect(await check(about)).toMatchObject([{ level: 'warning', problem: expect.stringContaining('hides 2') }]);
    }));

  test('brings an archived property back, and says so where it is of another type', () =>
    atAccount(async ({ standin, source }) => {
      furnish(standin);
      addAnswerProperties(standin);
      standin.addProperty({ type: 'tickets', name: 'fb_grade', kind: 'bool' });
      standin.archiveProperty({ type: 'tickets', name: 'fb_grade' });
      standin.archiveProperty({ type: 'tickets', name: 'fb_comment' });
      standin.setWebhook({ url: hookUrl, subscriptions });
      const { setup } = source();
      expect(await applyAll(await setup(about))).toEqual([
        expect.stringMatching(/brought back a deleted property fb_grade of type bool\/booleancheckbox/),
      ]);
      expect(await setup(about)).toEqual([]);
    }));

  test('leaves alone what is there, be it wrong: that is for a person, told by check', () =>
    atAccount(async ({ standin, source }) => {
      furnish(standin);
      addAnswerProperties(standin);
      standin.addProperty({ type: 'tickets', name: 'fb_at', kind: 'date' });
      standin.addProperty({ type: 'deals', name: 'fb_grade', kind: 'number', readOnly: true });
      standin.setWebhook({
        url: 'https://old.example.com/hooks',
        subscriptions: subscriptions.map((one) => ({ ...one, active: false })),
      });
      const { check, setup } = source();
      expect(await setup(about)).toEqual([]);
      expect((await check(about)).map(({ at }) => at)).toEqual([
        'webhook',
        'webhook',
        'writeBack.answeredAt',
        'writeBack.grade',
      ]);
    }));

  test("subscribes an app whose target is somebody else's no less: the subscriptions are the app's", () =>
    atAccount(async ({ standin, source }) => {
      furnish(standin);
      addAnswerProperties(standin);
      standin.setWebhook({ url: 'https://old.example.com/hooks', subscriptions: subscriptions.slice(1) });
      const { setup } = source();
      await applyAll(await setup(about));
      expect(standin.webhook?.url).toBe('https://old.example.com/hooks');
      expect(standin.webhook?.subscriptions.length).toBe(subscriptions.length);
    }));

  test('names the scope that creating takes', () =>
    atAccount(async ({ standin, source }) => {
      furnish(standin);
      standin.changeSettings({ scopes: ['oauth', 'crm.objects.deals.read'] });
      const [step] = await source({ ...rightSettings, objects: ['deal'], writeBack: { grade: 'fb_grade' } }).setup(
        about,
      );
      await expect(step?.apply()).rejects.toMatchObject({
        advice: { kind: 'config' },
        message: expect.stringContaining('crm.schemas.deals.write'),
      });
    }));

  const withoutSteps: [name: string, settings: object, about: PreflightContext][] = [
    [
      'nothing to write and no address',
      { ...ticketsOnly, writeBack: {} },
      { grades: [], reads: [], answersWithinMs: 0 },
    ],
    [
      'nothing to write, and a project app whose owner has vouched for its target',
      { ...project, writeBack: {}, publicUrl: hookUrl },
      about,
    ],
  ];
  test.each(withoutSteps)('has no step for %s', (_name, settings, live) =>
    atAccount(async ({ source }) => {
      expect(await source(settings).setup(live)).toEqual([]);
    }),
  );
});

describe("setup for an app whose webhooks are its owner's", () => {
  const printed = ({ source }: Site, settings: object) => source({ ...settings, writeBack: {} }).setup(about);
  const file = z.string().transform((note) => JSON.parse(note.slice(note.indexOf('{'), note.lastIndexOf('}') + 1)));

  test('prints the file to upload, and what to set when that is done', () =>
    atAccount(async (site) => {
      const steps = await printed(site, { ...project, objects: ['ticket'] });
      expect(whats(steps)).toEqual([expect.stringContaining('webhooks-hsmeta.json')]);
      const [note = ''] = await applyAll(steps);
      const object = (subscriptionType: string) => ({ subscriptionType, objectType: 'ticket', active: true });
      expect(file.parse(note)).toEqual({
        uid: 'webhooks',
        type: 'webhooks',
        config: {
          settings: { targetUrl: hookUrl, maxConcurrentRequests: 10 },
          subscriptions: {
            crmObjects: [
              { ...object('object.propertyChange'), propertyName: 'hs_pipeline_stage' },
              object('object.creation'),
              object('object.deletion'),
              object('object.restore'),
              object('object.merge'),
              object('object.associationChange'),
            ],
            legacyCrmObjects: [],
            hubEvents: [{ subscriptionType: 'contact.privacyDeletion', active: true }],
          },
        },
      });
      expect(note).toContain('src/app/webhooks/webhooks-hsmeta.json');
      expect(note).toContain(`publicUrl of this source to ${hookUrl}`);
    }));

  test('prints it again until its owner has said so, which check asks for too', () =>
    atAccount(async (site) => {
      furnish(site.standin);
      await applyAll(await printed(site, project));
      expect(await printed(site, project)).toHaveLength(1);
      expect(await site.source({ ...project, writeBack: {} }).check(about)).toMatchObject([
        { at: 'webhook', level: 'warning' },
      ]);
      const vouched = { ...project, publicUrl: hookUrl, writeBack: {} };
      expect(await printed(site, vouched)).toEqual([]);
      expect(await site.source(vouched).check(about)).toEqual([]);
    }));
});
