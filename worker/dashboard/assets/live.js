/*
 * Keeps the parts of the page that are marked data-live up to date: the script fetches the page again and replaces these parts.
 * Without this script a page stays as it was when it was loaded.
 */
const usualSeconds = 2;
const parts = () => document.querySelectorAll('[data-live][id]');

/** The shortest interval that a part of the page names. Parts name longer intervals, because many people leave such a page open all day. */
function everyMs() {
  const seconds = [...parts()].map(({ dataset }) => Number(dataset.live) || usualSeconds);
  return 1_000 * Math.min(...seconds, seconds.length === 0 ? usualSeconds : Number.POSITIVE_INFINITY);
}

/** Whether to leave the part as it is: the person has opened details in it, or the focus or a selection is there. */
function isBusy(part) {
  const isOpened = part.querySelector('details[open]') !== null;
  return isOpened || part.contains(document.activeElement) || part.contains(getSelection()?.anchorNode ?? null);
}

async function refresh() {
  if (document.hidden || parts().length === 0) return;
  const response = await fetch(location.href, { headers: { accept: 'text/html' }, redirect: 'manual' });
  // The login has ended: reloading the page leads to the login page.
  if (response.type === 'opaqueredirect') return location.reload();
  if (!response.ok) return;
  const page = new DOMParser().parseFromString(await response.text(), 'text/html');
  for (const part of parts()) {
    const news = page.getElementById(part.id);
    if (news && !isBusy(part) && news.innerHTML !== part.innerHTML) part.replaceWith(document.adoptNode(news));
  }
}

// On a phone the menu is one line, and its end is out of sight: scroll to the present page's entry.
document.querySelector('nav .tab[aria-current="page"]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });

async function repeat() {
  // The server may be unreachable for a while: the script tries again.
  await refresh().catch(() => undefined);
  setTimeout(repeat, everyMs());
}

setTimeout(repeat, everyMs());
