import { type ESTree, parseSync, Visitor } from 'rolldown/utils';

/** A function of a source file. */
export interface SourceFunction {
  /** Undefined: nothing in the source names it, as a callback. */
  name: string | undefined;
  /** From 1; the function has both. */
  firstLine: number;
  lastLine: number;
}

interface Insertion {
  at: number;
  text: string;
}

type FunctionNode = ESTree.Function | ESTree.ArrowFunctionExpression;

/** The functions of a TypeScript file, in the order of its text; a declaration without a body is none. */
export function functionsOf(text: string): SourceFunction[] {
  const lineAt = linesOf(text);
  return parsed(text).map(({ node, name }) => ({
    name,
    firstLine: lineAt(node.start),
    lastLine: lineAt(node.end - 1),
  }));
}

/**
 * The file's text with a call `enter(<index>)` at the start of each function; the index is the function's place in `functionsOf`. Lines keep
 * their numbers, so stack traces stay true.
 */
export function instrumented(text: string, enter: string): string {
  const insertions = parsed(text).flatMap(({ body }, index): Insertion[] => {
    const call = `${enter}(${index})`;
    if (body.type === 'BlockStatement') return [{ at: body.start + 1, text: `${call};` }];
    return [
      { at: body.start, text: `(${call},` },
      { at: body.end, text: ')' },
    ];
  });
  return inserted(text, insertions);
}

function parsed(text: string) {
  const names = new Map<ESTree.Node, string>();
  const found: { node: FunctionNode; body: ESTree.FunctionBody | ESTree.Expression; name: string | undefined }[] = [];
  const give = (node: ESTree.Node | null, key: ESTree.Node) => {
    if (node !== null && 'name' in key) names.set(node, String(key.name));
  };
  const take = (node: FunctionNode) => {
    const own = node.type === 'ArrowFunctionExpression' ? undefined : node.id?.name;
    if (node.body !== null) found.push({ node, body: node.body, name: own ?? names.get(node) });
  };
  new Visitor({
    VariableDeclarator: ({ id, init }) => give(init, id),
    Property: ({ key, value }) => give(value, key),
    PropertyDefinition: ({ key, value }) => give(value, key),
    MethodDefinition: ({ key, value }) => give(value, key),
    FunctionDeclaration: take,
    FunctionExpression: take,
    ArrowFunctionExpression: take,
  }).visit(parseSync('source.ts', text, { lang: 'ts' }).program);
  return found.sort((one, other) => one.node.start - other.node.start);
}

function linesOf(text: string): (position: number) => number {
  const starts = [...text.matchAll(/^/gm)].map(({ index }) => index);
  return (position) => {
    const after = starts.findIndex((start) => start > position);
    return after === -1 ? starts.length : after;
  };
}

function inserted(text: string, insertions: readonly Insertion[]): string {
  const byPlace = insertions.toSorted((one, other) => one.at - other.at);
  const pieces = byPlace.map(({ at, text: piece }, n) => text.slice(byPlace[n - 1]?.at ?? 0, at) + piece);
  return pieces.join('') + text.slice(byPlace.at(-1)?.at ?? 0);
}
