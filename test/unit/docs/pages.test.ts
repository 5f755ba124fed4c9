import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { builtIn } from '../../../connectors/built-in.ts';
import { connectors } from '../../../connectors/index.ts';
import { addQuestions } from '../../../worker/cli/init/flags.ts';
import { program } from '../../../worker/cli/main.ts';
import { loadConfig } from '../../../worker/config/config.ts';

const root = resolve(import.meta.dirname, '../../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const pages = ['README.md', ...globSync(['docs/*.md', 'docs/reference/*.md'], { cwd: root })];
const init = program.commands.find((command) => command.name() === 'init') ?? expect.fail('no init');
await addQuestions(init, builtIn);

describe.each(pages)('%s', (page) => {
  const text = read(page);

  test('every whole configuration in it is a good one', () => {
    const whole = [...text.matchAll(/```yaml\n(feedback:[\s\S]*?)```/g)].map(([, yaml = '']) => yaml);
    // More of the source that the whole one ends with.
    const parts = [...text.matchAll(/```yaml\n( {4}answers:[\s\S]*?)```/g)].map(([, yaml]) => `${whole[0]}${yaml}`);
    const shown = [...whole, ...parts];
    const known: Record<string, string> = {
      REDIS_URL: 'redis://127.0.0.1:6379',
      SLACK_WEBHOOK_URL: 'https://hooks.slack.example/services/T0/B0/x',
      LEADS_SLACK_URL: 'https://hooks.slack.example/services/T0/B0/y',
      TEAMS_WEBHOOK_URL: 'https://flows.example.com/workflows/x?sig=y',
      SMTP_URL: 'smtp://name:password@mail.example.com:587',
      RT_TOKEN: '1-27-ab',
      WOO_KEY: 'ck_1',
      WOO_SECRET: 'cs_1',
    };
    const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
    for (const yaml of shown) {
      const names = [...yaml.matchAll(/\$\{(\w+)\}/g)].map(([, name = '']) => name);
      const env = Object.fromEntries(names.map((name) => [name, known[name] ?? secret]));
      expect(() => loadConfig(yaml, { env, connectors })).not.toThrow();
    }
  });

  test('every command in it is one, with the options that it has', () => {
    expect(commandsIn(text).flatMap(flawsOf)).toEqual([]);
  });
});

test('it sees commands and options that do not exist', () => {
  const text = [
    'Say `closeloop jorneys list`, or `closeloop journeys`: or',
    '```sh',
    'npx closeloop journeys lst --json      # no such one',
    'npm run closeloop -- check --tri --config closeloop.yaml && closeloop setup --yes',
    'FEEDBACK_API_KEY=… npx closeloop init --yes \\',
    '  --vendr zendesk --subdomain acme',
    '```',
  ].join('\n');
  expect(commandsIn(text).flatMap(flawsOf)).toEqual([
    'closeloop journeys lst --json: no command lst',
    'closeloop check --tri --config closeloop.yaml: no option --tri',
    'closeloop init --yes --vendr zendesk --subdomain acme: no option --vendr',
    'closeloop jorneys list: no command jorneys',
  ]);
});

/** What is to be typed: in blocks for a shell, and in code within a sentence. */
function commandsIn(text: string): string[] {
  const blocks = [...text.matchAll(/^[ >]*```sh\n([\s\S]*?)```/gm)].map(([, block = '']) => block);
  const lines = blocks.flatMap((block) => block.replaceAll(/\\\n\s*/g, '').split('\n'));
  const typed = lines.flatMap((line) => line.replace(/\s#\s.*$/, '').split(/&&|;/));
  const inBlocks = typed.flatMap((line) => /(?:^|\s)(?:npm run )?(closeloop\s.*)$/.exec(line.trim())?.[1] ?? []);
  const outside = text.replaceAll(/```[\s\S]*?```/g, '');
  const inSentences = [...outside.matchAll(/`(?:npx |npm run )?(closeloop (?:-- )?[a-z][^`]*)`/g)].map(
    ([, line = '']) => line,
  );
  return [...inBlocks, ...inSentences].map((line) => line.replace('closeloop -- ', 'closeloop ').trim());
}

/** What the program would not take of a line, by its commands and options; values are not looked at. */
function flawsOf(line: string): string[] {
  const words = line.split(/\s+/).slice(1);
  let command: Command = program;
  for (const word of words) {
    if (command.commands.length === 0 || !/^[a-z]/.test(word)) break;
    const next = command.commands.find((one) => one.name() === word);
    if (next === undefined) return [`${line}: no command ${word}`];
    command = next;
  }
  const flags = words.flatMap((word) => /^--[a-z][\w-]*/.exec(word) ?? []);
  const known = new Set(['--help', '--version', ...command.options.map(({ long }) => long)]);
  return flags.filter((flag) => !known.has(flag)).map((flag) => `${line}: no option ${flag}`);
}
