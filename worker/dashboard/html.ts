const made = Symbol('made by html');

/** Markup whose every value is escaped: only `html` makes it. */
export interface Html {
  readonly [made]: string;
}

/** What a template takes: markup as it is, everything else as text. Nothing is shown for `undefined`, `null` and `false`. */
export type Content = Html | string | number | undefined | null | false | readonly Content[];

/**
 * Markup with values in it. A value is text of an element or of an attribute in double quotes, and stays so whatever it holds;
 * values have no place in names, in attributes without quotes, or in styles and scripts.
 */
export function html(parts: TemplateStringsArray, ...values: readonly Content[]): Html {
  const text = parts.reduce((before, part, i) => `${before}${shown(values[i - 1])}${part}`);
  return { [made]: text };
}

/** As it is sent. */
export function textOf(markup: Html): string {
  return markup[made];
}

/** An address for `href`: another scheme than http or https would run as a script. */
export function webAddress(url: string | undefined): string | undefined {
  const protocol = url === undefined ? undefined : URL.parse(url)?.protocol;
  return protocol === 'https:' || protocol === 'http:' ? url : undefined;
}

/** What has an address elsewhere, by its name. */
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
