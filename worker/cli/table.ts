const width = 20;

/** A share from 0 to 1 as a bar of twenty places. */
export function bar(share: number): string {
  const filled = Math.round(Math.min(1, Math.max(0, share)) * width);
  return '█'.repeat(filled) + '░'.repeat(width - filled);
}

/** Columns for people: a head, then rows; a column whose cells are all figures stands to the right. */
export function table(rows: readonly (readonly string[])[]): string {
  const shown = rows.map((row) => row.map(onOneLine));
  const columns = shown[0]?.map((_, i) => shown.map((row) => row[i] ?? '')) ?? [];
  const padded = columns.map((cells) => {
    const wide = Math.max(...cells.map(lengthOf));
    const isFigures = cells.slice(1).every((cell) => /^(?:[+-]?[\d.]+(?: %)?)?$/.test(cell));
    return cells.map((cell) =>
      isFigures ? ' '.repeat(wide - lengthOf(cell)) + cell : cell + ' '.repeat(wide - lengthOf(cell)),
    );
  });
  return shown
    .map(
      (_, row) =>
        `${padded
          .map((cells) => cells[row])
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('');
}

/** Names come from elsewhere, and must neither break a line nor command the terminal. */
function onOneLine(text: string): string {
  return text.replace(/\p{Cc}/gu, ' ');
}

function lengthOf(text: string): number {
  return [...text].length;
}
