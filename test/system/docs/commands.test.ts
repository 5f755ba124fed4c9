import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { useFolder } from '../../support/folder.ts';
import { freePort } from '../../support/free-port.ts';
import { logged } from '../../support/installation.ts';
import { until } from '../../support/loop.ts';
import { background, command, type Running } from '../../support/processes.ts';

// What the pages have people type is typed here: first the story of the stand-ins, then every other command on what it has left.

const root = resolve(import.meta.dirname, '../../..');
const pages = readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md'));
const dir = useFolder();
const file = join(dir, 'closeloop.yaml');
const running: Running[] = [];
const ports = new Map<string, number>();

const linesOf = (page: string): string[] =>
  [...readFileSync(join(root, 'docs', page), 'utf8').matchAll(/^[ >]*```sh\n([\s\S]*?)```/gm)].flatMap(
    ([, block = '']) =>
      block
        .replaceAll(/\\\n\s*/g, '')
        .split('\n')
        .map((line) => line.replace(/\s#\s.*$/, '').trim())
        .filter((line) => line !== ''),
  );

/** On free ports of this machine. */
function placed(text: string): string {
  return [...ports].reduce((all, [port, free]) => all.replaceAll(port, String(free)), text);
}

/** The words of a line as a shell takes them: quotes keep words together. */
function wordsOf(line: string): string[] {
  const words = [...line.matchAll(/(?:[^\s"']|"[^"]*"|'[^']*')+/g)].map(([word]) =>
    word.replaceAll(/"([^"]*)"|'([^']*)'/g, '$1$2'),
  );
  return words
    .slice(words.indexOf('closeloop') + 1)
    .flatMap((word, at, all) => (word === '>' || all[at - 1] === '>' ? [] : [word]));
}

async function curl(line: string): Promise<boolean> {
  const [, method, address, , body] = /^curl (?:-X (\w+) )?(\S+)( -d '(.*)')?$/.exec(line) ?? expect.fail(line);
  const init = { method: method ?? (body === undefined ? 'GET' : 'POST'), ...(body === undefined ? {} : { body }) };
  return (await fetch(`http://${address}`, init)).ok;
}

const where = (args: readonly string[]): string[] => {
  const own = args.filter((word, at) => word !== '--config' && args[at - 1] !== '--config');
  // What a command writes is no file of this repository.
  const placed = own.map((word) => (/^[\w.-]+\.(cursor|html)$/.test(word) ? join(dir, word) : word));
  return own[0] === 'standin' ? own : [...placed, '--config', file, '--data', dir];
};

beforeAll(async () => {
  for (const port of ['9100', '9101', '8080']) ports.set(port, await freePort());
  writeFileSync(file, placed(readFileSync(join(root, 'examples/configurations/stand-ins.yaml'), 'utf8')));
});

afterAll(async () => {
  for (const { child } of running) child.kill('SIGKILL');
  await Promise.all(running.map(({ ended }) => ended));
});

test('the story of the stand-ins in docs/quick-start.md ends with a written grade', async () => {
  const lines = linesOf('quick-start.md');
  const story = lines.slice(lines.findIndex((line) => line.includes(' standin ')));
  const end = story.findIndex((line) => line.includes(' journeys show '));
  for (const line of story.slice(0, end + 1).map(placed)) {
    const steps = line.split(' && ');
    for (const step of steps) {
      const [, isLater, said = ''] = /^(sleep \d+; )?(.*)$/.exec(step) ?? [];
      if (said.startsWith('curl ')) {
        if (isLater === undefined) expect([said, await curl(said)]).toEqual([said, true]);
        else await until(() => curl(said));
      } else if (isLater !== undefined) {
        await until(async () => (await command(where(wordsOf(said)))).out.includes('written'));
      } else if (/ (standin|start) /.test(`${said} `)) {
        const process = background(where(wordsOf(said)));
        running.push(process);
        if (said.includes(' standin ')) await process.says(/http:\/\/127\.0\.0\.1:\d+/);
        else await logged(process, 'started');
      } else {
        expect(await command(where(wordsOf(said)))).toMatchObject({ code: 0 });
      }
    }
  }
});

/** Lines that are run elsewhere, or can't be here. */
const elsewhere: [line: RegExp, because: string][] = [
  [/ (init|standin)\b|\bstart\b/, 'the story above, and the tests of init, of the demo and of the package'],
  [/ stand-ins\.yaml|configurations\//, 'the story above'],
  [/^\w+ /, 'no command of closeloop'],
];

/** Those that the story leaves nothing to do for, and what they say then. */
const refused: [line: RegExp, code: number, said: RegExp][] = [
  [/journeys resolve support\/41960\.1/, 2, /is written, not parked/],
  [/journeys ask-now support\/41960\.1/, 2, /is written, and does not wait/],
  [/source rename support helpdesk/, 2, /helpdesk/],
  [/webhooks (?:test|replay) warehouse/, 2, /There is no webhook "warehouse"/],
  [/answers .* --fields Store,Agent/, 2, /There is no field "Store"; there are: Ticket, Agent/],
  [/mail preview/, 2, /"reports" in the configuration names no mail/],
  [/follow-ups (?:show|take|done|reopen) support\/41960\.1/, 1, /follow-up/],
];

const typed = pages.flatMap((page) =>
  linesOf(page).flatMap((line) => {
    const isOurs = /^(?:npx )?closeloop /.test(line);
    return isOurs && !elsewhere.slice(0, 2).some(([pattern]) => pattern.test(line)) ? [[page, line] as const] : [];
  }),
);
// Who is erased is known to nobody afterwards.
const inOrder = typed.toSorted(
  ([, one], [, other]) => Number(one.includes(' mask ')) - Number(other.includes(' mask ')),
);

test('a campaign for trials and a survey are made, which the pages name', async () => {
  const control = `${placed('127.0.0.1:9100')}/_control`;
  const campaign = '{"account":"acme","id":99,"name":"For trials","type":"mixed"}';
  expect(await curl(`curl ${control}/campaigns -d '${campaign}'`)).toBe(true);
  expect(await curl(`curl ${control}/surveys -d '{"account":"acme","id":3,"name":"How was it","questions":[]}'`)).toBe(
    true,
  );
});

/** As a person would who types many commands in a minute: Zendesk lets its changes be read ten times in one. */
async function whenQuotaAllows(line: string): ReturnType<typeof command> {
  const finished = await command(where(wordsOf(line)));
  const [, seconds] = /quota of account \S+ is used up for (\d+) s/.exec(finished.err) ?? [];
  if (seconds === undefined) return finished;
  await sleep(Number(seconds) * 1_000);
  return await whenQuotaAllows(line);
}

test.each(inOrder)('%s: %s', async (_, line) => {
  const [, code = 0, said = /(?:)/] = refused.find(([pattern]) => pattern.test(line)) ?? [];
  const finished = await whenQuotaAllows(line);
  expect([finished.code, `${finished.out}${finished.err}`]).toEqual([code, expect.stringMatching(said)]);
});
