import assert from 'node:assert/strict';
import type { Delivery, Verdict } from '../../../core/connector/contract.ts';
import { assertNothingPersonal, type Bench, closeDelivered, closingOf, eventsOf, needed, type Tests } from './bench.ts';
import { type ConnectorSample, customer, secrets } from './sample.ts';

export function settings({ connector, polled }: ConnectorSample, bench: () => Bench, { test }: Tests): void {
  test('it takes settings with one secret or two', () => {
    for (const some of [secrets.slice(0, 1), secrets]) {
      assert.ok(connector.settings.safeParse(bench().vendor.settings(some)).success);
    }
  });

  const wrong: [what: string, secrets: readonly string[] | undefined][] = [
    ['without secrets', undefined],
    ['with an empty list of secrets', []],
    ['with an empty secret', ['']],
    ['with a blank secret', [' ']],
    ['with an empty secret beside a good one', [secrets[0], '']],
  ];
  for (const [what, some] of polled ? [] : wrong) {
    test(`it refuses settings ${what}`, () => {
      assert.ok(!connector.settings.safeParse(bench().vendor.settings(some)).success);
    });
  }

  test('it has the same account whatever the secrets of its webhook', () => {
    const { vendor } = bench();
    const account = connector.account(vendor.settings(secrets));
    assert.equal(connector.account(vendor.settings(secrets.slice(1))), account);
    assert.notEqual(account, '');
  });
}

/** A source that is polled alone believes nobody who comes. */
export function noDeliveries(_sample: ConnectorSample, bench: () => Bench, { test }: Tests): void {
  test('it takes nothing that comes for a delivery', () => {
    const raw = Buffer.from('{}');
    const delivery = {
      method: 'POST',
      url: 'https://closeloop.example/hooks/x',
      headers: {},
      raw,
      receivedAt: new Date(),
    };
    assert.deepEqual(bench().source.verify(delivery), { ok: false, why: 'unsigned' });
  });
}

/** Signatures, and what a delivery says. */
export function deliveries(
  { signatureHeaders: headers, signs = 'body', goesStale }: ConnectorSample,
  bench: () => Bench,
  { test }: Tests,
): void {
  const signatureHeaders = needed(headers, 'signatureHeaders');
  const sign = (raw: Uint8Array): Delivery => needed(bench().vendor.sign, 'sign').call(bench().vendor, raw, secrets[0]);

  for (const secret of secrets) {
    test(`it accepts a delivery signed with ${secret}, one of two`, async () => {
      const { source } = bench();
      const { delivery } = await closeDelivered(bench(), secret);
      assert.deepEqual(source.verify(delivery), { ok: true });
    });
  }

  for (const name of signatureHeaders) {
    test(`it refuses one without ${name}, or with an empty one, as unsigned`, async () => {
      const { source } = bench();
      const { delivery } = await closeDelivered(bench());
      const { [name]: _, ...others } = delivery.headers;
      assert.equal(whyNot(source.verify({ ...delivery, headers: others })), 'unsigned');
      assert.equal(whyNot(source.verify(withHeader(delivery, name, ''))), 'unsigned');
    });
  }

  if (goesStale) {
    test('it refuses one that comes a day late, as stale', async () => {
      const { delivery } = await closeDelivered(bench());
      const receivedAt = new Date(delivery.receivedAt.getTime() + 86_400_000);
      assert.equal(whyNot(bench().source.verify({ ...delivery, receivedAt })), 'stale');
    });
  }

  if (signs === 'body')
    test('it refuses one with any byte of the body changed, missing or added', async () => {
      const { source } = bench();
      const { delivery } = await closeDelivered(bench());
      const { raw } = delivery;
      const flipped = [0, Math.floor(raw.length / 2), raw.length - 1].map((at) =>
        raw.map((byte, index) => (index === at ? byte ^ 1 : byte)),
      );
      for (const other of [...flipped, raw.slice(0, -1), Buffer.concat([raw, Buffer.from(' ')]), new Uint8Array()]) {
        assert.equal(whyNot(source.verify({ ...delivery, raw: other })), 'mismatch');
      }
    });

  test('it refuses one with another signature, of whatever length', async () => {
    const { source } = bench();
    const { delivery } = await closeDelivered(bench());
    const [name] = signatureHeaders;
    const good = delivery.headers[name] ?? assert.fail(`the sample's delivery has no ${name}`);
    // Hex may be written in capitals: `A` for `a` is the same signature.
    const other = `${/^a/i.test(good) ? 'B' : 'A'}${good.slice(1)}`;
    for (const bad of [good.slice(0, -4), `${good}AAAA`, other, 'õ']) {
      assert.equal(whyNot(source.verify(withHeader(delivery, name, bad))), 'mismatch');
    }
  });

  test('it refuses one signed with a secret that is not configured', async () => {
    const { source } = bench();
    const { delivery } = await closeDelivered(bench(), 'another-secret');
    assert.equal(whyNot(source.verify(delivery)), 'mismatch');
  });

  test('it finds one closed event for the record in a genuine closing', async () => {
    const { source } = bench();
    const { recordId, delivery } = await closeDelivered(bench());
    const [event, ...others] = (await eventsOf(source, delivery)).filter(({ kind }) => kind === 'closed');
    assert.ok(event?.kind === 'closed' && others.length === 0);
    assert.equal(event.recordId, recordId);
    assert.match(recordId, /^[^\s:]{1,100}$/);
    assert.notEqual(event.key, '');
    assert.ok(!Number.isNaN(event.at.getTime()));
    // What it tells of the record is for the worker to keep, not for a log.
    const { snapshot: _, ...rest } = event;
    assertNothingPersonal(rest);
  });

  test('it gives a repeated delivery the same keys, and another closing others', async () => {
    const { source } = bench();
    const first = await closeDelivered(bench());
    const second = await closeDelivered(bench());
    const again = { ...first.delivery, receivedAt: new Date(first.delivery.receivedAt.getTime() + 60_000) };
    const keysOf = async (delivery: Delivery) => (await eventsOf(source, delivery)).map(({ key }) => key);
    const keys = await keysOf(first.delivery);
    assert.deepEqual(await keysOf(again), keys);
    for (const key of await keysOf(second.delivery)) assert.ok(!keys.includes(key));
  });

  test('it gives the second closing of one record another key than the first', async () => {
    const { vendor, source } = bench();
    const { recordId, delivery } = await closeDelivered(bench());
    const closingsIn = async (one: Delivery) => (await eventsOf(source, one)).filter(({ kind }) => kind === 'closed');
    const keys = (await closingsIn(delivery)).map(({ key }) => key);
    await vendor.reopen(recordId);
    const again = needed(await vendor.closeAgain(recordId, secrets[0]), 'a delivery of the second closing');
    const [second, ...others] = await closingsIn(again);
    assert.ok(second?.kind === 'closed' && others.length === 0, 'the second delivery has to be of one closing');
    assert.ok(!keys.includes(second.key), 'nobody would be asked about the second closing');
    if (second.closing !== undefined) assert.equal(second.closing, await closingOf(bench(), recordId));
  });

  const unreadable: [what: string, raw: Buffer][] = [
    ['that is no JSON', Buffer.from(`{"email": "${customer.email}", ${customer.comment}`)],
    ['that is not UTF-8', Buffer.concat([Buffer.from(`["${customer.email}`), Buffer.from([0xff, 0xfe, 0x22, 0x5d])])],
    ['that is empty', Buffer.alloc(0)],
  ];
  for (const [what, raw] of unreadable) {
    test(`it says what is wrong with a signed body ${what}, without quoting it`, async () => {
      const { source } = bench();
      const delivery = sign(raw);
      assert.deepEqual(source.verify(delivery), { ok: true });
      const events = await source.events(delivery);
      // Where a refusal would cost the webhook, a person is told instead.
      const told = events.ok && events.events.length === 0 && events.ignored.some(({ act }) => act);
      assert.ok(told || (!events.ok && events.why !== ''));
      assertNothingPersonal(events);
    });
  }

  for (const text of ['null', '"text"', '17', '[]', '{}', '[null]', '[[]]', '{"a":{"b":[1]}}']) {
    test(`it finds no event in a signed ${text}, and does not throw`, async () => {
      const events = await bench().source.events(sign(Buffer.from(text)));
      assert.deepEqual(events.ok ? events.events : [], []);
    });
  }

  test('it judges without a vendor call, and the same every time', async () => {
    const { vendor, source, asked } = bench();
    const { delivery } = await closeDelivered(bench());
    const before = { calls: vendor.calls(), raw: Buffer.from(delivery.raw) };
    assert.deepEqual(source.verify(delivery), source.verify(delivery));
    assert.deepEqual(await source.events(delivery), await source.events(delivery));
    assert.equal(vendor.calls(), before.calls);
    assert.deepEqual([asked.takes.length, asked.fetches], [0, 0]);
    assert.deepEqual(Buffer.from(delivery.raw), before.raw);
  });
}

function withHeader(delivery: Delivery, name: string, value: string): Delivery {
  return { ...delivery, headers: { ...delivery.headers, [name]: value } };
}

const whyNot = (verdict: Verdict): string => (verdict.ok ? 'it takes it' : verdict.why);
