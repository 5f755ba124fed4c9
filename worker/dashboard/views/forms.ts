import { type Html, html } from '../html.ts';

/** A search by POST: the searched text may be a customer's address, which must not be in the address of a page. */
export function searchForm({
  action,
  label,
  button,
  value = '',
}: {
  action: string;
  label: string;
  button: string;
  value?: string;
}): Html {
  return html`<form class="filter" method="post" action="${action}" role="search">
<div class="grow"><label for="q">${label}</label>
<input id="q" name="q" type="search" value="${value}" required maxlength="1000" autocomplete="off"></div>
<button class="main-button">${button}</button>
</form>`;
}

/** The field that every form that acts carries (`formToken`). */
export function csrfField(token: string): Html {
  return html`<input type="hidden" name="csrf" value="${token}">`;
}

export function select(
  name: string,
  all: readonly (readonly [value: string, text: string])[],
  chosen: string | undefined,
): Html {
  const option = ([value, text]: readonly [string, string]): Html =>
    value === chosen
      ? html`<option value="${value}" selected>${text}</option>`
      : html`<option value="${value}">${text}</option>`;
  return html`<select id="${name}" name="${name}">${all.map(option)}</select>`;
}
