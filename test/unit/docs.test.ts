import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { connectors } from '../../connectors/index.ts';
import { loadConfig } from '../../worker/config/config.ts';

const root = resolve(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const pages = readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md'));

/** What main.ts knows: `start`, `alerts test`. */
const program = read('worker/cli/main.ts');
const commands = new Set([...program.matchAll(/\.command\('(\w[\w-]*)/g)].map(([, name]) => name));

describe.each(pages)('docs/%s', (page) => {
  const text = read(`docs/${page}`);

  test('every file that it points at is there', () => {
    const links = [...text.matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(([, path = '']) => path);
    expect(links.filter((path) => !existsSync(resolve(root, dirname(`docs/${page}`), path)))).toEqual([]);
  });

  test('every whole configuration in it is a good one', () => {
    const shown = [...text.matchAll(/```yaml\n(feedback:[\s\S]*?)```/g)].map(([, yaml = '']) => yaml);
    const known: Record<string, string> = {
      REDIS_URL: 'redis://127.0.0.1:6379',
      SLACK_WEBHOOK_URL: 'https://hooks.slack.example/services/T0/B0/x',
      TEAMS_WEBHOOK_URL: 'https://flows.example.com/workflows/x?sig=y',
      SMTP_URL: 'smtp://name:password@mail.example.com:587',
    };
    const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
    for (const yaml of shown) {
      const names = [...yaml.matchAll(/\$\{(\w+)\}/g)].map(([, name = '']) => name);
      const env = Object.fromEntries(names.map((name) => [name, known[name] ?? secret]));
      expect(() => loadConfig(yaml, { env, connectors })).not.toThrow();
    }
  });

  test('every command in it is one', () => {
    const named = [...text.matchAll(/(?:`|npx )closeloop ([a-z][\w-]*)/g)].map(([, name = '']) => name);
    expect(named.filter((name) => !commands.has(name))).toEqual([]);
  });
});
