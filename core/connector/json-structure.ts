/** Several times the depth of any documented body, and safe for recursive readers. */
const mostLevels = 64;
/**
 * Lists, objects and their entries: a hundred tickets with 300 custom fields each have 200,000. This many take V8 some
 * 50 ms; 60 MB of brackets, as seen, took it 17 s.
 */
const mostEntries = 300_000;

const [quote, backslash, comma, openList, openObject, closeList, closeObject] = Buffer.from('"\\,[{]}');

/**
 * Why this text should not be parsed as JSON, without quoting it; undefined when its structure is bearable. Whether it is JSON
 * at all is left to the parser.
 */
export function tooIntricate(text: Uint8Array, most = mostEntries): string | undefined {
  let levels = 0;
  let entries = 0;
  for (let i = 0; i < text.length; i++) {
    switch (text[i]) {
      case quote:
        i = endOfString(text, i);
        break;
      case openList:
      case openObject:
        levels += 1;
        entries += 1;
        if (levels > mostLevels) return `nests more than ${mostLevels} levels deep`;
        break;
      case comma:
        entries += 1;
        break;
      case closeList:
      case closeObject:
        levels -= 1;
        break;
    }
    if (entries > most) return `has more than ${most} entries`;
  }
  return undefined;
}

/** Where the string ends that begins at `start`; beyond the text where it doesn't. */
function endOfString(text: Uint8Array, start: number): number {
  let end = start + 1;
  while (end < text.length && text[end] !== quote) end += text[end] === backslash ? 2 : 1;
  return end;
}
