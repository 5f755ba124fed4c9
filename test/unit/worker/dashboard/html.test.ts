import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { html, textOf, webAddress } from '../../../../worker/dashboard/html.ts';

const page = (value: string) => textOf(html`<p title="${value}">${value}</p>${[html`<i>${value}</i>`, value]}`);

/** What a browser makes of text without markup in it. */
function plain(text: string): string {
  const chars: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };
  return text.replace(/&(amp|lt|gt|quot|#39);/g, (_, name) => chars[name] ?? '');
}

describe('html', () => {
  test('no value breaks out of where it stands, and each is shown as it is', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string(), fc.constantFrom('</p><script>', '" onload="x', "'", '&lt;', '<!--')),
        (value) => {
          const parts = /^<p title="([^<>"']*)">([^<>"']*)<\/p><i>([^<>"']*)<\/i>([^<>"']*)$/.exec(page(value));
          expect(parts?.slice(1).map(plain)).toEqual([value, value, value, value]);
        },
      ),
    );
  });

  test('markup that looks like ours, and was not made here, is text', () => {
    const forged = JSON.parse('["<b>", {"made by html": "<b>"}]');
    expect(textOf(html`${forged[0]}`)).toBe('&lt;b&gt;');
    expect(textOf(html`${forged[1]}`)).not.toContain('<b>');
  });

  test('what is not there is not shown', () => {
    expect(textOf(html`${undefined}${null}${false}${0}${''}`)).toBe('0');
  });
});

test.each([
  ['https://acme.example/tickets/1', 'https://acme.example/tickets/1'],
  ['http://127.0.0.1:9000/x', 'http://127.0.0.1:9000/x'],
  ['javascript:alert(1)', undefined],
  ['data:text/html,x', undefined],
  ['//acme.example', undefined],
  [undefined, undefined],
])('webAddress(%j) is %j', (url, expected) => expect(webAddress(url)).toBe(expected));
