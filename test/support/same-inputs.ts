import fc from 'fast-check';

// The same inputs at every run, or a test could be red by the luck of one. INPUTS=7 npm test has others.
fc.configureGlobal({ seed: Number(process.env.INPUTS ?? 1) });
