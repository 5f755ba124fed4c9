import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    testTimeout: 60_000,
    hookTimeout: 60_000,
    projects: [
      { extends: true, test: { name: 'structure', include: ['test/structure.test.ts'] } },
      { extends: true, test: { name: 'all', include: ['test/**/*.test.ts'], exclude: ['test/structure.test.ts'] } },
    ],
  },
});
