/** A value that an expression finds, by what the type of a connector's shape says of it. */
export interface ShapeEntry {
  /** `ticket.group.name`, `order.items.sku`: as an expression names it. */
  path: string;
  type: string;
  meaning: string;
  isOptional: boolean;
}

interface Member {
  name: string;
  doc: string;
  type: string;
  isOptional: boolean;
}

interface Declared {
  doc: string;
  bases: string[];
  members: string;
}

/** What types that are declared elsewhere are, in words. */
const elsewhere: Record<string, string> = {
  FieldValue: 'text, number, true or false, or list of text',
  Properties: 'texts by name',
  Fields: 'anything, by name',
};

/**
 * The entries of an interface of a TypeScript file, in order; those of interfaces that it names are taken up where they stand.
 * @throws for what it can't read, so that nothing is left out without a word
 */
export function entriesOf(source: string, name: string): { about: string; entries: ShapeEntry[] } {
  const declared = declarationsIn(source);
  const root = declared.get(name);
  if (root === undefined) throw new Error(`no interface ${name}`);
  const entries: ShapeEntry[] = [];
  const addMembers = (members: string, path: string): void => {
    for (const member of membersOf(members)) add(member, path === '' ? member.name : `${path}.${member.name}`);
  };
  const addInterface = (type: string, path: string): void => {
    const found = declared.get(type);
    if (found === undefined) throw new Error(`no interface ${type} at ${path}`);
    for (const base of found.bases) addInterface(base, path);
    addMembers(found.members, path);
  };
  const add = ({ type, doc, isOptional }: Member, path: string): void => {
    const { core, isList, mayLack } = unwrap(type);
    const parts = split(core, '&');
    const objects = parts.filter((part) => part.startsWith('{') || declared.has(part));
    const word = objects.length > 0 ? (isList ? 'list of objects' : 'object') : wordOf(core, path, isList);
    const own = doc === '' && objects.length === 1 ? (declared.get(objects[0] ?? '')?.doc ?? '') : doc;
    entries.push({ path, type: word, meaning: own, isOptional: isOptional || mayLack });
    for (const part of objects) {
      if (part.startsWith('{')) addMembers(part.slice(1, -1), path);
      else addInterface(part, path);
    }
  };
  for (const base of root.bases) addInterface(base, '');
  addMembers(root.members, '');
  return { about: root.doc, entries };
}

function declarationsIn(source: string): Map<string, Declared> {
  const found = new Map<string, Declared>();
  const pattern =
    /(?:\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\n)?(?:export )?interface (\w+)(?: extends ([\w, ]+))? \{\n([\s\S]*?)^\}/gm;
  for (const [, doc = '', name = '', bases = '', members = ''] of source.matchAll(pattern)) {
    found.set(name, {
      doc: text(doc),
      bases: bases === '' ? [] : bases.split(',').map((base) => base.trim()),
      members,
    });
  }
  return found;
}

function membersOf(body: string): Member[] {
  return split(body, ';').map((one) => {
    const found = /^(?:\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*)?(\w+)(\?)?:\s*([\s\S]+)$/.exec(one);
    if (found === null) throw new Error(`not a member: ${one}`);
    const [, doc = '', name = '', optional, type = ''] = found;
    return { name, doc: text(doc), type: type.trim(), isOptional: optional !== undefined };
  });
}

/** A type without `Absent<…>`, `… | null` and `…[]`. */
function unwrap(type: string): { core: string; isList: boolean; mayLack: boolean } {
  const absent = /^Absent<([\s\S]*)>$/.exec(type)?.[1];
  if (absent !== undefined) return { ...unwrap(absent.trim()), mayLack: true };
  const ways = split(type, '|');
  const rest = ways.filter((way) => way !== 'null' && way !== 'undefined');
  if (rest.length < ways.length) return { ...unwrap(rest.join(' | ')), mayLack: true };
  if (type.endsWith('[]')) return { ...unwrap(type.slice(0, -2).trim()), isList: true };
  return { core: type, isList: false, mayLack: false };
}

function wordOf(type: string, path: string, isList: boolean): string {
  const record = /^Record<string, ([\s\S]+)>$/.exec(type)?.[1];
  if (record !== undefined) return `${wordOf(record, path, false)}, by name`;
  const ways = split(type, '|');
  if (ways.length > 1)
    return [...new Set(ways.map((way) => wordOf(way.replace(/\[\]$/, ''), path, way.endsWith('[]'))))].join(', or ');
  const words: Record<string, string> = {
    string: 'text',
    number: 'number',
    boolean: 'true or false',
    unknown: 'anything',
    ...elsewhere,
  };
  const word = type.startsWith("'") ? `"${type.slice(1, -1)}"` : words[type];
  if (word === undefined) throw new Error(`${path}: what is ${type} in words?`);
  return isList ? `list of ${word}` : word;
}

/** By a mark outside of brackets and comments. */
function split(source: string, mark: string): string[] {
  const parts = [''];
  let depth = 0;
  for (const [token] of source.matchAll(/\/\*[\s\S]*?\*\/|[\s\S]/g)) {
    if ('{[(<'.includes(token)) depth += 1;
    if ('}])>'.includes(token)) depth -= 1;
    if (token === mark && depth === 0) parts.push('');
    else parts.push(`${parts.pop()}${token}`);
  }
  return parts.map((part) => part.trim()).filter((part) => part !== '');
}

const text = (doc: string): string =>
  doc
    .split('\n')
    .map((line) => line.replace(/^\s*\*\s?/, '').trim())
    .join(' ')
    .trim();
