import { existsSync, readFileSync, statSync } from 'node:fs';
import { join, posix, resolve } from 'node:path';
import { brokenLinks, escapeHtml, headingsOf, linksOf, targetOf, toHtml } from './markdown.ts';
import { pictureAddress, picturesOf, sizeOf } from './pictures.ts';
import { addressOf, pages, sidebar } from './sidebar.ts';

const root = resolve(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const isFile = (path: string): boolean => existsSync(join(root, path)) && statSync(join(root, path)).isFile();

const texts = new Map(pages.map((page) => [page, read(page)]));
const titles = new Map([...texts].map(([page, text]) => [page, headingsOf(text)[0]?.text ?? page]));
const titleOf = (page: string): string => (page === 'README.md' ? 'Closeloop' : (titles.get(page) ?? page));

/**
 * The files of the site, by their addresses: the pages, their pictures, and the files of this repository that they point at. Plain HTML and
 * one style sheet: no script, nothing from elsewhere.
 * @throws Error for links that lead nowhere, and for pictures that are none
 */
export function siteFiles(): Map<string, string> {
  const broken = brokenLinks(texts, isFile);
  if (broken.length > 0) throw new Error(`Links that lead nowhere:\n${broken.join('\n')}`);
  const sources = new Set(
    [...texts].flatMap(([page, text]) =>
      linksOf(text).flatMap((href) => {
        const target = targetOf(page, href);
        return target.is === 'here' && !texts.has(target.file) ? [target.file] : [];
      }),
    ),
  );
  return new Map([
    ...[...texts].map(([page, text]) => [addressOf(page), pageHtml(page, text)] as const),
    ...[...sources].map((file) => [sourceAddress(file), sourceHtml(file)] as const),
    ...[...picturesOf(texts)].map((file) => [pictureAddress(file), read(file)] as const),
    ['style.css', read('build/docs/style.css')],
  ]);
}

function pageHtml(page: string, text: string): string {
  const from = addressOf(page);
  const link = (href: string) => {
    const target = targetOf(page, href);
    if (target.is === 'elsewhere') return href;
    const to = texts.has(target.file) ? addressOf(target.file) : sourceAddress(target.file);
    return `${relativeTo(from, to)}${target.anchor === '' ? '' : `#${target.anchor}`}`;
  };
  const picture = (href: string) => {
    const file = posix.join(posix.dirname(page), href);
    return { src: relativeTo(from, pictureAddress(file)), ...sizeOf(read(file), file) };
  };
  const body = toHtml(text, link, picture);
  const at = pages.indexOf(page);
  const beside = (other: string | undefined, rel: string, mark: string): string =>
    other === undefined
      ? ''
      : `<a rel="${rel}" href="${relativeTo(from, addressOf(other))}">${mark} ${escapeHtml(titleOf(other))}</a>`;
  const around = `<nav class="around" aria-label="Pages before and after">${beside(pages[at - 1], 'prev', '←')}${beside(pages[at + 1], 'next', '→')}</nav>`;
  return layout(from, titleOf(page), page, `${body}${around}`);
}

function sourceHtml(file: string): string {
  const body = `<h1>${escapeHtml(file)}</h1>\n<pre><code>${escapeHtml(read(file))}</code></pre>`;
  return layout(sourceAddress(file), file, undefined, body);
}

function layout(from: string, title: string, page: string | undefined, body: string): string {
  const sections = sidebar.map((section) => {
    const items = section.pages.map((one) => {
      const current = one === page;
      const link = `<a href="${relativeTo(from, addressOf(one))}"${current ? ' aria-current="page"' : ''}>${escapeHtml(titleOf(one))}</a>`;
      return `<li>${link}${current ? contentsOf(one) : ''}</li>`;
    });
    return `<h2>${escapeHtml(section.title)}</h2>\n<ul>\n${items.join('\n')}\n</ul>`;
  });
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'self'; img-src 'self'">
<title>${escapeHtml(title === 'Closeloop' ? title : `${title} · Closeloop`)}</title>
<link rel="stylesheet" href="${relativeTo(from, 'style.css')}">
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<nav class="pages" aria-label="Documentation">
${sections.join('\n')}
</nav>
<main id="content">
${body}
</main>
</body>
</html>
`;
}

/** The sections of the page that is open. */
function contentsOf(page: string): string {
  const headings = headingsOf(texts.get(page) ?? '').filter(({ depth }) => depth === 2);
  if (headings.length < 2) return '';
  return `<ul>${headings.map(({ text, anchor }) => `<li><a href="#${anchor}">${escapeHtml(text)}</a></li>`).join('')}</ul>`;
}

function sourceAddress(file: string): string {
  return `source/${file}.html`;
}

function relativeTo(from: string, to: string): string {
  return posix.relative(posix.dirname(from), to);
}
