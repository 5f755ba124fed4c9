/** On the page, of a journey by its name for people, `support/41960.1`: also what is told elsewhere links there. */
export function journeyPath(ref: string): string {
  const slash = ref.indexOf('/');
  return `/journeys/${ref.slice(0, slash)}/${encodeURIComponent(ref.slice(slash + 1))}`;
}
