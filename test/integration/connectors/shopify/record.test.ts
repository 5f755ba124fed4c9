import { afterEach, beforeEach, expect, test } from 'vitest';
import { Order } from '../../../../connectors/shopify/order.ts';
import { phonesOf } from '../../../../connectors/shopify/record.ts';
import { contactFor } from '../../../../core/contact.ts';
import { openShop, orderFulfilled } from '../../../support/connectors/shopify/fixture.ts';

let shop: Awaited<ReturnType<typeof openShop>>;
beforeEach(async () => {
  shop = await openShop({ trigger: 'fulfilled', metafields: ['custom.branch', '$app.code'] });
});
afterEach(() => shop.close());

const read = async (id: string, source = shop.source) => {
  const [result] = await source.read([id]);
  return result?.ok ? result.record : expect.fail(JSON.stringify(result));
};

/** The order of the fixture, at the stand-in. */
async function fixture(more: object = {}): Promise<string> {
  const { standin } = shop;
  const customerId = standin.addCustomer({
    id: '7304411152583',
    email: 'account@example.com',
    phone: '+491713920012',
    tags: ['stammkunde'],
    emailConsent: 'SUBSCRIBED',
  }).id;
  const locationId = standin.addLocation({ id: '71980220679', name: 'Lager Hamburg' }).id;
  const { id } = standin.addOrder({
    id: String(orderFulfilled.id),
    customerId,
    email: 'jordis.petersen@example.com',
    phone: '+491713920012',
    customerLocale: 'de-DE',
    note: 'Bitte beim Nachbarn abgeben <3',
    tags: ['newsletter', 'stammkunde'],
    discountCodes: ['HERBST'],
    attributes: [
      { key: 'delivery_slot', value: 'evening' },
      { key: 'feedback_opt_out', value: 'no' },
    ],
    shipping: { city: 'Hamburg', country: 'DE', province: 'HH', phone: '0171 3920012', timeZone: 'Europe/Berlin' },
    billing: { city: 'Hamburg', country: 'DE', phone: '(040) 66969 123' },
    lines: [
      { title: 'Filterkaffee "Alster"', variantTitle: '500 g', sku: 'NK-ALS-500', vendor: 'Nordlicht', quantity: 2 },
      { title: 'Gutschein', giftCard: true, requiresShipping: false },
    ],
    ...more,
  });
  await standin.fulfil({ id, locationId });
  return id;
}

test('it presents an order with everything that rules can see', async () => {
  const record = await read(await fixture());
  expect(record).toEqual({
    id: '5791244910855',
    currentId: '5791244910855',
    personId: '7304411152583',
    locale: 'de-DE',
    timeZone: 'Europe/Berlin',
    country: 'DE',
    region: 'HH',
    state: { is: 'closed', closing: expect.stringMatching(/^f\d+$/), closedAt: shop.clock.now },
    shape: {
      order: {
        id: '5791244910855',
        name: '#1042',
        source: 'web',
        tags: ['newsletter', 'stammkunde'],
        note: 'Bitte beim Nachbarn abgeben <3',
        attributes: { delivery_slot: 'evening', feedback_opt_out: 'no' },
        metafields: {},
        discountCodes: ['HERBST'],
        total: '47.20',
        currency: 'EUR',
        financialStatus: 'PAID',
        fulfillmentStatus: 'FULFILLED',
        createdAt: '2026-11-20T12:00:00.000Z',
        branch: undefined,
        shippedFrom: { id: '71980220679', name: 'Lager Hamburg' },
        country: 'DE',
        city: 'Hamburg',
        items: [
          {
            title: 'Filterkaffee "Alster"',
            variant: '500 g',
            sku: 'NK-ALS-500',
            vendor: 'Nordlicht',
            quantity: 2,
            giftCard: false,
            shipped: true,
          },
          {
            title: 'Gutschein',
            variant: undefined,
            sku: undefined,
            vendor: undefined,
            quantity: 1,
            giftCard: true,
            shipped: false,
          },
        ],
      },
      fulfillments: [
        { id: expect.any(String), status: 'FULFILLED', createdAt: '2026-11-20T12:00:00.000Z', deliveredAt: undefined },
      ],
      contact: { email: 'jordis.petersen@example.com', phones: ['+491713920012', '+494066969123'] },
      customer: {
        id: '7304411152583',
        firstName: 'Jördis',
        lastName: 'Petersen',
        locale: 'de-DE',
        tags: ['stammkunde'],
        orders: 1,
        emailConsent: 'SUBSCRIBED',
        smsConsent: 'NEVER_SUBSCRIBED',
      },
    },
  });
});

test('it presents an order without customer, addresses and contact, and says that it asks nobody', async () => {
  const { id } = shop.standin.addOrder({});
  await shop.standin.fulfil({ id });
  const record = await read(id);
  expect(record.state).toEqual({ is: 'out', why: 'there is neither an e-mail address nor a phone number on it' });
  expect(record).not.toHaveProperty('personId');
  expect(record.shape).toMatchObject({ contact: { email: undefined, phones: [] }, customer: undefined });
});

test('it takes the e-mail of the account where the order has none', async () => {
  const customerId = shop.standin.addCustomer({ email: 'account@example.com' }).id;
  const { id } = shop.standin.addOrder({ customerId });
  expect((await read(id)).shape).toMatchObject({ contact: { email: 'account@example.com' } });
});

test('it names the branch of a sale in a shop', async () => {
  const locationId = shop.standin.addLocation({ name: 'Tartu' }).id;
  const { id } = shop.standin.addOrder({ sourceName: 'pos', locationId, phone: '+37255512345' });
  await shop.standin.fulfil({ id });
  const expected = { branch: { id: locationId, name: 'Tartu' }, shippedFrom: { name: 'Tartu' } };
  expect((await read(id)).shape).toMatchObject({ order: expected });
});

test('it reads the metafields that are named', async () => {
  const id = await fixture();
  const { source } = shop.open({ writeBack: { namespace: 'custom', grade: 'branch' } });
  await source.writeBack([
    { recordId: id, status: 'answered', marker: 'm', grade: 7, comment: null, answeredAt: new Date(), campaign: 'C' },
  ]);
  expect((await read(id)).shape).toMatchObject({ order: { metafields: { 'custom.branch': '7' } } });
});

test('it asks nobody where an app may not see personal data, rather than fail', async () => {
  const id = await fixture();
  shop.standin.changeSettings({ protectedData: false });
  expect((await read(id)).state).toMatchObject({ is: 'out' });
});

test('it keeps ids with more digits than a number holds', async () => {
  const { id } = shop.standin.addOrder({ id: '820982911946154508', email: 'a@b.example' });
  expect((await read(id)).id).toBe('820982911946154508');
});

test('it finds no order that is older than 60 days, without the right to', async () => {
  const { id } = shop.standin.addOrder({ email: 'a@b.example', createdAt: shop.clock.now.getTime() - 61 * 86_400_000 });
  expect(await shop.source.read([id])).toEqual([{ ok: false, why: 'not-found' }]);
});

const address = (phone: string, countryCodeV2: string) => ({
  phone,
  countryCodeV2,
  provinceCode: null,
  city: null,
  timeZone: null,
});
const german = (phone: string) => address(phone, 'DE');
const mobile = '+491713920012';
const base = {
  id: 'gid://shopify/Order/1',
  name: '#1',
  createdAt: '2026-11-18T09:12:00Z',
  updatedAt: '2026-11-18T09:12:00Z',
  processedAt: '2026-11-18T09:12:00Z',
  test: false,
  displayFulfillmentStatus: 'FULFILLED',
};

test.each<[what: string, order: object, phones: string[], texted: string | undefined]>([
  [
    'the order before the addresses',
    { phone: mobile, shippingAddress: german('0172 9925904') },
    [mobile, '+491729925904'],
    mobile,
  ],
  [
    'the customer before the addresses',
    { customer: { id: 'x', defaultPhoneNumber: { phoneNumber: mobile } }, billingAddress: german('0172 9925904') },
    [mobile, '+491729925904'],
    mobile,
  ],
  [
    'the country of each address',
    { shippingAddress: address('55512345', 'EE'), billingAddress: german('0171 3920012') },
    ['+37255512345', mobile],
    '+37255512345',
  ],
  [
    'a mobile behind a landline',
    { shippingAddress: german('(040) 66969 123'), billingAddress: german('0171 3920012') },
    ['+494066969123', mobile],
    mobile,
  ],
  ['a landline alone', { shippingAddress: german('(040) 66969 123') }, ['+494066969123'], undefined],
  ['digits with the calling code', { shippingAddress: german('491713920012') }, [mobile], mobile],
  ['00 for a plus', { shippingAddress: german('0049 171 3920012') }, [mobile], mobile],
  [
    'a national number in America',
    { shippingAddress: address('(212) 555-2368', 'US') },
    ['+12125552368'],
    '+12125552368',
  ],
  ['the exit code of America', { shippingAddress: address('011 49 171 3920012', 'US') }, [mobile], mobile],
  ['no country', { shippingAddress: { phone: '0171 3920012', countryCodeV2: null } }, ['0171 3920012'], undefined],
  ['the same number twice', { phone: mobile, billingAddress: german('0171 3920012') }, [mobile], mobile],
  ['no number', { phone: 'n/a', shippingAddress: german(''), billingAddress: german('..') }, ['n/a', '..'], undefined],
])('it puts phone numbers in order: %s', (_what, order, phones, texted) => {
  const found = phonesOf(Order.parse({ ...base, ...order }));
  expect(found).toEqual(phones);
  const choice = contactFor([found], 'sms');
  expect(choice.ok ? choice.contact.value : undefined).toBe(texted);
});
