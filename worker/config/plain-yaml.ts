import { type Document, isMap, isNode, isScalar, type Node, visit } from 'yaml';
import type { FoundProblem, Path, Place } from './problem.ts';

/** Tags that do not change how YAML reads a value. */
const plainTags = new Set(
  ['str', 'int', 'float', 'bool', 'null', 'map', 'seq'].map((name) => `tag:yaml.org,2002:${name}`),
);

/**
 * Finds valid YAML that its author probably meant otherwise: tags, anchors and the like, which the parser accepts with a warning
 * or silently. The messages quote nothing from the file: a password that begins with ! is a tag.
 */
export function surprisesOf(
  document: Document,
  at: (offset: number) => Place,
  pathOf: (ancestors: readonly unknown[], node: unknown) => Path,
): FoundProblem[] {
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
