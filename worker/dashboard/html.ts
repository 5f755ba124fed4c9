const made = Symbol('made by html');

/** Markup in which every value is escaped. Only `html` makes it. */
export interface Html {
  readonly [made]: string;
}

/** The values of a template: markup is kept, everything else becomes text; `undefined`, `null` and `false` become nothing. */
export type Content = Html | string | number | undefined | null | false | readonly Content[];

/**
 * Markup with values in it. A value is the text of an element or of an attribute in double quotes, and can't break out of it. Never put values
 * into names, attributes without quotes, styles or scripts.
 */
export function html(parts: TemplateStringsArray, ...values: readonly Content[]): Html {
  const text = parts.reduce((before, part, i) => `${before}${shown(values[i - 1])}${part}`);
  return { [made]: text };
}

/** The markup as text, to be sent. */
export function textOf(markup: Html): string {
  return markup[made];
}

/** The address for `href`, or undefined where its scheme is not http or https: another scheme could run as a script. */
export function webAddress(url: string | undefined): string | undefined {
  const protocol = url === undefined ? undefined : URL.parse(url)?.protocol;
  return protocol === 'https:' || protocol === 'http:' ? url : undefined;
}

/** The name as a link, or as text where there is no web address. */
export function linked(name: string, url: string | undefined): Content {
  const at = webAddress(url);
  return at === undefined ? name : html`<a href="${at}" rel="noreferrer">${name}</a>`;
}

function shown(value: Content): string {
  if (value === undefined || value === null || value === false) return '';
  if (typeof value === 'string' || typeof value === 'number') return escaped(String(value));
  return isList(value) ? value.map(shown).join('') : value[made];
}

function isList(value: Html | readonly Content[]): value is readonly Content[] {
  return Array.isArray(value);
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (char) => entities[char] ?? char);
}
