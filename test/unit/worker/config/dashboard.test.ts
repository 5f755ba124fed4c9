import { expect, test } from 'vitest';
import { Dashboard, needsLogin, reloadedDashboard } from '../../../../worker/config/dashboard.ts';

const password = `$scrypt$ln=14,r=8,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`;
const anna = { name: 'anna', role: 'act', password };
const publicUrl = 'https://closeloop.example.com';

const flaws = (written: unknown) =>
  Dashboard.safeParse(written).error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`) ?? [];

test.each<[what: string, written: object, path: string, message: RegExp]>([
  ['for others without users', { host: '0.0.0.0', publicUrl }, 'users', /must name somebody where "host"/],
  ['for others without address', { host: '0.0.0.0', users: [anna] }, 'publicUrl', /https address that people open/],
  ['behind a proxy without users', { publicUrl }, 'users', /must name somebody where "publicUrl"/],
  ['over http', { publicUrl: 'http://closeloop.example.com', users: [anna] }, 'publicUrl', /https address/],
  ['below a path', { publicUrl: `${publicUrl}/page`, users: [anna] }, 'publicUrl', /without a path/],
  ['with a name twice', { users: [anna, anna] }, 'users', /the same name twice/],
  ['with a password as it is', { users: [{ ...anna, password: 'hunter2' }] }, 'users.0.password', /dashboard password/],
  [
    'with a hash that YAML has cut at a comma',
    { users: [{ ...anna, password: '$scrypt$ln=15' }] },
    'users.0.password',
    /put the line .* in quotes/,
  ],
  ['with a role of its own', { users: [{ ...anna, role: 'admin' }] }, 'users.0.role', /expected one of/],
])('a page %s is refused', (_, written, path, message) => {
  const found = flaws(written);
  expect(found.some((one) => one.startsWith(`${path}: `) && message.test(one))).toBe(true);
  expect(found.join()).not.toContain('hunter2');
});

test('a page of this machine needs no users, and any other needs them', () => {
  expect(needsLogin(Dashboard.parse({}))).toBe(false);
  expect(needsLogin(Dashboard.parse({ host: '::1' }))).toBe(false);
  expect(needsLogin(Dashboard.parse({ users: [anna] }))).toBe(true);
  expect(needsLogin(Dashboard.parse({ host: '0.0.0.0', publicUrl, users: [anna] }))).toBe(true);
});

test('after a reload a page that others reach is not open to everybody, whatever the new configuration says of its address', () => {
  const open = Dashboard.parse({ host: '0.0.0.0', publicUrl, users: [anna] });
  const merged = reloadedDashboard(open, Dashboard.parse({}));
  expect(merged).toMatchObject({ host: '0.0.0.0', users: [] });
  expect(merged && needsLogin(merged)).toBe(true);
  expect(reloadedDashboard(open, false)).toBe(open);
  expect(reloadedDashboard(false, open)).toBe(false);
});
