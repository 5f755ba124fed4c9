import { readdirSync, readFileSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { functionsOf } from './walk/functions.ts';

const root = resolve(import.meta.dirname, '..');
const rooms = ['core', 'connectors', 'worker', 'standins', 'examples', 'test'];

/** What a file may import of ours, by where it lives. Narrower rows come first; the first that fits counts. */
const allowed: [where: RegExp, mayImport: RegExp][] = [
  [/^core\//, /^core\//],
  [/^connectors\/(?:index|built-in)\.ts$/, /^(core|connectors)\//],
  [/^connectors\/([^/]+)\//, /^(core\/|connectors\/SAME\/)/],
  // Inside the worker: redis ← journey ← pipeline ← support ← reports ← dashboard ← mails ← commands. Operations know no step, and a step
  // no other step.
  [/^worker\/(redis|config)\//, /^(core|worker\/SAME)\//],
  [/^worker\/operations\//, /^(core|worker\/(redis|operations))\//],
  [/^worker\/journey\//, /^(core|worker\/(redis|journey))\//],
  [
    /^worker\/pipeline\/policy\//,
    /^(core|worker\/(config|journey)|worker\/pipeline\/policy)\/|^worker\/(redis\/keys|pipeline\/rules)\.ts$/,
  ],
  [
    /^worker\/pipeline\/(plan|ask|collect|write-back|act|send|erase)\//,
    /^(core|worker\/(config|redis|journey|operations)|worker\/pipeline\/(policy|SAME))\/|^worker\/(pipeline\/[^/]+|sources\/known-sources)\.ts$/,
  ],
  [/^worker\/(?:pipeline|sources)\//, /^(core|worker\/(config|redis|journey|operations|pipeline|sources))\//],
  [/^worker\/(intake|preflight)\//, /^(core|worker\/(config|redis|journey|operations|pipeline|SAME))\//],
  [/^worker\/support\//, /^(core|worker\/(config|redis|journey|operations|pipeline|sources|preflight|support))\//],
  [/^worker\/reports\//, /^(core|worker\/(config|redis|journey|support|reports))\//],
  [
    /^worker\/dashboard\//,
    /^(core|worker\/(config|redis|journey|operations|pipeline|sources|preflight|support|reports|dashboard))\//,
  ],
  [/^worker\/mails\//, /^(core|worker\/(config|redis|journey|operations|pipeline|support|reports|dashboard|mails))\//],
  [/^worker\/cli\/commands\/run\.ts$/, /^(core|worker)\/|^connectors\/built-in\.ts$/],
  [/^worker\/cli\/(?:commands\/)?standin\.ts$/, /^(core|worker)\/|^standins\/index\.ts$/],
  [/^worker\/cli\/demo(-history)?\.ts$/, /^(core|worker|standins)\//],
  [/^worker\/cli\//, /^(core|worker)\//],
  [/^standins\//, /^standins\//],
  // What authors of connectors run on theirs ships with the package: nothing but the contract may come with it.
  [/^test\/support\/contract(\.ts$|\/(?!.*whole-desk))/, /^core\/|^test\/support\/contract/],
  [/^examples\/.*(test|desk)\.ts$/, /^(examples|test|standins|core)\//],
  [/^examples\//, /^examples\//],
  [/^test\//, /./],
];

interface Import {
  from: string;
  to: string;
}

const files = rooms.flatMap((room) =>
  readdirSync(join(root, room), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => `${room}/${name}`),
);

const imports: Import[] = files.flatMap((from) => {
  const text = readFileSync(join(root, from), 'utf8');
  const found = text.matchAll(
    /^\s*(?:import|export)\b[^'"`;]*?from\s+['"](\.[^'"]+)['"]|import\(\s*['"](\.[^'"]+)['"]/gm,
  );
  return [...found].map(([, named, dynamic]) => {
    const target = named ?? dynamic ?? '';
    return { from, to: relative(root, resolve(root, dirname(from), target)) };
  });
});

function mayImport({ from, to }: Import): boolean {
  const [where, pattern] = allowed.find(([place]) => place.test(from)) ?? [];
  const same = from.match(where ?? /$^/)?.[1] ?? '';
  return pattern !== undefined && new RegExp(pattern.source.replace('SAME', same)).test(to);
}

/** Rooms without a circle of imports, types included: all that ships. */
const straight = imports.filter(({ from }) => /^(core|connectors|worker|standins|examples)\//.test(from));

/**
 * An import as it goes between two things in one folder, the deepest that has both files: each is a file, or a folder with all
 * that is in it.
 */
function withinFolder({ from, to }: Import): Import {
  const [one, other] = [from.split('/'), to.split('/')];
  const depth = one.findIndex((name, n) => name !== other[n]) + 1;
  return { from: one.slice(0, depth).join('/'), to: other.slice(0, depth).join('/') };
}

/** Groups of files of which each imports every other, by way of some. */
function circles(edges: readonly Import[]): string[][] {
  const targets = Map.groupBy(edges, ({ from }) => from);
  const reach = (start: string): Set<string> => {
    const seen = new Set<string>();
    for (const todo = [start]; todo.length > 0; ) {
      for (const { to } of targets.get(todo.pop() ?? '') ?? []) {
        if (!seen.has(to)) todo.push(to);
        seen.add(to);
      }
    }
    return seen;
  };
  const reached = new Map([...targets.keys()].map((file) => [file, reach(file)]));
  const inCircles = [...reached].filter(([file, seen]) => seen.has(file)).map(([file]) => file);
  const groups = Map.groupBy(inCircles, (file) =>
    inCircles
      .filter((one) => reached.get(file)?.has(one) && reached.get(one)?.has(file))
      .sort()
      .join(' ↔ '),
  );
  return [...groups.values()];
}

/**
 * What the kit keeps for connectors that ship with it: their list, receivers of closeloop's own events, and what expressions are made
 * of.
 */
const notExported = new Set([
  'checkReceiver',
  'openReceiver',
  'isOfPrivateAddress',
  'receiver',
  'httpsUnlessPrivate',
  'signingSecret',
  'BuiltIn',
  'tooIntricate',
  'contactKey',
  'ExpressionSource',
  'Expression',
  'compileExpression',
  'evaluateAll',
]);

test('what built-in connectors import from core is there for those of others, too', () => {
  const namesIn = (list: string): string[] =>
    list.split(',').flatMap((one) => /^\s*(?:type\s+)?(\w+)/.exec(one)?.[1] ?? []);
  const index = readFileSync(join(root, 'core/index.ts'), 'utf8');
  const exported = new Set(
    [...index.matchAll(/export (?:type )?\{([^}]*)\}/g)].flatMap(([, list = '']) => namesIn(list)),
  );
  const imported = files
    .filter((file) => file.startsWith('connectors/'))
    .flatMap((file) => [
      ...readFileSync(join(root, file), 'utf8').matchAll(/import (?:type )?\{([^}]*)\} from '[./]+\/core\//g),
    ])
    .flatMap(([, list = '']) => namesIn(list));
  const missing = new Set(imported.filter((name) => !exported.has(name)));
  expect(imported.length).toBeGreaterThan(100);
  expect(
    [...missing].filter((name) => !notExported.has(name)),
    'export them from core/index.ts',
  ).toEqual([]);
  expect(
    [...notExported].filter((name) => !missing.has(name)),
    'take them off this list',
  ).toEqual([]);
});

describe('no file imports itself by way of others', () => {
  test('it sees a circle', () => {
    const edge = (from: string, to: string): Import => ({ from, to });
    const edges = [edge('a', 'b'), edge('b', 'c'), edge('c', 'a'), edge('c', 'd'), edge('e', 'a')];
    expect(circles(edges).map((group) => group.sort())).toEqual([['a', 'b', 'c']]);
  });

  test('there is none in the rooms that are straight', () => {
    expect(circles(straight)).toEqual([]);
  });
});

describe('no folder imports itself by way of what lies beside it', () => {
  test('it sees two folders that import each other, and a folder with a file', () => {
    const edge = (from: string, to: string): Import => ({ from, to });
    const edges = [edge('w/a/x.ts', 'w/b/y.ts'), edge('w/b/z.ts', 'w/a/deep/u.ts'), edge('w/a/deep/v.ts', 'w/a/x.ts')];
    expect(circles(edges.map(withinFolder))).toEqual([['w/a', 'w/b']]);
    expect(circles([...edges, edge('w/a/x.ts', 'w/a/deep/u.ts')].map(withinFolder))).toHaveLength(2);
  });

  test('there is none in the rooms that are straight', () => {
    expect(circles(straight.map(withinFolder))).toEqual([]);
  });
});

describe('imports point one way', () => {
  test('it sees the imports at all', () => {
    expect(imports.length).toBeGreaterThan(50);
    expect(imports).toContainEqual({ from: 'worker/pipeline/ingestion.ts', to: 'core/connector/contract.ts' });
  });

  test('none points the wrong way', () => {
    expect(imports.filter((one) => !mayImport(one)).map(({ from, to }) => `${from} → ${to}`)).toEqual([]);
  });

  test('each rule is about files that exist', () => {
    expect(allowed.map(([place]) => place).filter((place) => !files.some((file) => place.test(file)))).toEqual([]);
  });

  const wrong: [from: string, to: string][] = [
    ['core/errors.ts', 'connectors/index.ts'],
    ['core/errors.ts', 'worker/pipeline/engine.ts'],
    ['connectors/zendesk/record.ts', 'connectors/hubspot/read.ts'],
    ['connectors/zendesk/record.ts', 'worker/pipeline/engine.ts'],
    ['worker/pipeline/engine.ts', 'connectors/index.ts'],
    ['worker/pipeline/engine.ts', 'standins/index.ts'],
    ['worker/pipeline/engine.ts', 'test/support/redis.ts'],
    ['worker/redis/lock.ts', 'worker/journey/store.ts'],
    ['worker/journey/store.ts', 'worker/pipeline/source-pipeline.ts'],
    ['worker/operations/alerts.ts', 'worker/pipeline/plan/plan.ts'],
    ['worker/pipeline/plan/plan.ts', 'worker/pipeline/ask/ask.ts'],
    ['worker/pipeline/policy/decide.ts', 'worker/pipeline/queues.ts'],
    ['worker/pipeline/engine.ts', 'worker/cli/start.ts'],
    ['worker/intake/intake.ts', 'worker/cli/start.ts'],
    ['worker/pipeline/source-pipeline.ts', 'worker/support/why.ts'],
    ['worker/support/why.ts', 'worker/reports/grades.ts'],
    ['worker/reports/grades.ts', 'worker/dashboard/pages.ts'],
    ['worker/dashboard/pages.ts', 'worker/cli/status.ts'],
    ['worker/new-room/anything.ts', 'core/errors.ts'],
    ['standins/feedback/standin.ts', 'core/feedback/schemas.ts'],
  ];
  test.each(wrong)('%s may not import %s', (from, to) => {
    expect([from, to].filter((file) => !files.includes(file) && !file.includes('/new-room/'))).toEqual([]);
    expect(mayImport({ from, to })).toBe(false);
  });
});

test('the whole of a source is known where it is opened, and taken whole by nobody', () => {
  const whole = files.filter(
    (file) => file.startsWith('worker/') && /\bSourceContext\b/.test(readFileSync(join(root, file), 'utf8')),
  );
  expect(whole.sort()).toEqual(['worker/pipeline/engine.ts', 'worker/pipeline/source-pipeline.ts']);
});

const own = files.filter((file) => /^(core|connectors|worker)\//.test(file));

test('no function of what runs is longer than 60 lines, from its first to its last', () => {
  const sizes = own.flatMap((file) =>
    functionsOf(readFileSync(join(root, file), 'utf8')).map(({ name, firstLine, lastLine }) => ({
      function: `${name} of ${file}`,
      lines: lastLine - firstLine + 1,
    })),
  );
  expect(sizes.length).toBeGreaterThan(1_000);
  expect(sizes.filter(({ lines }) => lines > 60)).toEqual([]);
});

test('no class of what runs is longer than 250 lines', () => {
  const sizes = own.flatMap((file) => {
    const classes = readFileSync(join(root, file), 'utf8').matchAll(/^(?:export )?class (\w+)[\s\S]*?^\}/gm);
    return [...classes].map(([text, name]) => ({ name, lines: text.split('\n').length }));
  });
  expect(sizes.length).toBeGreaterThan(20);
  expect(sizes.filter(({ lines }) => lines > 250)).toEqual([]);
});

test('what zendesk-node-api calls "request" is our own package', () => {
  const require = createRequire(import.meta.url);
  const inside = createRequire(require.resolve('zendesk-node-api'));
  expect(realpathSync(inside.resolve('request'))).toBe(join(root, 'connectors/zendesk/request/index.cjs'));
});

test('what others send is read by listOf and mapOf: zod reports each wrong entry of 300,000', () => {
  const read = files.filter((file) =>
    /^connectors\/(?!.*\/settings\.ts$)|^core\/feedback\/(schemas|client)\.ts$/.test(file),
  );
  const ofZod = /\.array\((?!z\.unknown\(\))|\.record\((?!z\.string\(\), z\.unknown\(\))/;
  expect(read.filter((file) => ofZod.test(readFileSync(join(root, file), 'utf8')))).toEqual([]);
});

test('one place of the pipeline creates feedback requests: what redirects them in test mode', () => {
  const creating = files.filter(
    (file) => /^worker\//.test(file) && /\b(feedback|service)\.create\(/.test(readFileSync(join(root, file), 'utf8')),
  );
  // By hand: a person names whom, and in test mode nobody but the test contact is taken.
  const byHand = ['worker/cli/requests.ts'];
  expect(creating.sort()).toEqual([...byHand, 'worker/pipeline/ask/create.ts']);
});

test("what runs sends by core/connector/exchange.ts, and never loads Node's own fetch: 16 MB of each process", () => {
  const loads = /\bglobalThis\.fetch\b|^import \{.*\} from 'node:https?'|\bnew (Headers|Response|Request|FormData)\(/m;
  expect(own.filter((file) => loads.test(readFileSync(join(root, file), 'utf8')))).toEqual([]);
});

test('core and worker name no vendor', () => {
  const vendors = /zendesk|hubspot|shopify|woocommerce|intercom|vendure|request.?tracker|freshdesk/i;
  // The demo is told with a help desk; an example of `init` names one.
  const shared = files.filter(
    (file) => /^(core|worker)\//.test(file) && !/^worker\/cli\/(demo|commands\/setting-up)\.ts/.test(file),
  );
  const code = (file: string) =>
    readFileSync(join(root, file), 'utf8')
      .replace(/\/\*[\s\S]*?\*\//g, '')
      .replace(/\/\/.*$/gm, '');
  expect(shared.filter((file) => vendors.test(code(file)))).toEqual([]);
});
