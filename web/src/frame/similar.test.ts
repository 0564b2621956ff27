import { expect, test } from 'vitest';
import { similar } from './similar';

const names = ['slugger', 'exchange-rates', 'orders-report', 'exchange-rate', 'pricer'];

test('a misspelt name finds the agent', () => {
  expect(similar('sluger', names)).toEqual(['slugger']);
  expect(similar('order-reports', names)).toEqual(['orders-report']);
});

test('the most similar name comes first, and other names are left out', () => {
  expect(similar('exchange-rates2', names)).toEqual(['exchange-rates', 'exchange-rate']);
  expect(similar('nope', names)).toEqual([]);
});
