import { posix } from 'node:path';
import GithubSlugger from 'github-slugger';
import { Marked, type Token, type Tokens, walkTokens } from 'marked';

export interface Heading {
  depth: number;
  text: string;
  /** As GitHub makes them, so that a link leads there in both places. */
  anchor: string;
}

/** The headings of a page, in order. */
export function headingsOf(markdown: string): Heading[] {
  const slugger = new GithubSlugger();
  return tokensOf(markdown)
    .filter((token): token is Tokens.Heading => token.type === 'heading')
    .map(({ depth, tokens }) => {
      const text = plain(tokens);
      return { depth, text, anchor: slugger.slug(text) };
    });
}

/** Where the links of a page point, as they are written. */
export function linksOf(markdown: string): string[] {
  return tokensOf(markdown)
    .filter((token): token is Tokens.Link => token.type === 'link')
    .map(({ href }) => href);
}

/** The pictures of a page, as they are written. */
export function imagesOf(markdown: string): { href: string; alt: string }[] {
  return tokensOf(markdown)
    .filter((token): token is Tokens.Image => token.type === 'image')
    .map(({ href, text }) => ({ href, alt: text }));
}

/** A link of a page: to another site, or to a file of this repository and perhaps a heading in it. */
export type Target = { is: 'elsewhere' } | { is: 'here'; file: string; anchor: string };

export function targetOf(page: string, href: string): Target {
  if (/^[a-z][a-z0-9+.-]*:/i.test(href)) return { is: 'elsewhere' };
  const [path = '', anchor = ''] = href.split('#');
  const file = path === '' ? page : posix.join(posix.dirname(page), path);
  return { is: 'here', file, anchor };
}

/** Every link of the pages that leads nowhere, with what is wrong with it. @param isFile of this repository */
export function brokenLinks(pages: ReadonlyMap<string, string>, isFile: (path: string) => boolean): string[] {
  const anchors = new Map(
    [...pages].map(([page, text]) => [page, new Set(headingsOf(text).map(({ anchor }) => anchor))]),
  );
  return [...pages].flatMap(([page, text]) =>
    [...linksOf(text), ...imagesOf(text).map(({ href }) => href)].flatMap((href) => {
      const target = targetOf(page, href);
      if (target.is === 'elsewhere') return [];
      const { file, anchor } = target;
      if (!isFile(file)) return [`${page}: ${href} is no file`];
      if (anchor === '' || anchors.get(file)?.has(anchor)) return [];
      return [`${page}: ${href} names no heading of ${file}`];
    }),
  );
}

/** A picture as the site shows it: its address there, and its size, so that nothing moves when it is loaded. */
export interface Shown {
  src: string;
  width: number;
  height: number;
}

/** A page as HTML. @param address where a link of it leads in the site */
export function toHtml(markdown: string, address: (href: string) => string, picture: (href: string) => Shown): string {
  const slugger = new GithubSlugger();
  const marked = new Marked({
    renderer: {
      heading({ depth, tokens }) {
        const anchor = slugger.slug(plain(tokens));
        return `<h${depth} id="${anchor}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      link({ href, tokens }) {
        return `<a href="${escapeHtml(address(href))}">${this.parser.parseInline(tokens)}</a>`;
      },
      image({ href, text }) {
        const { src, width, height } = picture(href);
        return `<img src="${escapeHtml(src)}" alt="${escapeHtml(text)}" width="${width}" height="${height}">`;
      },
      table(token) {
        const row = (cells: Tokens.TableCell[], tag: string): string =>
          `<tr>${cells.map(({ tokens }) => `<${tag}>${this.parser.parseInline(tokens)}</${tag}>`).join('')}</tr>`;
        const isHeaded = token.header.some(({ text }) => text !== '');
        const head = isHeaded ? `<thead>${row(token.header, 'th')}</thead>` : '';
        const body = token.rows.map((cells) => row(cells, 'td')).join('\n');
        return `<div class="table"><table>${head}<tbody>${body}</tbody></table></div>\n`;
      },
    },
  });
  return marked.parse(markdown, { async: false });
}

export function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

function tokensOf(markdown: string): Token[] {
  const all: Token[] = [];
  walkTokens(new Marked().lexer(markdown), (token) => {
    all.push(token);
  });
  return all;
}

/** A heading without its marks: what `code` and links say. */
function plain(tokens: Token[]): string {
  return tokens
    .map((token) =>
      'tokens' in token && token.tokens !== undefined ? plain(token.tokens) : 'text' in token ? token.text : '',
    )
    .join('');
}
