/** In Redis: how many jobs each process holds before they ask, by its id, and whether they may go on (worker-process.ts). */
export const barrierKeys = { held: 'test:barrier:held', open: 'test:barrier:open' };
