/** The first line whose indentation belongs to no open section. For a file that the YAML parser refuses with an error at another line. */
export function misindented(text: string): { line: number; column: number; message: string } | undefined {
  /** How far the names of each open section are indented, outermost first. */
  let levels: number[] = [];
  let opens = true;
  /** A block of text (| or >) holds the lines that are indented at least as far as its first line. */
  let literal: { beyond: number; from?: number } | undefined;
  for (const [i, written] of text.split(/\r?\n/).entries()) {
    const content = written.trim();
    const indent = written.length - written.trimStart().length;
    if (content === '' || content.startsWith('#') || /^(?:---|%)/.test(content)) continue;
    if (literal !== undefined && indent > literal.beyond) literal.from ??= indent;
    if (literal?.from !== undefined && indent >= literal.from) continue;
    literal = undefined;
    // This line continues a block of text that began above.
    if (!isEntry.test(content)) continue;
    const top = levels.at(-1) ?? -1;
    const inList = content.startsWith('- ') && indent === top;
    if (levels.includes(indent)) levels = levels.slice(0, levels.indexOf(indent) + 1);
    else if (opens && indent > top) levels.push(indent);
    else return { line: i + 1, column: indent + 1, message: messageOf(indent, levels) };
    // An entry of a list opens a section, which begins behind the dash.
    const [dashes = ''] = /^(?:- +)*/.exec(content) ?? [];
    if (dashes !== '') levels.push(indent + dashes.length);
    const value = content.slice(dashes.length);
    opens = /:\s*(?:[&!]\S+\s*)?(?:#.*)?$/.test(value) || (value === '' && !inList);
    if (/[:-]\s+[|>][+-]?\d*\s*(?:#.*)?$/.test(content)) literal = { beyond: indent };
    // Values in brackets or quotes that span several lines are not examined.
    else if (/(?:^|:\s+|-\s+)(?:\[[^\]]*|\{[^}]*|"[^"]*|'[^']*)$/.test(content) && !opens) return undefined;
  }
  return undefined;
}

/** `name:`, `name: value` or an entry of a list. */
const isEntry = /^(?:-(?:\s|$)|[^\s].*?:(?:\s|$))/;

function messageOf(indent: number, levels: readonly number[]): string {
  const spaces = (n: number) => `${n} ${n === 1 ? 'space' : 'spaces'}`;
  const top = levels.at(-1) ?? 0;
  if (indent > top) {
    return `is indented by ${spaces(indent)}, and the lines above by ${top}: lines of one section need the same, and a section begins with a name that has nothing behind its colon`;
  }
  return `is indented by ${spaces(indent)}, and the sections above by ${levels.join(', ')}: one of these is meant`;
}
