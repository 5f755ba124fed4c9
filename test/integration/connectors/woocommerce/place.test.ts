import { afterEach, beforeEach, expect, test } from 'vitest';
import { openShop, type Shop } from '../../../support/connectors/woocommerce/shop.ts';

let shop: Shop;
beforeEach(async () => {
  shop = await openShop();
});
afterEach(() => shop.close());

test.each([
  ['the billing address', { billing: { country: 'DE', state: 'DE-BY' } }, { country: 'DE', region: 'DE-BY' }],
  [
    '… before the shipping address',
    { billing: { country: 'EE' }, shipping: { country: 'US', state: 'CA' } },
    { country: 'EE', region: undefined },
  ],
  [
    'the shipping address where the other has no country',
    { billing: { state: 'CA' }, shipping: { country: 'US', state: 'NY' } },
    { country: 'US', region: 'NY' },
  ],
  ['nothing else', { billing: { state: 'CA' } }, { country: undefined, region: undefined }],
])('the customer is where %s says', async (_, addresses, expected) => {
  const [result] = await shop.open().source.read([shop.order(addresses)]);
  if (!result?.ok) return expect.fail('not read');
  const { country, region } = result.record;
  expect({ country, region }).toEqual(expected);
});
