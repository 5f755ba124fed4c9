import assert from 'node:assert/strict';
import type { Finding, PreflightContext, Source } from '../../../core/connector/contract.ts';
import { answer, assertNothingPersonal, type Bench, closeOne, needed, reopen, type Tests } from './bench.ts';
import { saidOf } from './records.ts';
import { type ConnectorSample, customer, secrets } from './sample.ts';

/** `check`: what would keep the source from working. */
export function checks({ planted = [] }: ConnectorSample, bench: () => Bench, { test }: Tests): void {
  test('it finds nothing wrong with an account in which all is well', async () => {
    assert.deepEqual(await check(bench().source, about(bench())), []);
  });

  for (const what of planted) {
    test(`it finds, with the remedy: ${what}`, async () => {
      await needed(bench().vendor.plant, 'plant').call(bench().vendor, what);
      const findings = await check(reopen(bench()).source, about(bench()));
      assert.notDeepEqual(findings, []);
    });
  }

  test('it finds a field that can not hold the grades of the campaigns, and no other', async () => {
    const { source } = bench();
    const [result] = await source.writeBack([answer(await closeOne(bench()), { grade: 2.5 })]);
    const findings = await check(source, { ...about(bench()), grades: halves });
    const ofGrade = findings.filter(({ level, at }) => level === 'error' && at === 'writeBack.grade');
    assert.equal(ofGrade.length > 0, saidOf(result).length > 0, JSON.stringify(findings));
    for (const { problem } of ofGrade) assert.match(problem, /2\.5/);
  });

  test('it tells as a finding that the credentials are refused', async () => {
    bench().vendor.breakVendor('401', `${customer.email} ${customer.comment}`);
    const findings = await check(reopen(bench()).source, about(bench()));
    assert.ok(findings.some(({ level }) => level === 'error'));
  });
}

/** `setup`: what is missing at the vendor. */
export function setups({ does = [] }: ConnectorSample, bench: () => Bench, { test }: Tests): void {
  test('it has nothing to do in an account that has everything', async () => {
    assert.deepEqual(await setup(bench().source, about(bench())), []);
  });

  test('it makes a field that holds the grades of the campaigns', async () => {
    const { vendor, source } = bench();
    await needed(vendor.strip, 'strip').call(vendor);
    const steps = await setup(source, { ...about(bench()), grades: halves });
    for (const step of steps) await step.apply();
    const ofGrade = (await setup(reopen(bench()).source, about(bench()))).filter(({ what }) => /grade/i.test(what));
    assert.deepEqual(ofGrade, []);
    if (!steps.some(({ what }) => /grade/i.test(what))) return;
    const id = await closeOne(bench());
    assert.deepEqual(saidOf((await source.writeBack([answer(id, { grade: 2.5 })]))[0]), []);
    assert.equal(vendor.gradeOn(id), 2.5);
  });

  test('it makes what is missing, then has nothing left to do', async () => {
    const { vendor, source } = bench();
    await needed(vendor.strip, 'strip').call(vendor);
    const steps = await setup(source, about(bench()));
    assert.notDeepEqual(steps, []);
    for (const { what } of steps) assert.notEqual(what, '');
    const looked = await setup(reopen(bench()).source, about(bench()));
    assert.deepEqual(
      looked.map(({ what }) => what),
      steps.map(({ what }) => what),
      'looking has changed something',
    );
    const told: string[] = [];
    for (const step of steps) told.push(...Object.values((await step.apply()).secrets ?? {}));
    // A vendor that makes the secret tells it here; it is configured next.
    const { source: fresh } = reopen(bench(), { secrets: told.length > 0 ? told : secrets });
    assert.deepEqual(
      (await setup(fresh, about(bench()))).map(({ what }) => what),
      [],
    );
    if (!does.includes('check')) return;
    assert.deepEqual(
      (await check(fresh, about(bench()))).filter(({ level }) => level === 'error'),
      [],
    );
  });
}

const halves = [1, 1.5, 2, 2.5, 3];

async function check(source: Source, about: PreflightContext): Promise<Finding[]> {
  const findings = await (source.check?.(about) ?? assert.fail('the source has no check'));
  for (const { at, problem, remedy } of findings) assert.ok(at !== '' && problem !== '' && remedy !== '');
  assertNothingPersonal(findings);
  return findings;
}

async function setup(source: Source, about: PreflightContext) {
  return await (source.setup?.(about) ?? assert.fail('the source has no setup'));
}

function about({ vendor }: Bench): PreflightContext {
  return needed(vendor.preflight, 'preflight').call(vendor);
}
