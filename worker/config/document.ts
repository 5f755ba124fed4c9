import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  visit,
} from 'yaml';
import { lookUp } from '../../core/look-up.ts';
import { misindented } from './indentation.ts';
import type { FoundProblem, Path, Place } from './problem.ts';

/** A parsed configuration file: its values, with variables of the environment replaced, and the place of each in the file. */
export interface ConfigDocument {
  value: unknown;
  /** The values as written: variables by name. */
  written: unknown;
  /** What is wrong with the YAML itself, and every variable that isn't set. */
  found: FoundProblem[];
  /** The place of the value (of the key, in a section) at `path`, or of the nearest thing around it that exists. */
  placeOf(path: Path): Place | undefined;
  /** Whether the value at `path` is one variable and nothing else: then it may mean a number. */
  isVariable(path: Path): boolean;
  /** Takes the values of variables, which may be secrets, out of the message. */
  hide(message: string): string;
}

/** `${NAME}` in any text becomes the environment variable of that name; `$${NAME}` stays `${NAME}`. */
const variables = /\$(\$?)\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

/** A `${NAME}` in a flow list or section: YAML reads the brace as its own syntax and reports an error at another place. */
const bareVariable = /^[^#\n]*(?<!\$)[[{](?:[^#\n]*[\s,])?\$\{\w+\}/m;

type At = (offset: number) => Place;

/** Never throws; when the YAML itself is broken, `value` is undefined and `found` says where. */
export function readDocument(text: string, env: Readonly<Record<string, string | undefined>>): ConfigDocument {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, logLevel: 'error' });
  const at: At = (offset) => {
    const { line, col } = lines.linePos(offset);
    return { line, column: col };
  };
  if (document.errors.length > 0) return broken(mistakesIn(text, document, at));

  const surprises = surprisesOf(document, at);
  let written: unknown;
  try {
    written = document.toJS();
  } catch {
    return broken([{ path: [], message: 'an alias (*name) has no anchor (&name), or aliases grow without end' }]);
  }
  const { found, whole, used } = putVariablesIn(document, env);
  return {
    value: document.toJS(),
    written,
    found: [...surprises, ...found],
    placeOf: (path) => nodeAt(document, path, at).place,
    isVariable: (path) => {
      const { node, exact } = nodeAt(document, path, at);
      return exact && whole.has(isAlias(node) ? node.resolve(document) : node);
    },
    hide: (message) => [...used].reduce((rest, [secret, name]) => rest.replaceAll(secret, name), message),
  };
}

function broken(found: FoundProblem[]): ConfigDocument {
  return {
    value: undefined,
    written: undefined,
    found,
    placeOf: () => undefined,
    isVariable: () => false,
    hide: (message) => message,
  };
}

function mistakesIn(text: string, { errors }: Document, at: At): FoundProblem[] {
  // The parser's own message quotes the file, which may hold a secret.
  // The first error only: the errors after it usually follow from it, and point at lines that are right.
  const shifted = misindented(text);
  const mistakes: FoundProblem[] = errors.slice(0, 1).map(({ code, pos }) => {
    const place = at(pos[0]);
    // YAML reads a line with one space too few as something else, such as a text or a name.
    if (shifted === undefined || shifted.line > place.line + 1 || code === 'TAB_AS_INDENT')
      return { path: [], message: yamlMistake(code), place };
    const { message, line, column } = shifted;
    return { path: [], message, place: { line, column } };
  });
  const bare = text.search(bareVariable);
  if (bare >= 0) mistakes.push({ path: [], message: 'within [ ] and { } a variable needs quotes', place: at(bare) });
  return mistakes;
}

/** `whole`: values that consist of one variable only. `used`: maps each value that was put in to the way it was written. */
function putVariablesIn(document: Document, env: Readonly<Record<string, string | undefined>>) {
  const found: FoundProblem[] = [];
  const whole = new Set<unknown>();
  const used = new Map<string, string>();
  visit(document, {
    Scalar(key, node, ancestors) {
      const { value } = node;
      if (key === 'key' && value === '__proto__') {
        const path = [...pathOf(ancestors, node)];
        found.push({ path, message: 'is a name that JavaScript reserves: rename the custom field' });
      }
      if (key === 'key' || typeof value !== 'string') return;
      const path = pathOf(ancestors, node);
      node.value = value.replaceAll(variables, (written: string, escaped: string, name: string) => {
        if (escaped !== '') return written.slice(1);
        const text = lookUp(env, name);
        if (text !== undefined && text !== '') {
          used.set(text, written);
          return text;
        }
        const state = text === undefined ? 'is not set' : 'is empty';
        found.push({ path, message: `the environment variable ${name} ${state}`, hole: true });
        return written;
      });
      if (/^\$\{\w+\}$/.test(value)) whole.add(node);
    },
  });
  return { found, whole, used };
}

/** The value at `path`, or of the nearest thing around it that exists (not `exact`). */
function nodeAt(document: Document, path: Path, at: At): { node: unknown; place: Place | undefined; exact: boolean } {
  let node: unknown = document.contents;
  let place: Place | undefined;
  for (const key of path) {
    const [next, shown] = child(isAlias(node) ? node.resolve(document) : node, key);
    if (shown?.range) place = at(shown.range[0]);
    if (shown === undefined) return { node, place, exact: false };
    node = next;
  }
  return { node, place, exact: true };
}

/** The entry `key` of a section or list, and the node that shows where it stands. */
function child(node: unknown, key: PropertyKey): [node: unknown, shown: Node | undefined] {
  if (isMap(node)) {
    const pair = node.items.find((item) => isScalar(item.key) && String(item.key.value) === String(key));
    return [pair?.value, isNode(pair?.key) ? pair.key : undefined];
  }
  const item = isSeq(node) ? node.items[Number(key)] : undefined;
  return [item, isNode(item) ? item : undefined];
}

/** The path of a node from its ancestors in `visit`: pairs give names, lists give positions. */
function pathOf(ancestors: readonly unknown[], node: unknown): PropertyKey[] {
  return ancestors.flatMap((ancestor, i): PropertyKey[] => {
    if (isPair(ancestor)) return isScalar(ancestor.key) ? [String(ancestor.key.value)] : [];
    return isSeq(ancestor) ? [ancestor.items.indexOf(ancestors[i + 1] ?? node)] : [];
  });
}

function yamlMistake(code: string): string {
  return mistakes[code] ?? `is not YAML here (${code.toLowerCase().replaceAll('_', ' ')})`;
}

const mistakes: Readonly<Record<string, string>> = {
  UNEXPECTED_TOKEN: 'text stands behind a quote or bracket that has ended: put the whole value in quotes',
  BAD_INDENT: 'the indentation does not fit the lines around it',
  TAB_AS_INDENT: 'is indented with a tab; YAML wants spaces',
  DUPLICATE_KEY: 'this name stands twice in its section',
  MISSING_CHAR: 'a quote, bracket, comma or colon is missing',
  BAD_SCALAR_START: 'a text that begins with this character needs quotes',
  BLOCK_AS_IMPLICIT_KEY: 'a text with ": " in it needs quotes',
  MULTILINE_IMPLICIT_KEY: 'a colon is missing after a name, or the lines above are not indented as they should be',
  MULTIPLE_DOCS: 'a second document begins here (---); only one is read',
  BAD_DQ_ESCAPE: 'a backslash in double quotes must be written twice; or use single quotes',
};

/** Tags that do not change how YAML reads a value. */
const plainTags = new Set(
  ['str', 'int', 'float', 'bool', 'null', 'map', 'seq'].map((name) => `tag:yaml.org,2002:${name}`),
);

/**
 * Finds valid YAML that its author probably meant otherwise: tags, anchors and the like, which the parser accepts with a warning
 * or silently. The messages quote nothing from the file: a password that begins with ! is a tag.
 */
function surprisesOf(document: Document, at: At): FoundProblem[] {
  const found: FoundProblem[] = [];
  const placed = (node: Node): { place?: Place } => (node.range ? { place: at(node.range[0]) } : {});
  const { yaml } = document.directives ?? {};
  const directive = document.warnings.find(({ code }) => code === 'BAD_DIRECTIVE');
  if (directive || (yaml?.explicit && yaml.version !== '1.2')) {
    const message = 'a directive (a line that begins with %) is not taken: remove it, the file is read as YAML 1.2';
    found.push({ path: [], message, place: at(directive?.pos[0] ?? 0) });
  }
  visit(document, {
    Value(_, node, ancestors) {
      const path = pathOf(ancestors, node);
      if (node.tag !== undefined && !plainTags.has(node.tag)) found.push({ path, message: tagged, ...placed(node) });
      if (!isMap(node)) return;
      const names = new Set<string>();
      for (const { key } of node.items) {
        if (!isNode(key)) continue;
        const message = surpriseOf(key, names);
        if (message !== undefined) found.push({ path, message, ...placed(key) });
      }
    },
  });
  return found;
}

const tagged =
  'a value that begins with ! has a YAML tag, which means nothing here: remove the tag (in an expression write $not(…) for !), or put the text in quotes';

function surpriseOf(key: Node, names: Set<string>): string | undefined {
  if (!isScalar(key))
    return 'a name must be a text: write it without brackets, braces, & and *, or put the whole value in quotes';
  const name = String(key.value);
  if (name === '<<') return 'a merge key (<<) is not taken: write the settings out, or use *name for a whole section';
  if (names.has(name)) return 'this name stands twice in its section';
  names.add(name);
  return undefined;
}
