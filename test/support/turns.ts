/** The most that was counted within one turn of the event loop. */
export function mostInATurn() {
  const counted = { now: 0, most: 0 };
  const count = (): void => {
    if (counted.now === 0) setImmediate(() => Object.assign(counted, { now: 0 }));
    counted.now += 1;
    counted.most = Math.max(counted.most, counted.now);
  };
  return { counted, count };
}
