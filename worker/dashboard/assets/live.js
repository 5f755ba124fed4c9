/* Keeps what is marked data-live as new as the server's: the page is fetched again, and that part of it replaced. Without this
   script a page shows how things were when it was loaded. */
const usualSeconds = 2;
const parts = () => document.querySelectorAll('[data-live][id]');

/** The shortest interval that a part of the page asks for: many people leave such a page open all day. */
function everyMs() {
  const seconds = [...parts()].map(({ dataset }) => Number(dataset.live) || usualSeconds);
  return 1_000 * Math.min(...seconds, seconds.length === 0 ? usualSeconds : Number.POSITIVE_INFINITY);
}

/** Nobody looks, or somebody is in the middle of it. */
function isBusy(part) {
  const isOpened = part.querySelector('details[open]') !== null;
  return isOpened || part.contains(document.activeElement) || part.contains(getSelection()?.anchorNode ?? null);
}

async function refresh() {
  if (document.hidden || parts().length === 0) return;
  const response = await fetch(location.href, { headers: { accept: 'text/html' }, redirect: 'manual' });
  // The login has ended: the whole page leads to where it begins.
  if (response.type === 'opaqueredirect') return location.reload();
  if (!response.ok) return;
  const page = new DOMParser().parseFromString(await response.text(), 'text/html');
  for (const part of parts()) {
    const news = page.getElementById(part.id);
    if (news && !isBusy(part) && news.innerHTML !== part.innerHTML) part.replaceWith(document.adoptNode(news));
  }
}

// On a phone the menu is one line, of which some is out of sight.
document.querySelector('nav .tab[aria-current="page"]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });

async function repeat() {
  // The server may be away for a while: it is asked again.
  await refresh().catch(() => undefined);
  setTimeout(repeat, everyMs());
}

setTimeout(repeat, everyMs());
