/** The page's path of a journey, by the journey's name for people, `support/41960.1`. Alerts and messages link to it as well. */
export function journeyPath(ref: string): string {
  const slash = ref.indexOf('/');
  return `/journeys/${ref.slice(0, slash)}/${encodeURIComponent(ref.slice(slash + 1))}`;
}
