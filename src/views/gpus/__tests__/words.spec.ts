import { together } from '../words';

it('a figure and its unit stay on one line, other words do not', () => {
  expect(together('eval.ipynb (21) has been idle for 3 h and holds 22.0 GiB.')).toBe(
    'eval.ipynb (21) has been idle for 3\u00a0h and holds 22.0\u00a0GiB.'
  );
  expect(together('91 % of the memory is in use')).toBe('91\u00a0% of the memory is in use');
  expect(together('5 processes; pid 7 holds 512 B, 2 mice')).toBe(
    '5 processes; pid 7 holds 512\u00a0B, 2 mice'
  );
});
