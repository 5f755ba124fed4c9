import { describe, expect, test } from 'vitest';
import { chanceOf } from '../../system/chaos/random.ts';

describe('chance', () => {
  test('it is the same for the same seed, and another for another', () => {
    const draw = (seed: number) => Array.from({ length: 100 }, chanceOf(seed).next);
    expect(draw(7)).toEqual(draw(7));
    expect(draw(7)).not.toEqual(draw(8));
  });

  test('it gives these numbers for seed 1, on every machine', () => {
    const { next } = chanceOf(1);
    expect([next(), next(), next()]).toEqual([0.6270739405881613, 0.002735721180215478, 0.5274470399599522]);
  });

  test('a fork depends on its name and the seed alone, however much was drawn before', () => {
    const [one, other] = [chanceOf(5), chanceOf(5)];
    other.next();
    expect(one.fork('kills').next()).toBe(other.fork('kills').next());
    expect(one.fork('kills').next()).not.toBe(one.fork('records').next());
  });
});
