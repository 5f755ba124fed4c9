import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { runInNewContext } from 'node:vm';
import { describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { serve } from '../../../../standins/kit/server.ts';
import { FollowUpLists } from '../../../../worker/journey/follow-up-lists.ts';
import type { FollowUp } from '../../../../worker/journey/journey.ts';
import { startLoop } from '../../../support/loop.ts';
import { command } from '../../../support/processes.ts';
import { daysAgo, useCommands } from '../../../support/worker/cli/commands.ts';

// What docs/feeding-other-tools.md shows, run against stand-ins: an address that takes calls, a sheet, BigQuery's command line, PostgreSQL's.

const { redis, dir, fresh } = useCommands();
const root = resolve(import.meta.dirname, '../../../..');
const examples = join(root, 'examples/feeding');
const read = (name: string) => readFileSync(join(examples, name), 'utf8');

/** Three answers of two days ago; the first has a follow-up that was done in time, and words that a sheet would take for a formula. */
async function installation() {
  const loop = await startLoop(redis, { source: fresh() });
  const { store } = loop;
  for (const [id, grade, comment] of [
    ['a', 2, '=IMPORTXML("https://evil.example")'],
    ['b', 5, 'Kind,\nand "quick"'],
    ['c', 4, null],
  ] as const) {
    await loop.asked(id, { store: 'Tallinn' });
    loop.feedback.standin.answer({ contact: `${id}@example.com`, grade, ...(comment !== null && { comment }) });
    await loop.journey(`${id}.1`, 'written');
  }
  const followUp: FollowUp = {
    ...{ state: 'done', rule: 'unhappy', to: 'agent', openedAt: daysAgo(2), dueAt: daysAgo(1) },
    ...{ doneBy: 'Maria', doneAt: daysAgo(1.5), outcome: 'Called', firstActionAt: daysAgo(1.5) },
  };
  const values = { Store: 'Tallinn', Agent: 'Ann' };
  for (const id of ['a', 'b', 'c'])
    await store.update(`${id}.1`, (now) => {
      const answer = now.answer && { ...now.answer, seenAt: daysAgo(1.5) };
      return { journey: { ...now, values, ...(answer && { answer }), ...(id === 'a' && { followUp }) }, trace: [] };
    });
  await new FollowUpLists(redis.handle.client, store.source).relist('a.1', store);
  const config = join(dir, `${store.source}.yaml`);
  writeFileSync(
    config,
    `feedback: { baseUrl: "${loop.feedback.url}/api", apiKey: demo-key, timeZone: Europe/Tallinn }
redis: { path: ${redis.socket} }
sources:
  ${store.source}:
    connector: webhook
    signature: { kind: token, header: x-token, secrets: [none] }
    event: { id: id, record: id, closed: "true", closedAt: at }
    rules: [{ name: all, campaign: 12, contact: email }]
`,
  );
  const place = mkdtempSync(join(dir, 'place-'));
  const bin = join(place, 'bin');
  mkdirSync(bin);
  const onPath = (name: string, file: string) =>
    writeFileSync(join(bin, name), `#!/bin/sh\nexec "${process.execPath}" "${file}" "$@"\n`, { mode: 0o755 });
  onPath('closeloop', join(root, 'worker/cli/closeloop.js'));
  /** The script in a folder of its own; resolves with its exit code. */
  const run = (script: string, env: Record<string, string> = {}) => {
    const options = { cwd: place, env: { ...process.env, ...env, PATH: `${bin}:${process.env.PATH ?? ''}` } };
    const args = [join(examples, script), '--config', config, '--data', dir];
    return new Promise<{ code: number; err: string }>((done) => {
      execFile('bash', args, options, (error, _out, err) => done({ code: error ? Number(error.code) : 0, err }));
    });
  };
  const regrade = async () =>
    await store.update('c.1', (now) => ({
      journey: { ...now, answer: { grade: 1, comment: 'No.', seenAt: new Date(), version: 2 } },
      trace: [],
    }));
  return {
    loop,
    config,
    place,
    bin,
    onPath,
    run,
    regrade,
    ids: ['a', 'b', 'c'].map((id) => `${store.source}/${id}.1`),
  };
}

describe('push-answers.sh', () => {
  /** As n8n and Zapier take calls. */
  async function webhook() {
    const bodies: { id: string }[] = [];
    let status = 200;
    const server = await serve(({ raw, headers }) => {
      expect(headers['content-type']).toBe('application/json');
      if (status === 200) bodies.push(z.looseObject({ id: z.string() }).parse(JSON.parse(raw.toString())));
      return { status, body: '{"message":"Workflow was started"}' };
    });
    onTestFinished(() => server.close());
    return {
      ...{ bodies, url: `${server.url}/webhook/closeloop-answers` },
      fail: (how: number) => {
        status = how;
      },
    };
  }

  test('calls once for each answer, then for what has changed alone, and moves on only when all was taken', async () => {
    const { run, regrade, place, ids } = await installation();
    const { bodies, url, fail } = await webhook();
    const env = { ANSWERS_URL: url, RETRIES: '0' };
    fail(404);
    expect(await run('push-answers.sh', env)).toMatchObject({ code: 22, err: expect.not.stringContaining(url) });
    expect(existsSync(join(place, 'answers.cursor'))).toBe(false);
    fail(200);
    expect(await run('push-answers.sh', env)).toEqual({ code: 0, err: '' });
    expect(bodies.map(({ id }) => id).sort()).toEqual(ids);
    expect(bodies).toContainEqual(expect.objectContaining({ comment: 'Kind,\nand "quick"' }));
    await run('push-answers.sh', env);
    expect(bodies).toHaveLength(3);
    await regrade();
    await run('push-answers.sh', env);
    expect(bodies.slice(3)).toMatchObject([{ id: ids[2], grade: 1 }]);
  });

  test('feeds a workflow of n8n whose second step drops what it has seen', async () => {
    const { run, regrade } = await installation();
    const { bodies, url } = await webhook();
    const Workflow = z.object({
      nodes: z.array(
        z.looseObject({ name: z.string(), type: z.string(), parameters: z.record(z.string(), z.unknown()) }),
      ),
      connections: z.record(z.string(), z.object({ main: z.array(z.array(z.object({ node: z.string() }))) })),
    });
    const { nodes, connections } = Workflow.parse(JSON.parse(read('n8n.json')));
    const [hook, once, last] = nodes;
    expect(url).toContain(`/webhook/${hook?.parameters.path}`);
    expect(hook?.parameters.httpMethod).toBe('POST');
    expect(connections[hook?.name ?? '']?.main[0]?.[0]?.node).toBe(once?.name);
    expect(connections[once?.name ?? '']?.main[0]?.[0]?.node).toBe(last?.name);
    // n8n evaluates what stands in {{ }}.
    const keyOf = (body: unknown) =>
      String(once?.parameters.dedupeValue)
        .replace(/^=/, '')
        .replace(/\{\{(.*?)\}\}/g, (_, code: string) => String(runInNewContext(code, { $json: { body } })));
    const env = { ANSWERS_URL: url, RETRIES: '0' };
    await run('push-answers.sh', env);
    await run('push-answers.sh', { ...env });
    expect(new Set(bodies.map(keyOf)).size).toBe(3);
    await regrade();
    for (let i = 0; i < 2; i++) await run('push-answers.sh', env);
    expect(bodies.length).toBeGreaterThan(4);
    expect(new Set(bodies.map(keyOf)).size).toBe(4);
    expect(bodies.map(keyOf).join()).not.toContain('undefined');
  });
});

test('sheet.gs keeps one row for each answer, and takes no comment for a formula', async () => {
  const { config, regrade } = await installation();
  const exported = async () => (await command(['answers', '--config', config, '--data', dir])).out;
  // As Google Sheets does: a text that begins with = is a formula, and an apostrophe before it is not shown.
  let cells: unknown[][] = [];
  const asShown = (value: unknown) => {
    if (typeof value !== 'string') return value;
    if (value.startsWith('=')) throw new Error('a formula');
    return value.startsWith("'") ? value.slice(1) : value;
  };
  const sheet = {
    getLastRow: () => cells.length,
    getRange: (_row: number, _column: number, height: number, width: number) => ({
      getValues: () =>
        Array.from({ length: height }, (_, i) => Array.from({ length: width }, (_, j) => cells[i]?.[j] ?? '')),
      setValues: (values: unknown[][]) => {
        expect([values.length, new Set(values.map((row) => row.length))]).toEqual([height, new Set([width])]);
        cells = values.map((row) => row.map(asShown));
      },
    }),
  };
  const asked: unknown[] = [];
  const properties: Record<string, string> = {
    ANSWERS_URL: 'https://files.example/answers.jsonl',
    ANSWERS_TOKEN: 'secret',
  };
  let text = await exported();
  const script = () =>
    runInNewContext(`${read('sheet.gs')}\ntakeIn();`, {
      PropertiesService: { getScriptProperties: () => ({ getProperty: (name: string) => properties[name] }) },
      UrlFetchApp: {
        fetch: (...of: unknown[]) => {
          asked.push(of);
          return { getContentText: () => text };
        },
      },
      LockService: { getScriptLock: () => ({ waitLock: () => undefined, releaseLock: () => undefined }) },
      SpreadsheetApp: {
        getActiveSpreadsheet: () => ({ getSheetByName: (name: string) => (name === 'Answers' ? sheet : null) }),
      },
    });
  script();
  expect(asked).toMatchObject([[properties.ANSWERS_URL, { headers: { Authorization: 'Bearer secret' } }]]);
  const column = (name: string) => cells.map((row) => row[cells[0]?.indexOf(name) ?? -1]);
  expect(cells).toHaveLength(4);
  expect(column('comment').slice(1).sort()).toEqual(['', '=IMPORTXML("https://evil.example")', 'Kind,\nand "quick"']);
  expect(column('followUp').slice(1).sort()).toEqual(['', '', 'done']);
  expect(column('Agent').slice(1)).toEqual(['Ann', 'Ann', 'Ann']);
  const older = text;
  await regrade();
  text = await exported();
  script();
  // A file that is older than the last one changes nothing back.
  text = older;
  script();
  expect(cells).toHaveLength(4);
  expect(column('grade').slice(1).map(Number).sort()).toEqual([1, 2, 5]);
});

/** A schema `feedback` in a database of this process; `take-in.sql` and the questions mean the same there. */
function database() {
  const db = new DatabaseSync(':memory:');
  db.exec("attach ':memory:' as feedback");
  onTestFinished(() => db.close());
  return db;
}

const Column = z.object({ name: z.string(), type: z.string(), mode: z.enum(['NULLABLE', 'REQUIRED']) });
const Schema = z.array(Column.extend({ fields: z.array(Column).optional() }));

/** What BigQuery says against a line of a load, by its schema: unknown names, missing values, and values of another type. */
function flawsOf(row: Record<string, unknown>, schema: z.output<typeof Schema>): string[] {
  const is: Record<string, (value: unknown) => boolean> = {
    STRING: (value) => typeof value === 'string',
    INTEGER: Number.isSafeInteger,
    FLOAT: (value) => typeof value === 'number',
    TIMESTAMP: (value) => z.iso.datetime().safeParse(value).success,
    JSON: () => true,
    RECORD: (value) => typeof value === 'object',
  };
  const known = schema.map(({ name }) => name);
  const unknown = Object.keys(row).filter((name) => !known.includes(name));
  return [
    ...unknown.map((name) => `no such field: ${name}`),
    ...schema.flatMap(({ name, type, mode, fields }) => {
      const value = row[name] ?? null;
      if (value === null) return mode === 'REQUIRED' ? [`missing: ${name}`] : [];
      if (is[type]?.(value) !== true) return [`no ${type}: ${name}`];
      return fields ? flawsOf(z.record(z.string(), z.unknown()).parse(value), fields) : [];
    }),
  ];
}

/** The words of each call of a program that a script calls, and what it was given on standard input; each call ends well. */
function standInOf(name: string, { bin, place, onPath }: Awaited<ReturnType<typeof installation>>, files: string) {
  const log = join(place, `${name}.jsonl`);
  const file = join(bin, `${name}.mjs`);
  writeFileSync(
    file,
    `import { appendFileSync, readFileSync } from 'node:fs';
const args = process.argv.slice(2);
const files = args.flatMap((one) => /${files}/.exec(one)?.[0] ?? []).map((one) => readFileSync(one, 'utf8'));
const input = args.includes('query') ? readFileSync(0, 'utf8') : '';
appendFileSync(${JSON.stringify(log)}, JSON.stringify({ args, files, input }) + '\\n');
`,
  );
  onPath(name, file);
  const Call = z.object({ args: z.array(z.string()), files: z.array(z.string()), input: z.string() });
  return () => {
    const lines = existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : [];
    writeFileSync(log, '');
    return lines.filter((line) => line !== '').map((line) => Call.parse(JSON.parse(line)));
  };
}

test('load-bigquery.sh loads lines that fit the schema, and puts each answer in place of its former self', async () => {
  const all = await installation();
  const calls = standInOf('bq', all, '[^ ]*answers\\.jsonl');
  const schema = Schema.parse(JSON.parse(read('answers.bigquery.json')));
  const db = database();
  const names = schema.map(({ name }) => name);
  db.exec(`create table feedback.answers (${names.join()}); create table feedback.answers_new (${names.join()})`);
  const insert = db.prepare(`insert into feedback.answers_new values (${names.map(() => '?').join()})`);
  const load = async () => {
    expect(await all.run('load-bigquery.sh')).toEqual({ code: 0, err: '' });
    const [loading, query] = calls();
    expect(loading?.args.slice(0, 4)).toEqual([
      ...['load', '--replace', '--source_format=NEWLINE_DELIMITED_JSON', 'feedback.answers_new'],
    ]);
    expect(loading?.args.at(-1)).toBe(join(examples, 'answers.bigquery.json'));
    expect(query?.args).toEqual(['query', '--use_legacy_sql=false']);
    const rows = (loading?.files[0] ?? '').split('\n').filter((line) => line !== '');
    db.exec('delete from feedback.answers_new');
    for (const row of rows.map((line) => z.record(z.string(), z.unknown()).parse(JSON.parse(line)))) {
      expect(flawsOf(row, schema)).toEqual([]);
      const cell = (value: unknown) => (typeof value === 'object' && value !== null ? JSON.stringify(value) : value);
      insert.run(...names.map((name) => z.union([z.string(), z.number(), z.null()]).parse(cell(row[name]))));
    }
    db.exec(query?.input ?? '');
    return rows.length;
  };
  expect(await load()).toBe(3);
  await all.regrade();
  expect(await load()).toBe(1);
  expect(await load()).toBe(1);
  expect(db.prepare('select id, grade from feedback.answers order by id').all()).toEqual([
    ...[2, 5, 1].map((grade, i) => ({ id: all.ids[i], grade })),
  ]);
  expect(flawsOf({ id: 1, x: 1 }, schema)).toEqual(
    expect.arrayContaining(['no such field: x', 'no STRING: id', 'missing: changedAt']),
  );
});

/** RFC 4180; an empty cell without quotes is null, as PostgreSQL reads it. */
function rowsOf(csv: string): (string | null)[][] {
  const rows: (string | null)[][] = [];
  let row: (string | null)[] = [];
  for (const [, quoted, plain = '', end] of csv.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)) {
    row.push(quoted === undefined ? plain || null : quoted.replaceAll('""', '"'));
    if (end === ',') continue;
    rows.push(row);
    row = [];
  }
  return rows;
}

test('load-postgres.sh fills the table that Metabase asks', async () => {
  const all = await installation();
  const calls = standInOf('psql', all, "[^ ']*answers\\.csv");
  const db = database();
  db.exec(read('answers.postgres.sql').replace('create schema feedback;', ''));
  const columns = db
    .prepare('select * from feedback.answers')
    .columns()
    .map(({ column }) => column);
  const load = async () => {
    expect(await all.run('load-postgres.sh')).toEqual({ code: 0, err: '' });
    const [call] = calls();
    expect(call?.args).toEqual([
      ...['--set', 'ON_ERROR_STOP=1', '--command', 'delete from feedback.answers_new', '--command'],
      expect.stringMatching(/^\\copy feedback\.answers_new from '.*\/answers\.csv' with \(format csv, header true\)$/),
      ...['--file', join(examples, 'take-in.sql')],
    ]);
    const [head, ...rows] = rowsOf(call?.files[0] ?? '');
    expect(head).toEqual(columns);
    db.exec('delete from feedback.answers_new');
    const insert = db.prepare(`insert into feedback.answers_new values (${columns.map(() => '?').join()})`);
    for (const row of rows) insert.run(...row);
    db.exec(read('take-in.sql'));
    return rows.length;
  };
  expect(await load()).toBe(3);
  await all.regrade();
  expect(await load()).toBe(1);
  const [byAgent = '', byMonth = ''] = read('metabase.sql').split(/;\s*/);
  const months = [daysAgo(1.5), new Date()].map((at) => at.toISOString().slice(0, 7));
  const byMonths = db.prepare(byAgent).all();
  expect(byMonths.map(({ month, Agent }) => [month, Agent])).toEqual(
    [...new Set(months)].map((month) => [month, 'Ann']),
  );
  expect(byMonths.reduce((sum, { answers }) => sum + Number(answers), 0)).toBe(3);
  const opened = daysAgo(2).toISOString().slice(0, 7);
  expect(db.prepare(byMonth).all()).toEqual([{ month: opened, opened: 1, done: 1, in_time: 1 }]);
});

test('the page shows the script as it is, and where the events of webhooks hold the grade', () => {
  const [, event = ''] =
    /```json\n(\{\n {2}"type": "answer[\s\S]*?)```/.exec(readFileSync(join(root, 'docs/webhooks-out.md'), 'utf8')) ??
    [];
  expect(JSON.parse(event)).toMatchObject({ data: { answer: { grade: expect.any(Number) } } });
  const page = readFileSync(join(root, 'docs/feeding-other-tools.md'), 'utf8');
  expect(page).toContain(read('push-answers.sh').trim());
});
