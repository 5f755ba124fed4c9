import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { changedPaths } from '../../../../worker/config/changes.ts';
import { parseContactList, withContactLists } from '../../../../worker/config/contact-lists.ts';
import { testFolder } from '../../../support/folder.ts';
import { toyConfig } from '../../../support/worker/configs.ts';

test('a list takes addresses, numbers and identifiers in any spelling, and passes comments over', () => {
  const text =
    '\uFEFF# who told us not to ask\r\nAnn@Acme.com\r\n\n  +372 5551 2345 \n00358 40 123 4567\ncustomer-17\n5551 2346\n';
  expect([...parseContactList(text, 'list.txt', { defaultCountry: 'EE' })]).toEqual([
    'ann@acme.com',
    '+37255512345',
    '+358401234567',
    'customer-17',
    '+37255512346',
  ]);
});

test('a line that names no contact is told with its number, and not quoted', () => {
  const text = 'ann@acme.com\nann@acme.com, bob@acme.com\n\nbob@acme\n5551 2345\n';
  const broken = () => parseContactList(text, 'list.txt', {});
  expect(broken).toThrow(
    /list\.txt has 3 mistakes:\n.*list\.txt:2:1: must be one .*\n.*list\.txt:4:1.*\n.*list\.txt:5:1/,
  );
  expect(broken).not.toThrow(/bob|5551/);
});

function inFolder(files: Record<string, string>): string {
  const folder = testFolder();
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  return folder;
}

const load = (list: string) => toyConfig({ general: `policy: { never: [{ contactsIn: ${list} }] }` });

test('a file is read beside the configuration, and another content is another configuration', () => {
  const folder = inFolder({ 'do-not-ask.txt': 'ann@acme.com\n' });
  const read = () => withContactLists(load('do-not-ask.txt'), join(folder, 'closeloop.yaml'));
  const before = read();
  expect(before.contactLists.get('do-not-ask.txt')).toEqual(new Set(['ann@acme.com']));
  expect(changedPaths(before.written, read().written)).toEqual([]);
  writeFileSync(join(folder, 'do-not-ask.txt'), 'bob@acme.com\n');
  expect(changedPaths(before.written, read().written)).toEqual(['contactsIn.do-not-ask.txt']);
});

test('a file that is not there is told where the configuration names it', () => {
  const file = join(inFolder({}), 'closeloop.yaml');
  expect(() => withContactLists(load('gone.txt'), file)).toThrow(
    /policy\.never\[0\]\.contactsIn: gone\.txt can't be read: ENOENT/,
  );
});
