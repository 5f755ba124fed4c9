import { describe, expect, test } from 'vitest';
import { tooIntricate } from '../../../../core/connector/json-structure.ts';

const flawOf = (text: string, most?: number) => tooIntricate(Buffer.from(text), most);
const nested = (levels: number, inner = '') => '['.repeat(levels) + inner + ']'.repeat(levels);
const tooDeep = 'nests more than 64 levels deep';

describe('a body that is to be parsed', () => {
  const bearable: [what: string, text: string, most?: number][] = [
    ['nothing', ''],
    ['64 levels', nested(64)],
    ['more lists than levels, one after the other', `[${nested(63)},${nested(63)}]`],
    ['objects and lists that close', '{"a":[{}]},'.repeat(20_000)],
    ['brackets and commas of a text', JSON.stringify('[{,'.repeat(400_000))],
    ['those after an escaped quote', JSON.stringify(`"${'[,'.repeat(65)}`), 1],
    ['those after an escaped backslash and quote', JSON.stringify(`\\"${'[,'.repeat(65)}`), 1],
    ['those of a text without an end', `"${'['.repeat(65)}`],
    ['a text that ends in a backslash', `"\\`],
    ['as many entries as there may be', '[1,2,3]', 3],
  ];
  test.each(bearable)('may hold %s', (_, text, most) => expect(flawOf(text, most)).toBeUndefined());

  const refused: [what: string, text: string, most: number | undefined, flaw: string][] = [
    ['65 levels', nested(65), undefined, tooDeep],
    ['65 levels of objects', '{"a":'.repeat(65), undefined, tooDeep],
    ['levels after a text that ends in a backslash', `["\\\\",${nested(64)}]`, undefined, tooDeep],
    ['levels after a text that ends in a quote', `["\\"",${nested(64)}]`, undefined, tooDeep],
    ['levels inside of letters of other languages', nested(65, '"õ€😀"'), undefined, tooDeep],
    ['one entry more than there may be', '[1,2,3,4]', 3, 'has more than 3 entries'],
    ['300,001 entries', `[${'1,'.repeat(300_000)}1]`, undefined, 'has more than 300000 entries'],
  ];
  test.each(refused)('may not hold %s', (_, text, most, flaw) => expect(flawOf(text, most)).toBe(flaw));
});
