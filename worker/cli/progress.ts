/** Shows the progress of long work: on a terminal one line that changes, elsewhere a line now and then. */
export interface Progress {
  update(text: string): void;
  /** Prints a line that stays. */
  say(text: string): void;
  end(): void;
}

const everyMs = 10_000;

export function progress(stream: NodeJS.WriteStream): Progress {
  let shownAt = 0;
  const clear = '\r\u001b[K';
  return {
    update(text) {
      if (stream.isTTY) stream.write(`${clear}${text}`);
      else if (Date.now() - shownAt >= everyMs) {
        shownAt = Date.now();
        stream.write(`${text}\n`);
      }
    },
    say: (text) => void stream.write(`${stream.isTTY ? clear : ''}${text}\n`),
    end: () => {
      if (stream.isTTY) stream.write(clear);
    },
  };
}
