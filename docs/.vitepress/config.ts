import { cpSync, existsSync, readFileSync } from 'node:fs';
import { join, posix, resolve } from 'node:path';
import { slug } from 'github-slugger';
import { defineConfig } from 'vitepress';
import { pages, sections } from './sidebar.ts';

const root = resolve(import.meta.dirname, '../..');

const icon = readFileSync(join(root, 'worker/dashboard/assets/icon.svg'), 'base64');
const isPage = new Set(pages);
const besideDocs = pages.filter((page) => !page.includes('/')).map((page) => page.replace(/\.md$/, ''));

/** Files of the repository that pages link to and that are no pages: the site has a copy of each, as text. */
const linkedFiles = new Set<string>();

export default defineConfig({
  lang: 'en',
  title: 'closeloop',
  description:
    'Asks customers for feedback when their ticket, deal or order closes, and writes the grade back on the record.',
  head: [['link', { rel: 'icon', href: `data:image/svg+xml;base64,${icon}` }]],
  // The pages stay where GitHub and the npm package show them; their links hold there and on the site.
  srcDir: '..',
  srcExclude: ['!(docs)/**/*', `!(${besideDocs.join('|')}).md`],
  rewrites: { 'README.md': 'index.md' },
  outDir: '../site',
  cacheDir: 'node_modules/.cache/vitepress',
  markdown: {
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-default' },
    anchor: { slugify: (heading) => slug(heading) },
    config: (markdown) => {
      const { rules } = markdown.renderer;
      const { code_inline: code, link_open: openLink } = rules;
      // The long path of a setting may go on in the next line of its cell.
      rules.code_inline = (tokens, index, ...rest) => {
        const html = code?.(tokens, index, ...rest) ?? '';
        return (tokens[index]?.content.length ?? 0) > 24 ? html.replaceAll(/\.(?=\w)/g, '.<wbr>') : html;
      };
      rules.link_open = (tokens, index, options, env, self) => {
        const [path = '', anchor = ''] = tokens[index]?.attrGet('href')?.split('#') ?? [];
        const file = posix.join(posix.dirname(env.relativePath), path);
        if (file === 'README.md') tokens[index]?.attrSet('href', anchor === '' ? '/' : `/#${anchor}`);
        else if (path !== '' && !/^[a-z]+:/.test(path) && !isPage.has(file)) {
          if (!existsSync(join(root, file))) throw new Error(`${env.relativePath}: ${path} leads nowhere`);
          linkedFiles.add(file);
          tokens[index]?.attrSet('href', `/source/${file}.txt`);
        }
        return openLink?.(tokens, index, options, env, self) ?? '';
      };
    },
  },
  // Pages beside docs/ become components of Vue, too, and could not find it from where they lie.
  vite: {
    plugins: [
      {
        name: 'vue-beside-vitepress',
        enforce: 'pre',
        resolveId: (id, _from, { ssr }) =>
          ssr && /^vue(\/server-renderer)?$/.test(id) ? { id, external: true } : null,
      },
    ],
  },
  buildEnd: ({ outDir }) => {
    for (const file of linkedFiles) cpSync(join(root, file), join(outDir, `source/${file}.txt`));
  },
  themeConfig: {
    search: { provider: 'local', options: { detailedView: true } },
    outline: [2, 3],
    sidebar: sections.map(({ title, pages }) => ({ text: title, items: pages.map(itemOf) })),
  },
});

function itemOf(page: string) {
  if (page === 'README.md') return { text: 'Overview', link: '/' };
  const [, title = page] = /^# (.*)/m.exec(readFileSync(join(root, page), 'utf8')) ?? [];
  return { text: title, link: `/${page.replace(/\.md$/, '')}` };
}
