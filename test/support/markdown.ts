import { posix } from 'node:path';
import GithubSlugger from 'github-slugger';
import { Marked, type Token, type Tokens, walkTokens } from 'marked';

/** The pictures of a page, as they are written. */
export function imagesOf(markdown: string): { href: string; alt: string }[] {
  return tokensOf(markdown)
    .filter((token): token is Tokens.Image => token.type === 'image')
    .map(({ href, text }) => ({ href, alt: text }));
}

/** Every link of the pages that leads nowhere, with what is wrong with it. @param isFile of this repository */
export function brokenLinks(pages: ReadonlyMap<string, string>, isFile: (path: string) => boolean): string[] {
  const anchors = new Map([...pages].map(([page, text]) => [page, anchorsOf(text)]));
  return [...pages].flatMap(([page, text]) =>
    [...linksOf(text), ...imagesOf(text).map(({ href }) => href)].flatMap((href) => {
      if (/^[a-z][a-z0-9+.-]*:/i.test(href)) return [];
      const [path = '', anchor = ''] = href.split('#');
      const file = path === '' ? page : posix.join(posix.dirname(page), path);
      if (!isFile(file)) return [`${page}: ${href} is no file`];
      if (anchor === '' || anchors.get(file)?.has(anchor)) return [];
      return [`${page}: ${href} names no heading of ${file}`];
    }),
  );
}

/** Of the headings of a page, as GitHub and the site make them. */
function anchorsOf(markdown: string): Set<string> {
  const slugger = new GithubSlugger();
  const headings = tokensOf(markdown).filter((token): token is Tokens.Heading => token.type === 'heading');
  return new Set(headings.map(({ tokens }) => slugger.slug(plain(tokens))));
}

function linksOf(markdown: string): string[] {
  return tokensOf(markdown)
    .filter((token): token is Tokens.Link => token.type === 'link')
    .map(({ href }) => href);
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
