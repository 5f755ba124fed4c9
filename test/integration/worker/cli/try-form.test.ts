import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { startFeedbackStandin } from '../../../../standins/feedback/standin.ts';
import { tryForm } from '../../../../worker/cli/try-form.ts';
import { ToyVendor } from '../../../support/toy-connector.ts';

/** A service, a configuration of it, and what the command prints there. */
async function trying(operations: object = {}) {
  const feedback = await startFeedbackStandin({ seed: true });
  const { standin } = feedback;
  const types = ['Integer', 'Date', 'Time', 'Date and time', 'Yes/No', 'URL address'] as const;
  const customFields = [
    { name: 'Store', required: true },
    { name: 'closeloop' },
    { name: 'optional' },
    { name: 'Kind', fieldType: 'Choice' as const, choices: ['a', 'b'], required: true },
    ...types.map((type) => ({ name: type, fieldType: type, required: true })),
  ];
  standin.addCampaign({ account: 'acme', id: 99, name: 'Test', type: 'sms', customFields });
  const dir = mkdtempSync(join(tmpdir(), 'closeloop-try-'));
  onTestFinished(async () => {
    await feedback.close();
    rmSync(dir, { recursive: true, force: true });
  });
  const config = join(dir, 'closeloop.yaml');
  writeFileSync(
    config,
    `feedback: { baseUrl: "${feedback.url}/api", apiKey: demo-key, timeZone: Europe/Tallinn, operations: ${JSON.stringify(operations)} }
sources: { toy: { connector: toy, secret: good, rules: [{ name: all, campaign: 12, contact: customer.email }] } }
`,
  );
  const run = async (more: { campaign?: number; contact?: string; json?: boolean }) => {
    const { write } = process.stdout;
    let out = '';
    process.stdout.write = (text: string | Uint8Array) => {
      out += String(text);
      return true;
    };
    try {
      const code = await tryForm({ config, data: dir, connectors: [new ToyVendor().builtIn], json: true, ...more });
      return { code, out: stripVTControlCharacters(out) };
    } finally {
      process.stdout.write = write;
    }
  };
  return { standin, run };
}

const sms = { campaign: 99, contact: '+37255512345' };

test('a form that works: one request is made, read and cancelled, nothing is left (audit 17)', async () => {
  const { standin, run } = await trying();
  const { code, out } = await run(sms);
  const [request, ...more] = standin.requests({ campaign: 99 });
  expect([code, more, request?.status]).toEqual([0, [], 'Cancelled']);
  expect(request?.customFields).toMatchObject({
    Store: 'closeloop check',
    closeloop: 'closeloop check',
    Kind: 'a',
    Integer: 1,
  });
  expect(JSON.parse(out)).toMatchObject({
    ok: true,
    campaign: 99,
    created: String(request?.id),
    steps: [
      { step: 'create', ok: true },
      { step: 'get', ok: true },
      { step: 'cancel', ok: true },
    ],
    left: null,
  });
  expect((await run({ ...sms, json: false })).out).toMatch(/✓ create .*\n✓ get .*\n✓ cancel .*\nThe form .* works/);
});

test.each([
  ['a method', { create: { method: 'PUT' } }, /not for this method.*feedback\.operations\.create/],
  ['a path', { create: { path: '/appeals/new/' } }, /no such path.*feedback\.operations\.create/],
  ['a name', { create: { body: { phone: 'contact_phone' } } }, /contact_phone.*feedback\.operations\.create/],
])(
  '%s of create that the service does not know: it says so, and nothing was made (audit 17)',
  async (_, operations, says) => {
    const { standin, run } = await trying(operations);
    const { code, out } = await run(sms);
    expect([code, standin.requests({ campaign: 99 })]).toEqual([1, []]);
    expect(JSON.parse(out)).toMatchObject({
      ok: false,
      created: null,
      left: null,
      steps: [{ step: 'create', ok: false, what: expect.stringMatching(says) }],
    });
  },
);

test('a cancel that does not work: it says what stands, to be cancelled by hand (audit 17)', async () => {
  const { standin, run } = await trying({ cancel: { method: 'PUT' } });
  const { code, out } = await run(sms);
  const id = String(standin.requests({ campaign: 99 })[0]?.id);
  expect(code).toBe(1);
  expect(JSON.parse(out)).toMatchObject({
    created: id,
    left: expect.stringMatching(`request ${id} of campaign 99 stands`),
  });
});

test('an answer that never came: it says that a request may stand (audit 17)', async () => {
  const { standin, run } = await trying();
  standin.faults.add({ method: 'POST', path: '/api/appeals/$', then: 'work-then-cut' });
  const { code, out } = await run(sms);
  expect(code).toBe(1);
  expect(JSON.parse(out)).toMatchObject({ created: null, left: expect.stringContaining('may have been made') });
});

test("it makes nothing where a message could go out: no contact of one's own, no test campaign, no date (audit 17)", async () => {
  const { standin, run } = await trying();
  await expect(run({ campaign: 99 })).rejects.toThrow('--contact');
  await expect(run({})).rejects.toThrow('--campaign');
  const dateless = await trying({ create: { body: { scheduled: null } } });
  await expect(dateless.run(sms)).rejects.toThrow('type external');
  expect([standin.requests(), dateless.standin.requests()]).toEqual([[], []]);
});
