import { describe, expect, test } from 'vitest';
import { Order } from '../../../../connectors/woocommerce/order.ts';
import { present, shapeNames } from '../../../../connectors/woocommerce/record.ts';
import { namesOf } from '../../../../core/connector/check.ts';
import { internationalPhone } from '../../../../core/phone-numbers.ts';
import { fixture } from '../../../support/connectors/woocommerce/fixture.ts';

test('it presents the order of the fixture', () => {
  expect(present(Order.parse(fixture), ['wpml_language'])).toEqual({
    order: {
      id: '1042',
      number: '1042',
      status: 'completed',
      currency: 'EUR',
      total: 44.6,
      refunded: 0,
      createdVia: 'store-api',
      paymentMethod: 'stripe',
      paymentMethodTitle: 'Kreditkarte / Debitkarte',
      shippingMethods: ['DHL Paket'],
      coupons: [],
      needsProcessing: true,
      createdAt: '2026-11-16T18:03:11.000Z',
      paidAt: '2026-11-16T18:03:14.000Z',
      completedAt: '2026-11-18T14:42:10.000Z',
      meta: {
        is_vat_exempt: 'no',
        _wc_order_attribution_source_type: 'organic',
        _wc_order_attribution_utm_source: 'example',
        _shipping_hours: [],
      },
    },
    items: [
      {
        name: 'Filterkaffee Alster - 500 g',
        productId: '93',
        variationId: '95',
        sku: 'NK-ALS-500',
        quantity: 2,
        total: 27.85,
      },
      { name: 'Löffel "Kännchen"', productId: '101', variationId: '', sku: 'NK-SPN-01', quantity: 1, total: 9.25 },
    ],
    customer: {
      id: '57',
      email: 'matteo.brueckner@example.com',
      phone: '+491729925904',
      language: '',
      firstName: 'Matteo',
      lastName: 'Brückner',
      company: '',
      city: 'Köln',
      state: 'DE-NW',
      postcode: '50667',
      country: 'DE',
    },
    shipping: {
      phone: '',
      firstName: 'Matteo',
      lastName: 'Brückner',
      company: '',
      city: 'Köln',
      state: 'DE-NW',
      postcode: '50667',
      country: 'DE',
    },
  });
});

test('it lists for check exactly the names that it presents', () => {
  const shape = present(Order.parse(fixture), []);
  expect(shapeNames).toEqual(namesOf(shape));
});

test('it keeps the first of meta data that stand there twice, and any JSON in them', () => {
  const meta_data = [
    { id: 1, key: 'gift', value: { from: ['Ann'] } },
    { id: 2, key: 'gift', value: 'later' },
    { id: 3, key: 'wpml_language', value: 'pt_BR' },
  ];
  const { order, customer } = present(Order.parse({ ...fixture, meta_data, customer_id: 0 }), [
    'lang',
    'wpml_language',
  ]);
  expect([order.meta.gift, customer.language, customer.id]).toEqual([{ from: ['Ann'] }, 'pt-BR', '']);
});

test('it survives a language that is none', () => {
  const meta_data = [{ id: 1, key: 'wpml_language', value: '!!' }];
  expect(present(Order.parse({ ...fixture, meta_data }), ['wpml_language']).customer.language).toBe('');
});

describe('phone numbers', () => {
  const rows: [typed: string, country: string, wanted: string][] = [
    ['0172 9925904', 'DE', '+491729925904'],
    ['+49 (0)172 9925904', 'DE', '+491729925904'],
    ['0049 172 9925904', 'DE', '+491729925904'],
    ['0049 172 9925904', 'US', '+491729925904'],
    ['491729925904', 'DE', '+491729925904'],
    ['49 172 9925904', 'DE', '+491729925904'],
    ['040 66969123', 'DE', '+494066969123'],
    ['+37255512345', '', '+37255512345'],
    ['0172 9925904', '', '0172 9925904'],
    ['0172 9925904', 'UK', '0172 9925904'],
    ['(415) 555-0132', 'US', '+14155550132'],
    ['n/a', 'DE', 'n/a'],
    ['0171 3920012 oder 040 66969123', 'DE', '0171 3920012 oder 040 66969123'],
    ['', 'DE', ''],
  ];
  test.each(rows)('it reads %s in %s as %s', (typed, country, wanted) => {
    expect(internationalPhone(typed, country)).toBe(wanted);
  });
});
