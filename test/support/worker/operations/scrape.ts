/** What a process shows Prometheus: the value of each series, by its name and labels as they are written. */
export async function scrape(
  adminUrl: string,
  token?: string,
): Promise<{ text: string; of: (series: string) => number | undefined }> {
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const answer = await fetch(`${adminUrl}/metrics`, { headers });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`/metrics answered ${answer.status}: ${text}`);
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const values = new Map(
    lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]),
  );
  return { text, of: (series) => values.get(series) };
}
