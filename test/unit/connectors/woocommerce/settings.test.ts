import { expect, test } from 'vitest';
import { pathOf, settings } from '../../../../connectors/woocommerce/settings.ts';
import { woocommerce } from '../../../../connectors/woocommerce/woocommerce.ts';
import { given, settingsOf } from '../../../support/connectors/woocommerce/fixture.ts';

const accepted: [name: string, more: object][] = [
  ['nothing but the necessary', {}],
  ['a shop in a directory', { site: 'https://example.com/shop/' }],
  ['a stand-in on this machine', { site: 'http://127.0.0.1:9000' }],
  ['two statuses', { statuses: ['completed', 'in_transit'] }],
];
test.each(accepted)('it takes %s', (_name, more) =>
  expect(settings.safeParse({ ...given, ...more }).error).toBeUndefined(),
);

const refused: [name: string, more: object, path: string][] = [
  ['http elsewhere', { site: 'http://shop.example.com' }, 'site'],
  ['a password in the address', { site: 'https://u:p@shop.example.com' }, 'site'],
  ['a query in the address', { site: 'https://shop.example.com/?x=1' }, 'site'],
  ['key and secret exchanged', { consumerKey: 'cs_1', consumerSecret: 'ck_1' }, 'consumerKey'],
  ['no statuses', { statuses: [] }, 'statuses'],
  ['a status in which nothing is delivered', { statuses: ['pending'] }, 'statuses.0'],
  ['drafts', { statuses: ['wc-checkout-draft'] }, 'statuses.0'],
  ['meta data without our prefix', { writeBack: { grade: 'grade' } }, 'writeBack.grade'],
  ["WooCommerce's own meta data", { writeBack: { grade: '_billing_email' } }, 'writeBack.grade'],
  ['hidden meta data', { writeBack: { grade: '_feedback_grade' } }, 'writeBack.grade'],
  ['one name for two things', { writeBack: { grade: 'feedback_x', comment: 'feedback_x' } }, 'writeBack'],
  ['no-answer with nowhere to write it', { writeBack: { noAnswer: true } }, 'writeBack.noAnswer'],
  ['something unknown', { consumerkey: 'x' }, ''],
];
test.each(refused)('it refuses %s', (_name, more, path) => {
  const { error } = settings.safeParse({ ...given, ...more });
  expect(error?.issues.map((issue) => issue.path.join('.'))).toContain(path);
});

test('it calls the API by its path, or by rest_route for plain permalinks', () => {
  const query = { include: '1,2', per_page: '100' };
  expect([
    pathOf(settingsOf({ site: 'https://example.com/shop/' }), 'orders', query),
    pathOf(settingsOf({ restRoute: true }), 'orders/7/notes', { type: 'internal' }),
  ]).toEqual([
    '/wp-json/wc/v3/orders?include=1,2&per_page=100',
    '/?rest_route=%2Fwc%2Fv3%2Forders%2F7%2Fnotes&type=internal',
  ]);
});

test('it has one account for each shop, whichever key is used', () => {
  const account = (more: object) => woocommerce.account({ ...given, ...more });
  expect(account({ consumerKey: 'ck_2', site: 'https://laden.example.com/' })).toBe('laden.example.com');
  expect(account({ site: 'https://example.com/shop' })).toBe('example.com/shop');
});
