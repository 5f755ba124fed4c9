import { describe, expect, test } from 'vitest';
import { readDocument } from '../../../../worker/config/document.ts';
import { misindented } from '../../../../worker/config/indentation.ts';

const lines = `feedback:
  baseUrl: https://feedback.example.com/api
  apiKey: key
# the sources
sources:
  support:
    connector: zendesk
    webhookSecrets: ["c"]
    rules:
      - name: phone team
        campaign: 12
        when: >-
          ticket.group.name
            = "Phone: day"
        contact: [requester.phone, requester.email]
        fields:
          Store: ticket.fields.store
          Agent: assignee.name
        delay: 2h
    writeBack:
      grade: Feedback grade
      note: true
list:
- a: 1
  b: 2
- c: 3
`.split('\n');

test('it finds nothing where all is well', () => {
  expect(readDocument(lines.join('\n'), {}).found).toEqual([]);
  expect(misindented(lines.join('\n'))).toBeUndefined();
});

const indentOf = (text = '') => text.length - text.trimStart().length;

/** The file with one line a space further in or out. */
const shifted = (line: number, by: 1 | -1) =>
  lines.map((text, i) => (i + 1 !== line ? text : by === 1 ? ` ${text}` : text.slice(1))).join('\n');

describe('a line that is indented by one space more or less', () => {
  const wrong = lines.flatMap((text, i) =>
    ([1, -1] as const).flatMap((by) => {
      if (text === '' || text.startsWith('#') || (by === -1 && !text.startsWith(' '))) return [];
      return readDocument(shifted(i + 1, by), {}).value === undefined ? [[i + 1, by] as const] : [];
    }),
  );

  test('it is mostly refused by YAML at all', () => expect(wrong.length).toBeGreaterThan(25));

  test.each(wrong)('line %i by %i: it is told at that line or the one that it does not fit to', (line, by) => {
    const [found, ...others] = readDocument(shifted(line, by), {}).found;
    expect(others).toEqual([]);
    expect(found?.message).toMatch(/^is indented by \d+ spaces?, and the (?:lines|sections) above by /);
    const firstAfter = (fits: (text: string) => boolean) => lines.findIndex((text, i) => i >= line && fits(text)) + 1;
    const next = firstAfter((text) => text !== '' && !text.startsWith('#'));
    const sibling = firstAfter(
      (text) => text !== '' && !text.startsWith('#') && indentOf(text) <= indentOf(lines[line - 1]),
    );
    expect([line, next, sibling]).toContain(found?.place?.line);
  });
});

test('other mistakes are told as what they are', () => {
  const of = (text: string) => readDocument(text, {}).found.map(({ message }) => message);
  expect(of('a: "b\nc: 1\n')).toEqual(['a quote, bracket, comma or colon is missing']);
  expect(of('a: b: c\n')).toEqual(['a text with ": " in it needs quotes']);
  expect(of('a:\n\tb: 1\n')).toEqual([expect.stringContaining('tab')]);
});
